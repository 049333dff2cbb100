#ifndef BUILDBEAT_OUTFILE_H
#define BUILDBEAT_OUTFILE_H

#include "buf.h"
#include "error.h"

/*
 * Write a file that appears whole or not at all: beside, then renamed. What was
 * there before is replaced; a symbolic link is followed. 0, or a negative errno
 * with err.
 */
int outfile_write(const char *path, const struct buf *text, struct error *err);

#endif
