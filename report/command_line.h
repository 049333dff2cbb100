/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_COMMAND_LINE_H
#define BUILDBEAT_REPORT_COMMAND_LINE_H

#include "base/buf.h"

/*
 * Command lines of buildbeat that are printed to be pasted into a shell. Every word is quoted as
 * by shell_add_shown().
 */
struct command_line_archive {
	const char *repo;	/* a password in its URL is not printed */
	const char *config;	/* file of the option, or NULL */
	const char *ref;	/* the series, or NULL: the archive has only one */
};

/* "buildbeat NAME", with the options of the archive; NULL: none. */
void command_line_begin(struct buf *out, const char *name, const struct command_line_archive *a);

/* " --NAME VALUE". */
void command_line_option(struct buf *out, const char *name, const char *value);

/* " --build BUILD", the first digits of its id, and " --metrics LIST" of METRIC_BIT()s. */
void command_line_build(struct buf *out, const char *id);
void command_line_metrics(struct buf *out, unsigned metrics);

/* Also one that begins with a dash, if no option follows it. */
void command_line_operand(struct buf *out, const char *word);

#endif
