/* SPDX-License-Identifier: MIT */
#include "analyse/answer_times.h"

#include "analyse/lto.h"
#include "base/array.h"
#include "base/minmax.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int64_t end_us(const struct summary *s, uint32_t i)
{
	return recording_task_end_us(s->rec, &s->rec->task[i]);
}

static void longer(struct answer_span *most, const struct answer_span *span)
{
	if (span->us > most->us)
		*most = *span;
}

/* Tasks that run alone */

/* Of the tasks that began so far, the one that ends last is the one that runs if one runs. */
struct last {
	size_t at;		/* in summary.order */
	struct answer_span alone;
	int64_t end_us;
};

static void begin_until(struct last *l, const struct summary *s, int64_t time_us,
			struct answer_span *most)
{
	for (; l->at < s->n_ran; l->at++) {
		uint32_t i = s->order[l->at];

		if (s->rec->task[i].start_us > time_us)
			break;
		if (s->rec->task[i].hosts || end_us(s, i) <= l->end_us)
			continue;
		longer(most, &l->alone);
		l->alone = (struct answer_span){ -1, -1, 0, i };
		l->end_us = end_us(s, i);
	}
}

static void fill_few(struct answer_times *t, const struct summary *s)
{
	const struct curve *c = &s->running;
	struct last last = { .end_us = -1, .alone = { .task = NO_INDEX } };
	int64_t begun_us = 0;

	for (size_t i = 0; i <= c->n; i++) {
		int64_t next_us = i < c->n ? c->time_us[i] : s->wall_us;
		int64_t value = i ? c->value[i - 1] : 0;

		next_us = MIN(next_us, s->wall_us);
		if (next_us <= begun_us)
			continue;
		if (!value) {
			const struct answer_span span = {
				begun_us, next_us, next_us - begun_us, NO_INDEX
			};

			t->nothing_us += span.us;
			longer(&t->nothing, &span);
		}
		if (value == 1) {
			begin_until(&last, s, begun_us, &t->alone);
			t->alone_us += next_us - begun_us;
			last.alone.us += next_us - begun_us;
			last.alone.from_us = last.alone.from_us < 0 ? begun_us : last.alone.from_us;
			last.alone.until_us = next_us;
		}
		begun_us = next_us;
	}
	longer(&t->alone, &last.alone);
}

/* The part of a time in which at most so many tasks ran that is lost, compared with the most that
 * ran at once. */
static double few_part(const struct summary *s, int64_t most)
{
	return most ? 1 - (double)most / (double)s->running_max : 0;
}

/* From the end to the start: each time when more tasks ran than ever since. */
static void fill_end(struct answer_times *t, const struct summary *s)
{
	const struct curve *c = &s->running;
	double best_us = 0;
	int64_t most = 0, until_us = s->wall_us;

	for (size_t i = c->n; i--; ) {
		double us = (double)(s->wall_us - until_us) * few_part(s, most);

		if (c->time_us[i] >= until_us)
			continue;
		if (c->value[i] > most && us > best_us) {
			best_us = us;
			t->few_most = most;
			t->few = (struct answer_span){ until_us, s->wall_us, (int64_t)us, NO_INDEX };
		}
		most = MAX(c->value[i], most);
		until_us = c->time_us[i];
	}
}

/* The task that ran longest while few ran. */
static void fill_few_task(struct answer_times *t, const struct summary *s)
{
	for (size_t i = s->n_ran; t->few.until_us >= 0 && i--; ) {
		uint32_t task = s->by_end[i];
		int64_t us = MIN(end_us(s, task), s->wall_us) - MAX(s->rec->task[task].start_us, t->few.from_us);

		if (end_us(s, task) <= t->few.from_us)
			break;
		if (s->rec->task[task].hosts || us <= t->few_task_us)
			continue;
		t->few.task = task;
		t->few_task_us = us;
	}
}

/* The last one that began before, of those that host and ran all the while. */
static void fill_around(struct answer_span *span, const struct summary *s)
{
	for (size_t i = 0; span->us && i < s->n_ran; i++) {
		uint32_t task = s->order[i];

		if (s->rec->task[task].start_us > span->from_us)
			break;
		if (s->rec->task[task].hosts && end_us(s, task) >= span->until_us)
			span->task = task;
	}
}

/* Tasks that wait */

/* From the last start to the first: so a wait can only add what is before the waits so far. */
static void fill_waits(struct answer_times *t, const struct summary *s, const struct waits *q)
{
	int64_t most_us[QUEUE_CAUSES] = { 0 };

	for (size_t i = s->n_ran; i--; ) {
		uint32_t task = s->order[i];
		int64_t until_us = s->rec->task[task].start_us;

		for (int k = 0; k < QUEUE_CAUSES; k++) {
			struct answer_span *w = &t->waited[k];
			int64_t wait_us = q->task[task].us[k], from_us = until_us - wait_us;

			if (!wait_us)
				continue;
			if (wait_us > most_us[k]) {
				most_us[k] = wait_us;
				w->task = task;
			}
			if (w->until_us < 0) {
				w->until_us = until_us;
				w->from_us = until_us;
			}
			if (from_us >= w->from_us)
				continue;
			w->us += MIN(until_us, w->from_us) - from_us;
			w->from_us = from_us;
		}
	}
}

