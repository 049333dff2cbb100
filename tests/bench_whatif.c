/* SPDX-License-Identifier: MIT */
/*
 * CPU time of `buildbeat whatif --curve` of 100,000 tasks with 64 points, and of one prediction, beside
 * reading the recording alone.
 */
#include "recording/recording.h"
#include "tests/paths.h"
#include "tests/spend.h"

#include <stdio.h>

#define ROUNDS 5
#define POINTS 64
#define BAR_MS 2000

static int read_only(void *path)
{
	struct recording rec = RECORDING_INIT;
	struct error err;
	int r = recording_read(&rec, path, NULL, &err);

	recording_release(&rec);
	return r;
}

static int measure(const char *dir)
{
	char path[64];
	const char *const generate[] = {
		TOP_BUILDDIR "/tests/gen_recording", path, "100000", "36000", NULL
	};
	const char *const one[] = { TOP_BUILDDIR "/buildbeat", "whatif", "-j8", path, NULL };
	const char *const curve[] = { TOP_BUILDDIR "/buildbeat", "whatif", "--curve", "-j64", path, NULL };
	struct spent best, best_read, best_curve;

	snprintf(path, sizeof path, "%s/rec", dir);
	if (spend(generate).status || spend_beside(one, read_only, path, ROUNDS, &best, &best_read) ||
	    spend_beside(curve, read_only, path, ROUNDS, &best_curve, &best_read))
		return 1;
	printf("whatif of 100,000 tasks: %.2f x reading them; %.0f ms CPU, reading %.0f ms\n",
	       best.cpu_ms / best_read.cpu_ms, best.cpu_ms, best_read.cpu_ms);
	printf("whatif --curve of %d points: %.0f ms CPU (bar: %d), %.2f ms a point\n", POINTS, best_curve.cpu_ms,
	       BAR_MS, (best_curve.cpu_ms - best_read.cpu_ms) / POINTS);
	return 0;
}

int main(void)
{
	return spend_in_tmpdir(measure, "bench_whatif: cannot make or replay a recording");
}
