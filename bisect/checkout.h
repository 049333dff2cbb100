/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BISECT_CHECKOUT_H
#define BUILDBEAT_BISECT_CHECKOUT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"

#include <stddef.h>

/*
 * Checks out commits of a repository in a private clone that borrows its objects. The files and
 * references of the repository are not changed. All work is done by git. Functions return 0 or
 * a negative errno with err; -EINTR means interrupted, and status is then that of git.
 */
struct checkout {
	struct arena *texts;	/* texts returned below */
	const char *source;	/* the repository, its .git */
	const char *prefix;	/* our directory below its top: "", "sub/dir/" */
	char *tree;		/* of the clone; NULL before checkout_clone() */
	int status;
};

/* Finds the repository of the working directory and the ids of two revisions. Always release. */
int checkout_init(struct checkout *c, const char *const revision[2], const char *id[2],
		  struct error *err);
void checkout_release(struct checkout *c);

/* Sets *text to the output of git log for a commit; format is "--format=...". */
int checkout_format(struct checkout *c, const char *id, const char *format, const char **text,
		    struct error *err);

/* Returns -EINVAL with err unless good is an ancestor of bad. */
int checkout_order(struct checkout *c, const char *good, const char *bad, struct error *err);

/* The commits that bad reaches and no good one does, sorted by how well they halve the rest. Free
 * the array *id. */
int checkout_between(struct checkout *c, const char *const *good, size_t n_good, const char *bad,
		     const char ***id, size_t *n, struct error *err);

/* Makes the clone at path, or uses an existing one. */
int checkout_clone(struct checkout *c, const char *path, struct error *err);

/* Checks out a commit with its submodules, and removes all other files. */
int checkout_switch(struct checkout *c, const char *id, struct error *err);

#endif
