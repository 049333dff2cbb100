/* SPDX-License-Identifier: MIT */
#include "render/chart/spark.h"

#include "base/minmax.h"

/* Summed over its processes; shared memory counted once where that was measured. */
static uint32_t memory_kb(const struct task_usage *u)
{
	return u->pss_kb ? u->pss_kb : u->rss_kb;
}

static uint32_t largest_kb(const struct task_usage *u, size_t n)
{
	uint32_t most = 0;

	for (size_t i = 0; i < n; i++)
		most = MAX(memory_kb(&u[i]), most);
	return most;
}

/* The stretch of n a time is in; times before and after its life are at its ends. */
static size_t stretch_of(int64_t time_ms, int64_t from_us, int64_t until_us, size_t n)
{
	double part = ((double)time_ms * 1000 - (double)from_us) /
		      ((double)until_us - (double)from_us);
	size_t at = part > 0 && part < 1 ? (size_t)(part * (double)n) : 0;

	return part >= 1 || at >= n ? n - 1 : at;
}

size_t spark_fill(uint8_t *level, size_t most, const struct recording *rec, const struct task *t)
{
	const struct task_usage *u = rec->usage ? rec->usage + t->first_usage : NULL;
	size_t n = MIN(t->n_usage, most), at = 0;
	int64_t end_us = recording_task_end_us(rec, t);
	uint32_t full_kb = u ? largest_kb(u, t->n_usage) : 0, kb = 0;

	if (t->n_usage < SPARK_SAMPLES_MIN || !full_kb || end_us <= t->start_us)
		return 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t largest = 0;
		bool measured = false;

		for (; at < t->n_usage && stretch_of(u[at].time_ms, t->start_us, end_us, n) == i;
		     at++) {
			kb = memory_kb(&u[at]);
			largest = MAX(kb, largest);
			measured = true;
		}
		if (!measured)
			largest = kb;
		level[i] = (uint8_t)(((uint64_t)largest * SPARK_FULL + full_kb / 2) / full_kb);
	}
	return n;
}
