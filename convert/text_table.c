/* SPDX-License-Identifier: MIT */
#include "convert/text_table.h"

#include "base/array.h"
#include "command/ninja_hash.h"

#include <stdlib.h>
#include <string.h>

struct text_slot {
	uint32_t hash;
	uint32_t number;	/* of the text + 1; 0: free */
};

/* The slot the text is in, or would be. */
static struct text_slot *slot_of(const struct text_table *t, struct slice text, uint32_t hash)
{
	for (size_t i = hash & t->mask;; i = (i + 1) & t->mask) {
		struct text_slot *slot = &t->slot[i];
		const struct slice *s;

		if (!slot->number)
			return slot;
		s = &t->text[slot->number - 1];
		if (slot->hash == hash && s->len == text.len && !memcmp(s->p, text.p, text.len))
			return slot;
	}
}

static struct text_slot *free_slot(struct text_slot *slot, size_t mask, uint32_t hash)
{
	size_t i = hash & mask;

	while (slot[i].number)
		i = (i + 1) & mask;
	return &slot[i];
}

static bool grow(struct text_table *t)
{
	size_t n = t->slot ? 4 * (t->mask + 1) : 64;
	struct text_slot *bigger = calloc(n, sizeof *bigger);

	if (!bigger)
		return false;
	for (size_t i = 0; t->slot && i <= t->mask; i++) {
		if (t->slot[i].number)
			*free_slot(bigger, n - 1, t->slot[i].hash) = t->slot[i];
	}
	free(t->slot);
	t->slot = bigger;
	t->mask = n - 1;
	return true;
}

static uint32_t hash_of(struct slice text)
{
	uint64_t hash = ninja_hash_rapid(text.p, text.len);

	return (uint32_t)(hash ^ hash >> 32);
}

uint32_t text_table_find(const struct text_table *t, struct slice text)
{
	return t->slot ? slot_of(t, text, hash_of(text))->number - 1 : NO_TEXT;
}

uint32_t text_table_add(struct text_table *t, struct slice text)
{
	uint32_t hash = hash_of(text);
	struct text_slot *slot;
	struct slice *grown;

	if (t->n == NO_TEXT - 1 || (t->n >= t->mask / 2 && !grow(t)))
		return NO_TEXT;
	slot = slot_of(t, text, hash);
	if (slot->number)
		return slot->number - 1;
	grown = array_grow(t->text, t->n, sizeof *grown);
	if (!grown)
		return NO_TEXT;
	t->text = grown;
	grown[t->n++] = text;
	*slot = (struct text_slot){ hash, (uint32_t)t->n };
	return slot->number - 1;
}

void text_table_release(struct text_table *t)
{
	free(t->text);
	free(t->slot);
	*t = (struct text_table)TEXT_TABLE_INIT;
}
