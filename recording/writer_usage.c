/* SPDX-License-Identifier: MIT */
#include "recording/writer.h"

#include "base/array.h"
#include "recording/usage_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * proc_tasks.log of a recording in memory, in units as small as the reader's. Every
 * line has its time, and nothing goes without saying: see "~" in series.h.
 */
#define NO_ALIAS UINT32_MAX

struct sample {
	uint32_t task, at;	/* in rec->usage */
};

struct usage_out {
	struct writer *o;
	const struct recording *rec;
	struct sample *sample;	/* by time */
	uint32_t *alias;	/* of each task */
	uint32_t *free_alias;
	size_t n_free, n_aliases;
	size_t n_columns;
};

static const struct series_column columns[USAGE_COLUMNS] = {
	[USAGE_RSS] = { "rss", "1KiB", false },
	[USAGE_CPU] = { "cpu", "1ms", true },
	[USAGE_PSS] = { "pss", "1KiB", false },
	[USAGE_PROCESSES] = { "processes", "1", false },
	[USAGE_WRITTEN] = { "written", "1KiB", true },
	[USAGE_READ] = { "read", "1KiB", true },
	[USAGE_DELAY] = { "delay", "1ms", true },
};

static int by_time(const void *a, const void *b, void *of)
{
	const struct recording *rec = of;
	const struct sample *x = a, *y = b;
	int64_t t = rec->usage[x->at].time_ms, u = rec->usage[y->at].time_ms;

	if (t != u)
		return t < u ? -1 : 1;
	return x->task < y->task ? -1 : x->task > y->task;
}

static size_t collect_samples(struct usage_out *w)
{
	size_t n = 0;

	for (uint32_t i = 0; i < w->rec->n_tasks; i++) {
		const struct task *t = &w->rec->task[i];

		w->alias[i] = NO_ALIAS;
		for (uint32_t k = 0; k < t->n_usage && n < w->rec->n_usage; k++)
			w->sample[n++] = (struct sample){ i, t->first_usage + k };
	}
	qsort_r(w->sample, n, sizeof *w->sample, by_time, (void *)(uintptr_t)w->rec);
	return n;
}

static bool is_last(const struct usage_out *w, const struct sample *s)
{
	const struct task *t = &w->rec->task[s->task];

	return s->at + 1 == t->first_usage + t->n_usage;
}

/* Only the delay of the whole task is known. */
static bool knows_delays(const struct recording *rec)
{
	for (size_t i = 0; i < rec->n_tasks; i++) {
		if (rec->task[i].n_usage && rec->task[i].delay_us < 0)
			return false;
	}
	return true;
}

static void levels(const struct task_usage *u, int64_t level[USAGE_COLUMNS])
{
	level[USAGE_RSS] = u->rss_kb;
	level[USAGE_CPU] = u->cpu_ms;
	level[USAGE_PSS] = u->pss_kb;
	level[USAGE_PROCESSES] = u->processes;
	level[USAGE_WRITTEN] = u->written_kb;
	level[USAGE_READ] = u->read_kb;
	level[USAGE_DELAY] = 0;
}

static void add_first(struct usage_out *w, const struct sample *s, const int64_t *level)
{
	const struct task *t = &w->rec->task[s->task];
	uint32_t alias = w->n_free ? w->free_alias[--w->n_free] : (uint32_t)w->n_aliases++;

	w->alias[s->task] = alias;
	buf_addf(&w->o->b, "%u=%s.%llu:", alias, w->o->id[t->instance],
		 (unsigned long long)t->seq);
	series_add_values(&w->o->b, NULL, level, w->n_columns);
}

static void add_entry(struct usage_out *w, const struct sample *s)
{
	int64_t before[USAGE_COLUMNS], now[USAGE_COLUMNS];

	levels(&w->rec->usage[s->at], now);
	if (is_last(w, s))
		now[USAGE_DELAY] = w->rec->task[s->task].delay_us / 1000;
	if (w->alias[s->task] == NO_ALIAS) {
		add_first(w, s, now);
		return;
	}
	levels(&w->rec->usage[s->at - 1], before);
	buf_addf(&w->o->b, "%u:", w->alias[s->task]);
	series_add_values(&w->o->b, before, now, w->n_columns);
}

/* A task ends at the line after its last sample. */
static void add_line(struct usage_out *w, const struct sample *s, size_t n,
		     const struct sample *before, size_t n_before)
{
	const char *between = "";

	buf_addf(&w->o->b, "~%lld ", (long long)w->rec->usage[s->at].time_ms);
	for (size_t i = 0; i < n_before; i++) {
		if (!is_last(w, &before[i]))
			continue;
		buf_addf(&w->o->b, "%s%u-", between, w->alias[before[i].task]);
		w->free_alias[w->n_free++] = w->alias[before[i].task];
		between = ";";
	}
	for (size_t i = 0; i < n; i++) {
		buf_adds(&w->o->b, between);
		add_entry(w, &s[i]);
		between = ";";
	}
	buf_addc(&w->o->b, '\n');
	writer_flow(w->o);
}

static void add_lines(struct usage_out *w, size_t n)
{
	size_t from = 0, before = 0;

	for (size_t i = 1; i <= n; i++) {
		if (i < n && w->rec->usage[w->sample[i].at].time_ms ==
			     w->rec->usage[w->sample[from].at].time_ms)
			continue;
		add_line(w, &w->sample[from], i - from, &w->sample[before], from - before);
		before = from;
		from = i;
	}
}

void writer_add_usage(struct writer *o, const struct recording *rec)
{
	struct usage_out w = { .o = o, .rec = rec,
			       .n_columns = knows_delays(rec) ? USAGE_COLUMNS : USAGE_DELAY };

	w.sample = array_new(rec->n_usage, sizeof *w.sample);
	w.alias = array_new(rec->n_tasks, sizeof *w.alias);
	w.free_alias = array_new(rec->n_tasks, sizeof *w.free_alias);
	if (w.sample && w.alias && w.free_alias) {
		series_add_header(&o->b, USAGE_LOG_NAME, rec->interval_ms > 0 ?
				  rec->interval_ms : 1000, columns, w.n_columns);
		add_lines(&w, collect_samples(&w));
	} else {
		o->error = -ENOMEM;
	}
	free_all(w.sample, w.alias, w.free_alias);
}
