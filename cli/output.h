/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CLI_OUTPUT_H
#define BUILDBEAT_CLI_OUTPUT_H

#include "base/buf.h"
#include "base/text.h"

/*
 * The style for standard output. A terminal has a width, and colour unless NO_COLOR
 * or TERM=dumb is set. A file or pipe has a width only if COLUMNS is set.
 */
struct style output_style(void);

/* A path on a line of its own: escaped by text_add_name() on a terminal, otherwise unchanged. */
void output_path(const char *path);

/* Writes text to standard output; main() reports errors. */
void output_write(const struct buf *text);

#endif
