/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_INSPECT_ARCHIVE_PROGRESS_H
#define BUILDBEAT_INSPECT_ARCHIVE_PROGRESS_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * progress.log: how far an inspection is. After a first line, which says which process writes
 * it, each line is PERCENT, a tab and a message. As read, percentages never fall and the last one is 100: if
 * the inspector ended without it, the reader adds a line. The file can be in any directory, so a
 * task that has no archive yet has one too.
 */
#define INSPECT_PROGRESS_LOG "progress.log"
#define INSPECT_PROGRESS_DIED "the inspector ended"

struct inspect_progress {
	unsigned percent;	/* 0 to 100 */
	const char *message;
};

struct inspect_progress_list {
	struct arena *arena;
	size_t n;
	struct inspect_progress *line;
	bool runs;		/* the process that writes it */
	int32_t pid;		/* of it, 0: unknown */
};

#define INSPECT_PROGRESS_INIT { 0 }

/* Make the file in the directory, with its first line for this process. A descriptor, which the
 * caller closes, or a negative errno. */
int inspect_progress_begin(int dir_fd);

/* Add a line. 0 or a negative errno. */
int inspect_progress_add(int fd, unsigned percent, const char *message);

/* The whole list of the directory's file. 0, or a negative errno with err. Always release. */
int inspect_progress_read(struct inspect_progress_list *l, const char *dir, struct error *err);
void inspect_progress_release(struct inspect_progress_list *l);

#endif
