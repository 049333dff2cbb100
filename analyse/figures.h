/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_FIGURES_H
#define BUILDBEAT_ANALYSE_FIGURES_H

#include "analyse/metric.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct recording;

/*
 * What is compared of one build: a row a task, a column a figure, the build's totals and
 * its circumstances. It comes from a recording of any kind or from the archive, and
 * is on its own: one release.
 *
 * A row goes by a name that is the same in the next build, as show says it ("dir: target",
 * "recipe: task"): without version, without what only this run made up (mktemp's letters,
 * process ids). Tasks of one name in one build (the lines of a recipe) are one row: times
 * and bytes added up, the largest memory, the worst status. A task that ran a build of
 * its own counts with its own rest only.
 */
struct figures {
	struct arena *texts;
	const char *path;	/* or the night's name: for messages */
	int64_t start_s;	/* since 1970; -1 not known */

	size_t n_facts;		/* circumstances: build lines, in the recording's order: host,
				   machine, kernel, cores, memory_kb, command, cwd, tool,
				   version, and for each tree source, revision, branch,
				   describe, dirty; a key may come again. "uses":
				   each build tool that ran, with its version */
	struct figures_fact *fact;

	int64_t total[TOTALS];	/* -1: not known, as in every column */

	size_t n_tasks;		/* by name, ascending, each once */
	struct figures_task *task;
	int64_t *column[COLUMNS];	/* NULL: known of none */

	size_t n_packages;	/* bitbake's recipes, by name; a task's package is what its
				   name has before ": " */
	struct figures_package *package;
};

struct figures_fact {
	const char *key, *value;
};

struct figures_task {
	const char *name, *kind;
};

struct figures_package {
	const char *name, *version;	/* with epoch and revision: "1:13.2-r0" */
};

#define FIGURES_INIT { 0 }

/* 0 or -ENOMEM; rec is not needed any more afterwards. Always release. */
int figures_make(struct figures *f, const struct recording *rec);
void figures_release(struct figures *f);

/* A metric of a task, NaN where it is not known; of the build: metric_total(). */
double figures_value(const struct figures *f, size_t task, enum metric m);

/* The first value of a key, NULL if absent. The version of a task's package, or NULL. */
const char *figures_fact(const struct figures *f, const char *key);
const char *figures_version(const struct figures *f, size_t task);

/* Its row, n_tasks if there is none. */
size_t figures_find(const struct figures *f, const char *name);

#endif
