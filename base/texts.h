/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BASE_TEXTS_H
#define BUILDBEAT_BASE_TEXTS_H

#include "base/buf.h"
#include "base/cursor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The places of long texts of a recording. Most are never needed, so they stay in their files.
 * Private to recording/ and its builder.
 */

struct texts_file {
	char *name;		/* of the file in the recording; NULL: memory alone */
	char *memory;		/* comes before the text of the file: it was packed */
	size_t len;
};

struct texts {
	int dir_fd;		/* -1: no files */
	size_t n;
	struct texts_file *file;
	int fd;			/* of file[open] */
	size_t open;
	char *window;		/* FEED_MEMORY bytes, used by struct feed while reading */
	size_t window_text;
	uint64_t window_start;	/* in the file */
	size_t window_len;	/* 0: nothing of a file */
	struct buf decoded;
	int error;		/* sticky: -ENOMEM when a text could not be decoded */
	struct buf bare;	/* texts that are in no file, each with a NUL after it */
};

/* The place of a line, or of a bare text if TEXT_BARE is set. 0: none, as the first line of a file
 * is never needed. */
typedef uint64_t text_place;

#define TEXT_BARE (UINT64_C(1) << 63)

/* Takes over dir_fd. NULL when out of memory, and dir_fd is closed. */
struct texts *texts_new(int dir_fd);

/* t may be NULL. */
void texts_free(struct texts *t);

/* Add a text. Takes over memory and fd, which may be NULL and -1, and copies name.
 * 0 or -ENOMEM. */
int texts_add(struct texts *t, const char *name, char *memory, size_t len, int fd);

/* Lend the window to other code, which may write to it until a line is requested. */
char *texts_lend_window(struct texts *t);

/* The place of a line in the text added last. */
text_place texts_place(const struct texts *t, uint64_t offset);

/* Add a bare text. Returns its place, 0 when out of memory. texts_bare() returns the text at such
 * a place, valid until the next one is added. */
text_place texts_keep(struct texts *t, const char *text, size_t len);
const char *texts_bare(const struct texts *t, text_place at);

/* The line at a place, without its newline; valid until the next call. False if it
 * cannot be read any more. */
bool texts_line(struct texts *t, text_place at, struct slice *line);

#endif
