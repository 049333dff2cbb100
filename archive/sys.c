/* SPDX-License-Identifier: MIT */
#include "archive/sys.h"

#include "base/array.h"
#include "base/minmax.h"
#include "base/saturate.h"
#include "recording/column.h"
#include "recording/recording_write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define INTERVAL_MAX_MS 86400000

enum how {
	HOW_GROWTH,		/* counters, added up */
	HOW_BUSIEST,		/* counters, the largest growth at each sample */
	HOW_LEVEL,		/* gauges, added up */
};

struct kept {
	const char *series;
	const char *name;	/* as archived */
	const char *from;	/* as recorded, see column_find() */
	enum how how;
};

static const struct kept kept[] = {
	{ "proc_stat", "user", "user", HOW_GROWTH },
	{ "proc_stat", "system", "system", HOW_GROWTH },
	{ "proc_stat", "iowait", "iowait", HOW_GROWTH },
	{ "proc_stat", "nice", "nice", HOW_GROWTH },
	{ "proc_stat", "irq", "irq", HOW_GROWTH },
	{ "proc_stat", "steal", "steal", HOW_GROWTH },
	{ "proc_meminfo", "free", "free", HOW_LEVEL },
	{ "proc_meminfo", "available", "available", HOW_LEVEL },
	{ "proc_meminfo", "cached", "cached", HOW_LEVEL },
	{ "proc_meminfo", "buffers", "buffers", HOW_LEVEL },
	{ "proc_meminfo", "slab", "slab", HOW_LEVEL },
	{ "proc_meminfo", "shmem", "shmem", HOW_LEVEL },
	{ "proc_meminfo", "swap", "swap", HOW_LEVEL },
	{ "proc_meminfo", "total", "total", HOW_LEVEL },
	{ "proc_diskstats", "all.written", "*.written", HOW_GROWTH },
	{ "proc_diskstats", "all.busy", "*.busy", HOW_BUSIEST },
	{ "proc_diskstats", "all.read", "*.read", HOW_GROWTH },
	{ "proc_net", "all.rx", "*.rx", HOW_GROWTH },
	{ "proc_net", "all.tx", "*.tx", HOW_GROWTH },
	{ "proc_pressure", "cpu.some", "cpu.some", HOW_GROWTH },
	{ "proc_pressure", "io.some", "io.some", HOW_GROWTH },
	{ "proc_pressure", "io.full", "io.full", HOW_GROWTH },
	{ "proc_pressure", "memory.some", "memory.some", HOW_GROWTH },
	{ "proc_pressure", "memory.full", "memory.full", HOW_GROWTH },
	{ "proc_vmstat", "oom_kill", "oom_kill", HOW_GROWTH },
	{ "proc_cgroup", "memory", "memory", HOW_LEVEL },
	{ "proc_cgroup", "user", "user", HOW_GROWTH },
	{ "proc_cgroup", "system", "system", HOW_GROWTH },
	{ "proc_cgroup", "throttled", "throttled", HOW_GROWTH },
};

#define KEPT ARRAY_SIZE(kept)

/* A gauge of proc_stat for samples of OpenEmbedded, which are scaled to one core. */
static const char one_core[] = "one_core";

const char *const sys_name[] = {
	"proc_stat", "proc_meminfo", "proc_diskstats", "proc_net", "proc_pressure", "proc_vmstat",
	"proc_cgroup", NULL
};

struct points {
	size_t n;
	uint32_t pick[SYS_POINTS_MAX];	/* the archived samples */
};

/* The sum of these columns selects one sample of each interval: the lowest. */
struct selector {
	size_t n;
	struct column column[3];
	bool most;		/* the highest instead */
};

static void add_selector(struct selector *selector, const struct recording *rec, const char *series,
			 const char *name)
{
	if (column_find(&selector->column[selector->n], rec, series, name))
		selector->n++;
}

static void find_selector(struct selector *selector, const struct recording *rec,
			  const char *series)
{
	*selector = (struct selector){ .most = !strcmp(series, "proc_cgroup") };
	if (selector->most)
		add_selector(selector, rec, series, "memory");
	if (strcmp(series, "proc_meminfo"))
		return;
	add_selector(selector, rec, series, "available");
	if (selector->n)
		return;
	add_selector(selector, rec, series, "free");
	add_selector(selector, rec, series, "buffers");
	add_selector(selector, rec, series, "cached");
}

static int64_t level_of(const struct selector *selector, size_t sample)
{
	int64_t sum = 0;

	for (size_t i = 0; i < selector->n; i++) {
		int64_t level = column_level(&selector->column[i], sample);

		sum = sat_add(sum, MAX(level, 0));
	}
	return selector->most ? -sum : sum;
}

/* Selects one of the samples [from, until), by default the last. */
static size_t pick_one(const struct selector *selector, size_t from, size_t until)
{
	size_t best = until - 1;

	for (size_t i = from; selector->n && i < until; i++) {
		if (level_of(selector, i) < level_of(selector, best))
			best = i;
	}
	return best;
}

/* Selects the first and last sample, and one of each interval between them. Returns their
 * distance in ms. */
