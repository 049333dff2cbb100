/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BASE_OUTFILE_H
#define BUILDBEAT_BASE_OUTFILE_H

#include "base/buf.h"
#include "base/error.h"

/*
 * Write a file that the user named. It appears whole or not at all: it is written beside and
 * then renamed. An existing file is replaced and the mode is kept; a symbolic link is followed,
 * and a device or pipe is written to. OUTFILE_STDOUT is standard output, past stdio. 0, or a
 * negative errno with err.
 */
#define OUTFILE_STDOUT "-"

int outfile_write(const char *path, const struct buf *text, struct error *err);

/* The same for a name that we chose: an existing file is replaced, also if it is a symbolic
 * link. */
int outfile_replace(const char *path, const struct buf *text, struct error *err);

/*
 * The same of a file that is written in parts. Begin it, add its parts, and end it, also after an
 * error: with a status other than 0, the file that was there before remains.
 */

struct outfile {
	const char *path;	/* of the caller */
	struct outfile_place *place;	/* private; NULL: standard output */
	int fd;
};

int outfile_begin(struct outfile *o, const char *path, struct error *err);
int outfile_add(struct outfile *o, const void *p, size_t len, struct error *err);
/* Returns r, or the error of the end. */
int outfile_end(struct outfile *o, int r, struct error *err);

#endif
