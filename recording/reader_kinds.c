/* SPDX-License-Identifier: MIT */
#include "base/field.h"
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

static const char *find_kind(struct reader *r, struct slice text)
{
	uint32_t at;

	r->kinds.arena = r->rec->arena;
	if (name_table_add(&r->kinds, text, &at)) {
		r->no_memory = true;
		return "";
	}
	return r->kinds.name[at].p;
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

