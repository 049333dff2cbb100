/* SPDX-License-Identifier: MIT */
/*
 * Time and memory of recording_read(): bench_read [RECORDING]. Without an argument it writes
 * a recording of 100,000 tasks and 36,000 samples first. It prints the fastest of five runs.
 */
#include "recording/recording.h"
#include "tests/paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static int64_t cpu_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

static int once(const char *path, int64_t *best_us, struct recording *rec)
{
	struct error err = { 0 };
	int64_t start_us = cpu_us();
	int r = recording_read(rec, path, NULL, &err);
	int64_t took_us = cpu_us() - start_us;

	if (r)
		fprintf(stderr, "bench_read: %s:%u: %s\n", err.path, err.line, err.message);
	if (*best_us < 0 || took_us < *best_us)
		*best_us = took_us;
	return r;
}

static void print(const struct recording *rec, int64_t best_us)
{
	struct rusage usage;
	size_t samples = 0;

	getrusage(RUSAGE_SELF, &usage);
	for (size_t i = 0; i < rec->n_series; i++)
		samples += rec->series[i].n;
	printf("recording_read: %zu tasks, %zu instances, %zu samples in %zu logs: "
	       "%.1f ms CPU, %ld MB\n", rec->n_tasks, rec->n_instances, samples,
	       rec->n_series, (double)best_us / 1000, usage.ru_maxrss / 1024);
	for (size_t i = 0; i < rec->n_warnings; i++)
		printf("warning: %s\n", rec->warning[i].text);
}

static int bench(const char *path)
{
	int64_t best_us = -1;
	int r = 0;

	for (int i = 0; !r && i < 5; i++) {
		struct recording rec = RECORDING_INIT;

		r = once(path, &best_us, &rec);
		if (!r && i == 4)
			print(&rec, best_us);
		recording_release(&rec);
	}
	return r ? 1 : 0;
}

static int run(const char *program, const char *argument)
{
	char command[512];

	snprintf(command, sizeof command, "%s %s", program, argument);
	return system(command);
}

int main(int argc, char **argv)
{
	char dir[] = "/tmp/buildbeat-bench-XXXXXX", path[64];
	int r;

	if (argc > 1)
		return bench(argv[1]);
	if (!mkdtemp(dir)) {
		perror(dir);
		return 1;
	}
	snprintf(path, sizeof path, "%s/large", dir);
	r = run(TOP_BUILDDIR "/tests/gen_recording", path);
	if (!r)
		r = bench(path);
	run("rm -rf", dir);
	return r ? 1 : 0;
}
