/* SPDX-License-Identifier: MIT */
/*
 * Costs of an archive: writing a build of 10,000 tasks, reading a year of builds, size on
 * disk. CPU time is of this process.
 */
#include "archive/archive.h"
#include "tests/spend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SERIES "nightly-1/master/x86_64"
#define ROUNDS 5

static const char *repo;

static int read_metrics(void *context)
{
	size_t n_metrics = *(const size_t *)context;
	static const enum metric usual[] = { METRIC_WALL, METRIC_CPU, METRIC_MEMORY, METRIC_IO };
	struct builds builds = BUILDS_INIT;
	struct error err = { 0 };
	float *values = NULL;
	struct archive *a;
	int r = archive_open(&a, repo, ARCHIVE_READ, &err);

	if (!r)
		r = archive_builds(a, SERIES, 0, &builds, &err);
	if (!r)
		values = malloc(builds.n * builds.n_tasks * sizeof *values);
	for (size_t i = 0; !r && i < n_metrics; i++)
		r = builds.load(&builds, usual[i], values, &err);
	if (r)
		fprintf(stderr, "%s: %s\n", err.path, err.message);
	free(values);
	builds_release(&builds);
	archive_close(a);
	return r;
}

static void tell(const char *what, size_t n_metrics)
{
	struct spent best = { .cpu_ms = -1 };

	for (int i = 0; i < ROUNDS; i++) {
		struct spent s = spend_here(read_metrics, &n_metrics);

		if (!i)
			best = s;
		spent_keep_best(&best, &s);
	}
	printf("%-40s %8.1f ms CPU %8.1f ms wall %6ld MB\n", what, best.cpu_ms, best.wall_ms,
	       best.max_rss_kb / 1024);
}

static int first(const char *command)
{
	struct spent s = spend((const char *const[]){ "sh", "-c", command, NULL });

	return s.status;
}

/* CPU time of adding a build of one archive to another; negative on failure. */
static double write_build(struct archive *from, struct archive *to, int build, struct error *err)
{
	char name[64], id[ARCHIVE_ID_SIZE];
	struct values f;
	bool added;
	clock_t begin;
	int r;

	snprintf(name, sizeof name, SERIES "~%d", build);
	r = archive_values(from, name, &f, err);
	begin = clock();
	if (!r)
		r = archive_add(to, SERIES, &(struct archive_build){ .values = &f }, id, &added, err);
	values_release(&f);
	return r ? r : (double)(clock() - begin) * 1e3 / CLOCKS_PER_SEC;
}

/* Adds the last builds to another archive; the cheapest one counts. */
static int tell_writing(void)
{
	struct error err = { 0 };
	struct archive *from, *to = NULL;
	double best = INFINITY, ms = 0;
	int r = archive_open(&from, "bench-archive.git", ARCHIVE_READ, &err);

	if (!r)
		r = archive_open(&to, "bench-archive-2.git", ARCHIVE_WRITE, &err);
	for (int i = 20; !r && ms >= 0 && i >= 0; i--) {
		ms = write_build(from, to, i, &err);
		best = fmin(best, ms);
	}
	archive_close(from);
	archive_close(to);
	if (r || ms < 0) {
		fprintf(stderr, "%s: %s\n", err.path, err.message);
		return 1;
	}
	printf("%-40s %8.1f ms CPU (bar 25)\n", "a build of 10,000 tasks written", best);
	fflush(stdout);
	return 0;
}

int main(int argc, char **argv)
{
	repo = argc > 1 ? argv[1] : "bench-archive.git";
	if (argc < 2 && first("rm -rf bench-archive.git bench-archive-2.git; tests/gen_archive "
			      "--tasks 10000 --builds 365 bench-archive.git")) {
		fprintf(stderr, "bench_archive: tests/gen_archive failed\n");
		return 1;
	}
	tell("index of 365 builds of 10,000 tasks", 0);
	tell("and wall time", 1);
	tell("and wall, CPU, memory, I/O (bar 500)", 4);
	if (argc > 1)
		return 0;
	if (tell_writing() ||
	    system("du -sm bench-archive.git | awk '{ print \"a year on disk \" $1 \" MB (bar 90)\" }'; "
		   "git -C bench-archive.git gc -q && du -sm bench-archive.git | "
		   "awk '{ print \"  packed \" $1 \" MB\" }'"))
		return 1;
	tell("and wall, CPU, memory, I/O, packed", 4);
	return first("rm -rf bench-archive.git bench-archive-2.git");
}
