/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_PAIR_H
#define BUILDBEAT_ARCHIVE_PAIR_H

#include "base/buf.h"

#include <stddef.h>

struct arena;

/*
 * Most files of a build: a first line, then a key and a value a line, escaped as fields of
 * a recording are (field.h).
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
	unsigned line;		/* of what was read last */
};

void pair_begin_write(struct buf *out, const struct pair_format *format);
void pair_write(struct buf *out, const struct pair_format *format, const char *key,
		const char *value);

/* 0, -ENOMEM, -EINVAL: another first line, or a NUL in it. The texts are the arena's. Or what
 * follows behind its first bytes, of so many lines, which are known. */
int pair_begin(struct pair_reader *r, const struct pair_format *format, struct arena *texts,
	       const void *data, size_t len);
int pair_go_on(struct pair_reader *r, const struct pair_format *format, struct arena *texts,
	       const void *data, size_t len, size_t known, size_t lines);

/* 1, or 0 at the end, or -EINVAL: this is none. */
int pair_next(struct pair_reader *r, struct pair *pair);

#endif
