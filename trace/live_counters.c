/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/arena.h"
#include "trace/live_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Viewers draw a value until the next one, so equal values are written once. */
struct live_counter {
	uint32_t number;	/* of the sink */
	bool known;
	double value;
};

/* The columns of a series that were seen last. */
struct live_columns {
	char name[64];
	unsigned section;
	size_t n;
	uint32_t *counter;	/* index of each */
};

int live_counters_init(struct live_counters *c)
{
	*c = (struct live_counters){ .arena = arena_new(), .memory = LIVE_NONE,
				     .running = LIVE_NONE };
	c->names.arena = c->arena;
	return c->arena ? 0 : -ENOMEM;
}

void live_counters_release(struct live_counters *c)
{
	for (size_t i = 0; i < c->n_series; i++)
		free(c->series[i].counter);
	free_all(c->series, c->counter);
	name_table_release(&c->names);
	arena_free(c->arena);
}

static int find_counter(struct live *l, const char *series, const struct series_column *column,
			uint32_t *at)
{
	struct live_counters *c = &l->counters;
	struct buf name = BUF_PART_OF(&l->sink->out);
	struct live_counter *added;
	int r;

	buf_addf(&name, "%s %s%s", series, column->name, column->counter ? " a second" : "");
	r = name_table_add(&c->names, slice_of(buf_str(&name)), at);
	if (!r && *at == c->n) {
		added = array_add(&c->counter, &c->n, sizeof *added);
		r = added ? 0 : -ENOMEM;
		if (added)
			*added = (struct live_counter){ .number = l->sink->ops->counter(
				l->sink, SINK_MACHINE, buf_str(&name), column->unit) };
	}
	buf_release(&name);
	return r;
}

static struct live_columns *find_series(struct live_counters *c, const char *name)
{
	struct live_columns *added;

	for (size_t i = 0; i < c->n_series; i++) {
		if (!strcmp(c->series[i].name, name))
			return &c->series[i];
	}
	added = array_add(&c->series, &c->n_series, sizeof *added);
	if (!added)
		return NULL;
	*added = (struct live_columns){ .n = 0 };
	strncpy(added->name, name, sizeof added->name - 1);
	return added;
}

static int take_columns(struct live *l, struct live_columns *c, const struct growing_sample *s)
{
	uint32_t *grown = realloc(c->counter, (s->n_columns + 1) * sizeof *grown);
	int r = 0;

	if (!grown)
		return -ENOMEM;
	c->counter = grown;
	c->n = 0;
	for (size_t i = 0; i < s->n_columns && !r; i++)
		r = find_counter(l, s->series, &s->column[i], &c->counter[i]);
	c->section = s->section;
	c->n = r ? 0 : s->n_columns;
	return r;
}

/* A rate has the time at which it begins. */
int live_sample(struct live *l, const struct growing_sample *s)
{
	struct live_columns *c = find_series(&l->counters, s->series);
	int r = c ? 0 : -ENOMEM;

	if (!r && (s->section != c->section))
		r = take_columns(l, c, s);
	for (size_t i = 0; i < s->n_columns && !r; i++) {
		struct live_counter *counter = &l->counters.counter[c->counter[i]];
		double value;

		if (!growing_value(s, i, &value) || (counter->known && counter->value == value))
			continue;
		counter->known = true;
		counter->value = value;
		l->sink->ops->value(l->sink, counter->number,
				    (s->column[i].counter ? s->before_ms : s->time_ms) * 1000, value);
	}
	return r;
}

void live_memory(struct live *l, int64_t time_ms, int64_t kb)
{
	struct live_counters *c = &l->counters;

	if (c->memory == LIVE_NONE)
		c->memory = l->sink->ops->counter(l->sink, SINK_MACHINE, "memory of the tasks", "kb");
	l->sink->ops->value(l->sink, c->memory, time_ms * 1000, (double)kb);
}

void live_running(struct live *l, int64_t us, int change)
{
	struct live_counters *c = &l->counters;

	l->n_running += (uint32_t)change;
	if (c->running == LIVE_NONE)
		c->running = l->sink->ops->counter(l->sink, SINK_MACHINE, "running tasks", "tasks");
	l->sink->ops->value(l->sink, c->running, us, l->n_running);
}
