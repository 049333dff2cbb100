/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_WRITE_DOC_WRITER_H
#define BUILDBEAT_WRITE_DOC_WRITER_H

#include "write/doc.h"

/* A format, called by doc.c. Programs have no use for titles and facts: JSON lacks the first two functions. */
struct doc_writer {
	void (*title)(struct doc *d, const char *title, bool code, const char *rest);
	void (*fact)(struct doc *d, const char *label, enum tone tone, const struct buf *parts);
	void (*heading)(struct doc *d, const char *title);
	void (*lead)(struct doc *d, enum tone tone, const char *strong, const char *rest);
	void (*line)(struct doc *d, const char *text);	/* of the kind d->line */
	void (*table)(struct doc *d);		/* begin the open table */
	void (*row)(struct doc *d);		/* write its cells */
	void (*table_end)(struct doc *d, size_t more);
};

extern const struct doc_writer doc_terminal, doc_markdown, doc_html, doc_json;

static inline bool doc_is_number(const struct doc_column *c)
{
	return c->type != DOC_STRING;
}

static inline bool doc_is_right(const struct doc_column *c)
{
	return c->right || doc_is_number(c);
}

/* What is before a value in a list: arrow, or a colon. Values without a text are left out. */
static inline const char *doc_before(const struct doc_column *c, bool after_text, const char *arrow)
{
	return !after_text ? NULL : c->arrow ? arrow : c->colon ? ": " : NULL;
}

#endif
