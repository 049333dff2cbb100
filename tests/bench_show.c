/* SPDX-License-Identifier: MIT */
/*
 * CPU time of `buildbeat show` of 100,000 tasks and 36,000 samples, beside reading the
 * recording alone.
 */
#include "recording/recording.h"
#include "tests/paths.h"
#include "tests/spend.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ROUNDS 7
#define BAR_MS 120

static int read_only(void *path)
{
	struct recording rec = RECORDING_INIT;
	struct error err;
	int r = recording_read_sums(&rec, path, NULL, &err);

	recording_release(&rec);
	return r;
}

static int measure(char *path)
{
	const char *const show[] = { TOP_BUILDDIR "/buildbeat", "show", path, NULL };
	struct spent best = { 0 }, best_read = { 0 };

	for (int i = 0; i < ROUNDS; i++) {
		struct spent s = spend(show), reading = spend_here(read_only, path);

		if (s.status || reading.status)
			return 1;
		spent_keep_best(&best, &s);
		spent_keep_best(&best_read, &reading);
	}
	printf("show of 100,000 tasks + 36,000 samples: %.2f x reading it alone; "
	       "%.0f ms CPU (bar: %d), reading %.0f ms\n",
	       best.cpu_ms / best_read.cpu_ms, best.cpu_ms, BAR_MS, best_read.cpu_ms);
	return 0;
}

int main(void)
{
	char dir[] = "/tmp/buildbeat-bench-XXXXXX", path[sizeof dir + 8];
	const char *const generate[] = {
		TOP_BUILDDIR "/tests/gen_recording", path, "100000", "36000", NULL
	};
	const char *const clean[] = { "/bin/rm", "-rf", dir, NULL };
	int failed = 1;

	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof path, "%s/rec", dir);
	if (!spend(generate).status)
		failed = measure(path);
	spend(clean);
	if (failed)
		fprintf(stderr, "bench_show: cannot make or show a recording\n");
	return failed;
}
