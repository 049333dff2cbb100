/* SPDX-License-Identifier: MIT */
/*
 * CPU time of `buildbeat show` and `buildbeat import` of OpenEmbedded's directories of 10,000 and
 * 100,000 tasks, a file each, beside opening, reading and closing the same files; and of `show` with
 * 36,000 samples.
 */
#include "base/array.h"
#include "tests/paths.h"
#include "tests/spend.h"
#include "tests/touch.h"

#include <stdio.h>

#define ROUNDS 5

static const struct { const char *recipes, *samples, *what; int bar_ms; } sizes[] = {
	{ "1000", "0", "10,000 OpenEmbedded task files", 60 },
	{ "10000", "0", "100,000 OpenEmbedded task files", 600 },
	{ "10000", "36000", "100,000 OpenEmbedded task files + 36,000 samples", 700 },
};

static int touch(void *path)
{
	return touch_files(path) < 10000;
}

static int measure_one(const char *dir, size_t i)
{
	char path[64], base[80];
	const char *const generate[] = {
		TOP_BUILDDIR "/tests/gen_oe", path, sizes[i].recipes, "10", sizes[i].samples, NULL
	};
	const char *const show[] = { TOP_BUILDDIR "/buildbeat", "show", path, NULL };
	const char *const import[] = { TOP_BUILDDIR "/buildbeat", "import", "-o", base, path, NULL };
	struct spent shown, imported, touching, again;

	snprintf(path, sizeof path, "%s/oe%zu", dir, i);
	snprintf(base, sizeof base, "%s.imported", path);
	if (spend(generate).status || spend_beside(show, touch, path, ROUNDS, &shown, &touching) ||
	    spend_beside(import, touch, path, ROUNDS, &imported, &again))
		return 1;
	spent_keep_best(&touching, &again);
	printf("%s: import %.2f, show %.2f x opening and reading them; %.0f and %.0f ms CPU (bar: %d), "
	       "the files alone %.0f ms\n", sizes[i].what, imported.cpu_ms / touching.cpu_ms,
	       shown.cpu_ms / touching.cpu_ms, imported.cpu_ms, shown.cpu_ms, sizes[i].bar_ms,
	       touching.cpu_ms);
	return 0;
}

static int measure(const char *dir)
{
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		if (measure_one(dir, i))
			return 1;
	}
	return 0;
}

int main(void)
{
	return spend_in_tmpdir(measure, "bench_oe: cannot make, show or import a build's directory");
}
