/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_RULES_H
#define BUILDBEAT_COMPARE_RULES_H

#include "analyse/metric.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

/*
 * What counts as a difference: the key `compare` of buildbeat.yaml, and options. A difference
 * matters if it reaches both the share and the amount.
 */
struct gate {
	double share;		/* 0.05: 5 % */
	double amount;		/* in the metric's unit */
	double floor;		/* tasks with values below it on both sides are ignored */
	bool ignored;
	bool chosen;		/* the user set the amount, so it does not depend on the build */
};

/* An exception for some tasks. Later ones override earlier ones, member by member. */
struct rule {
	const char *pattern;	/* of task names, as fnmatch(3) without flags; "" is the
				   whole build */
	unsigned metrics;	/* METRIC_BIT()s */
	double share, amount, floor;	/* NaN: unchanged */
	int ignored;		/* -1: unchanged */
};

/* What a lasting change of all tasks does that the machine does not explain. */
enum rules_shared {
	SHARED_FAIL,
	SHARED_REPORT,
};

struct rules {
	unsigned metrics;	/* METRIC_BIT()s that are compared */
	double rate;		/* false discovery rate */
	int shared;		/* an enum rules_shared */
	int64_t agree;		/* consecutive builds that confirm a change */
	int64_t window;		/* builds that check compares with */
	int64_t least_history;	/* builds needed for a verdict */
	struct gate gate[METRICS];
	size_t n;
	const struct rule *rule;	/* not owned */
};

/* The defaults. */
void rules_init(struct rules *rules);

/*
 * Lowers the amounts that the user did not choose to a part of the build, so that a change of a short
 * build can matter: 1 %, and 0.01 % of times if both sides have a spread, so that their
 * noise is known; but not below the metric's `finest`. `whole` are the values of the build;
 * NaN: unknown, which changes nothing. diff and check --against call this, and nothing else
 * scales thresholds.
 */
void rules_scale(struct rules *rules, const double whole[METRICS], bool spread);

/* A build with these totals is compared: in instructions, too, if it has them. For those who selected no
 * metrics. */
void rules_add_counted(struct rules *rules, const int64_t total[TOTALS]);

/* The thresholds of a task ("": the build) and a metric. */
struct gate rules_gate(const struct rules *rules, const char *task, enum metric m);

/* Whether a pattern matches a task. Only the pattern "" matches the build (""). In a list, as notes have
 * it, each name has a newline behind it, and a backslash before special characters. */
bool rules_pattern_fits(const char *pattern, const char *task);

/* Whether a pattern is a list: a newline that belongs to a name has a backslash before it. */
bool rules_is_list(const char *pattern);

/* Adds a text to a pattern: it matches itself. */
void rules_add_literal(struct buf *pattern, const char *text, size_t len);

#endif
