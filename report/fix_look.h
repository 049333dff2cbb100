/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_FIX_LOOK_H
#define BUILDBEAT_REPORT_FIX_LOOK_H

#include "compare/fixed_by.h"

/* fixed_by_find() with the histories of the builds' source trees, or of the repository of the
 * working directory. A tree that cannot be read has no history. Returns 0 or -ENOMEM. */
int fix_look(struct known_list *list, const struct builds *builds, const struct rules *rules);

#endif
