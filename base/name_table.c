/* SPDX-License-Identifier: MIT */
#include "base/name_table.h"

#include "base/array.h"
#include "base/hash.h"

#include <errno.h>
#include <stdlib.h>

struct name_slot {
	uint32_t hash;
	uint32_t number;	/* of the text + 1; 0: free */
};

static uint32_t hash_of(struct slice text)
{
	uint64_t hash = hash_bytes(0, text.p, text.len);

	return (uint32_t)(hash ^ hash >> 32);
}

/* The slot of the text, or the free one for it. */
static struct name_slot *slot_of(const struct name_table *t, struct slice text, uint32_t hash)
{
	for (size_t i = hash & t->mask;; i = (i + 1) & t->mask) {
		struct name_slot *slot = &t->slot[i];

		if (!slot->number || (slot->hash == hash && slice_equal(t->name[slot->number - 1], text)))
			return slot;
	}
}

static int grow_names(struct name_table *t)
{
	size_t mask = t->slot ? 4 * t->mask + 3 : 63;
	struct name_slot *bigger = calloc(mask + 1, sizeof *bigger);

	if (!bigger)
		return -ENOMEM;
	for (size_t i = 0; t->slot && i <= t->mask; i++) {
		size_t to = t->slot[i].hash & mask;

		if (!t->slot[i].number)
			continue;
		while (bigger[to].number)
			to = (to + 1) & mask;
		bigger[to] = t->slot[i];
	}
	free(t->slot);
	t->slot = bigger;
	t->mask = mask;
	return 0;
}

int name_table_add(struct name_table *t, struct slice text, uint32_t *number)
{
	uint32_t hash = hash_of(text);
	struct name_slot *slot;
	struct slice *grown;

	if (t->n == NAME_TABLE_NONE - 1 || (t->n >= t->mask / 2 && grow_names(t)))
		return -ENOMEM;
	slot = slot_of(t, text, hash);
	if (!slot->number) {
		grown = array_grow(t->name, t->n, sizeof *grown);
		if (!grown)
			return -ENOMEM;
		t->name = grown;
		if (t->arena && !(text.p = arena_text(t->arena, text.p, text.len)))
			return -ENOMEM;
		grown[t->n++] = text;
		*slot = (struct name_slot){ hash, (uint32_t)t->n };
	}
	*number = slot->number - 1;
	return 0;
}

uint32_t name_table_find(const struct name_table *t, struct slice text)
{
	return t->slot ? slot_of(t, text, hash_of(text))->number - 1 : NAME_TABLE_NONE;
}

void name_table_release(struct name_table *t)
{
	free_all(t->name, t->slot);
	*t = (struct name_table){ .arena = t->arena };
}
