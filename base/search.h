/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BASE_SEARCH_H
#define BUILDBEAT_BASE_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A binary search for the first of n items that is not before the one searched for: all that are
 * before it come first. The caller compares, so there is neither a callback nor its context:
 *
 *	struct search_range s = search_all(n);
 *
 *	while (search_next(&s))
 *		search_past(&s, item[s.at].time < time);
 *	return s.at;
 *
 * At the end s.at is the index of that item, or n if all are before.
 */
struct search_range {
	size_t at;
	size_t low, high;	/* the result is one of low to high, both included */
};

/* from, if until is not after it. */
static inline struct search_range search_between(size_t from, size_t until)
{
	return (struct search_range){ .low = from, .high = until };
}

static inline struct search_range search_all(size_t n)
{
	return search_between(0, n);
}

/* Is there another item to compare? It is s->at. */
static inline bool search_next(struct search_range *s)
{
	bool more = s->low < s->high;

	s->at = more ? s->low + (s->high - s->low) / 2 : s->low;
	return more;
}

/* Continue behind the item at s->at if it is before, otherwise up to it. */
static inline void search_past(struct search_range *s, bool before)
{
	if (before)
		s->low = s->at + 1;
	else
		s->high = s->at;
}

#endif
