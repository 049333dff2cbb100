/* SPDX-License-Identifier: MIT */
#include "analyse/curve.h"

#include "analyse/cost.h"
#include "base/array.h"
#include "base/minmax.h"
#include "base/saturate.h"
#include "base/search.h"
#include "base/sort.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void curve_release(struct curve *c)
{
	free(c->time_us);
	free(c->value);
	*c = (struct curve)CURVE_INIT;
}

static int reserve(struct curve *c, size_t n)
{
	c->time_us = array_new(n + 1, sizeof *c->time_us);
	c->value = array_new(n + 1, sizeof *c->value);
	return c->time_us && c->value ? 0 : -ENOMEM;
}

/* Several changes at one time are one step. */
static void add_step(struct curve *c, int64_t time_us, int64_t value)
{
	if (c->n && c->time_us[c->n - 1] == time_us)
		c->n--;
	else if (c->n && c->value[c->n - 1] == value)
		return;
	c->time_us[c->n] = time_us;
	c->value[c->n++] = value;
}

static void change(struct curve *c, int64_t time_us, int64_t by)
{
	int64_t value = c->n ? c->value[c->n - 1] : 0;

	add_step(c, time_us, (int64_t)((uint64_t)value + (uint64_t)by));
}

int curve_count(struct curve *c, struct keyed *begin, struct keyed *end, size_t n)
{
	size_t at = 0;
	int r = reserve(c, 2 * n);

	if (r)
		return r;
	r = sort_keyed(begin, n);
	if (r)
		return r;
	r = sort_keyed(end, n);
	if (r)
		return r;
	for (size_t i = 0; i < n; i++) {
		for (; at < n && end[at].key <= begin[i].key; at++)
			change(c, (int64_t)end[at].key, -1);
		change(c, (int64_t)begin[i].key, 1);
	}
	for (; at < n; at++)
		change(c, (int64_t)end[at].key, -1);
	return 0;
}

int curve_running(struct curve *c, const struct recording *rec, const uint32_t *order,
		  const uint32_t *by_end, size_t n)
{
	int r = reserve(c, 2 * n);
	size_t at = 0;

	for (size_t i = 0; !r && i <= n; i++) {
		const struct task *t = i < n ? &rec->task[order[i]] : NULL;
		int64_t now_us = t ? t->start_us : INT64_MAX;

		if (t && t->hosts)
			continue;
		for (; at < n; at++) {
			const struct task *other = &rec->task[by_end[at]];
			int64_t end_us = recording_task_end_us(rec, other);

			if (t && end_us > now_us)
				break;
			if (!other->hosts)
				change(c, end_us, -1);
		}
		if (t)
			change(c, now_us, 1);
	}
	return r;
}

/* Memory of the tasks */

/* The newest of a task's changes. */
struct level {
	int64_t time_us;
	uint32_t kb;
	bool ran;		/* the task ran; curve_task_memory() */
};

static struct level *levels_until(const struct recording *rec, int64_t time_us)
{
	struct level *now = array_new_zero(rec->n_tasks, sizeof *now);

	for (size_t i = 0; now && i < rec->n_memory; i++) {
		const struct memory_change *m = &rec->memory[i];

		if (m->time_ms * 1000 > time_us)
			break;
		now[m->task].time_us = m->time_ms * 1000;
		now[m->task].kb = m->kb;
	}
	return now;
}

/* A task gives back the memory it had last when it ends; a sample after its end shows that it
 * was still running. */
int curve_task_memory(struct curve *c, const struct recording *rec)
{
	struct level *now = levels_until(rec, INT64_MAX);
	struct keyed *end = array_new(rec->n_tasks, sizeof *end);
	size_t n_ends = 0, at = 0;
	int r = now && end ? 0 : -ENOMEM;

	if (r)
		goto out;
	for (size_t i = 0; !r && i < rec->n_tasks; i++) {
		const struct task *t = &rec->task[i];
		struct level *last = &now[i];
		int64_t end_us;

		last->ran = task_ran(t);
		if (last->kb && last->ran) {
			end_us = recording_task_end_us(rec, t);
			if (end_us <= last->time_us)
				end_us = last->time_us + 1;
			end[n_ends++] = (struct keyed){ (uint64_t)end_us, last->kb };
		}
		last->kb = 0;
	}
	if (r)
		goto out;
	r = sort_keyed(end, n_ends);
	if (r)
		goto out;
	r = reserve(c, rec->n_memory + n_ends);
	if (r)
		goto out;
	for (size_t i = 0; !r && i < rec->n_memory; i++) {
		const struct memory_change *m = &rec->memory[i];
		struct level *task = &now[m->task];

		if (!task->ran)
			continue;
		for (; at < n_ends && (int64_t)end[at].key <= m->time_ms * 1000; at++)
			change(c, (int64_t)end[at].key, -end[at].value);
		change(c, m->time_ms * 1000, (int64_t)m->kb - task->kb);
		task->kb = m->kb;
	}
	if (r)
		goto out;
	for (; at < n_ends; at++)
		change(c, (int64_t)end[at].key, -end[at].value);
out:
	free(end);
	free(now);
	c->time_us = array_trim(c->time_us, c->n, sizeof *c->time_us);
	c->value = array_trim(c->value, c->n, sizeof *c->value);
	return r;
}

