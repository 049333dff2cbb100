/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TRACE_TRACE_FORMATS_H
#define BUILDBEAT_TRACE_TRACE_FORMATS_H

#include "base/error.h"
#include "recording/recording.h"

/* What `export` can write: traces, and formats of other tools. Each format is one row of
 * formats.c. */
struct trace_format {
	const char *name;	/* of --to */
	const char *suffix;	/* of the default file name, without the dot */
	/* Write a recording to a file or directory that does not exist yet: all of it or nothing.
	 * 0, or a negative errno with err. */
	int (*write)(const struct recording *rec, const char *path, struct error *err);
	/* The same of n recordings in one file. NULL: not possible. */
	int (*merge)(const struct recording *rec, size_t n, const char *path, struct error *err);
};

extern const struct trace_format trace_formats[];	/* ends without a name */
extern const char *const trace_format_word[];		/* their names; ends with NULL */

/* The rows' functions. */
int tracefile_chrome(const struct recording *rec, const char *path, struct error *err);
int tracefile_perfetto(const struct recording *rec, const char *path, struct error *err);
int tracefile_merge_chrome(const struct recording *rec, size_t n, const char *path,
			   struct error *err);
/* An archive of tar, with a trace of each recording and a manifest. */
int tracefile_merge_perfetto(const struct recording *rec, size_t n, const char *path,
			     struct error *err);
/* JSON, or protobuf if path ends in .pb or .binpb. */
int otlp_write(const struct recording *rec, const char *path, struct error *err);
int otlp_write_metrics(const struct recording *rec, const char *path, struct error *err);
/* -ENOENT if the recording has no output of the build. */
int otlp_write_logs(const struct recording *rec, const char *path, struct error *err);
/* A file of this format is written again and again: this replaces it. */
int prometheus_write(const struct recording *rec, const char *path, struct error *err);

#endif
