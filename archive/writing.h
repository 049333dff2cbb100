/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_WRITING_H
#define BUILDBEAT_ARCHIVE_WRITING_H

#include "archive/packs.h"

/*
 * The objects of one change. They are written to `git`, which has the objects of the archive too but
 * writes to memory only; also objects that the archive has already, see packs.h. References are
 * those of the archive.
 */
struct writing {
	struct archive *a;
	git_repository *git;
	struct pack pack;
	struct packs_kept kept;
};

#define WRITING_INIT { .pack = PACK_INIT, .kept = PACKS_KEPT_INIT }

/* Returns 0 or a negative errno with err. Always end. */
int writing_begin(struct writing *w, struct archive *a, struct error *err);

/* Writes the objects to the archive; a reference to them must be set before the end. */
int writing_keep(struct writing *w, struct error *err);
void writing_end(struct writing *w);

#endif
