/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BASE_TEXTS_H
#define BUILDBEAT_BASE_TEXTS_H

#include "base/buf.h"
#include "base/cursor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Where long texts of a recording are found again: most are never asked for, so
 * they stay in their files. Private to recording*.c.
 */

struct texts_file {
	char *name;		/* of the file in the recording; NULL: memory alone */
	char *memory;		/* what is in front of the file's: it was packed */
	size_t len;
};

struct texts {
	int dir_fd;		/* -1: no files */
	size_t n;
	struct texts_file *file;
	int fd;			/* of file[open] */
	size_t open;
	char *window;		/* FEED_MEMORY bytes, lent to struct feed while reading */
	size_t window_text;
	uint64_t window_start;	/* in the file */
	size_t window_len;	/* 0: nothing of a file */
	struct buf decoded;
	int error;		/* sticky: -ENOMEM when a text could not be decoded */
	struct buf bare;	/* texts that are in no file, a NUL behind each */
};

/* A line of a text in one number, 0 for none: a first line is never asked for. Or a
 * bare text: then TEXT_BARE is set in it. */
typedef uint64_t text_place;

#define TEXT_BARE (UINT64_C(1) << 63)

/* dir_fd becomes its. NULL when out of memory, and dir_fd is closed. */
struct texts *texts_new(int dir_fd);

/* NULL is fine. */
void texts_free(struct texts *t);

/* One more text; memory and fd (may be NULL and -1) become its, name is copied.
 * 0 or -ENOMEM. */
int texts_add(struct texts *t, const char *name, char *memory, size_t len, int fd);

/* Lend the window to other code, which may write to it until a line is requested. */
char *texts_lend_window(struct texts *t);

/* The place of a line in the text added last. */
text_place texts_place(const struct texts *t, uint64_t offset);

/* A bare text: its place, 0 when out of memory. And the text at such a place, valid
 * until the next is added. */
text_place texts_keep(struct texts *t, const char *text, size_t len);
const char *texts_bare(const struct texts *t, text_place at);

/* The line at a place, without its newline; valid until the next call. False if it
 * cannot be read any more. */
bool texts_line(struct texts *t, text_place at, struct slice *line);

#endif
