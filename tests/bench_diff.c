/* SPDX-License-Identifier: MIT */
/*
 * CPU time of `buildbeat diff` of two builds of 10,000 tasks: of OpenEmbedded's directories,
 * beside opening and reading their files, and of two builds of an archive.
 */
#include "tests/paths.h"
#include "tests/spend.h"
#include "tests/touch.h"

#include <stdio.h>

#define ROUNDS 9
#define OE_BAR_MS 200
#define ARCHIVE_BAR_MS 30
#define ALL "--metrics=wall,cpu,memory,peak,io,read,written"

/* All files of both builds. */
static int touch_all(void *context)
{
	const char *const *path = context;
	int n = 0;

	for (int i = 0; i < 2; i++)
		n += touch_files(path[i]);
	return n < 20000;
}

static int nothing(void *unused)
{
	(void)unused;
	return 0;
}

static int bench_oe(const char *dir)
{
	char path[2][64];
	const char *paths[] = { path[0], path[1] };
	const char *argv[] = { TOP_BUILDDIR "/buildbeat", "diff", ALL, path[0], path[1], NULL };
	struct spent best, touching;

	for (int i = 0; i < 2; i++) {
		const char *const generate[] = { TOP_BUILDDIR "/tests/gen_oe", path[i], "1000",
						 "10", "3600", NULL };

		snprintf(path[i], sizeof path[i], "%s/oe%d", dir, i);
		if (spend(generate).status)
			return -1;
	}
	if (spend_beside(argv, touch_all, paths, ROUNDS, &best, &touching))
		return -1;
	printf("diff of two builds of 10,000 OpenEmbedded task files: %.2f x opening and reading "
	       "them; %.0f ms CPU (bar: %d), the files alone %.0f ms, %ld MiB\n",
	       best.cpu_ms / touching.cpu_ms, best.cpu_ms, OE_BAR_MS, touching.cpu_ms,
	       best.max_rss_kb / 1024);
	return 0;
}

static int bench_archive(const char *dir)
{
	char path[64];
	const char *const generate[] = { TOP_BUILDDIR "/tests/gen_archive", "--tasks", "10000",
					 "--builds", "3", path, NULL };
	const char *argv[] = { TOP_BUILDDIR "/buildbeat", "diff", ALL, "--repo", path, NULL };
	struct spent best, none;

	snprintf(path, sizeof path, "%s/builds.git", dir);
	if (spend(generate).status || spend_beside(argv, nothing, NULL, ROUNDS, &best, &none))
		return -1;
	printf("diff of two builds of 10,000 tasks from the archive: %.1f ms CPU (bar: %d), %ld "
	       "MiB\n", best.cpu_ms, ARCHIVE_BAR_MS, best.max_rss_kb / 1024);
	return 0;
}

static int bench(const char *dir)
{
	return bench_oe(dir) || bench_archive(dir);
}

int main(void)
{
	return spend_in_tmpdir(bench, "bench_diff: cannot make or compare builds");
}
