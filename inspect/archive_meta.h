/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_INSPECT_ARCHIVE_META_H
#define BUILDBEAT_INSPECT_ARCHIVE_META_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The file `archive` of an archive, private to archive_*.c: its first line, and `key: value` lines,
 * of which the last of a key counts. Values are escaped as in base/field.h.
 */
struct archive_fact {
	const char *key, *value;
};

struct archive_meta {
	struct arena *arena;	/* of the caller */
	size_t n;
	struct archive_fact *fact;
};

/* Append a line. In a command, secrets are replaced. */
void archive_meta_add(struct buf *b, const char *key, const char *value);
void archive_meta_add_number(struct buf *b, const char *key, uint64_t n);
void archive_meta_add_command(struct buf *b, const char *key, const char *command);

/* Append the process and its ancestors, "PID,PID,...", if it still runs. */
void archive_meta_add_ancestors(struct buf *b, int32_t pid, uint64_t start_ticks);

/* Append "PID START_NS BOOT_ID", for this process. */
void archive_meta_add_writer(struct buf *b);

/* Does the process of such a text run, on this machine? *pid may be NULL. */
bool archive_meta_writer_runs(const char *text, const char *host, int32_t *pid);

/* Read the file of the directory; path is for messages. meta->arena is set. 0, or a negative errno
 * with err (may be NULL): -ENOENT, -ENOTDIR, -EINVAL, -ENOMEM. Always release. */
int archive_meta_read(struct archive_meta *meta, int dir_fd, const char *path,
		      struct error *err);
void archive_meta_release(struct archive_meta *meta);

/* The value of a key, NULL: it has none. The number, from 0 to max; `otherwise` if there is no such
 * number. */
const char *archive_meta_find(const struct archive_meta *meta, const char *key);
const char *archive_meta_text(const struct archive_meta *meta, const char *key);
int64_t archive_meta_number(const struct archive_meta *meta, const char *key, int64_t max,
			    int64_t otherwise);

#endif
