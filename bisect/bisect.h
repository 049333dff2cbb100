/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BISECT_BISECT_H
#define BUILDBEAT_BISECT_BISECT_H

#include "base/arena.h"
#include "base/error.h"
#include "stats/decide.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * The search for the commit that changed a figure, without what builds and what knows
 * history: those are the caller's two functions. What it does next follows from what was
 * measured so far and nothing else, so that a search that was ended is gone through
 * again with the values of then.
 *
 * Good and bad are measured in turn until they are surely two levels. Then commits between
 * them, halving what is left, each until it is surely of one of both. A verdict counts
 * when one run more of the other level is still what it was, for a machine may
 * have changed meanwhile; else good and bad are measured anew.
 */

/* Each side of the first comparison, so many runs at least. */
#define BISECT_LEAST 3

/* Of a whole search: the share of those that may end at the wrong commit. */
#define BISECT_ERROR 0.01

enum bisect_state {
	BISECT_UNKNOWN,
	BISECT_GOOD,
	BISECT_BAD,
	BISECT_FAILED,		/* why says how: it does not build, has no such task ... */
	BISECT_UNSURE,		/* near neither or near both, after all its runs */
};

/* A commit that was looked at. */
struct bisect_commit {
	const char *id;
	enum bisect_state state;
	const char *why;
	size_t n;		/* runs that count; the machine's change may have made others void */
	size_t runs;		/* all */
	double *v;		/* as many as bisect.most */
	double error;		/* of its verdict: that it is of the other level after all */
};

enum bisect_end {
	BISECT_FOUND,		/* first */
	BISECT_RANGE,		/* one of left: those in between fail or are unsure */
	BISECT_SAME,		/* good and bad do not differ by what matters */
	BISECT_NOT_SURE,	/* whether they do, after all their runs */
};

struct bisect {
	/* The figure of one build of a commit: 0 and *value, or *why there is none; else
	 * a negative errno with err. why lives as long as the search. */
	int (*measure)(void *context, const char *id, double *value, const char **why,
		       struct error *err);
	/* The commits left, bad's own among them, the best to try next first: all that
	 * reach no good one and are reached by the nearest bad one. */
	int (*between)(void *context, const struct bisect *b, const char ***id, size_t *n,
		       struct error *err);
	/* A commit's first parent. */
	int (*parent)(void *context, const char *id, const char **parent, struct error *err);
	void (*verdict)(void *context, const struct bisect_commit *c, size_t left);	/* told */
	void *context;
	size_t most;		/* runs of a commit */
	struct matters matters;

	/* Results */
	enum bisect_end end;
	size_t n;
	struct bisect_commit *commit;	/* in the order they were tried: good, bad ... */
	const char *nearest_bad;
	size_t n_left;
	const char **left;	/* when it ended; FOUND: the one */
	size_t runs, failed;
	size_t drifts;		/* how often the machine was found to have changed */
	double error;		/* of the whole search */
	struct apart whole;	/* good and bad */
	const char *before;	/* FOUND: its parent, if that builds */
	struct apart own;	/* and the two, with confidence 0.95 */
};

/* ids live as long as the search. 0 or a negative errno with err; always release. */
int bisect_search(struct bisect *b, const char *good, const char *bad, struct error *err);
void bisect_release(struct bisect *b);

#endif
