/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_POPULATION_H
#define BUILDBEAT_COMPARE_POPULATION_H

#include "compare/builds.h"

/*
 * Which tasks the newest good build has that the last whole build before it (presence.h) had not,
 * and the other way round. Tasks were followed through renames (follow_renames.h) before.
 */
enum population_kind {
	POPULATION_SAME,	/* in both */
	POPULATION_NEW,		/* never before */
	POPULATION_RETURNED,	/* in a good build before that one */
	POPULATION_GONE,
	POPULATION_IDLE,	/* did not run, but is not gone */
	POPULATION_KINDS,
};

#define POPULATION_METRICS 2	/* METRIC_WALL and METRIC_CPU */

struct population_task {
	uint32_t task;
	enum population_kind kind;	/* SAME: renamed */
	const char *was;	/* its name in `before` if that is another one, otherwise NULL */
	enum rename_reason reason;
	uint32_t since;		/* the first good build with, or without it; of a rename the
				   first build with the new name */
	double value[POPULATION_METRICS];	/* in `now`, or in `before` if it is not in `now`;
						   NaN: unknown */
};

struct population {
	bool known;		/* there is such a build before */
	bool partial;		/* `now` is incremental */
	uint32_t before, now;	/* builds */
	size_t n_before, n_now;	/* their tasks */
	size_t count[POPULATION_KINDS];
	size_t n_renamed;
	/* Sums of the known values in `now`, or in `before` of kinds that are not in `now`. */
	double sum[POPULATION_KINDS][POPULATION_METRICS];
	double total_before[POPULATION_METRICS], total_now[POPULATION_METRICS];
	/* Tasks that are new, returned, gone or renamed: by kind, the largest CPU time first. */
	size_t n;
	struct population_task *task;
};

/* Nothing is known without builds->presence. Returns 0 or a negative errno with err. Always
 * release. */
int population_make(struct population *p, const struct builds *builds, struct error *err);
void population_release(struct population *p);

#endif
