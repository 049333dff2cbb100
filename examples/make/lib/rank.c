/* SPDX-License-Identifier: MIT */
#include "ix.h"

#include <stdlib.h>
#include <string.h>

static int by_count(const void *a, const void *b)
{
	const struct ix_word *x = *(const struct ix_word *const *)a;
	const struct ix_word *y = *(const struct ix_word *const *)b;

	if (x->at.n != y->at.n)
		return x->at.n < y->at.n ? 1 : -1;
	return strcmp(x->text, y->text);
}

void ix_rank(const struct ix_table *t, size_t top, FILE *out)
{
	const struct ix_word **sorted = malloc((t->n + 1) * sizeof *sorted);
	size_t n = 0;

	if (!sorted)
		return;
	for (uint32_t i = 0; i < t->cap; i++)
		if (t->slot[i].text)
			sorted[n++] = &t->slot[i];
	qsort(sorted, n, sizeof *sorted, by_count);
	for (size_t i = 0; i < n && i < top; i++)
		fprintf(out, "%8u %s\n", sorted[i]->at.n, sorted[i]->text);
	free(sorted);
}
