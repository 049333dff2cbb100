/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TRACE_FILE_H
#define BUILDBEAT_TRACE_FILE_H

#include "base/error.h"
#include "recording/recording.h"
#include "trace/sink.h"

/* Write a recording in the format of a sink to a file that does not exist yet: all of it or
 * nothing, in parts. A path that ends in .gz is packed by gzip. 0 or a negative errno with err. */
int file_trace(const struct sink_ops *ops, const struct recording *rec, const char *path,
	       struct error *err);

#endif
