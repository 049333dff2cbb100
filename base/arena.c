/* SPDX-License-Identifier: MIT */
#include "base/arena.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_SIZE 65536
#define ALIGNMENT _Alignof(max_align_t)

struct block {
	struct block *next;
	void *memory;
};

struct arena {
	struct block *blocks;
	char *p;		/* unused end of the newest chunk */
	size_t left;
};

struct arena *arena_new(void)
{
	return calloc(1, sizeof(struct arena));
}

void arena_free(struct arena *a)
{
	struct block *b, *next;

	if (!a)
		return;
	for (b = a->blocks; b; b = next) {
		next = b->next;
		free(b->memory);
		free(b);
	}
	free(a);
}

int arena_keep(struct arena *a, void *memory)
{
	struct block *b = malloc(sizeof *b);

	if (!b) {
		free(memory);
		return -ENOMEM;
	}
	*b = (struct block){ a->blocks, memory };
	a->blocks = b;
	return 0;
}

static void *new_block(struct arena *a, size_t size)
{
	void *p = malloc(size);

	return p && !arena_keep(a, p) ? p : NULL;
}

/* From the newest chunk, or a new one. */
static void *take_memory(struct arena *a, size_t size)
{
	char *p;

	if (size > a->left) {
		if (size > CHUNK_SIZE / 4)
			return new_block(a, size);
		a->p = new_block(a, CHUNK_SIZE);
		a->left = a->p ? CHUNK_SIZE : 0;
	}
	p = a->p;
	if (p) {
		a->p += size;
		a->left -= size;
	}
	return p;
}

void *arena_alloc(struct arena *a, size_t size)
{
	size_t skip = -(uintptr_t)a->p % ALIGNMENT;
	void *p;

	if (size > SIZE_MAX - ALIGNMENT)
		return NULL;
	if (skip > a->left)
		skip = a->left;
	if (skip) {
		a->p += skip;
		a->left -= skip;
	}
	p = take_memory(a, size);
	return p ? memset(p, 0, size) : NULL;
}

char *arena_text(struct arena *a, const char *p, size_t len)
{
	char *copy = take_memory(a, len + 1);

	if (!copy)
		return NULL;
	if (len)
		memcpy(copy, p, len);
	copy[len] = '\0';
	return copy;
}
