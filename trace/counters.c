/* SPDX-License-Identifier: MIT */
#include "trace/counters.h"

#include <math.h>

/* The value of a gauge, or the rate of a counter per second. False: not known. */
static bool value_at(const struct series *s, size_t sample, size_t column, double *value)
{
	int64_t level = s->level[sample * s->n_columns + column], before;
	int64_t ms;

	if (level == SERIES_ABSENT)
		return false;
	*value = (double)level;
	if (!s->column[column].counter)
		return true;
	if (!sample || s->gap[sample])
		return false;
	before = s->level[(sample - 1) * s->n_columns + column];
	ms = s->time_ms[sample] - s->time_ms[sample - 1];
	*value = ((double)level - (double)before) * 1000 / (double)ms;
	return before != SERIES_ABSENT && ms > 0;
}

/* Viewers draw a value until the next one: therefore a rate has the time at which it begins, and
 * values like the one before are left out. */
static int add_column(struct sink *s, const struct series *series, size_t column, uint32_t number,
		      const struct whole *w)
{
	bool rate = series->column[column].counter;
	double value, before = NAN;
	int r = 0;

	for (size_t i = 0; i < series->n && !r; i++) {
		if (!value_at(series, i, column, &value) || value == before)
			continue;
		before = value;
		s->ops->value(s, number, series->time_ms[rate ? i - 1 : i] * 1000, value);
		r = whole_flush(w, s);
	}
	return r;
}

static int add_series(struct sink *s, const struct series *series, const struct whole *w)
{
	struct buf name = BUF_PART_OF(&s->out);
	int r = 0;

	for (size_t column = 0; column < series->n_columns && !r; column++) {
		const struct series_column *c = &series->column[column];
		uint32_t number;

		buf_clear(&name);
		buf_addf(&name, "%s %s%s", series->name, c->name, c->counter ? " a second" : "");
		number = s->ops->counter(s, SINK_MACHINE, buf_str(&name), c->unit);
		r = add_column(s, series, column, number, w);
	}
	buf_release(&name);
	return r;
}

static int add_curve(struct sink *s, const struct curve *c, const char *name, const char *unit,
		     const struct whole *w)
{
	uint32_t number;
	int r = 0;

	if (!c->n)
		return 0;
	number = s->ops->counter(s, SINK_MACHINE, name, unit);
	for (size_t i = 0; i < c->n && !r; i++) {
		s->ops->value(s, number, c->time_us[i], (double)c->value[i]);
		r = whole_flush(w, s);
	}
	return r;
}

int counters_write(struct sink *s, const struct summary *summary, const struct whole *w)
{
	const struct recording *rec = summary->rec;
	int r = add_curve(s, &summary->running, "running tasks", "tasks", w);

	if (!r)
		r = add_curve(s, &summary->memory_kb, "memory of the tasks", "kb", w);
	for (size_t i = 0; i < rec->n_series && !r; i++)
		r = add_series(s, &rec->series[i], w);
	return r;
}
