/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/field.h"
#include "base/hash.h"
#include "command/kind.h"
#include "recording/reader.h"

#include <string.h>

/* Kinds are few: one text for each. */

/* A text for a moment only. */
static struct slice scratch_text(struct reader *r, struct slice field)
{
	struct buf *b = &r->scratch;

	if (!memchr(field.p, '\\', field.len))
		return field;
	buf_clear(b);
	buf_add(b, field.p, field.len);
	if (buf_error(b)) {
		r->no_memory = true;
		return (struct slice){ "", 0 };
	}
	return (struct slice){ b->data, field_decode(b->data, b->len, NULL) };
}

static const char *add_kind(struct reader *r, struct slice text, uint64_t hash, uint64_t turn)
{
	const char **grown = array_grow(r->kind, r->n_kinds, sizeof *grown);
	char *copy = arena_text(r->rec->arena, text.p, text.len);

	if (grown)
		r->kind = grown;
	if (!grown || !copy || index_put(&r->kinds, hash, turn, (uint32_t)r->n_kinds)) {
		r->no_memory = true;
		return "";
	}
	grown[r->n_kinds++] = copy;
	return copy;
}

static const char *find_kind(struct reader *r, struct slice text)
{
	uint64_t hash = hash_fnv64(text.p, text.len);
	uint32_t at;

	for (uint64_t turn = 0;; turn++) {
		if (!index_find(&r->kinds, hash, turn, &at))
			return add_kind(r, text, hash, turn);
		if (slice_is(text, r->kind[at]))
			return r->kind[at];
	}
}

const char *reader_kind(struct reader *r, struct slice field)
{
	struct slice text = field.len ? scratch_text(r, field) : field;

	text.len = strnlen(text.p, text.len);
	return text.len ? find_kind(r, text) : "";
}

const char *reader_kind_of_command(struct reader *r, struct slice field)
{
	struct slice command = scratch_text(r, field);
	const char *kind = kind_of_command(command.p, command.len);

	/* Most are like the one before. */
	if (kind != r->last_kind) {
		r->last_kind = kind;
		r->last_kind_text = find_kind(r, slice_of(kind));
	}
	return r->last_kind_text;
}

