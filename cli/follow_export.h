/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CLI_FOLLOW_EXPORT_H
#define BUILDBEAT_CLI_FOLLOW_EXPORT_H

#include "base/error.h"
#include "launch/tracer.h"

/* `export --follow`: the recording `what` in base, finished or not, in the format with that word
 * of --to, until it ends or nobody reads any more. into: a new file, a FIFO, a device, "-" for
 * standard output, or NULL: REC.suffix. 0 or a negative errno with err. */
int follow_export(const char *base, const char *what, const char *word, const char *suffix,
		  const char *into, struct error *err);

/* For tracer_begin(). The suffix of the file decides on the format. */
tracer_function follow_trace;

#endif
