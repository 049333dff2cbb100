/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_PACKS_H
#define BUILDBEAT_ARCHIVE_PACKS_H

#include "archive/pack.h"
#include "archive/repo.h"

/*
 * The packs of an archive. Git's maintenance deletes unreachable objects, and it looks at the
 * references only once, at its start. Objects with files of their own that are written and become
 * reachable later are deleted, whatever references there are. A pack is deleted only if it was
 * there at that time without a file pack-NAME.keep. So a writer
 *	1. creates pack-NAME.keep, and locks it with flock(2) as long as it lives
 *	2. writes pack-NAME.pack with all its objects, also those that exist but are not reachable
 *	   from the newest build: they could be deleted at any time
 *	3. writes pack-NAME.idx, which makes them visible
 *	4. moves the reference
 *	5. removes pack-NAME.keep.
 * NAME is random: a pack of this name was never there. A pack that was visible is never removed
 * after a failure, because git may have deleted other copies of objects in a kept pack. Such objects
 * become garbage.
 */
struct packs_kept {
	int dir, keep;		/* descriptors, -1: none */
	char name[48];		/* "pack-NAME" */
};

#define PACKS_KEPT_INIT { -1, -1, "" }

/* Steps 1 to 3. Returns 0 or a negative errno with err, and nothing is left. */
int packs_keep(struct packs_kept *k, struct archive *a, struct pack *p, struct error *err);

/* Step 5. */
void packs_release(struct packs_kept *k);

/*
 * Removes .keep files and partial packs of killed writers, and joins small packs: reading looks
 * for each object in one pack after the other. Another process may do the same. Errors are ignored:
 * the next writer tries again.
 */
void packs_tidy(struct archive *a);

/* Whether libgit2 can read the indexes of all packs. Returns 0 or a negative errno with err. */
int packs_check(const struct archive *a, struct error *err);

/*
 * For archive_fsck(): call found with the name of each .keep file of a killed writer, or of each damaged
 * index. Repairing removes the files, and indexes the objects of the pack that can be read again; the
 * damaged pack gets a name that ends with ".damaged". Return 0 or a negative errno.
 */
int packs_left(const struct archive *a, bool repair,
	       void (*found)(void *context, const char *name), void *context);
int packs_reindex(struct archive *a, bool repair,
		  void (*found)(void *context, const char *name), void *context);

#endif
