/* SPDX-License-Identifier: MIT */
#include "ix.h"

#include <stdlib.h>

#define BLOCK 65536

struct ix_block {
	struct ix_block *before;
	size_t used;
	char data[BLOCK];
};

void *ix_alloc(struct ix_arena *a, size_t size)
{
	struct ix_block *b = a->last;

	size = (size + 7) & ~(size_t)7;
	if (size > BLOCK)
		return NULL;
	if (!b || b->used + size > BLOCK) {
		b = malloc(sizeof *b);
		if (!b)
			return NULL;
		b->before = a->last;
		b->used = 0;
		a->last = b;
	}
	b->used += size;
	return b->data + b->used - size;
}

void ix_arena_free(struct ix_arena *a)
{
	while (a->last) {
		struct ix_block *b = a->last;

		a->last = b->before;
		free(b);
	}
}
