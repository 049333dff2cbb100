#include "curve.h"

#include "cost.h"
#include "saturate.h"

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
	c->time_us = malloc((n + 1) * sizeof *c->time_us);
	c->value = malloc((n + 1) * sizeof *c->value);
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

int curve_from_changes(struct curve *c, struct keyed *change, size_t n)
{
	int64_t value = 0;

	if (sort_keyed(change, n) || reserve(c, n))
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		value = (int64_t)((uint64_t)value + (uint64_t)change[i].value);
		add_step(c, (int64_t)change[i].key, value);
	}
	return 0;
}

int curve_running(struct curve *c, const struct recording *rec)
{
	struct keyed *change = malloc((2 * rec->n_tasks + 1) * sizeof *change);
	size_t n = 0;
	int r;

	if (!change)
		return -ENOMEM;
	for (size_t i = 0; i < rec->n_tasks; i++) {
		const struct task *t = &rec->task[i];

		if (!task_ran(t) || t->hosts)
			continue;
		change[n++] = (struct keyed){ (uint64_t)t->start_us, 1 };
		change[n++] = (struct keyed){ (uint64_t)recording_task_end_us(rec, t), -1 };
	}
	r = curve_from_changes(c, change, n);
	free(change);
	return r;
}

int64_t usage_memory_kb(const struct task_usage *u)
{
	return u->pss_kb > 0 ? u->pss_kb : u->rss_kb > 0 ? u->rss_kb : 0;
}

static size_t add_memory_changes(struct keyed *change, const struct recording *rec,
				 const struct task *t)
{
	const struct task_usage *u = &rec->usage[t->first_usage];
	int64_t before = 0, last_us = 0;
	size_t n = 0;

	for (size_t i = 0; i < t->n_usage; i++) {
		int64_t kb = usage_memory_kb(&u[i]);

		last_us = u[i].time_ms > 0 ? u[i].time_ms * 1000 : 0;
		change[n++] = (struct keyed){ (uint64_t)last_us, kb - before };
		before = kb;
	}
	if (recording_task_end_us(rec, t) > last_us)
		last_us = recording_task_end_us(rec, t);
	else
		last_us++;
	if (before)
		change[n++] = (struct keyed){ (uint64_t)last_us, -before };
	return n;
}

int curve_task_memory(struct curve *c, const struct recording *rec)
{
	struct keyed *change = malloc((rec->n_usage + rec->n_tasks + 1) * sizeof *change);
	size_t n = 0;
	int r;

	if (!change)
		return -ENOMEM;
	for (size_t i = 0; i < rec->n_tasks; i++) {
		if (rec->task[i].n_usage && task_ran(&rec->task[i]))
			n += add_memory_changes(change + n, rec, &rec->task[i]);
	}
	r = curve_from_changes(c, change, n);
	free(change);
	return r;
}

/* The step that holds at a time, as index + 1; 0: before the first. */
static size_t step_at(const struct curve *c, int64_t time_us)
{
	size_t low = 0, high = c->n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (c->time_us[middle] <= time_us)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int64_t curve_at(const struct curve *c, int64_t time_us)
{
	size_t at = step_at(c, time_us);

	return at ? c->value[at - 1] : 0;
}

int64_t curve_peak(const struct curve *c, int64_t from_us, int64_t until_us, int64_t *time_us)
{
	int64_t peak = curve_at(c, from_us);

	*time_us = from_us;
	for (size_t i = step_at(c, from_us); i < c->n && c->time_us[i] < until_us; i++) {
		if (c->value[i] <= peak)
			continue;
		peak = c->value[i];
		*time_us = c->time_us[i];
	}
	return peak > 0 ? peak : 0;
}

int64_t curve_integral(const struct curve *c, int64_t from_us, int64_t until_us)
{
	int64_t value = curve_at(c, from_us), sum = 0;

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
	int64_t value = curve_at(c, from_us);

	memset(time_at_us, 0, n * sizeof *time_at_us);
	for (size_t i = step_at(c, from_us); from_us < until_us; i++) {
		int64_t end = i < c->n && c->time_us[i] < until_us ? c->time_us[i] : until_us;
		size_t at = value <= 0 ? 0 : (uint64_t)value < n - 1 ? (size_t)value : n - 1;

		time_at_us[at] += end - from_us;
		from_us = end;
		value = i < c->n ? c->value[i] : 0;
	}
}

int64_t task_memory_at(const struct recording *rec, const struct task *t, int64_t time_us)
{
	const struct task_usage *u = &rec->usage[t->first_usage];
	size_t low = 0, high = t->n_usage;

	if (!t->n_usage || t->start_us > time_us)
		return 0;
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (u[middle].time_ms * 1000 <= time_us)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return 0;
	if (recording_task_end_us(rec, t) <= time_us && u[low - 1].time_ms * 1000 < time_us)
		return 0;
	return usage_memory_kb(&u[low - 1]);
}
