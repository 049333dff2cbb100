/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_BUILDS_H
#define BUILDBEAT_COMPARE_BUILDS_H

#include "analyse/metric.h"
#include "base/error.h"
#include "compare/renames.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buf;
struct name_table;
struct presence;
struct rules;

/*
 * Many builds of the same thing on the same kind of machine, in the order in which they were
 * archived, whatever their clocks say. Values are loaded one metric at a time, because all
 * values of a year do not fit into memory.
 */
struct revision {
	const char *source;	/* the tree, as named by the build */
	const char *commit;	/* in hexadecimal */
	int64_t count;		/* number of commits up to it, -1: unknown */
	bool dirty;
};

struct build {
	const char *id;		/* the archive's commit, in hexadecimal */
	int64_t start_s;	/* since 1970; -1 unknown. Neither unique nor ascending */
	const char *run;	/* identifies the recording */
	uint32_t repeats;	/* further recordings of it: values are medians (repeats.h) */
	uint32_t runs;		/* of a set, whose values are medians; 0: no set */
	double spread[METRICS];	/* of a set: standard deviation of its runs in the metric's unit;
				   NaN: unknown */
	size_t n_revisions;
	struct revision *revision;
	int64_t total[TOTALS];	/* -1: unknown */
	const char *unaccounted;	/* what its tasks do not account for, in words (proof.h);
				   NULL: nothing */
	const char *error;	/* what it failed of; NULL: it did not, or that is not known */
	const char *command;	/* of the build; NULL: unknown */
	int64_t cores;		/* of the machine, 0: unknown */
	uint64_t circumstances;	/* hash of host, machine, kernel, cores, memory, tools: if it
				   differs, the machine may be the cause */
};

/* What was worked out about the builds of a series, for the next time. */
struct builds_notes {
	/* Adds to text what was kept under a name. Nothing if there is none. Returns 0 or -ENOMEM. */
	int (*recall)(const struct builds_notes *notes, const char *name, struct buf *text);
	/* Keeps a text, in place of an older name (or NULL). An archive that cannot be written is no
	 * error. */
	void (*keep)(struct builds_notes *notes, const char *name, const char *older,
		     const struct buf *text);
};

struct builds {
	struct arena *texts;
	const char *ref;	/* "host/branch/machine" */
	size_t n;
	struct build *build;	/* the oldest first */
	size_t n_tasks;		/* of all builds, in a fixed order */
	struct builds_task *task;
	struct presence *presence;	/* set by follow_renames(); NULL: unknown */

	/* Sets values[task * n + build] of a metric; NaN if it is missing or the task failed,
	 * was killed or did not finish. Returns 0 or a negative errno with err. */
	int (*load)(const struct builds *builds, enum metric m, float *values,
		    struct error *err);
	/* Sets the bits of the tasks that ran in a build, whatever became of them, in a set of
	 * zeros. Returns 0, 1 if they are those of the build before and nothing was set, or a
	 * negative errno with err. NULL: unknown. */
	int (*ran)(const struct builds *builds, uint32_t build, uint64_t *set,
		   struct error *err);
	/* The same of one build: values[task]. */
	int (*row)(const struct builds *builds, uint32_t build, enum metric m, float *values,
		   struct error *err);
	/* The same for the standard deviations of the runs of a set; NaN if unknown. NULL: no build is
	 * a set. */
	int (*spread)(const struct builds *builds, uint32_t build, enum metric m, float *values,
		      struct error *err);
	/* Adds the names of a build's packages. */
	int (*packages)(const struct builds *builds, uint32_t build, struct name_table *names,
			struct error *err);
	/* Makes tasks that never ran in the same build one task: t becomes to[t]. */
	void (*join)(struct builds *builds, const uint32_t *to);
	void (*end)(struct builds *builds);	/* frees context, or NULL */
	void *context;
	struct builds_notes *notes;	/* NULL: nothing can be kept */
	size_t changed_from;	/* from this build on, values are not those of the archive: nothing that
				   follows from them is kept; 0: all are */
};

/* A task that was renamed is one task under its newest name (follow_renames.h). */
struct builds_task {
	const char *name, *kind;
	size_t n_held;
	const struct builds_name *held;	/* all its names, in order; NULL: never renamed */
};

struct builds_name {
	const char *name;
	uint32_t first;		/* the first build that has it */
	enum rename_reason reason;	/* of the change to it */
};

#define BUILDS_INIT { 0 }

void builds_release(struct builds *builds);

/* The newest name of a task, "" for any other index. */
const char *builds_task_name(const struct builds *builds, uint32_t task);

/* The name of a task in a build. */
const char *builds_name_at(const struct builds *builds, uint32_t task, uint32_t build);

/* Whether a pattern (rules.h) matches one of the names that a task had; any other index is the
 * build. A note on an old name is thus also about the newest one. */
bool builds_task_fits(const struct builds *builds, uint32_t task, const char *pattern);

/* The task that has this name, otherwise one that had it, otherwise n_tasks. */
uint32_t builds_find(const struct builds *builds, const char *name);

/* The revision of a source tree, or NULL. */
const struct revision *build_revision(const struct build *build, const char *source);

/* rules_add_counted() with all builds. */
void builds_add_counted(const struct builds *builds, struct rules *rules);

/* A metric of the whole build; NaN if unknown or if the build failed, because the time until
 * the failure says nothing. */
double build_total(const struct build *build, enum metric m);

/* Fits rules to these builds: amounts of time that the user did not choose become parts of the build
 * (rules_scale()), by the median of the oldest good builds, as many as the window has. A verdict
 * therefore does not change with later builds. Returns 0 or -ENOMEM with err. */
int builds_scale(const struct builds *builds, struct rules *rules, struct error *err);

/*
 * The logarithm of the factor by which the machine itself, and not the tasks, made this metric
 * larger. It has a constant that all builds of a series share. NaN if unknown, and for metrics
 * other than times.
 *
 * Of CPU time it is the logarithm of the time of 1,000 calibration loops in us, the mean of start
 * and end. Wall time adds the time for which the build waited for processors that the hypervisor
 * or other processes had, if that is known.
 */
double build_machine(const struct build *build, enum metric m);

#endif
