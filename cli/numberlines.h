/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CLI_NUMBERLINES_H
#define BUILDBEAT_CLI_NUMBERLINES_H

#include "base/error.h"
#include "compare/lines.h"

/*
 * Files of one JSON object a line, each with an "id" and lists of numbers, in which null
 * is one that is missing (NaN). What else is in the object is passed over.
 */
#define NUMBERLINES_LISTS 2

struct numberline {
	struct line_id id;
	struct {
		const double *value;
		size_t n;
	} list[NUMBERLINES_LISTS];	/* in the order of the names asked for */
};

/*
 * Give each line of the file to each(), which may keep nothing of it; a negative errno
 * from it ends the reading. name[] ends with NULL. 0, or a negative errno with err.
 */
int numberlines_read(const char *path, const char *const *name,
		     int (*each)(void *context, const struct numberline *line), void *context,
		     struct error *err);

#endif
