/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_INSPECT_INSPECT_OUTPUTS_H
#define BUILDBEAT_REPORT_INSPECT_INSPECT_OUTPUTS_H

#include "base/text.h"
#include "inspect/archive_files.h"
#include "inspect/inspect_view.h"

/* The outputs of `inspect show`. */

/* The parts of the text; also the words of its option. */
enum inspect_part {
	INSPECT_OVERVIEW, INSPECT_CLASSES, INSPECT_SITES, INSPECT_GROWTH,
	INSPECT_TREE, INSPECT_CALLERS, INSPECT_MAPS,
	INSPECT_PARTS
};

extern const char *const inspect_part_words[];	/* ends with NULL */

struct inspect_show_options {
	unsigned parts;		/* a bit of each */
	size_t top;		/* rows of lists */
	bool address_given;
	uint64_t address;	/* to be found in the mappings */
	size_t n_looks;		/* the history of the process, for JSON */
	const struct inspect_look *look;
};

/* 0, or -ENOMEM. */
int inspect_text(struct buf *out, const struct inspect_view *v,
		 const struct inspect_show_options *o, const struct style *style);

/* Everything, whatever the parts are. */
int inspect_json(struct buf *out, const struct inspect_view *v,
		 const struct inspect_show_options *o);

#endif
