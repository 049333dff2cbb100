/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_BUILD_H
#define BUILDBEAT_ARCHIVE_BUILD_H

#include "archive/message.h"
#include "archive/pair.h"
#include "archive/repo.h"

/* The parts of one build in the repository. */
struct build_place {
	git_oid commit;
	git_oid parent;			/* the first; all zero: there is none */
	git_oid build, totals, tasks;
	git_oid packages;		/* all zero: there is none, as the next */
	git_oid column[COLUMNS];
};

#define BUILD_COLUMNS "columns"

/*
 * Where they are, and what the commit's message says (release it in any case): 1; 0: it is
 * no build, and only its parent is known; or a negative errno with err.
 */
int build_find(struct archive *a, struct build_place *place, struct message *m,
	       const git_oid *commit, struct error *err);

/* The build of a name, as archive_values(): 0 or a negative errno. Release m in any case. */
int build_named(struct archive *a, struct build_place *place, struct message *m,
		const char *name, struct error *err);

/* "archive.git: 1234567890ab:tasks": for messages. */
struct build_name {
	char text[512];
	int inside;		/* where in it the archive's own path is over */
};

struct build_name build_name(const struct archive *a, const struct build_place *place,
			     const char *part);

/*
 * A part of it, copied to the arena: pair after pair is handed to take, which may stop
 * that by a negative errno. 0 or a negative errno with err, which names the build.
 */
int build_pairs(struct archive *a, const struct build_place *place, const git_oid *part,
		const char *name, const struct pair_format *format, struct arena *texts,
		int (*take)(void *context, const struct pair *pair), void *context,
		struct error *err);

/* Its totals, -1 what is not known. */
int build_totals(struct archive *a, const struct build_place *place, int64_t *total,
		 struct error *err);

/* The first n values of a column, which has to have that many; false in *known: there is
 * no such column. */
int build_column(struct archive *a, const struct build_place *place, enum value_column c,
		 int64_t *value, size_t n, bool *known, struct error *err);

#endif