static int64_t pick_points(struct points *p, const struct selector *selector,
			   const struct series *s)
{
	size_t n = s->n, stride = n > SYS_POINTS_MAX ? (n - 3) / (SYS_POINTS_MAX - 2) + 1 : 1;
	int64_t interval_ms = sat_mul(s->interval_ms, (int64_t)stride);

	p->n = 0;
	if (n)
		p->pick[p->n++] = 0;
	for (size_t at = 1; at + 1 < n; at += stride) {
		size_t until = MIN(at + stride, n - 1);

		p->pick[p->n++] = (uint32_t)pick_one(selector, at, until);
	}
	if (n > 1)
		p->pick[p->n++] = (uint32_t)(n - 1);
	return MIN(interval_ms, INTERVAL_MAX_MS);
}

static int64_t grew_most(const struct column *c, size_t i)
{
	int64_t most = 0;

	for (size_t k = 0; k < c->n_parts; k++) {
		struct column one = { .series = c->series, .n_parts = 1, .scale = c->scale };
		int64_t grown;

		one.part[0] = c->part[k];
		grown = column_between(&one, i - 1, i);
		most = MAX(grown, most);
	}
	return most;
}

static void fill_counter(int64_t *level, size_t step, const struct points *p,
			 const struct column *c, enum how how)
{
	int64_t sum = 0;

	for (size_t i = 0, at = 0; at < p->n; i++) {
		if (i)
			sum = sat_add(sum, how == HOW_BUSIEST ? grew_most(c, i) :
				      column_between(c, i - 1, i));
		if (i == p->pick[at])
			level[at++ * step] = sum / c->scale;
	}
}

static void fill_gauge(int64_t *level, size_t step, const struct points *p,
		       const struct column *c)
{
	int64_t last = 0;

	for (size_t at = 0; at < p->n; at++) {
		int64_t now = column_level(c, p->pick[at]);

		last = now >= 0 ? now / c->scale : last;
		level[at * step] = last;
	}
}

struct thin {
	struct series s;
	struct points points;
	struct series_column column[KEPT + 1];
	struct column from[KEPT + 1];
	enum how how[KEPT + 1];
	int64_t time_ms[SYS_POINTS_MAX];
	bool gap[SYS_POINTS_MAX];
};

static void add_column(struct thin *t, const char *name, const char *unit, bool counter)
{
	struct series_column *to = &t->column[t->s.n_columns++];

	*to = (struct series_column){ .counter = counter };
	memcpy(to->name, name, strlen(name) + 1);
	memcpy(to->unit, unit, strlen(unit) + 1);
}

static int fill_levels(struct thin *t, const struct series *s, bool of_one_core)
{
	size_t n = t->s.n_columns, step = n + of_one_core;

	t->s.n = t->points.n;
	t->s.level = array_new(t->s.n * step, sizeof *t->s.level);
	if (!t->s.level)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (t->how[i] == HOW_LEVEL)
			fill_gauge(t->s.level + i, step, &t->points, &t->from[i]);
		else
			fill_counter(t->s.level + i, step, &t->points, &t->from[i], t->how[i]);
	}
	if (of_one_core)
		add_column(t, one_core, "1", false);
	for (size_t at = 0; of_one_core && at < t->s.n; at++)
		t->s.level[at * step + n] = 1;
	for (size_t at = 0, i = 0; at < t->points.n; at++) {
		t->time_ms[at] = s->time_ms[t->points.pick[at]];
		t->gap[at] = false;
		for (; i <= t->points.pick[at]; i++)
			t->gap[at] |= s->gap[i];
	}
	t->s.column = t->column;
	t->s.time_ms = t->time_ms;
	t->s.gap = t->gap;
	return 0;
}

int sys_write(struct buf *text, const struct recording *rec, const char *name)
{
	const struct series *s = recording_series(rec, name);
	struct thin *t = s && s->n ? calloc(1, sizeof *t) : NULL;
	struct selector selector;
	int r = 0;

	if (!s || !s->n)
		return 0;
	if (!t)
		return -ENOMEM;
	t->s.name = s->name;
	for (size_t i = 0; i < KEPT; i++) {
		struct column *c = &t->from[t->s.n_columns];

		if (strcmp(kept[i].series, s->name) ||
		    !column_find(c, rec, s->name, kept[i].from))
			continue;
		t->how[t->s.n_columns] = kept[i].how;
		add_column(t, kept[i].name, s->column[c->part[c->n_parts - 1]].unit,
			   kept[i].how != HOW_LEVEL);
	}
	if (t->s.n_columns) {
		find_selector(&selector, rec, name);
		t->s.interval_ms = pick_points(&t->points, &selector, s);
		r = fill_levels(t, s, rec->source.one_core && !strcmp(name, "proc_stat"));
		if (!r)
			r = recording_series_write(text, &t->s);
	}
	free_all(t->s.level, t);
	return r;
}

int sys_read(struct recording *rec, const char *name, struct buf *text)
{
	int r = recording_series_read(rec, name, text);
	const struct series *s = recording_series(rec, name);

	if (s && recording_series_column(s, one_core) >= 0)
		rec->source.one_core = true;
	return r;
}
