#include "text_table.h"

#include "arena.h"
#include "ninja_hash.h"

#include <stdlib.h>
#include <string.h>

/* Texts of one hash are told apart by a second number. */
static uint32_t find(const struct text_table *t, struct slice text, uint64_t hash,
		     uint64_t *turn)
{
	uint32_t at;

	for (*turn = 0; index_find(&t->index, hash, *turn, &at); ++*turn) {
		struct slice s = t->text[at];

		if (s.len == text.len && !memcmp(s.p, text.p, s.len))
			return at;
	}
	return NO_TEXT;
}

uint32_t text_table_find(const struct text_table *t, struct slice text)
{
	uint64_t turn;

	return find(t, text, ninja_hash_rapid(text.p, text.len), &turn);
}

uint32_t text_table_add(struct text_table *t, struct slice text)
{
	uint64_t hash = ninja_hash_rapid(text.p, text.len), turn;
	uint32_t at = find(t, text, hash, &turn);
	struct slice *grown;

	if (at != NO_TEXT)
		return at;
	if (t->n == NO_TEXT - 1)
		return NO_TEXT;
	grown = array_grow(t->text, t->n, sizeof *grown);
	if (!grown)
		return NO_TEXT;
	t->text = grown;
	if (index_put(&t->index, hash, turn, (uint32_t)t->n))
		return NO_TEXT;
	grown[t->n] = text;
	return (uint32_t)t->n++;
}

void text_table_release(struct text_table *t)
{
	free(t->text);
	index_release(&t->index);
	*t = (struct text_table)TEXT_TABLE_INIT;
}
