/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_LINES_H
#define BUILDBEAT_COMPARE_LINES_H

#include "base/buf.h"
#include "stats/changepoints.h"
#include "stats/samples.h"

#include <stdbool.h>

/*
 * Results as one line of JSON each, with the name of their series. Numbers have enough digits to
 * be read back exactly; an unknown one is null.
 */
struct line_id {
	const char *text;	/* UTF-8, len bytes */
	size_t len;
	bool is_number;		/* if is_number */
	int64_t number;
};

/* {"id", "change_points": [index of the first changed value], "changes": [...]} */
void line_changes(struct buf *out, const struct line_id *id, const struct change *list, size_t n);

/* {"id", "p", "adjusted_p", "effect", "interval", "verdict", ...} */
void line_samples(struct buf *out, const struct line_id *id, const struct samples *s);

#endif