/* Link-time optimisation */

/* By the start of the tasks that link. */
static int fill_lto(struct answer_times *t, const struct summary *s)
{
	bool *links = array_new_zero(s->rec->n_tasks, sizeof *links);
	int64_t most_us = 0;

	for (size_t i = 0; links && i < s->n_ran; i++) {
		if (lto_is_part(s, s->order[i]))
			links[s->nest[s->order[i]].parent] = true;
	}
	for (size_t i = 0; links && i < s->n_ran; i++) {
		uint32_t task = s->order[i];
		int64_t from_us = s->rec->task[task].start_us, until_us = end_us(s, task);

		if (!links[task])
			continue;
		if (t->lto.until_us < 0)
			t->lto.from_us = t->lto.until_us = from_us;
		if (until_us - from_us > most_us) {
			most_us = until_us - from_us;
			t->lto.task = task;
		}
		if (until_us <= t->lto.until_us)
			continue;
		t->lto.us += until_us - MAX(from_us, t->lto.until_us);
		t->lto.until_us = until_us;
	}
	free(links);
	return links ? 0 : -ENOMEM;
}

int answer_times_fill(struct answer_times *t, const struct summary *s, const struct waits *q)
{
	const struct answer_span none = { -1, -1, 0, NO_INDEX };

	*t = (struct answer_times){ .nothing = none, .alone = none, .few = none, .lto = none };
	for (int k = 0; k < QUEUE_CAUSES; k++)
		t->waited[k] = none;
	fill_few(t, s);
	fill_around(&t->nothing, s);
	fill_end(t, s);
	fill_few_task(t, s);
	fill_waits(t, s, q);
	return fill_lto(t, s);
}

/* Cores that do something */

#define KINDS_MAX 32		/* there are fewer; kinds of other tools may be more, and are rare */

const char *answer_times_kind(const struct summary *s, double *share)
{
	const char *kind[KINDS_MAX];
	double us[KINDS_MAX] = { 0 }, all_us = 0;
	size_t n = 0, most = 0, at;

	for (size_t i = 0; i < s->n_ran; i++) {
		const struct task *t = &s->rec->task[s->order[i]];
		const struct cost *c = &s->nest[s->order[i]].cost;

		if (!c->measured)
			continue;
		all_us += (double)c->cpu_us;
		for (at = 0; at < n && kind[at] != t->kind; at++)
			;
		if (at == KINDS_MAX)
			continue;
		if (at == n)
			kind[n++] = t->kind;
		us[at] += (double)c->cpu_us;
		if (us[at] > us[most])
			most = at;
	}
	*share = all_us > 0 ? us[most] / all_us : 0;
	return all_us > 0 ? kind[most] : NULL;
}

/* Cores that do nothing */

/* The growth of a counter in a time, which begins and ends between two samples. */
static double grown(const struct column *c, int64_t from_us, int64_t until_us)
{
	const int64_t *time_ms = c->series->time_ms;
	double sum = 0;

	for (size_t i = 1; i < c->n && time_ms[i - 1] * 1000 < until_us; i++) {
		int64_t a = time_ms[i - 1] * 1000, b = time_ms[i] * 1000;
		int64_t from = MAX(from_us, a), until = MIN(until_us, b);

		if (until > from)
			sum += (double)column_between(c, i - 1, i) * (double)(until - from) /
			       (double)(b - a);
	}
	return sum;
}

int64_t answer_times_idle_us(const struct summary *s, int64_t from_us, int64_t until_us)
{
	static const char *const busy[] = { "user", "nice", "system", "irq", "steal" };
	const struct series *stat = recording_series(s->rec, "proc_stat");
	double idle_us;
	struct column c;

	if (s->cores < 1 || s->rec->source.one_core || !stat || stat->n < 2)
		return -1;
	if (from_us < stat->time_ms[0] * 1000)
		from_us = stat->time_ms[0] * 1000;
	if (until_us > stat->time_ms[stat->n - 1] * 1000)
		until_us = stat->time_ms[stat->n - 1] * 1000;
	if (until_us <= from_us)
		return -1;
	idle_us = (double)s->cores * (double)(until_us - from_us);
	for (size_t i = 0; i < ARRAY_SIZE(busy); i++) {
		if (column_find(&c, s->rec, "proc_stat", busy[i]))
			idle_us -= grown(&c, from_us, until_us);
	}
	return idle_us > 0 ? (int64_t)idle_us : 0;
}
