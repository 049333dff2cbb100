/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RECORDING_LOST_H
#define BUILDBEAT_RECORDING_LOST_H

#include "base/cursor.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * lost.log counts the data that is missing because it could not be written. After a first line, it
 * has
 *	lost TIME_US INST LINES TASKS REASON	lines of tasks.log; TASKS of them began a task
 *	part TIME_US NAME REASON		some of the samples, processes, output
 * with tabs in between. Each line counts losses that no earlier line counted. REASON is
 * disk, quota, limit (on the size of files), or "e" and the number of another error of the system;
 * ENOBUFS: a line was longer than a line may be.
 *
 * Room for it is reserved when the recording begins. If the file is missing or
 * has only its first line, nothing was lost.
 */
#define LOST_HEADER "buildbeat lost 1\n"
#define LOST_RESERVED 65536

#define LOST_UNTOLD (-ENODATA)

enum lost_part {
	LOST_SAMPLES, LOST_PROCESSES, LOST_NAMES, LOST_RESULTS, LOST_TALLIES, LOST_OUTPUT,
	LOST_OTHER,		/* has no name here */
};

struct lost {
	uint64_t lines, tasks;
	unsigned parts;		/* what else is missing, 1 << enum lost_part */
	int reason;		/* negative errno of the first line, 0: nothing was lost;
				   LOST_UNTOLD: only the numbers of the tasks show it */
};

/* Does this (negative) errno mean a lack of room: no space, quota, limit on file size. */
bool lost_is_full(int error);

/* Count the lines of events, and those that begin a task. */
void lost_count(struct lost *l, const char *text, size_t len);

/* Add one line of the file. *inst (may be NULL) gets the instance, empty if the line is not about
 * one. False if the line is damaged. */
bool lost_parse(struct lost *l, struct slice line, struct slice *inst);

/* Sum up the file in a recording's directory. 0, also without a file, or a negative errno. */
int lost_read(struct lost *l, int dir_fd);

/* Begin the file, and reserve room for it and for the end of `build`. */
void lost_begin(int dir_fd);

/* The recording has ended: release that room, and remove the file if nothing was lost. */
void lost_end(int dir_fd);

/* Append "446 tasks, 800 other lines, samples, output lost (No space left on device)". */
struct buf;
void lost_add_text(struct buf *b, const struct lost *l);

/* Append one line. 0 or a negative errno. */
int lost_append_tasks(int dir_fd, int64_t time_us, const char *inst, const struct lost *l);
int lost_append_part(int dir_fd, int64_t time_us, const char *part, int error);

#endif
