/* SPDX-License-Identifier: MIT */
#include "ix.h"

#include <stdlib.h>
#include <string.h>

static uint32_t hash_of(const char *s)
{
	uint32_t h = 2166136261u;

	while (*s)
		h = (h ^ (unsigned char)*s++) * 16777619u;
	return h;
}

static struct ix_word *find(struct ix_word *slot, uint32_t cap, const char *text, uint32_t hash)
{
	uint32_t i = hash & (cap - 1);

	while (slot[i].text && (slot[i].hash != hash || strcmp(slot[i].text, text)))
		i = (i + 1) & (cap - 1);
	return &slot[i];
}

static void grow(struct ix_table *t)
{
	uint32_t cap = t->cap ? t->cap * 2 : 1024;
	struct ix_word *slot = calloc(cap, sizeof *slot);

	if (!slot)
		abort();
	for (uint32_t i = 0; i < t->cap; i++)
		if (t->slot[i].text)
			*find(slot, cap, t->slot[i].text, t->slot[i].hash) = t->slot[i];
	free(t->slot);
	t->slot = slot;
	t->cap = cap;
}

struct ix_postings *ix_table_get(struct ix_table *t, const char *text, bool create)
{
	uint32_t hash = hash_of(text);
	struct ix_word *w;
	char *copy;

	if (t->n * 2 >= t->cap)
		grow(t);
	w = find(t->slot, t->cap, text, hash);
	if (w->text)
		return &w->at;
	if (!create)
		return NULL;
	copy = ix_alloc(&t->texts, strlen(text) + 1);
	if (!copy)
		abort();
	w->text = strcpy(copy, text);
	w->hash = hash;
	t->n++;
	return &w->at;
}

void ix_table_free(struct ix_table *t)
{
	for (uint32_t i = 0; i < t->cap; i++)
		free(t->slot[i].at.place);
	free(t->slot);
	ix_arena_free(&t->texts);
}
