/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_NINJA_NINJA_LOG_H
#define BUILDBEAT_CONVERT_NINJA_NINJA_LOG_H

#include "base/buf.h"
#include "base/cursor.h"
#include "base/error.h"
#include "convert/infile.h"

#include <stdint.h>

#define NINJA_LOG_NAME ".ninja_log"
#define NINJA_LOG_SIGNATURE "# ninja log v"

/*
 * The log of ninja and samurai, versions 5 to 7. For each output of an edge it has the hash of the
 * command that wrote it last, and when that ran.
 */
struct ninja_log_line {
	struct slice output;
	uint64_t hash;		/* of the command, see ninja_hash.h */
	int64_t start_ms, end_ms;	/* since that ninja's start; samurai writes 0 */
	int64_t mtime_ns;	/* version 5: of the output; from 6: when the command started, or
				   later if ninja checked the output again; 0: not known */
	uint32_t order;		/* of the line in the file, from 0 */
	uint32_t run;		/* order of the first line of the same run of a command */
};

struct ninja_log {
	int version;
	size_t n;		/* lines, one for each output, those of one run together */
	struct ninja_log_line *line;
	uint32_t newest;	/* order of the newest build's first line: the last one whose time
				   is before that of the line before it */
	unsigned damaged;	/* lines that were skipped */
	bool torn;		/* the last line is incomplete */
	struct buf text;	/* which `output` points into */
};

/* 0, or a negative errno with err and nothing to release: -EINVAL for other files. */
int ninja_log_read(struct ninja_log *log, const char *path, infile_reader *read,
		   struct error *err);
void ninja_log_release(struct ninja_log *log);

/* The number of lines of a run, whose first line is i. */
size_t ninja_log_run(const struct ninja_log *log, size_t i);

/* The middle one of n > 0 times, which are reordered: the start on which most lines agree. */
int64_t ninja_log_median(int64_t *ms, size_t n);

#endif
