/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_RULES_H
#define BUILDBEAT_COMPARE_RULES_H

#include "analyse/metric.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What counts as a difference: the key `compare` of buildbeat.yaml, and options. A difference
 * matters when it passes both, the share and the amount.
 */
struct gate {
	double share;		/* 0.05: a twentieth */
	double amount;		/* in the metric's unit */
	double floor;		/* of the value: a task below it on both sides is not judged */
	bool ignored;
};

/* An exception for some tasks; of those that fit, later ones win, field by field. */
struct rule {
	const char *pattern;	/* of task names, as fnmatch(3) without flags; "" is the
				   build's total */
	unsigned metrics;	/* METRIC_BIT()s it is for */
	double share, amount, floor;	/* NaN: as it was */
	int ignored;		/* -1: as it was */
};

struct rules {
	unsigned metrics;	/* judged at all */
	double rate;		/* q: of false ones among those told, at most */
	int64_t agree;		/* K: so many builds running confirm */
	int64_t window;		/* builds that check looks back on */
	int64_t least_history;	/* builds before a verdict is given */
	struct gate gate[METRICS];
	size_t n;
	const struct rule *rule;	/* belongs to whoever filled it */
};

/* As it is without configuration. */
void rules_init(struct rules *rules);

/* What holds for a task ("": the total) and a metric. */
struct gate rules_gate(const struct rules *rules, const char *task, enum metric m);

/* Is a task ("": the total, which no other pattern fits) meant by a pattern. */
bool rules_pattern_fits(const char *pattern, const char *task);

#endif
