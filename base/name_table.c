/* SPDX-License-Identifier: MIT */
#include "base/name_table.h"

#include "base/array.h"
#include "base/hash.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 64

struct name_entry {
	uint64_t hash;
	size_t at, len;
};

void name_table_release(struct name_table *t)
{
	buf_release(&t->bytes);
	free(t->entry);
	free(t->slot);
	*t = (struct name_table)NAME_TABLE_INIT;
}

struct slice name_table_text(const struct name_table *t, uint32_t number)
{
	return (struct slice){ t->bytes.data + t->entry[number].at, t->entry[number].len };
}

static bool is_text(const struct name_table *t, uint32_t number, uint64_t hash,
		    struct slice text)
{
	const struct name_entry *e = &t->entry[number];

	return e->hash == hash && e->len == text.len &&
	       !memcmp(t->bytes.data + e->at, text.p, text.len);
}

static uint32_t *find(const struct name_table *t, uint64_t hash, struct slice text)
{
	for (size_t at = hash & t->mask;; at = (at + 1) & t->mask) {
		uint32_t *slot = &t->slot[at];

		if (!*slot || is_text(t, *slot - 1, hash, text))
			return slot;
	}
}

static int grow(struct name_table *t)
{
	size_t mask = t->mask ? 2 * t->mask + 1 : FIRST_SLOTS - 1;
	uint32_t *slot = calloc(mask + 1, sizeof *slot);

	if (!slot)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->n; i++) {
		size_t at = t->entry[i].hash & mask;

		while (slot[at])
			at = (at + 1) & mask;
		slot[at] = i + 1;
	}
	free(t->slot);
	t->slot = slot;
	t->mask = mask;
	return 0;
}

int name_table_add(struct name_table *t, struct slice text, uint32_t *number)
{
	uint64_t hash = hash_bytes(0, text.p, text.len);
	struct name_entry *grown;
	uint32_t *slot;

	if (2 * t->n >= t->mask && grow(t))
		return -ENOMEM;
	slot = find(t, hash, text);
	if (!*slot) {
		grown = array_grow(t->entry, t->n, sizeof *grown);
		if (!grown)
			return -ENOMEM;
		t->entry = grown;
		grown[t->n] = (struct name_entry){ hash, t->bytes.len, text.len };
		buf_add(&t->bytes, text.p, text.len);
		if (buf_error(&t->bytes))
			return -ENOMEM;
		*slot = (uint32_t)++t->n;
	}
	*number = *slot - 1;
	return 0;
}