uint32_t *curve_task_memory_at(const struct recording *rec, int64_t time_us)
{
	struct level *now = levels_until(rec, time_us);
	uint32_t *kb = now ? array_new_zero(rec->n_tasks + 1, sizeof *kb) : NULL;

	for (size_t i = 0; kb && i < rec->n_tasks; i++) {
		const struct task *t = &rec->task[i];

		if (now[i].kb && task_ran(t) && t->start_us <= time_us &&
		    (recording_task_end_us(rec, t) > time_us || now[i].time_us == time_us))
			kb[i] = now[i].kb;
	}
	free(now);
	return kb;
}

size_t curve_first_after(const int64_t *time_us, size_t from, size_t n, int64_t time)
{
	struct search_range s = search_between(from, n);

	while (search_next(&s))
		search_past(&s, time_us[s.at] <= time);
	return s.at;
}

/* The step that holds at a time, as index + 1; 0: before the first. */
static size_t step_at(const struct curve *c, int64_t time_us)
{
	return curve_first_after(c->time_us, 0, c->n, time_us);
}

/* *at: how much of the curve was passed before. */
static int64_t walk_to(const struct curve *c, size_t *at, int64_t time_us)
{
	while (*at < c->n && c->time_us[*at] <= time_us)
		(*at)++;
	return *at ? c->value[*at - 1] : 0;
}

void curve_largest_samples(const struct curve *c, const struct recording *rec, int64_t *time_us,
			   size_t n)
{
	size_t at = 0, next = 0;

	for (size_t i = 0; i < n; i++) {
		int64_t until_us = time_us[i], most = -1;

		while (next < rec->n_memory && rec->memory[next].time_ms * 1000 < until_us) {
			int64_t sample_us = rec->memory[next].time_ms * 1000;
			int64_t level = walk_to(c, &at, sample_us);

			if (level > most) {
				most = level;
				time_us[i] = sample_us;
			}
			while (next < rec->n_memory &&
			       rec->memory[next].time_ms * 1000 == sample_us)
				next++;
		}
		if (walk_to(c, &at, until_us) > most)
			time_us[i] = until_us;
		while (next < rec->n_memory && rec->memory[next].time_ms * 1000 == until_us)
			next++;
	}
}

static int64_t level_at(const struct curve *c, int64_t time_us)
{
	size_t at = step_at(c, time_us);

	return at ? c->value[at - 1] : 0;
}

int64_t curve_peak(const struct curve *c, int64_t from_us, int64_t until_us, int64_t *time_us)
{
	int64_t peak = level_at(c, from_us);

	*time_us = from_us;
	for (size_t i = step_at(c, from_us); i < c->n && c->time_us[i] < until_us; i++) {
		if (c->value[i] <= peak)
			continue;
		peak = c->value[i];
		*time_us = c->time_us[i];
	}
	return MAX(peak, 0);
}

int64_t curve_integral(const struct curve *c, int64_t from_us, int64_t until_us)
{
	int64_t value = level_at(c, from_us), sum = 0;

	for (size_t i = step_at(c, from_us); from_us < until_us; i++) {
		int64_t end = i < c->n && c->time_us[i] < until_us ? c->time_us[i] : until_us;

		sum = sat_add(sum, sat_mul(value, end - from_us));
		from_us = end;
		value = i < c->n ? c->value[i] : 0;
	}
	return sum;
}

void curve_histogram(const struct curve *c, int64_t from_us, int64_t until_us,
		     int64_t *time_at_us, size_t n)
{
	int64_t value = level_at(c, from_us);

	memset(time_at_us, 0, n * sizeof *time_at_us);
	for (size_t i = step_at(c, from_us); from_us < until_us; i++) {
		int64_t end = i < c->n && c->time_us[i] < until_us ? c->time_us[i] : until_us;
		size_t at = value <= 0 ? 0 : (uint64_t)value < n - 1 ? (size_t)value : n - 1;

		time_at_us[at] += end - from_us;
		from_us = end;
		value = i < c->n ? c->value[i] : 0;
	}
}
