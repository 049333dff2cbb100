/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BASE_FEED_H
#define BUILDBEAT_BASE_FEED_H

#include "base/cursor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Lines longer than this are damage: they are passed, not kept in memory. */
#define FEED_LINE_MAX 1048576
#define FEED_CHUNK 131072
#define FEED_EXPECT 32		/* the whole text is expected to be like this part of it */
#define FEED_MEMORY (FEED_LINE_MAX + FEED_CHUNK)

/*
 * A text line by line: what is in memory, then what a file descriptor gives,
 * a chunk at a time through the same small memory.
 */
struct feed {
	const char *p, *end;	/* read, not given yet */
	uint64_t offset;	/* of p in the whole text */
	uint64_t size;		/* of that, as far as it is known */
	unsigned line;		/* of the line given last, counted from 1 */
	int fd;			/* lent; -1: no more */
	char *memory;		/* lent, FEED_MEMORY bytes; NULL without fd */
	int error;		/* negative errno: reading ended there */
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

/* Of how many there are now, how many there may be in the whole text. */
size_t feed_expect(const struct feed *f, size_t n);

/* Is there nothing (more)? */
bool feed_at_end(struct feed *f);

#endif
