/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/name_table.h"
#include "recording/growing_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void growing_series_release(struct growing_series *s)
{
	reader_samples_release(&s->d);
	free(s->newest);
	free(s->before);
}

/* The newest sample is the one before the first with the new columns. Counters go on from where
 * they were, and are now counted from there. */
static int take_over(struct growing_series *s, const struct growing_series *old)
{
	struct name_table names = NAME_TABLE_INIT;
	uint32_t at;
	int r = 0;

	for (size_t i = 0; !r && i < old->d.n_columns; i++)
		r = name_table_add(&names, slice_of(old->d.column[i].name), &at);
	for (size_t i = 0; !r && i < s->d.n_columns; i++) {
		at = name_table_find(&names, slice_of(s->d.column[i].name));
		s->newest[i] = at < old->d.n_columns && old->time_ms >= 0 &&
			       old->d.column[at].counter == s->d.column[i].counter ?
			       (s->d.column[i].counter ? 0 : old->newest[at]) : SERIES_ABSENT;
	}
	name_table_release(&names);
	return r;
}

int growing_series_begin(struct growing_series *s, struct slice rest)
{
	struct growing_series next = { .time_ms = s->time_ms, .delivered_ms = s->delivered_ms,
				       .section = s->section + 1 };
	int r = reader_samples_begin(&next.d, rest);

	if (!r) {
		next.newest = array_new_zero(next.d.n_columns, sizeof *next.newest);
		next.before = array_new_zero(next.d.n_columns, sizeof *next.before);
		r = next.newest && next.before ? take_over(&next, s) : -ENOMEM;
	}
	if (r) {
		growing_series_release(&next);
		s->d.blind = true;
		return r;
	}
	growing_series_release(s);
	*s = next;
	return 0;
}

/* Samples */

struct delivery {
	const char *name;
	const struct suspended *out;
	const struct growing_to *to;
	void *context;
};

/* As in the reader of a whole recording: samples of a suspended time are dropped, and what happened up
 * to the next one is unknown. */
static int deliver(struct growing_series *s, const struct delivery *d, int64_t before_ms,
		   const int64_t *before, bool again)
{
	struct growing_sample out = {
		.series = d->name, .time_ms = suspended_move_ms(d->out, s->time_ms),
		.before_ms = suspended_move_ms(d->out, before_ms), .again = again,
		.n_columns = s->d.n_columns, .column = s->d.column,
		.section = s->section, .level = s->newest, .before = before,
	};

	if (before_ms >= 0 && out.time_ms - out.before_ms < s->time_ms - before_ms)
		out.before_ms = -1;
	if (!again && out.time_ms <= s->delivered_ms)
		return 0;
	s->delivered_ms = out.time_ms;
	return d->to->sample ? d->to->sample(d->context, &out) : 0;
}

static int add_sample(struct growing_series *s, const struct delivery *d,
		      const struct sample_time *at)
{
	bool again = s->time_ms >= 0 && at->time_ms <= s->time_ms;
	int64_t *oldest = s->before;

	if (!again) {
		s->before = s->newest;
		s->newest = oldest;
		s->before_ms = at->gap ? -1 : s->time_ms;
		s->time_ms = at->time_ms;
	}
	memcpy(s->newest, s->d.level, s->d.n_columns * sizeof *s->newest);
	return deliver(s, d, s->before_ms, s->before, again);
}

int growing_series_line(struct growing_series *s, const char *name, struct slice line,
			const struct suspended *out, const struct growing_to *to, void *context)
{
	struct delivery d = { name, out, to, context };
	int64_t last_ms = s->time_ms;
	struct sample_time at;
	int r = reader_samples_line(&s->d, line, last_ms, &at);

	if (r)
		return r == -EAGAIN ? 0 : r;
	if (at.unchanged_ms >= 0) {
		s->time_ms = at.unchanged_ms;
		r = deliver(s, &d, last_ms, s->newest, false);
	}
	return r ? r : add_sample(s, &d, &at);
}

void growing_series_suspended(struct growing_series *s, int64_t from_us)
{
	int64_t from_ms = from_us / 1000;

	if (s->delivered_ms > from_ms)
		s->delivered_ms = from_ms;
}

bool growing_value(const struct growing_sample *s, size_t column, double *value)
{
	int64_t level = s->level[column], before = s->before[column];

	*value = (double)level;
	if (level == SERIES_ABSENT || !s->column[column].counter)
		return level != SERIES_ABSENT;
	if (s->before_ms < 0 || before == SERIES_ABSENT || s->time_ms <= s->before_ms)
		return false;
	*value = (*value - (double)before) * 1000 / (double)(s->time_ms - s->before_ms);
	return true;
}
