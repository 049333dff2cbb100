/* SPDX-License-Identifier: MIT */
#include "ix.h"

#include <stdlib.h>

void ix_postings_add(struct ix_postings *p, uint32_t place)
{
	if (p->n == p->cap) {
		p->cap = p->cap ? p->cap * 2 : 8;
		p->place = realloc(p->place, p->cap * sizeof *p->place);
		if (!p->place)
			abort();
	}
	p->place[p->n++] = place;
}

/* Places of b at most distance words behind one of a. */
size_t ix_postings_and(const struct ix_postings *a, const struct ix_postings *b,
		       uint32_t distance, uint32_t *out)
{
	size_t n = 0;

	for (uint32_t i = 0, j = 0; i < a->n; i++) {
		while (j < b->n && b->place[j] <= a->place[i])
			j++;
		if (j < b->n && b->place[j] - a->place[i] <= distance)
			out[n++] = b->place[j];
	}
	return n;
}
