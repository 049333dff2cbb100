/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CLI_INSPECT_EXPORT_H
#define BUILDBEAT_CLI_INSPECT_EXPORT_H

#include "cli/inspect.h"
#include "inspect/archive_files.h"
#include "inspect/classify.h"

/* The formats of inspect show; the first two are written by inspect_show.c. */
enum inspect_format {
	INSPECT_FORMAT_TEXT, INSPECT_FORMAT_JSON,
	INSPECT_FORMAT_HTML, INSPECT_FORMAT_SVG, INSPECT_FORMAT_PNG, INSPECT_FORMAT_PDF,
	INSPECT_FORMAT_TERM, INSPECT_FORMAT_PPROF, INSPECT_FORMAT_COLLAPSED,
	INSPECT_FORMAT_HEAPTRACK,
	INSPECT_FORMATS
};

extern const char *const inspect_format_words[];	/* ends with NULL */

#define INSPECT_SNAPSHOT_CHOOSE SIZE_MAX

/* Write an archive in such a format. snapshot: of the heap, or INSPECT_SNAPSHOT_CHOOSE: when the
 * heap was largest. */
int inspect_export(struct inspect_reader *reader, const struct class_rule_file *rules,
		   size_t snapshot, const struct args *a, const struct inspect_arguments *o,
		   struct error *err);

#endif
