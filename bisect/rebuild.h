/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BISECT_REBUILD_H
#define BUILDBEAT_BISECT_REBUILD_H

#include "analyse/metric.h"
#include "bisect/checkout.h"

#include <stdbool.h>

/*
 * Builds commits and measures one metric: each commit is checked out, built from scratch and
 * recorded. The results are kept in a directory:
 *	runs		"buildbeat bisect 1", the search, an empty line, then a line for each
 *			build: its commit and value, or its commit, "-" and the reason why the
 *			value is missing
 *	tree		the checkout
 *	recordings	a recording and the output (.log) of each build
 * An interrupted search is repeated with the values in runs.
 */
struct rebuild {
	/* set by the caller */
	struct checkout *checkout;
	const char *directory;
	const char *config;	/* buildbeat.yaml, or NULL */
	const char *const *task;	/* its names: a revision has one of them */
	size_t n_tasks;		/* 0: the build */
	enum metric metric;
	const char *prepare;	/* a shell command before each build, or NULL */
	char **build;		/* its command, ends with NULL */
	const char *head;	/* of the search, by rebuild_add_head() */

	int fd;			/* of runs, locked */
	size_t n, n_known;	/* builds so far; builds in runs */
	struct known_run *run;
};

struct known_run {
	const char *id;
	int64_t value;
	const char *why;	/* NULL if there is a value */
};

/* Adds the lines of runs that identify a search. */
void rebuild_add_head(struct buf *head, const struct rebuild *b, const char *good,
		      const char *bad, size_t most);

/* Continues or begins the search in directory. Returns 0 or a negative errno with err: -EBUSY if
 * it is running elsewhere, -EEXIST for a different search. Always close. */
int rebuild_open(struct rebuild *b, struct error *err);
void rebuild_close(struct rebuild *b);

/* Deletes the results, so that the next search begins anew. */
void rebuild_forget(struct rebuild *b);

/* Builds once: returns 0 and sets *value, or *why if it is missing. -EINTR: interrupted, see
 * checkout.status. */
int rebuild_measure(struct rebuild *b, const char *id, double *value, const char **why,
		    struct error *err);

#endif
