/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_INSPECT_ARCHIVE_FILES_H
#define BUILDBEAT_INSPECT_ARCHIVE_FILES_H

#include "base/error.h"
#include "inspect/archive_progress.h"
#include "inspect/inspection.h"
#include "recording/store_create.h"

#include <limits.h>

/*
 * The archive of an inspection: a directory `DATE - HOST - PROCESS`, such as "2026-11-22 21-51-49 -
 * host - ld 12345" (UTC). Its files are text that is only appended to, a line or a block with one
 * write(). buildbeat-inspection(5) has the format; archive_format.h describes it for who changes it.
 */

/* Names of what an archive is below: of a recording, and of the current directory. */
#define INSPECT_ARCHIVES "inspect"

/* Writing */

struct inspect_archive;

/*
 * Make the archive below base, which is made too, or with the name `path` (NULL: DATE - HOST -
 * PROCESS; " 2", " 3" ... is added if that is taken). x stays the caller's and lives as long as the
 * archive: its names, modules, frames and stacks may grow, and numbers in it never change. Of its
 * process, host, pid, program ... are known; in its command, secrets are replaced when it is
 * written. 0, or a negative errno with err: -EPERM if other users could replace the archive
 * (base/trust.h), -EEXIST if path exists. On failure nothing is left.
 */
int inspect_archive_create(struct inspect_archive **a, const char *base, const char *path,
			   const struct inspection *x, enum store_access access,
			   struct error *err);

/* Its absolute path. */
const char *inspect_archive_path(const struct inspect_archive *a);

/* The process executed another program: x has its name and command. The directory gets a new name,
 * unless its path was chosen. Returns 0 or the sticky error, as the functions below. */
int inspect_archive_set_program(struct inspect_archive *a);

/*
 * Errors are sticky: after the first one nothing more is written, and what was written before can
 * be read. On a full disk a part of a block is removed again. Each of these returns 0 or that error.
 */

/* Add a snapshot, and the modules, frames and stacks that x has got since the last one. */
int inspect_archive_add_snapshot(struct inspect_archive *a, const struct snapshot *s);

/* Add a line of the history of the process: its values at time_us, as in a snapshot. */
int inspect_archive_add_values(struct inspect_archive *a, int64_t time_us,
			       const struct process_values *values);

/* See archive_progress.h. Progress is also written after an error. */
int inspect_archive_add_progress(struct inspect_archive *a, unsigned percent,
				 const char *message);

/* End it with the reason, and close it; a may be NULL. Returns the sticky error, with err (may be
 * NULL), which says what was kept. The last progress line is the caller's. */
int inspect_archive_end(struct inspect_archive *a, const char *why, struct error *err);

/*
 * Write the names of x's frames into the archive in path (symbols_log.h), also later and on another
 * machine: they replace earlier ones. x has the frames of the archive. 0, or a negative errno with
 * err.
 */
int inspect_archive_set_symbols(const char *path, const struct inspection *x, struct error *err);

/* Reading. An archive is not trusted: all numbers and texts of it are checked. */

struct inspect_reader;

/*
 * Read the archive in the directory path, also one that is still written. The snapshots are those
 * before the first damage. 0, or a negative errno with err: -ENOENT, -ENOTDIR, -EINVAL (not an
 * archive, a later version), -ENOMEM.
 */
int inspect_reader_open(struct inspect_reader **r, const char *path, struct error *err);
void inspect_reader_close(struct inspect_reader *r);	/* r may be NULL */

/* What is known of all snapshots; lives as long as the reader. */
const struct inspection *inspect_reader_inspection(const struct inspect_reader *r);

/* What was wrong with the archive in one sentence, such as a block that was not finished. NULL:
 * nothing. */
const char *inspect_reader_warning(const struct inspect_reader *r);

/* Read snapshot i, which is less than n_snapshots, into s, which was initialised. Reading forward
 * costs least. 0 or a negative errno with err. */
int inspect_reader_snapshot(struct inspect_reader *r, size_t i, struct snapshot *s,
			    struct error *err);

/* The history of the process, by time. */
struct inspect_look {
	int64_t time_us;
	struct process_values process;
};

const struct inspect_look *inspect_reader_history(const struct inspect_reader *r, size_t *n);

/* The value of a key of the file `archive`, NULL: it has none. */
const char *inspect_reader_fact(const struct inspect_reader *r, const char *key);

#endif
