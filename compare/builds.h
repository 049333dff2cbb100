/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_BUILDS_H
#define BUILDBEAT_COMPARE_BUILDS_H

#include "analyse/metric.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/*
 * Many builds of the same thing on the same kind of machine, one after the other. The
 * order is that in which they were kept, whatever their clocks say. What each is made
 * of is loaded a metric at a time, as a year of one is all that fits.
 */
struct revision {
	const char *source;	/* the tree, as the build named it */
	const char *commit;	/* in hexadecimal */
	int64_t count;		/* commits up to it, -1: not known */
	bool dirty;
};

struct build {
	const char *id;		/* the archive's commit, in hexadecimal */
	int64_t start_s;	/* since 1970; -1 not known. Clocks go back, and two may be equal */
	const char *run;	/* what tells one recording from every other */
	size_t n_revisions;
	struct revision *revision;
	int64_t total[TOTALS];	/* -1: not known */
	uint64_t circumstances;	/* hash of host, machine, kernel, cores, memory, tools: other ones
				   make a step the machine's */
};

struct builds {
	struct arena *texts;
	const char *ref;	/* "host/branch/machine" */
	size_t n;
	struct build *build;	/* the oldest first */
	size_t n_tasks;		/* of all of them, in an order that stays as it is */
	struct builds_task *task;

	/* Values of a metric: values[task * n + build], NaN where there is none, and where the
	 * task failed, was killed or did not finish. 0 or a negative errno with err. */
	int (*load)(const struct builds *builds, enum metric m, float *values,
		    struct error *err);
	void (*end)(struct builds *builds);	/* frees context; may be NULL */
	void *context;
};

struct builds_task {
	const char *name, *kind;
};

#define BUILDS_INIT { 0 }

void builds_release(struct builds *builds);

/* The name patterns are held against: of a task's index, or "" for the build as a whole and
 * whatever is no task. */
const char *builds_task_name(const struct builds *builds, uint32_t task);

/* Of the build as a whole; NaN where that is not known, and of a build that failed: how
 * long it took until then says nothing. */
double build_total(const struct build *build, enum metric m);

#endif
