/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_BUILDS_NOTES_H
#define BUILDBEAT_ARCHIVE_BUILDS_NOTES_H

#include "archive/repo.h"
#include "compare/builds.h"

/*
 * What was worked out about builds is kept in files beside the repository's objects, compressed. They
 * are of this copy only, are not sent anywhere, and may be removed: then it is worked out again. Who
 * can write the archive keeps them; others read those that are there.
 */
struct archive_notes {
	struct builds_notes notes;
	const struct archive *archive;
};

void archive_notes_init(struct archive_notes *n, const struct archive *a);

#endif
