/* SPDX-License-Identifier: MIT */
#include "report/revisions.h"

#include <string.h>

/* The trees are those of the newest build of the range that knows any, otherwise those of the
 * build before the range. */
static const struct build *build_with_trees(const struct builds *builds, uint32_t first,
					    uint32_t last)
{
	for (uint32_t i = last + 1; i > first; i--) {
		if (builds->build[i - 1].n_revisions)
			return &builds->build[i - 1];
	}
	return first ? &builds->build[first - 1] : &builds->build[last];
}

bool revisions_range(struct revisions_range *range, const struct builds *builds, uint32_t first,
		    uint32_t last, size_t i)
{
	const struct build *trees = build_with_trees(builds, first, last);

	if (i >= trees->n_revisions)
		return false;
	*range = (struct revisions_range){ .source = trees->revision[i].source };
	for (uint32_t k = first; k > 0 && !range->from; k--)
		range->from = build_revision(&builds->build[k - 1], range->source);
	for (uint32_t k = last; k < builds->n && !range->to; k++)
		range->to = build_revision(&builds->build[k], range->source);
	return true;
}

bool revisions_range_is_empty(const struct revisions_range *range)
{
	return range->from && range->to && !range->from->dirty && !range->to->dirty &&
	       !strcmp(range->from->commit, range->to->commit);
}

bool revisions_range_next(struct revisions_range *range, const struct builds *builds,
			  uint32_t first, uint32_t last, size_t *i)
{
	while (revisions_range(range, builds, first, last, (*i)++)) {
		if (range->to && !revisions_range_is_empty(range))
			return true;
	}
	return false;
}

int64_t revisions_range_commits(const struct revisions_range *range)
{
	const struct revision *from = range->from, *to = range->to;

	return from && to && from->count >= 0 && to->count >= from->count ?
	       to->count - from->count : -1;
}
