#ifndef BUILDBEAT_OUTFILE_H
#define BUILDBEAT_OUTFILE_H

#include "buf.h"
#include "error.h"

/*
 * Write a file that the user named. It appears whole or not at all: beside, then renamed.
 * What was there before is replaced and keeps its mode; a symbolic link is followed, a
 * device or pipe written to. 0, or a negative errno with err.
 */
int outfile_write(const char *path, const struct buf *text, struct error *err);

/* The same of a name that is our own choice: whatever has it is replaced itself, be it a
 * symbolic link. */
int outfile_replace(const char *path, const struct buf *text, struct error *err);

#endif
