/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BISECT_REBUILD_H
#define BUILDBEAT_BISECT_REBUILD_H

#include "analyse/metric.h"
#include "bisect/checkout.h"

#include <stdbool.h>

/*
 * Builds of commits for one figure of each: checked out, built from nothing, recorded. What
 * they came to is kept in a directory:
 *	runs		"buildbeat bisect 1", what is searched for, an empty line, then a line a
 *			build: its commit and the figure, or the commit, "-" and why there
 *			is none
 *	tree		the checkout
 *	recordings	a recording and what the build said (.log) a build
 * A search that ended early is gone through again: its builds are answered from runs.
 */
struct rebuild {
	/* by the caller */
	struct checkout *checkout;
	const char *directory;
	const char *config;	/* buildbeat.yaml; NULL: none */
	const char *task;	/* NULL: the build */
	enum metric metric;
	const char *prepare;	/* a shell command before each build, or NULL */
	char **build;		/* its command, ends with NULL */
	const char *head;	/* of the search, by rebuild_add_head() */

	int fd;			/* of runs; it is locked */
	size_t n, n_known;	/* builds so far; how many of them are in runs */
	struct known_run *run;
};

struct known_run {
	const char *id;
	int64_t value;
	const char *why;	/* NULL: there is a value */
};

/* What a search is, in lines: those of the first fields, and more. */
struct buf;
void rebuild_add_head(struct buf *head, const struct rebuild *b, const char *good,
		      const char *bad, size_t most);

/* Take up the search in directory, or begin it; -EBUSY if it is gone on with elsewhere, -EEXIST if there is
 * another one. Always
 * close. errors: negative errnos with err. */
int rebuild_open(struct rebuild *b, struct error *err);
void rebuild_close(struct rebuild *b);

/* The next search begins anew. */
void rebuild_forget(struct rebuild *b);

/* One more build: 0 and its figure, or *why there is none. -EINTR: interrupted, and
 * checkout.status is how. */
int rebuild_measure(struct rebuild *b, const char *id, double *value, const char **why,
		    struct error *err);

#endif
