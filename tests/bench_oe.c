/* SPDX-License-Identifier: MIT */
/*
 * CPU time of `buildbeat show` of OpenEmbedded's directory of 100,000 tasks, a file each,
 * and 36,000 samples, beside opening, reading and closing the same files.
 */
#include "tests/paths.h"
#include "tests/spend.h"
#include "tests/touch.h"

#include <stdio.h>

#define ROUNDS 5
#define BAR_MS 700

static int touch(void *path)
{
	return touch_files(path) <= 100000;
}

static int measure(const char *dir)
{
	char path[64];
	const char *const generate[] = {
		TOP_BUILDDIR "/tests/gen_oe", path, "10000", "10", "36000", NULL
	};
	const char *const show[] = { TOP_BUILDDIR "/buildbeat", "show", path, NULL };
	struct spent best, touching;

	snprintf(path, sizeof path, "%s/oe", dir);
	if (spend(generate).status || spend_beside(show, touch, path, ROUNDS, &best, &touching))
		return 1;
	printf("show of 100,000 OpenEmbedded task files + 36,000 samples: %.2f x opening and "
	       "reading them; %.0f ms CPU (bar: %d), the files alone %.0f ms\n",
	       best.cpu_ms / touching.cpu_ms, best.cpu_ms, BAR_MS, touching.cpu_ms);
	return 0;
}

int main(void)
{
	return spend_in_tmpdir(measure, "bench_oe: cannot make or show a build's directory");
}
