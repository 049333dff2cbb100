/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_PROFILE_H
#define BUILDBEAT_ANALYSE_PROFILE_H

#include "analyse/chain.h"
#include "base/error.h"
#include "base/name_table.h"
#include "recording/tally.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A profile: a table of what a build ran, with one row for each location, the place where its work
 * was born (queued) and the place where it died (ran). It is made of the tasks of a recording and
 * of the tallies of its hosts (tally.h).
 *
 *		of a task				of a tally
 *	NAME	the target, or the recipe's task	the function
 *	RULE	the rule of ninja			-
 *	KIND	compile, link ...			"tally"
 *	DIR	the directory of its make, the recipe	the host's directory
 *	FILE, LINE	of its rule in the makefile	of the location
 *	BORN	the build tool, its level and place	the thread
 *	DIED	a worker, by a number that is reused	the thread
 *	HOST, PID	the build tool			the host
 *	PHASE	the open phase of its instance		the phase
 *
 * A task that hosts a build tool died in "host", one that has not ended in PROFILE_ALIVE. Workers
 * are numbered as recorded; otherwise the lowest free number counts.
 *
 * Run times of tallies are in the unit of their clock, which can be another quantity, such as
 * bytes. All other times are in nanoseconds. Rows with different units are different rows.
 */
enum profile_key {
	PROFILE_NAME, PROFILE_RULE, PROFILE_KIND, PROFILE_DIR, PROFILE_FILE, PROFILE_LINE,
	PROFILE_BORN, PROFILE_DIED, PROFILE_HOST, PROFILE_PID, PROFILE_PHASE, PROFILE_KEYS
};

#define PROFILE_ALIVE "Still_Alive"
#define PROFILE_TALLY "tally"		/* the kind of tallies */

/* What is added up. Only ended runs have more than LIVING; the values of those that never ended are
 * the last samples. */
enum profile_sum {
	PROFILE_COUNT, PROFILE_LIVING, PROFILE_RUN, PROFILE_SELF, PROFILE_QUEUE,
	PROFILE_WAIT,		/* of enum queue_cause; their sum is QUEUE for tasks */
	PROFILE_QUEUED = PROFILE_WAIT + QUEUE_CAUSES,	/* runs whose queue time is known */
	PROFILE_AMOUNT,		/* of the second clock of tallies */
	PROFILE_SUMS
};

enum profile_max {
	PROFILE_RUN_MAX, PROFILE_QUEUE_MAX, PROFILE_AMOUNT_MAX, PROFILE_MAXES
};

/* The values of tasks (value.h) from VALUE_CPU on, except that times are in ns and memory in bytes. */
#define PROFILE_VALUES (VALUES - VALUE_CPU)

/* What some of the runs have: 1 << a value, or this. The sum of a row that has none of them is unknown. */
#define PROFILE_HAS_AMOUNT (1u << VALUES)

/* Some of the runs have a cost with these cost_bounds(): so have the sums with it, but no difference. */
#define PROFILE_BOUNDS(bounds) ((bounds) << VALUES)

/* What has a unit of its own. */
enum profile_own { PROFILE_OF_RUN, PROFILE_OF_AMOUNT, PROFILE_OWN_UNITS };

#define PROFILE_NO_UNIT NO_INDEX		/* there is nothing yet */
#define PROFILE_UNITS_DIFFER (NO_INDEX - 1)	/* a sum over these rows has no meaning */

/* Times of single runs: of how many, and how long. */
enum profile_time { PROFILE_RUNS, PROFILE_QUEUES, PROFILE_TIMES };

struct profile_value {
	int64_t value;
	int64_t n;
};

