/* SPDX-License-Identifier: MIT */
#include "report/revisions.h"

#include <string.h>

static const struct revision *of_source(const struct night *night, const char *source)
{
	for (size_t i = 0; i < night->n_revisions; i++) {
		if (!strcmp(night->revision[i].source, source))
			return &night->revision[i];
	}
	return NULL;
}

/* The trees are those of the newest night of the range that knows any, else of the one
 * before it. */
static const struct night *night_with_trees(const struct nights *nights, uint32_t first,
					    uint32_t last)
{
	for (uint32_t i = last + 1; i > first; i--) {
		if (nights->night[i - 1].n_revisions)
			return &nights->night[i - 1];
	}
	return first ? &nights->night[first - 1] : &nights->night[last];
}

bool source_range(struct source_range *range, const struct nights *nights, uint32_t first,
		    uint32_t last, size_t i)
{
	const struct night *trees = night_with_trees(nights, first, last);

	if (i >= trees->n_revisions)
		return false;
	*range = (struct source_range){ .source = trees->revision[i].source };
	for (uint32_t k = first; k > 0 && !range->from; k--)
		range->from = of_source(&nights->night[k - 1], range->source);
	for (uint32_t k = last; k < nights->n && !range->to; k++)
		range->to = of_source(&nights->night[k], range->source);
	return true;
}

bool source_range_is_empty(const struct source_range *range)
{
	return range->from && range->to && !range->from->dirty && !range->to->dirty &&
	       !strcmp(range->from->commit, range->to->commit);
}

bool source_range_next(struct source_range *range, const struct nights *nights, uint32_t first,
		       uint32_t last, size_t *i)
{
	while (source_range(range, nights, first, last, (*i)++)) {
		if (range->to && !source_range_is_empty(range))
			return true;
	}
	return false;
}

int64_t source_range_commits(const struct source_range *range)
{
	const struct revision *from = range->from, *to = range->to;

	return from && to && from->count >= 0 && to->count >= from->count ?
	       to->count - from->count : -1;
}
