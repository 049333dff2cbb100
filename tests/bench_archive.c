/*
 * What an archive costs: a night of 10,000 tasks written, a year of it read, and what it is
 * on disk. CPU time, of this process alone.
 */
#include "archive.h"
#include "spend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SERIES "nightly-1/master/x86_64"
#define ROUNDS 5

static const char *repo;

static int read_metrics(void *context)
{
	size_t n_metrics = *(const size_t *)context;
	static const enum metric usual[] = { METRIC_WALL, METRIC_CPU, METRIC_MEMORY, METRIC_IO };
	struct nights nights = NIGHTS_INIT;
	struct error err = { 0 };
	float *values = NULL;
	struct archive *a;
	int r = archive_open(&a, repo, ARCHIVE_READ, &err);

	if (!r)
		r = archive_nights(a, SERIES, 0, &nights, &err);
	if (!r)
		values = malloc(nights.n * nights.n_tasks * sizeof *values);
	for (size_t i = 0; !r && i < n_metrics; i++)
		r = nights.load(&nights, usual[i], values, &err);
	if (r)
		fprintf(stderr, "%s: %s\n", err.path, err.message);
	free(values);
	nights_release(&nights);
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

int main(int argc, char **argv)
{
	repo = argc > 1 ? argv[1] : "bench-archive.git";
	tell("index of the nights", 0);
	tell("and wall time", 1);
	tell("and wall, CPU, memory, I/O", 4);
	return 0;
}
