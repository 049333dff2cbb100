/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CLI_OUTPUT_H
#define BUILDBEAT_CLI_OUTPUT_H

#include "base/buf.h"
#include "base/text.h"

/*
 * How to write for who reads standard output: a terminal has a width, and colour
 * unless NO_COLOR or TERM=dumb say otherwise; a file or pipe has neither, but for a
 * width in COLUMNS.
 */
struct style output_style(void);

/* A path on a line of its own: escaped by text_add_name() on a terminal, otherwise unchanged. */
void output_path(const char *path);

/* All of it to standard output; main() tells when that failed. */
void output_write(const struct buf *text);

#endif
