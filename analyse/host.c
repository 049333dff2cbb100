/* SPDX-License-Identifier: MIT */
#include "analyse/host.h"

#include "base/array.h"
#include "base/minmax.h"
#include "base/saturate.h"

#include <stdio.h>

static const char *const pressure_name[PRESSURES] = {
	[PRESSURE_CPU_SOME] = "cpu.some",
	[PRESSURE_IO_SOME] = "io.some", [PRESSURE_IO_FULL] = "io.full",
	[PRESSURE_MEMORY_SOME] = "memory.some", [PRESSURE_MEMORY_FULL] = "memory.full",
};

static int64_t growth(const struct recording *rec, const char *series, const char *name)
{
	struct column c;

	return column_find(&c, rec, series, name) ? column_growth(&c) : -1;
}

static struct moment peak(const struct recording *rec, const char *series, const char *name)
{
	struct column c;

	return column_find(&c, rec, series, name) ? column_peak(&c) : (struct moment){ -1, -1 };
}

/* The sum of the known values. */
static int64_t sum(int64_t a, int64_t b)
{
	return a < 0 ? b : b < 0 ? a : sat_add(a, b);
}

static int64_t span_us(const struct recording *rec, const char *series)
{
	struct column c;

	if (!column_find(&c, rec, series, "*") || c.n < 2)
		return 0;
	return (c.series->time_ms[c.n - 1] - c.series->time_ms[0]) * 1000;
}

/*
 * The kernel brings the totals of /proc/pressure up to date every two seconds. What a total grew when it
 * first did is of the two seconds before, of which the recording may have seen a part; it counts as that
 * part. So no time is longer than that between the first sample and the last one.
 */
#define PRESSURE_STEP_MS 2000

static int64_t stalled_us(const struct recording *rec, const char *name)
{
	struct column c;
	int64_t all_us = 0;

	if (!column_find(&c, rec, "proc_pressure", name) || !c.n_parts || !c.n)
		return -1;
	for (size_t i = 1; i < c.n; i++) {
		int64_t us = column_between(&c, i - 1, i);
		int64_t seen_ms = c.series->time_ms[i] - c.series->time_ms[0];

		if (us > 0 && !all_us && seen_ms < PRESSURE_STEP_MS)
			us = (int64_t)((double)us * (double)seen_ms / PRESSURE_STEP_MS);
		all_us = sat_add(all_us, MAX(us, 0));
		if (all_us / 1000 >= seen_ms)
			all_us = seen_ms * 1000;
	}
	return all_us;
}

static void fill_cpu(struct host *h, const struct recording *rec)
{
	h->span_us = span_us(rec, "proc_stat");
	h->user_us = sum(growth(rec, "proc_stat", "user"), growth(rec, "proc_stat", "nice"));
	h->system_us = sum(growth(rec, "proc_stat", "system"), growth(rec, "proc_stat", "irq"));
	h->iowait_us = growth(rec, "proc_stat", "iowait");
	h->steal_us = growth(rec, "proc_stat", "steal");
}

/* OpenEmbedded does not record what is available: nearly all but free, buffers, cache. */
static bool find_left(struct column part[3], size_t *n, const struct recording *rec)
{
	static const char *const parts[] = { "free", "buffers", "cached" };

	*n = 1;
	if (column_find(&part[0], rec, "proc_meminfo", "available"))
		return true;
	for (*n = 0; *n < 3; ++*n) {
		if (!column_find(&part[*n], rec, "proc_meminfo", parts[*n]))
			return false;
	}
	return true;
}

static int64_t level_left(const struct column *part, size_t n, size_t sample)
{
	int64_t left = 0;

	for (size_t i = 0; i < n; i++) {
		int64_t level = column_level(&part[i], sample);

		if (level < 0)
			return -1;
		left = sat_add(left, level);
	}
	return left;
}

static void fill_memory(struct host *h, const struct recording *rec)
{
	struct column total, left[3];
	size_t n;

	h->memory_used_bytes = (struct moment){ -1, -1 };
	h->memory_total_bytes = peak(rec, "proc_meminfo", "total").value;
	if (!column_find(&total, rec, "proc_meminfo", "total") || !find_left(left, &n, rec))
		return;
	for (size_t i = 0; i < total.n; i++) {
		int64_t all = column_level(&total, i), unused = level_left(left, n, i);

		if (all >= 0 && unused >= 0 && all - unused > h->memory_used_bytes.value)
			h->memory_used_bytes = (struct moment){
				all - unused, total.series->time_ms[i] * 1000
			};
	}
}

static void fill_disk(struct host *h, const struct recording *rec)
{
	struct column read, both;

	h->disk_read_bytes = growth(rec, "proc_diskstats", "*.read");
	h->disk_written_bytes = growth(rec, "proc_diskstats", "*.written");
	h->disk_busiest_bytes = (struct moment){ -1, -1 };
	if (!column_find(&both, rec, "proc_diskstats", "*.written") ||
	    !column_find(&read, rec, "proc_diskstats", "*.read") || read.scale != both.scale)
		return;
	for (size_t i = 0; i < read.n_parts && both.n_parts < COLUMN_PARTS_MAX; i++)
		both.part[both.n_parts++] = read.part[i];
	h->disk_busiest_bytes = column_busiest(&both);
}

/* From proc_stat, which changes at every sample, otherwise from the series with most. */
static void fill_samples(struct host *h, const struct recording *rec)
{
	const struct series *s = recording_series(rec, "proc_stat");

	h->samples = h->gaps = 0;
	for (size_t i = 0; !s && i < rec->n_series; i++) {
		if (rec->series[i].n > h->samples)
			h->samples = rec->series[i].n;
	}
	if (s)
		h->samples = s->n;
	for (size_t i = 0; s && i < s->n; i++)
		h->gaps += s->gap[i];
}

/* A value that no machine has is damage. */
static struct host_calibration calibration(const struct recording *rec, const char *when)
{
	struct host_calibration c;
	const struct {
		const char *unit;
		int64_t *value, max;
	} lines[] = {
		{ "least_ns", &c.least_ns, 1000000000 }, { "mean_ns", &c.mean_ns, INT64_MAX },
		{ "mhz", &c.mhz, 100000 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		char key[64];

		snprintf(key, sizeof key, "calibration_%s_%s", when, lines[i].unit);
		*lines[i].value = recording_build_number(rec, key);
		if (*lines[i].value < 1 || *lines[i].value > lines[i].max)
			*lines[i].value = -1;
	}
	return c;
}

void host_fill(struct host *h, const struct recording *rec)
{
	fill_cpu(h, rec);
	fill_memory(h, rec);
	fill_disk(h, rec);
	fill_samples(h, rec);
	h->start = calibration(rec, "start");
	h->end = calibration(rec, "end");
	h->cgroup_memory_bytes = peak(rec, "proc_cgroup", "memory");
	h->swap_used_bytes = peak(rec, "proc_meminfo", "swap");
	h->swapped_in_bytes = growth(rec, "proc_vmstat", "pswpin");
	h->swapped_out_bytes = growth(rec, "proc_vmstat", "pswpout");
	h->oom_kills = growth(rec, "proc_vmstat", "oom_kill");
	h->net_received_bytes = growth(rec, "proc_net", "*.rx");
	h->net_sent_bytes = growth(rec, "proc_net", "*.tx");
	h->pressure_span_us = span_us(rec, "proc_pressure");
	for (size_t i = 0; i < PRESSURES; i++)
		h->stalled_us[i] = stalled_us(rec, pressure_name[i]);
}
