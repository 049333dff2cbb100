/* SPDX-License-Identifier: MIT */
/*
 * CPU time of `buildbeat chart --only bootchart` and size of the picture for 1,000, 10,000
 * and 100,000 tasks with 36,000 samples, beside reading the recording alone. A plain recording
 * has no memory of the tasks at each sample.
 */
#include "base/array.h"
#include "tests/paths.h"
#include "tests/spend.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROUNDS 7

static const struct size {
	const char *tasks;
	double bar_mb, peer_mb;
	double bar_ms, peer_s;		/* 0: none */
} sizes[] = {
	{ "1000", 1.2, 26.8, 0, 2.9 },
	{ "10000", 1.5, 46.8, 0, 3.9 },
	{ "100000", 2.8, 250.5, 120, 14.6 },
};

static double file_mb(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : (double)st.st_size / 1e6;
}

static int measure(const struct size *z, const char *what, char *path, const char *svg,
		   double *cpu_ms)
{
	const char *const chart[] = {
		TOP_BUILDDIR "/buildbeat", "chart", "-o", svg, path, NULL
	};
	struct spent best, best_read;

	if (spend_beside(chart, spend_reading, path, ROUNDS, &best, &best_read))
		return 1;
	printf("bootchart of %s tasks + 36,000 samples, %s: %.2f x reading it alone; %.0f ms CPU",
	       z->tasks, what, best.cpu_ms / best_read.cpu_ms, best.cpu_ms);
	if (z->bar_ms > 0)
		printf(" (bar: %.0f)", z->bar_ms);
	printf(", reading %.0f ms; %ld MB of memory%s; %.2f MB of SVG (bar: %.1f)\n"
	       "  (pybootchartgui: %.1f s, %.1f MB of SVG)\n",
	       best_read.cpu_ms, best.max_rss_kb / 1024,
	       z->bar_ms > 0 ? " (bar: 120)" : "", file_mb(svg), z->bar_mb, z->peer_s,
	       z->peer_mb);
	*cpu_ms = best.cpu_ms;
	return 0;
}

/* First as generated, then without the samples of tasks. */
static int measure_both(const struct size *z, char *path, const char *svg, double *cpu_ms)
{
	char rows[128];
	double with_ms;

	snprintf(rows, sizeof rows, "%s/proc_tasks.log", path);
	return measure(z, "with memory of tasks", path, svg, &with_ms) || unlink(rows) ||
	       measure(z, "plain", path, svg, cpu_ms);
}

static int measure_all(const char *dir)
{
	double cpu_ms[ARRAY_SIZE(sizes)];
	char path[64], svg[64];

	snprintf(svg, sizeof svg, "%s/x.svg", dir);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		const char *const generate[] = {
			TOP_BUILDDIR "/tests/gen_recording", path, sizes[i].tasks, "36000", NULL
		};

		snprintf(path, sizeof path, "%s/%s", dir, sizes[i].tasks);
		if (spend(generate).status || measure_both(&sizes[i], path, svg, &cpu_ms[i]))
			return 1;
	}
	printf("bootchart of 10 x the tasks: %.1f x and %.1f x the time (bar: 10 x)\n",
	       cpu_ms[1] / cpu_ms[0], cpu_ms[2] / cpu_ms[1]);
	return 0;
}

int main(void)
{
	return spend_in_tmpdir(measure_all, "bench_chart: cannot make or draw a recording");
}
