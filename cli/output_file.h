/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CLI_OUTPUT_FILE_H
#define BUILDBEAT_CLI_OUTPUT_FILE_H

#include "base/buf.h"
#include "base/error.h"
#include "base/text.h"

/*
 * The style for standard output. A terminal has a width, and colour unless NO_COLOR
 * or TERM=dumb is set. A file or pipe has a width only if COLUMNS is set.
 */
struct style output_style(void);

/* The same for standard error. */
struct style output_error_style(void);

/* The path that was written, on a line of its own: escaped by text_add_name() on a terminal,
 * otherwise unchanged. Nothing if it was standard output. */
void output_path(const char *path);

/*
 * The end of an output: if r is 0 and text has no error, writes text to standard output, of
 * which main() reports errors. Releases text. Returns 0 or a negative errno with err, which
 * names path (may be NULL).
 */
int output_end(struct buf *text, int r, const char *path, struct error *err);

/* The same to a file that the user named. */
int output_file(struct buf *text, int r, const char *path, struct error *err);

#endif
