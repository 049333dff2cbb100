/* SPDX-License-Identifier: MIT */
/*
 * CPU time of `buildbeat show` of 100,000 tasks and 36,000 samples, beside reading the
 * recording alone, and of `show --by target` beside `show`.
 */
#include "recording/recording.h"
#include "tests/paths.h"
#include "tests/spend.h"

#include <stdio.h>

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

static int measure(const char *dir)
{
	char path[64];
	const char *const generate[] = {
		TOP_BUILDDIR "/tests/gen_recording", path, "100000", "36000", NULL
	};
	const char *const show[] = { TOP_BUILDDIR "/buildbeat", "show", path, NULL };
	const char *const by[] = {
		TOP_BUILDDIR "/buildbeat", "show", "--by", "target", path, NULL
	};
	struct spent best, best_read, best_by;

	snprintf(path, sizeof path, "%s/rec", dir);
	if (spend(generate).status || spend_beside(show, read_only, path, ROUNDS, &best, &best_read) ||
	    spend_beside(by, read_only, path, ROUNDS, &best_by, &best_read))
		return 1;
	printf("show of 100,000 tasks + 36,000 samples: %.2f x reading it alone; "
	       "%.0f ms CPU (bar: %d), reading %.0f ms\n",
	       best.cpu_ms / best_read.cpu_ms, best.cpu_ms, BAR_MS, best_read.cpu_ms);
	printf("show --by target: %.2f x show (bar: 1.3); %.0f ms CPU\n",
	       best_by.cpu_ms / best.cpu_ms, best_by.cpu_ms);
	return 0;
}

int main(void)
{
	return spend_in_tmpdir(measure, "bench_show: cannot make or show a recording");
}
