/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_SOURCE_LOG_H
#define BUILDBEAT_REPORT_SOURCE_LOG_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The commits of a source tree: the one place that reads its repository. */
struct source_log;

/* dir is the tree, a directory in it, or a bare repository. 0 or a negative errno with err.
 * NULL is fine to close. */
int source_log_open(struct source_log **log, const char *dir, struct error *err);
void source_log_close(struct source_log *log);

/* Has it that commit (hexadecimal, or its beginning). */
bool source_log_has(struct source_log *log, const char *commit);

struct source_commit {
	const char *id;		/* hexadecimal */
	const char *subject, *author;
	int64_t time_s;		/* when its author wrote it */
	bool merge;
	size_t n_touched;	/* files that differ from the (first) parent */
	const char *const *file;	/* of them, SOURCE_FILES at most */
	size_t n_files;
};

#define SOURCE_FILES 1000

/*
 * Those that `to` has and `from` has not, the newest first: how many in *n, of which
 * the first `most` are looked at, emit() each (texts are gone afterwards; it returns 0 or
 * a negative errno, which ends it). 0; -ENOENT: one of both is not there; another negative
 * errno; each with err.
 */
int source_log_between(struct source_log *log, const char *from, const char *to, size_t most,
		       int (*emit)(void *context, const struct source_commit *commit),
		       void *context, size_t *n, struct error *err);

/* Is `to` a descendant of `from`, or the same. */
bool source_log_follows(struct source_log *log, const char *from, const char *to);

/* Is its history cut off. */
bool source_log_is_shallow(struct source_log *log);

#endif
