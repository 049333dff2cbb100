/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_NINJA_LOG_H
#define BUILDBEAT_CONVERT_NINJA_LOG_H

#include "base/buf.h"
#include "base/cursor.h"
#include "base/error.h"
#include "convert/infile.h"

#include <stdint.h>

#define NINJA_LOG_NAME ".ninja_log"
#define NINJA_LOG_SIGNATURE "# ninja log v"

/*
 * The log of ninja and samurai, of the versions 5, 6 and 7: for each output of an edge
 * when its command ran last, and what that was.
 */
struct ninja_log_line {
	struct slice output;
	uint64_t hash;		/* of the command, see ninja_hash.h */
	int64_t start_ms, end_ms;	/* since that ninja's start; samurai writes 0 */
	int64_t mtime_ns;	/* version 5: of the output, from 6 on when the command
				   started, or later where ninja looked again; 0: not told */
	uint32_t order;		/* of the line in the file, from 0 */
	uint32_t run;		/* the order of the first that tells of the same run of a command */
};

struct ninja_log {
	int version;
	size_t n;		/* the last line of each output; those of one run together */
	struct ninja_log_line *line;
	uint32_t newest;	/* order of the first line of the newest build: where times
				   went back last */
	unsigned damaged;	/* lines left out */
	bool torn;		/* and the last has no end */
	struct buf text;	/* what outputs point into */
};

#define NINJA_LOG_INIT { 0 }

/* 0, or a negative errno with err and nothing to release: -EINVAL for something else
 * than such a log. */
int ninja_log_read(struct ninja_log *log, const char *path, infile_reader *read,
		   struct error *err);
void ninja_log_release(struct ninja_log *log);

/* How many lines from line i on, the first of its run, tell of it. */
size_t ninja_log_run(const struct ninja_log *log, size_t i);

#endif
