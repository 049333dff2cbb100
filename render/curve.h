#ifndef BUILDBEAT_RENDER_CURVE_H
#define BUILDBEAT_RENDER_CURVE_H

#include "recording.h"
#include "sort.h"

#include <stddef.h>
#include <stdint.h>

/*
 * A quantity over time in steps: from time_us[i] on it is value[i], before the
 * first it is 0. Times grow. Whole of it on the heap.
 */
struct curve {
	size_t n;
	int64_t *time_us;
	int64_t *value;
};

#define CURVE_INIT { 0 }

void curve_release(struct curve *c);

/*
 * The sum of changes: each a time in microseconds (key) and what is added then
 * (value); sorts them. 0 or -ENOMEM.
 */
int curve_from_changes(struct curve *c, struct keyed *change, size_t n);

/* How many tasks run, those counted that ran no make of their own. */
int curve_running(struct curve *c, const struct recording *rec);

/* KiB of memory that the processes of all tasks had, as sampled. */
int curve_task_memory(struct curve *c, const struct recording *rec);

int64_t curve_at(const struct curve *c, int64_t time_us);

/* The largest value at any time in [from, until), 0 at least, and when first. */
int64_t curve_peak(const struct curve *c, int64_t from_us, int64_t until_us, int64_t *time_us);

/* Value times microseconds, added up over [from, until). */
int64_t curve_integral(const struct curve *c, int64_t from_us, int64_t until_us);

/* How long it had each value 0, 1 ... n - 2 and n - 1 or more in [from, until). */
void curve_histogram(const struct curve *c, int64_t from_us, int64_t until_us,
		     int64_t *time_at_us, size_t n);

/* One task's memory at a sample: the best that was measured, in KiB. */
int64_t usage_memory_kb(const struct task_usage *u);

/* What the samples told of a task's memory at a time, 0 if nothing. */
int64_t task_memory_at(const struct recording *rec, const struct task *t, int64_t time_us);

#endif