struct profile_row {
	uint32_t key[PROFILE_KEYS];	/* numbers in profile.text */
	uint32_t unit[PROFILE_OWN_UNITS];	/* such numbers, or PROFILE_NO_UNIT */
	uint32_t task;			/* the longest of them, or NO_INDEX */
	uint32_t known;
	int64_t value[PROFILE_VALUES];	/* of VALUE_CPU ..., the sum or the largest */
	int64_t sum[PROFILE_SUMS];
	int64_t max[PROFILE_MAXES];	/* -1: unknown */
	int64_t sample[PROFILE_TIMES];	/* of one run, chosen at random; -1: none */
	uint32_t first[PROFILE_TIMES], n[PROFILE_TIMES];	/* in profile.value */
};

/* One row was born while another one ran, or waited for it. */
struct profile_pair {
	uint32_t parent, child;
};

struct profile {
	struct arena *memory;
	struct name_table text;
	size_t n_rows, row_cap;
	struct profile_row *row;
	size_t n_values[PROFILE_TIMES];
	struct profile_value *value[PROFILE_TIMES];
	size_t n_pairs;
	struct profile_pair *pair;	/* each once */
	double seconds;			/* of data */
	int64_t n_lost;			/* runs that hosts had no room for: in no row */
	size_t n_unfinished;		/* hosts that did not end their tallies */
	size_t n_incomplete;		/* of which some are missing: those of the last seconds */
	size_t n_at_least;		/* tasks whose CPU time and storage are lower bounds */
	bool merge_threads;		/* set it first: see struct tally_table */
	bool is_difference;		/* no largest value, percentile or sample is known */
	uint32_t *row_of;		/* of each task of the recording, or NO_INDEX */
	struct index *rows;		/* private */
};

#define PROFILE_INIT { 0 }

/* All of these: 0 or -ENOMEM. Always release a profile. The functions that add to one begin a new
 * one if it is empty. */

/* The tasks that ended after from_us (-1: all) and at to_us at the latest; and those that had
 * begun, but not ended by then. p is empty. q may be NULL: no queue times. */
int profile_add_tasks(struct profile *p, const struct summary *s, const struct waits *q,
		      int64_t from_us, int64_t to_us);

/* Which of these tasks ran inside others, and which waited for others last. */
int profile_pair_tasks(struct profile *p, const struct summary *s, const struct chain *c);

/* Add them after the tasks of the same recording. */
int profile_add_tallies(struct profile *p, const struct tally_table *t,
			const struct recording *rec);

/* All of these, with what the hosts tallied. pairs: NULL for none. 0 or a negative errno with err. */
int profile_make(struct profile *p, const struct summary *s, const struct waits *q,
		 const struct chain *pairs, int64_t from_us, int64_t to_us,
		 const struct recording_formats *formats, struct error *err);

/* What b has beyond a, by the names of the rows. Rows without a difference are left out. */
int profile_difference(struct profile *out, const struct profile *a, const struct profile *b);

void profile_release(struct profile *p);

/* Are there rows other than those of tallies? */
bool profile_has_tasks(const struct profile *p);

static inline const char *profile_text(const struct profile *p, uint32_t number)
{
	return p->text.name[number].p;
}

/* For profile_*.c */

/* The number of a text. */
int profile_number(struct profile *p, struct slice text, uint32_t *number);

#define PROFILE_ROW_INIT { .unit = { PROFILE_NO_UNIT, PROFILE_NO_UNIT }, .task = NO_INDEX, \
	.max = { -1, -1, -1 }, .sample = { -1, -1 } }

/* The row with these keys and units: an old one, or a new one. NULL: out of memory. */
struct profile_row *profile_find(struct profile *p, const uint32_t key[PROFILE_KEYS],
				 const uint32_t unit[PROFILE_OWN_UNITS]);

/* Add sums, largest values and samples; the unit, if they differ. */
void profile_row_add(struct profile_row *to, const struct profile_row *row);

/*
 * The smallest of the values that is not exceeded by a share q of them, -1 if there are none. The
 * values are sorted.
 */
int64_t profile_quantile(struct profile_value *value, size_t n, double q);

#endif
