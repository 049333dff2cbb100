/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_VALUES_H
#define BUILDBEAT_ANALYSE_VALUES_H

#include "analyse/metric.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct recording;

/*
 * The values of one build that comparisons use: one row per task, one column per metric,
 * plus the totals and the circumstances of the build. They come from a recording of any
 * kind or from an archive, and own all their memory.
 *
 * A row has the name that the task has in every build, as show prints it ("dir: target",
 * "recipe: task"): without the version and without parts that only this run made up
 * (mktemp's letters, process ids). Tasks of the same name in one build (the lines of a
 * recipe) are one row: the sum of their times and bytes, the largest memory, the worst
 * status. The cost of a task that ran a build of its own excludes the tasks of that build.
 */
struct values {
	struct arena *texts;
	const char *path;	/* or the name of the archived build: for messages */
	int64_t start_s;	/* since 1970; -1: unknown */

	size_t n_facts;		/* circumstances: lines of `build` in their order: host,
				   machine, kernel, cores, memory_kb, command, cwd, tool,
				   version, and for each tree source, revision, branch,
				   describe, dirty; keys may repeat. "uses": each build
				   tool that ran, with its version. "ccache", "sccache": its
				   share of hits */
	struct values_fact *fact;

	int64_t total[TOTALS];	/* -1: unknown, as in every column */

	size_t n_tasks;		/* sorted by name, each once */
	struct values_task *task;
	int64_t *column[COLUMNS];	/* NULL: unknown for all tasks */
	int64_t *spread[METRICS];	/* of a set: standard deviation of its runs, in the unit of
				   the metric; NULL: no set */

	size_t n_packages;	/* bitbake's recipes, sorted by name; the package of a task
				   is the part of its name before ": " */
	struct values_package *package;
};

struct values_fact {
	const char *key, *value;
};

struct values_task {
	const char *name, *kind;
};

struct values_package {
	const char *name, *version;	/* with epoch and revision: "1:13.2-r0" */
};

#define VALUES_INIT { 0 }

/* 0 or -ENOMEM; afterwards rec may be released. Always release. */
int values_make(struct values *f, const struct recording *rec);
void values_release(struct values *f);

/* The fact about what the tasks do not account for, in words, if it is much (recording/proof.h). */
#define VALUES_UNACCOUNTED "unaccounted"

/* What a failed build failed of, in one line, if its output was recorded. Whoever has read the output adds
 * it. */
#define VALUES_ERROR "error"

/* Facts of a set: the number of its runs, and with the name of a metric the standard deviation of the
 * build, in the metric's unit. */
#define VALUES_RUNS "runs"
#define VALUES_SPREAD "spread_"

/*
 * Makes run[kept] the values of a set of n runs: medians of each column and total, with their
 * spread. Its tasks, their starts and the other facts are its own. A single run is unchanged. 0 or
 * -ENOMEM.
 */
int values_join_runs(struct values *run, size_t n, size_t kept);

/* Adds a fact; a value that is NULL or empty is left out. 0 or -ENOMEM. */
int values_add_fact(struct values *f, const char *key, const char *value);

/* The value of a task, NaN if unknown; metric_total() is the build's. */
double values_get(const struct values *f, size_t task, enum metric m);

/* The first value of a key, and the version of a task's package: NULL if there is none. */
const char *values_fact(const struct values *f, const char *key);
const char *values_version(const struct values *f, size_t task);

/* The row of a task, n_tasks if there is none. */
size_t values_find(const struct values *f, const char *name);

#endif
