/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BISECT_CHECKOUT_H
#define BUILDBEAT_BISECT_CHECKOUT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"

#include <stddef.h>

/*
 * Commits of somebody's repository, checked out one after the other in a place of our own: a
 * clone that borrows the repository's objects, so that neither its files nor what it
 * knows is touched. All through git itself. Errors: -EINTR when interrupted, and status
 * is then that of git.
 */
struct checkout {
	struct arena *texts;	/* what is returned below */
	const char *source;	/* the repository, its .git */
	const char *prefix;	/* where below its top we were called: "", "sub/dir/" */
	char *tree;		/* of the clone; NULL: none yet */
	int status;
};

/* The repository that the working directory is in, and what two revisions of it are. Always
 * release. */
int checkout_init(struct checkout *c, const char *const revision[2], const char *id[2],
		  struct error *err);
void checkout_release(struct checkout *c);

/* What git log says of a commit with such a --format=... */
int checkout_format(struct checkout *c, const char *id, const char *format, const char **text,
		    struct error *err);

/* -EINVAL with err unless good is an ancestor of bad. */
int checkout_order(struct checkout *c, const char *good, const char *bad, struct error *err);

/* What bad reaches and none of good does, what halves it best first: ids, which free()
 * takes. */
int checkout_between(struct checkout *c, const char *const *good, size_t n_good, const char *bad,
		     const char ***id, size_t *n, struct error *err);

/* Make the clone at path, or take the one there is. */
int checkout_clone(struct checkout *c, const char *path, struct error *err);

/* The tree becomes what that commit has and nothing else, submodules too. */
int checkout_switch(struct checkout *c, const char *id, struct error *err);

#endif
