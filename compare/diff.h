/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_DIFF_H
#define BUILDBEAT_COMPARE_DIFF_H

#include "analyse/values.h"
#include "compare/renames.h"
#include "compare/rules.h"
#include "stats/samples.h"

/*
 * What of a build is not as it was: two builds, or two sets of builds of the same thing.
 *
 * With two runs or more on both sides every figure that could matter is tested
 * (samples.h), the false discovery rate controlled over all of them. Of times, what
 * all tasks of a run have in common is taken out before, for a slow host is no task's
 * difference; it is told by itself. With one run on a side nothing can be tested:
 * what is larger than the gates is told, and may be noise.
 */
enum diff_side { DIFF_BASE, DIFF_NOW, DIFF_SIDES };

struct diff_figure {
	double value[DIFF_SIDES];	/* median of the runs where it is known; NaN of none */
	double change;		/* now less base; NaN */
	double share;		/* of base; INFINITY: from nothing */
	bool large;		/* passes the gates; where tested, by the test's effect */
	enum samples_verdict verdict;	/* HIGHER or LOWER: tested, sure and large */
	const struct samples *test;	/* NULL: not tested */
};

enum diff_presence { DIFF_BOTH, DIFF_NEW, DIFF_GONE };

enum diff_end {
	DIFF_END_SAME,
	DIFF_END_FAILS,		/* now, in some run; on the other side in none */
	DIFF_END_FIXED,
	DIFF_END_OTHER,		/* fails in another way */
};

struct diff_task {
	const char *name, *kind;
	const char *was;	/* its name in base where that is another, else NULL */
	enum rename_reason renamed;
	enum diff_presence presence;
	enum diff_end end;
	int64_t status[DIFF_SIDES];	/* the worst, -1: not known */
	size_t n_failed[DIFF_SIDES];	/* in how many runs */
	int64_t parts[DIFF_SIDES];	/* tasks of the recording it is, the most; -1 */
};

enum package_change {
	PACKAGE_NEW,
	PACKAGE_GONE,
	PACKAGE_EPOCH,		/* the epoch is another one */
	PACKAGE_UPGRADED,
	PACKAGE_DOWNGRADED,
	PACKAGE_SOURCES,	/* what is behind "+", as bitbake writes commits */
	PACKAGE_REVISION,	/* that alone */
};

struct diff_package {
	const char *name;
	const char *version[DIFF_SIDES];	/* NULL: not there */
	enum package_change change;
};

/* A circumstance that is not the same: "kernel" ... "revision"; what several runs say is
 * separated by ", "; "": not known. */
struct diff_fact {
	const char *key;
	const char *value[DIFF_SIDES];
};

struct diff {
	struct arena *texts;
	const struct values *run[DIFF_SIDES];	/* borrowed */
	size_t n_runs[DIFF_SIDES];
	bool tested;
	unsigned metrics;	/* METRIC_BIT()s of figure and whole */
	double rate;		/* of false ones among those that are told to differ */

	struct diff_figure total[TOTALS];	/* not tested */
	struct diff_figure whole[METRICS];	/* the build's, tested */
	double common[METRICS];	/* of times: what the tasks have in common, now as a ratio
				   of base; NaN: not known */

	size_t n_tasks;		/* by name */
	struct diff_task *task;
	struct diff_figure *figure[METRICS];	/* of every task; NULL: not asked for */

	size_t n_packages;	/* that changed, by name */
	struct diff_package *package;
	size_t n_facts;		/* that changed */
	struct diff_fact *fact;

	size_t n_new, n_gone, n_renamed, n_fails, n_fixed, n_other;	/* tasks */
	size_t n_tests;
	size_t n_higher[METRICS], n_lower[METRICS];	/* tasks told */
	struct samples *samples;	/* private */
};

struct diff_options {
	const struct rules *rules;	/* metrics, gates, rate */
	const char *filter;	/* of task names: part of it or, with * ? or [, a pattern for
				   the whole; NULL: any */
};

/* The runs stay the caller's and are needed as long as d. 0 or -ENOMEM. Always release. */
int diff_make(struct diff *d, const struct values *base, size_t n_base,
	      const struct values *now, size_t n_now, const struct diff_options *options);
void diff_release(struct diff *d);

/* A test found something for the worse. */
bool diff_is_worse(const struct diff *d);

#endif
