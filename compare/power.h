/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_POWER_H
#define BUILDBEAT_COMPARE_POWER_H

#include "compare/verdict.h"

/*
 * Which changes check finds in a series, and after how many builds. Nothing is calculated: a change is
 * planted into the values of the newest builds, in memory, and each of these builds is checked.
 * Times of a task change together, as those of a real change do. If no time is compared, the first
 * metric changes. Each change is planted at several
 * places, so that one lucky or unlucky build does not decide.
 */
#define POWER_SIZES 5
#define POWER_TASKS 5
#define POWER_BUILDS 10		/* with the change, at most */
#define POWER_TRIALS 3

extern const double power_size[POWER_SIZES];	/* 0.05: 5 % more */

enum power_answer {
	POWER_FOUND,		/* in at least half of the trials */
	POWER_NOT_FOUND,
	POWER_BELOW,		/* the thresholds: never reported */
};

struct power_row {
	uint32_t task;		/* or TASK_TOTAL */
	enum metric metric;	/* that `level` is of */
	double level;		/* median of the newest builds */
	struct power_cell {
		enum power_answer answer;
		uint32_t builds;	/* with the change, when it is found: the median trial */
	} cell[POWER_SIZES];
};

struct power {
	uint32_t builds;	/* with the change, at most; 0: too few builds for a trial */
	uint32_t trials;
	bool together;		/* one trial planted the changes of all tasks, to save time */
	size_t n;
	struct power_row row[POWER_TASKS + 1];	/* the build, then the longest tasks */
};

/*
 * builds: with the change, at most; n_tasks: at most POWER_TASKS. Larger changes than one that is always
 * found at once are not tried. Loads values many times (see report/kept_builds.h). Returns 0 or a
 * negative errno with err.
 */
int power_find(struct power *p, const struct builds *builds, const struct rules *rules,
	       const struct known_list *known, uint32_t n_builds, size_t n_tasks, struct error *err);

/* The same of other builds, such as those of repeated_builds.h, for the rows of a power_find(). */
int power_find_same(struct power *p, const struct power *rows, const struct builds *builds,
		    const struct rules *rules, const struct known_list *known, struct error *err);

/* The smallest change that is found in this row; NaN: none. */
double power_least(const struct power_row *row);

/*
 * Of a history that is hardly long enough for a verdict: one trial of all rows together, with few
 * builds. That makes changes easier to find: what is not found so is not found at all. A
 * check of such a history that found no regression says it. As above.
 */
#define POWER_FEW_BUILDS 3
bool power_is_short(const struct verdict *v, const struct builds *builds, const struct rules *rules);

/* Whether that takes about a second at most in a history of any length, so that the report can print it. */
#define POWER_QUICK_TASKS 500
bool power_is_quick(const struct verdict *v, const struct builds *builds);

int power_find_short(struct power *p, const struct builds *builds, const struct rules *rules,
		     const struct known_list *known, struct error *err);

#endif
