/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_INSPECT_ARCHIVE_LIST_H
#define BUILDBEAT_INSPECT_ARCHIVE_LIST_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Archives of inspections: found, listed, deleted and retained. */

struct inspect_entry {
	const char *path;	/* as it was found: below the directory given */
	const char *name;	/* of its directory */
	const char *host, *program, *command, *task, *why;
	const char *end;	/* "": it still runs, or was killed */
	const char *ancestors;	/* "PID,PID,...": the process, its parent ...; "" */
	const char *heap;	/* "", "sampled", "exact" */
	int32_t pid;		/* of the process */
	uint64_t start_ticks;	/* of the process, since the machine started */
	int64_t start_us;	/* since 1970 */
	int64_t start_ns;	/* CLOCK_MONOTONIC */
	int64_t end_us;		/* since it started, -1: unknown */
	size_t n_snapshots;	/* when it ended, 0 if that is not known */
	bool runs;		/* its inspector */
};

struct inspect_list {
	struct arena *arena;
	size_t n;
	struct inspect_entry *entry;	/* by start, the newest first */
};

#define INSPECT_LIST_INIT { 0 }

/* Add the archives in dir, such as RECORDING/inspect. A directory that does not exist has none,
 * and costs one system call. 0, or a negative errno with err. */
int inspect_list_add(struct inspect_list *l, const char *dir, struct error *err);

/* Add those of a directory: in it and in its `inspect`, in the recordings in it, and in those of
 * its `buildstats`. So dir can be a project, a directory of recordings, or a recording. */
int inspect_list_below(struct inspect_list *l, const char *dir, struct error *err);

void inspect_list_release(struct inspect_list *l);

/* Remove the archive in path and its files. -EBUSY if its inspector runs, -EINVAL if it is no
 * archive, -EPERM if others could replace it. */
int inspect_archive_delete(const char *path, struct error *err);

/* How long archives of a program are kept: the newest `keep`, and those that began at most `days`
 * days ago. 0: no limit. */
struct inspect_retention {
	int64_t keep, days;
};

/* Says what the limits are for archives of a program on a host. */
typedef void inspect_limits(struct inspect_retention *limits, void *context, const char *host,
			    const char *program);

/* Remove what the limits no longer allow of the archives in dir; those that run stay. *removed
 * (may be NULL) is their number. 0, or a negative errno with err. */
int inspect_archive_retain(const char *dir, inspect_limits *limits_of, void *context,
			   int64_t now_us, size_t *removed, struct error *err);

#endif
