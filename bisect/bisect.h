/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BISECT_BISECT_H
#define BUILDBEAT_BISECT_BISECT_H

#include "base/arena.h"
#include "base/error.h"
#include "stats/decide.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * The search for the commit that changed a metric. Building commits and walking the history are
 * functions of the caller. Each step follows only from the values measured so far, so that an
 * interrupted search can be repeated with the recorded values.
 *
 * Good and bad are measured alternately until their levels surely differ. Then commits between
 * them are measured, each halving the rest, until each surely has one of the two levels. A
 * verdict counts after one more run of the other level still has its old value, because the
 * machine may have changed meanwhile. If it changed, good and bad are measured again.
 */

#define BISECT_LEAST 3		/* runs of each side of the first comparison */

#define BISECT_ERROR 0.01	/* accepted share of searches with a wrong result */

enum bisect_state {
	BISECT_UNKNOWN,
	BISECT_GOOD,
	BISECT_BAD,
	BISECT_FAILED,		/* does not build, has no such task ...; see why */
	BISECT_UNSURE,		/* after all its runs */
};

/* A commit that was measured. */
struct bisect_commit {
	const char *id;
	enum bisect_state state;
	const char *why;
	size_t n;		/* runs since the last change of the machine */
	size_t runs;		/* all runs */
	double *v;		/* room for bisect.most */
	double error;		/* probability that its verdict is wrong */
};

enum bisect_end {
	BISECT_FOUND,		/* left[0] */
	BISECT_RANGE,		/* one of left: they failed or are unsure */
	BISECT_SAME,		/* good and bad do not differ enough */
	BISECT_NOT_SURE,	/* of good and bad, after all their runs */
};

struct bisect {
	/* Builds a commit once. Returns 0 and sets *value, or *why if it is missing; or a
	 * negative errno with err. why lives as long as the search. */
	int (*measure)(void *context, const char *id, double *value, const char **why,
		       struct error *err);
	/* The commits left, including the nearest bad one, sorted by how well they halve
	 * the rest: those that it reaches and no good one does. */
	int (*between)(void *context, const struct bisect *b, const char ***id, size_t *n,
		       struct error *err);
	/* A commit's first parent. */
	int (*parent)(void *context, const char *id, const char **parent, struct error *err);
	/* Called after each verdict, or NULL. */
	void (*verdict)(void *context, const struct bisect_commit *c, size_t left);
	void *context;
	size_t most;		/* runs of a commit */
	struct matters matters;

	/* Results */
	enum bisect_end end;
	size_t n;
	struct bisect_commit *commit;	/* in the order of the search: good, bad ... */
	const char *nearest_bad;
	size_t n_left;
	const char **left;	/* at the end of the search */
	size_t runs, failed;
	size_t drifts;		/* changes of the machine that were detected */
	double error;		/* of the whole search */
	struct apart whole;	/* good and bad */
	const char *before;	/* parent of the found commit, if that builds */
	struct apart own;	/* these two, confidence 0.95 */
};

/* The ids must live as long as the search. Returns 0 or a negative errno with err. Always
 * release. */
int bisect_search(struct bisect *b, const char *good, const char *bad, struct error *err);
void bisect_release(struct bisect *b);

/* A commit that was measured, or NULL. */
const struct bisect_commit *bisect_find(const struct bisect *b, const char *id);

#endif
