/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_BUILD_H
#define BUILDBEAT_ARCHIVE_BUILD_H

#include "archive/message.h"
#include "archive/pair.h"
#include "archive/repo.h"

/* The objects of one build in the repository. */
struct build_place {
	git_oid commit;
	git_oid parent;			/* the first parent; all zero: none */
	git_oid build, totals, tasks;
	git_oid packages;		/* all zero: none, as below */
	git_oid column[COLUMNS];
	git_oid spread[METRICS];	/* of a set; all zero: none */
};

#define BUILD_COLUMNS "columns"
#define BUILD_SPREAD "spread"

/*
 * Finds the objects of a build and reads its message, which must always be released. Returns 1; 0
 * for a commit that is not a build, of which only the parent is set; or a negative errno with
 * err.
 */
int build_find(struct archive *a, struct build_place *place, struct message *m,
	       const git_oid *commit, struct error *err);

/* Reads a commit and its message; free and release both. On error neither is needed. */
int build_commit(struct archive *a, git_commit **commit, struct message *m, const git_oid *id,
		 struct error *err);

/* The same for a build by its name, as in archive_values(). Returns 0 or a negative errno. */
int build_named(struct archive *a, struct build_place *place, struct message *m,
		const char *name, struct error *err);

/* "archive.git: 1234567890ab:tasks", for messages. */
struct build_name {
	char text[512];
	int inside;		/* offset after the archive's path */
};

struct build_name build_name(const struct archive *a, const struct build_place *place,
			     const char *part);

/*
 * Reads one file of a build and passes each pair to take, which stops with a negative errno. The
 * texts belong to the arena. Returns 0 or a negative errno with err.
 */
int build_pairs(struct archive *a, const struct build_place *place, const git_oid *part,
		const char *name, const struct pair_format *format, struct arena *texts,
		int (*take)(void *context, const struct pair *pair), void *context,
		struct error *err);

/* The totals of a build, -1 if unknown. */
int build_totals(struct archive *a, const struct build_place *place, int64_t *total,
		 struct error *err);

/* Reads a column, which must have n values. *known is false if there is no such column. */
int build_column(struct archive *a, const struct build_place *place, enum value_column c,
		 int64_t *value, size_t n, bool *known, struct error *err);

/* The same of the standard deviations of a metric of a set. */
int build_spread(struct archive *a, const struct build_place *place, enum metric m, int64_t *value,
		 size_t n, bool *known, struct error *err);

#endif
