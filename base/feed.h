/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BASE_FEED_H
#define BUILDBEAT_BASE_FEED_H

#include "base/cursor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longer lines are damage: they are skipped and not kept in memory. */
#define FEED_LINE_MAX 1048576
#define FEED_CHUNK 131072
#define FEED_EXPECT 32		/* sizes are estimated when a part of 1/32 was read */
#define FEED_MEMORY (FEED_LINE_MAX + FEED_CHUNK)

/*
 * A text line by line: first a text in memory, then a file, of which one chunk at a time is in
 * memory.
 */
struct feed {
	const char *p, *end;	/* read, but not returned yet */
	uint64_t offset;	/* of p in the whole text */
	uint64_t size;		/* of the whole text, as far as it is known */
	unsigned line;		/* of the line returned last, counted from 1 */
	int fd;			/* borrowed; -1: no more to read */
	char *memory;		/* borrowed, FEED_MEMORY bytes; NULL without fd */
	int error;		/* negative errno if reading failed */
};

enum feed_line {
	FEED_WHOLE,
	FEED_TORN,		/* the last, without its newline */
	FEED_TOO_LONG,		/* *line is not set */
	FEED_END,
};

void feed_init(struct feed *f, const char *text, size_t len, int fd, char *memory);

/* The next line without its newline. It is valid until the next call. */
enum feed_line feed_line(struct feed *f, struct slice *line);

/* Estimate how many items the whole text has, if the part that was read has n. */
size_t feed_expect(const struct feed *f, size_t n);

/* Was all of the text returned? */
bool feed_at_end(struct feed *f);

#endif
