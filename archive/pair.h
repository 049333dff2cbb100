/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_PAIR_H
#define BUILDBEAT_ARCHIVE_PAIR_H

#include "base/buf.h"

#include <stddef.h>

struct arena;

/*
 * The format of most files of a build: a first line, then lines of a key and a value, escaped like
 * fields of a recording (field.h).
 */
struct pair_format {
	const char *first_line;		/* without its newline */
	const char *separator;		/* ": " or a tab */
};

extern const struct pair_format pair_build, pair_totals, pair_tasks, pair_packages;

struct pair {
	const char *key, *value;
};

struct pair_reader {
	const struct pair_format *format;
	char *p, *end;
	unsigned line;		/* number of the last line read */
};

void pair_begin_write(struct buf *out, const struct pair_format *format);
void pair_write(struct buf *out, const struct pair_format *format, const char *key,
		const char *value);

/* Begins to read a file; texts belong to the arena. Returns 0, -ENOMEM, or -EINVAL for another
 * first line or a NUL. pair_continue() reads only what follows the first `known` bytes, which
 * have that many lines. */
int pair_begin(struct pair_reader *r, const struct pair_format *format, struct arena *texts,
	       const void *data, size_t len);
int pair_continue(struct pair_reader *r, const struct pair_format *format, struct arena *texts,
		  const void *data, size_t len, size_t known, size_t lines);

/* Returns 1, 0 at the end, or -EINVAL for an invalid line. */
int pair_next(struct pair_reader *r, struct pair *pair);

#endif
