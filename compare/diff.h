/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_DIFF_H
#define BUILDBEAT_COMPARE_DIFF_H

#include "analyse/values.h"
#include "compare/renames.h"
#include "compare/rules.h"
#include "stats/samples.h"

/*
 * Differences between two builds, or between two sets of builds of the same thing.
 *
 * With two runs or more on both sides every value that could matter is tested (samples.h), and
 * the false discovery rate over all of them is controlled. The common factor of all tasks of
 * a run is removed from times first, because a slow host is no difference of a task. It is
 * reported separately. With a single run on a side nothing can be tested: differences above
 * the thresholds are reported and may be noise. The thresholds are those of the rules, scaled to
 * the larger side (rules_scale()).
 */
enum diff_side { DIFF_BASE, DIFF_NOW, DIFF_SIDES };

/* Why a value is not tested, although the sides have runs enough. */
enum diff_untested {
	DIFF_TESTED,
	DIFF_NOTHING,		/* there is nothing to test: it is unknown, or 0, on both sides, or
				   the task is on one side only */
	DIFF_IGNORED,		/* by a rule */
	DIFF_SMALL,		/* below the thresholds on both sides */
	DIFF_FEW_RUNS,		/* known in fewer than two runs of a side */
	DIFF_FROM_ZERO,		/* 0 in base, so that no change is a share */
	DIFF_UNTESTEDS,
};

struct diff_value {
	double value[DIFF_SIDES];	/* median of the known values of the runs; NaN without any */
	double change;		/* now - base, or NaN */
	double share;		/* of base; INFINITY if base is 0 */
	bool large;		/* exceeds the thresholds; if tested, the test's effect does */
	enum samples_verdict verdict;	/* HIGHER or LOWER: confirmed by the test, and large; SAME:
					   within the thresholds; UNKNOWN, if tested: uncertain */
	enum diff_untested untested;
	const struct samples *test;	/* NULL: not tested */
};

enum diff_presence { DIFF_BOTH, DIFF_NEW, DIFF_GONE };

enum diff_end {
	DIFF_END_SAME,
	DIFF_END_FAILS,		/* fails now in some run, did not before */
	DIFF_END_FIXED,
	DIFF_END_OTHER,		/* fails with another status */
};

struct diff_task {
	const char *name, *kind;
	const char *was;	/* its name in base if it was renamed, otherwise NULL */
	enum rename_reason renamed;
	enum diff_presence presence;
	enum diff_end end;
	int64_t status[DIFF_SIDES];	/* the worst, -1: unknown */
	size_t n_failed[DIFF_SIDES];	/* number of runs */
	int64_t parts[DIFF_SIDES];	/* maximum number of tasks of this name in a run; -1 */
};

enum package_change {
	PACKAGE_NEW,
	PACKAGE_GONE,
	PACKAGE_EPOCH,		/* the epoch changed */
	PACKAGE_UPGRADED,
	PACKAGE_DOWNGRADED,
	PACKAGE_SOURCES,	/* the part after "+" changed, where bitbake writes commits */
	PACKAGE_REVISION,	/* only the revision changed */
};

struct diff_package {
	const char *name;
	const char *version[DIFF_SIDES];	/* NULL: missing */
	enum package_change change;
};

/* A changed circumstance: "kernel" ... "revision". Values of several runs are separated by ", ";
 * "" is unknown. */
struct diff_fact {
	const char *key;
	const char *value[DIFF_SIDES];
};

/* What two builds of one thing have in common. */
enum diff_unlike {
	DIFF_UNLIKE_MACHINE,	/* no host in common */
	DIFF_UNLIKE_DIRECTORY,	/* no last part of the directory, ... */
	DIFF_UNLIKE_COMMAND,
	DIFF_UNLIKE_SOURCES,	/* ... no last part of a source tree's path */
	DIFF_UNLIKE_TASKS,	/* less than half of the tasks of a side are in both */
	DIFF_UNLIKES,
};

#define DIFF_UNLIKE_BIT(u) (1u << (u))

struct diff {
	struct arena *texts;
	const struct values *run[DIFF_SIDES];	/* borrowed */
	size_t n_runs[DIFF_SIDES];
	bool tested;
	unsigned metrics;	/* METRIC_BIT()s of value and whole */
	double rate;		/* false discovery rate */
	struct gate gate[METRICS];	/* the scaled thresholds, without exceptions for some tasks */

	struct diff_value total[TOTALS];	/* not tested */
	struct diff_value whole[METRICS];	/* of the build, tested */
	double common[METRICS];	/* of times: common factor of the tasks, now / base;
				   NaN: unknown */

	size_t n_tasks;		/* by name */
	struct diff_task *task;
	struct diff_value *value[METRICS];	/* of every task; NULL: not selected */

	size_t n_packages;	/* changed packages, by name */
	struct diff_package *package;
	unsigned unlike;	/* DIFF_UNLIKE_BIT()s: probably not builds of one thing */
	size_t n_base, n_now, n_both;	/* tasks, whatever the filter */
	size_t n_facts;		/* changed circumstances */
	struct diff_fact *fact;

	size_t n_new, n_gone, n_renamed, n_fails, n_fixed;	/* tasks */
	size_t n_tests;
	size_t n_untested[DIFF_UNTESTEDS];	/* values, of all metrics */
	size_t n_uncertain;	/* of all metrics, with those of the build */
	size_t n_higher[METRICS], n_lower[METRICS];	/* confirmed tasks */
	struct samples *samples;	/* private */
};

struct diff_options {
	const struct rules *rules;	/* metrics, thresholds, rate */
	const char *filter;	/* part of a task's name or, with * ? or [, a pattern for
				   the whole name; NULL: any */
};

/* The runs belong to the caller and must live as long as d. Returns 0 or -ENOMEM. Always
 * release. */
int diff_make(struct diff *d, const struct values *base, size_t n_base,
	      const struct values *now, size_t n_now, const struct diff_options *options);
void diff_release(struct diff *d);

/* Whether a test confirmed that something is worse. */
bool diff_is_worse(const struct diff *d);

#endif
