/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_SOURCE_LOG_H
#define BUILDBEAT_REPORT_SOURCE_LOG_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The commits of a source tree. Only this file reads its repository. */
struct source_log;

/* dir is the tree, a directory in it, or a bare repository. Returns 0 or a negative errno with err.
 * Closing NULL is allowed. */
int source_log_open(struct source_log **log, const char *dir, struct error *err);
void source_log_close(struct source_log *log);

/* Whether it has a commit, by its id or the first digits. */
bool source_log_has(struct source_log *log, const char *commit);

/* The id of the commit that git knows by this name. id: room for SOURCE_ID_SIZE bytes. */
#define SOURCE_ID_SIZE 41
bool source_log_find(struct source_log *log, const char *name, char *id);

struct source_commit {
	const char *id;		/* hexadecimal */
	const char *subject, *author;
	int64_t time_s;		/* of the author */
	bool merge;
	size_t n_touched;	/* files that differ from the (first) parent */
	const char *const *file;	/* at most SOURCE_FILES of them */
	size_t n_files;
};

#define SOURCE_FILES 1000

/*
 * Calls emit() for the newest `most` commits that `to` reaches and `from` does not, the newest first.
 * *n is the number of all of them. Texts are valid during the call; a negative errno of emit()
 * stops. Returns 0 or a negative errno with err: -ENOENT if one of the two is missing.
 */
int source_log_between(struct source_log *log, const char *from, const char *to, size_t most,
		       int (*emit)(void *context, const struct source_commit *commit),
		       void *context, size_t *n, struct error *err);

/* Whether `to` is a descendant of `from`, or the same. */
bool source_log_follows(struct source_log *log, const char *from, const char *to);

/* Whether its history is incomplete. */
bool source_log_is_shallow(struct source_log *log);

#endif
