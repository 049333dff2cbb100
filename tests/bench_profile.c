/* SPDX-License-Identifier: MIT */
/*
 * CPU time of `buildbeat profile` of 100,000 tasks, beside reading them alone: with what they
 * waited for.
 */
#include "recording/recording.h"
#include "tests/paths.h"
#include "tests/spend.h"

#include <stdio.h>

#define ROUNDS 7
#define BAR_MS 200

static int read_only(void *path)
{
	struct recording rec = RECORDING_INIT;
	struct error err;
	const struct recording_options options = { .waits = true };
	int r = recording_read_as(&rec, path, &options, &err);

	recording_release(&rec);
	return r;
}

static int measure(const char *dir)
{
	char path[64];
	const char *const generate[] = {
		TOP_BUILDDIR "/tests/gen_recording", path, "100000", NULL
	};
	const char *const profile[] = { TOP_BUILDDIR "/buildbeat", "profile", path, NULL };
	struct spent best, best_read;

	snprintf(path, sizeof path, "%s/rec", dir);
	if (spend(generate).status || spend_beside(profile, read_only, path, ROUNDS, &best, &best_read))
		return 1;
	printf("profile of 100,000 tasks: %.2f x reading it alone; "
	       "%.0f ms CPU (bar: %d), reading %.0f ms\n",
	       best.cpu_ms / best_read.cpu_ms, best.cpu_ms, BAR_MS, best_read.cpu_ms);
	return 0;
}

int main(void)
{
	return spend_in_tmpdir(measure, "bench_profile: cannot make or read a recording");
}
