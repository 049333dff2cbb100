/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_PATH_H
#define BUILDBEAT_ANALYSE_PATH_H

#include "base/buf.h"
#include "base/cursor.h"
#include "recording/recording.h"

#include <stdbool.h>

/* Paths as text: whether they exist does not matter. A path is plain if it has no component "",
 * "." or ".." and does not end in a slash. */

/* out = name seen from the directory dir ("": not known), plain; "." where that
 * leaves nothing. Of ".." without a component before it all are kept. */
void path_join(struct buf *out, struct slice dir, struct slice name);

/* No "..", no "." in front or between, not absolute: it is below its directory. */
bool path_is_below(const char *name);

/* The plain path of the build's directory, "" if not known. */
void path_of_build(struct buf *out, const struct recording *rec);

/* A plain path relative to a plain directory; "." for the directory, the whole path if it is not
 * below it. */
struct slice path_relative(struct slice path, struct slice dir);

#endif
