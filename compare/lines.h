/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_LINES_H
#define BUILDBEAT_COMPARE_LINES_H

#include "base/buf.h"
#include "stats/changepoints.h"
#include "stats/samples.h"

#include <stdbool.h>

/*
 * What was found, one line of JSON each, under the name its series came with. Figures
 * have so many digits that they come back as they were; what is not known is null.
 */
struct line_id {
	const char *text;	/* UTF-8, of len bytes */
	size_t len;
	bool is_number;		/* then it is this */
	int64_t number;
};

/* {"id", "change_points": [index of the first changed value], "changes": [...]} */
void line_changes(struct buf *out, const struct line_id *id, const struct change *list, size_t n);

/* {"id", "p", "adjusted_p", "effect", "interval", "verdict", ...} */
void line_samples(struct buf *out, const struct line_id *id, const struct samples *s);

#endif
