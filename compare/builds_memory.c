/* SPDX-License-Identifier: MIT */
#include "compare/builds_memory.h"

#include <string.h>

static int recall(const struct builds_notes *notes, const char *name, struct buf *text)
{
	const struct builds_memory *m = (const struct builds_memory *)notes;

	for (size_t i = 0; i < BUILDS_MEMORY && i < m->n; i++) {
		if (m->name[i].len == strlen(name) && !memcmp(m->name[i].data, name, m->name[i].len))
			buf_add(text, m->text[i].data, m->text[i].len);
	}
	return buf_error(text);
}

/* What has no room is worked out again. */
static void keep(struct builds_notes *notes, const char *name, const char *older,
		 const struct buf *text)
{
	struct builds_memory *m = (struct builds_memory *)notes;
	size_t at = m->n++ % BUILDS_MEMORY;

	(void)older;
	buf_release(&m->name[at]);
	buf_release(&m->text[at]);
	buf_add(&m->text[at], text->data, text->len);
	if (!buf_error(&m->text[at]))
		buf_adds(&m->name[at], name);
}

void builds_memory_init(struct builds_memory *m)
{
	*m = (struct builds_memory){ .notes = { recall, keep } };
}

void builds_memory_release(struct builds_memory *m)
{
	for (size_t i = 0; i < BUILDS_MEMORY; i++) {
		buf_release(&m->name[i]);
		buf_release(&m->text[i]);
	}
}
