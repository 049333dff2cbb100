/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_AGAINST_MORE_H
#define BUILDBEAT_COMPARE_AGAINST_MORE_H

#include "compare/against_target.h"

/*
 * How many more recordings of a branch decide about a change: the verdict is made again with copies
 * of the recordings that there are. Sets `more` of each item and of the list, and n_stuck.
 * Returns 0 or a negative errno with err.
 */
int against_find_more(struct against_list *list, const struct builds *builds,
		      const struct rules *rules, const struct known_list *known, uint32_t first,
		      struct error *err);

#endif
