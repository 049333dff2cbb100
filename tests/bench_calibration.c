/* SPDX-License-Identifier: MIT */
/*
 * Cost of measuring the machine's speed, once before and once after a build, beside the
 * recording of a command that does nothing. By how much the speed differs between such
 * recordings on one machine.
 */
#include "sampler/calibration.h"

#include "analyse/host.h"
#include "tests/paths.h"
#include "tests/spend.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUNDS 30
#define BAR_MS 10

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double now_ms(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* The launcher was idle before both. */
static void print_cost(double record_ms)
{
	static const struct timespec nap = { 0, 20000000 };
	double cpu[ROUNDS], wall[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		struct calibration c;

		nanosleep(&nap, NULL);
		cpu[i] = now_ms(CLOCK_THREAD_CPUTIME_ID);
		wall[i] = now_ms(CLOCK_MONOTONIC);
		calibration_run(&c);
		cpu[i] = now_ms(CLOCK_THREAD_CPUTIME_ID) - cpu[i];
		wall[i] = now_ms(CLOCK_MONOTONIC) - wall[i];
	}
	qsort(cpu, ROUNDS, sizeof *cpu, by_size);
	qsort(wall, ROUNDS, sizeof *wall, by_size);
	printf("calibration, start and end each: %.2f x the CPU time of recording `true` (%.1f ms); "
	       "median %.2f ms CPU, %.2f ms wall, most %.2f and %.2f (bar: %d)\n",
	       cpu[ROUNDS / 2] / record_ms, record_ms, cpu[ROUNDS / 2], wall[ROUNDS / 2],
	       cpu[ROUNDS - 1], wall[ROUNDS - 1], BAR_MS);
}

static void print_spread(const char *when, double *ns)
{
	qsort(ns, ROUNDS, sizeof *ns, by_size);
	printf("calibration, %s of %d recordings: median x %.3f, slowest x %.3f of the fastest "
	       "(%.2f us); bar: 1.01 on a quiet machine\n", when, ROUNDS,
	       ns[ROUNDS / 2] / ns[0], ns[ROUNDS - 1] / ns[0], ns[0] / 1e3);
}

static int measure(const char *dir)
{
	double start[ROUNDS], end[ROUNDS], both[ROUNDS];
	struct spent best = { 0 };

	for (int i = 0; i < ROUNDS; i++) {
		char path[128], name[16];
		const char *const record[] = { TOP_BUILDDIR "/buildbeat", "record", "--no-git",
					       "-o", dir, "-n", name, "--", "true", NULL };
		struct recording rec = RECORDING_INIT;
		struct error err;
		struct spent s;
		struct host h;

		snprintf(name, sizeof name, "%d", i);
		snprintf(path, sizeof path, "%s/%d", dir, i);
		s = spend(record);
		if (s.status || recording_read_build(&rec, path, NULL, &err))
			return 1;
		spent_keep_best(&best, &s);
		host_fill(&h, &rec);
		recording_release(&rec);
		start[i] = (double)h.start.least_ns;
		end[i] = (double)h.end.least_ns;
		both[i] = (start[i] + end[i]) / 2;
	}
	print_cost(best.cpu_ms);
	print_spread("start", start);
	print_spread("end", end);
	print_spread("mean", both);
	return 0;
}

int main(void)
{
	return spend_in_tmpdir(measure, "bench_calibration: cannot record");
}
