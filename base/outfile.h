/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BASE_OUTFILE_H
#define BUILDBEAT_BASE_OUTFILE_H

#include "base/buf.h"
#include "base/error.h"

/*
 * Write a file that the user named. It appears whole or not at all: it is written beside and
 * then renamed. An existing file is replaced and the mode is kept; a symbolic link is followed,
 * and a device or pipe is written to. 0, or a negative errno with err.
 */
int outfile_write(const char *path, const struct buf *text, struct error *err);

/* The same for a name that we chose: an existing file is replaced, also if it is a symbolic
 * link. */
int outfile_replace(const char *path, const struct buf *text, struct error *err);

#endif
