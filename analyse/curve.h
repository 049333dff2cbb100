/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_CURVE_H
#define BUILDBEAT_ANALYSE_CURVE_H

#include "recording/recording.h"

#include <stddef.h>
#include <stdint.h>

/* A quantity over time in steps: value[i] from time_us[i] on, 0 before the first. Times rise.
 * Both arrays come from malloc(). */
struct curve {
	size_t n;
	int64_t *time_us;
	int64_t *value;
};

#define CURVE_INIT { 0 }

void curve_release(struct curve *c);

/* How many of n things are there: key of begin and end are when each comes and goes, in any order,
 * which changes. 0 or -ENOMEM. */
struct keyed;
int curve_count(struct curve *c, struct keyed *begin, struct keyed *end, size_t n);

/* How many tasks run, those counted that ran no make of their own. order and
 * by_end: the indices of the n tasks that ran, by start and by end. 0 or -ENOMEM. */
int curve_running(struct curve *c, const struct recording *rec, const uint32_t *order,
		  const uint32_t *by_end, size_t n);

/* KiB of memory that the processes of all tasks had, as sampled. 0 or -ENOMEM. */
int curve_task_memory(struct curve *c, const struct recording *rec);

/*
 * Move rising points in time at which curve_task_memory() is shown: each one to the time of
 * the largest sampled level since the previous point. The level that a task keeps after its
 * last sample does not count.
 */
void curve_largest_samples(const struct curve *c, const struct recording *rec, int64_t *time_us,
			   size_t n);

/* Of rising times, the first one after `time`, from index `from` on; n if there is none. */
size_t curve_first_after(const int64_t *time_us, size_t from, size_t n, int64_t time);

/* The largest value at any time in [from, until), 0 at least, and when first. */
int64_t curve_peak(const struct curve *c, int64_t from_us, int64_t until_us, int64_t *time_us);

/* Value times microseconds, added up over [from, until). */
int64_t curve_integral(const struct curve *c, int64_t from_us, int64_t until_us);

/* How long it had each value 0, 1 ... n - 2 and n - 1 or more in [from, until). */
void curve_histogram(const struct curve *c, int64_t from_us, int64_t until_us,
		     int64_t *time_at_us, size_t n);

/* The sampled memory of each task of rec at a time, in KiB, 0 if there is no sample. The
 * caller frees it; NULL when out of memory. */
uint32_t *curve_task_memory_at(const struct recording *rec, int64_t time_us);

#endif
