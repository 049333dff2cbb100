/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CLI_DIFF_INPUT_H
#define BUILDBEAT_CLI_DIFF_INPUT_H

#include "analyse/values.h"
#include "base/error.h"

#include <stddef.h>

struct archive;

/* Builds to be compared: values of so many recordings, or builds of an archive. */
struct diff_input {
	size_t n;
	struct values *values;
};

#define DIFF_INPUT_INIT { 0 }

/* Reads them one after the other: recordings in base as openrec() finds them or, where
 * archive is not NULL, builds. 0 or a negative errno with err; always release. */
int diff_input_read(struct diff_input *b, const char *const *what, size_t n, const char *base,
		struct archive *archive, struct error *err);
void diff_input_release(struct diff_input *b);

#endif
