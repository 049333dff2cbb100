/* SPDX-License-Identifier: MIT */
#include "report/inspect/collapsed.h"

#include "base/array.h"
#include "base/text.h"

#include <errno.h>

struct collapsing {
	const struct call_tree *t;
	struct buf *out;
	uint32_t *path;		/* of functions, innermost first */
	size_t *text;		/* where the text of a function begins in texts */
	struct buf texts;
};

/* What is printed of each function, with a NUL behind it. */
static void add_texts(struct collapsing *c)
{
	for (size_t i = 0; i < c->t->n_functions; i++) {
		c->text[i] = c->texts.len;
		text_add_name(&c->texts, c->t->function[i].name, 0);
		for (size_t at = c->text[i]; at < c->texts.len; at++) {
			if (c->texts.data[at] == ';')
				c->texts.data[at] = ':';
		}
		buf_addc(&c->texts, '\0');
	}
}

static void add_line(struct collapsing *c, uint32_t node, uint64_t bytes)
{
	size_t n = 0;

	for (; node != INSPECTION_NONE; node = c->t->node[node].parent)
		c->path[n++] = c->t->node[node].function;
	while (n-- > 0) {
		buf_adds(c->out, c->texts.data + c->text[c->path[n]]);
		buf_addc(c->out, n ? ';' : ' ');
	}
	buf_addu(c->out, bytes);
	buf_addc(c->out, '\n');
}

int collapsed_write(struct buf *out, const struct call_tree *t, const struct snapshot *s, bool peak)
{
	struct collapsing c = { .t = t, .out = out, .texts = BUF_PART_OF(out) };
	uint64_t *bytes = array_new_zero(t->n, sizeof *bytes);
	int r = 0;

	c.path = array_new_zero(t->n + 1, sizeof *c.path);
	c.text = array_new_zero(t->n_functions, sizeof *c.text);
	if (!bytes || !c.path || !c.text)
		r = -ENOMEM;
	if (!r)
		add_texts(&c);
	for (size_t i = 0; !r && i < s->n_sites; i++)
		bytes[t->of_stack[s->site[i].stack]] += peak ? s->site[i].peak_bytes :
			s->site[i].live_bytes;
	for (size_t i = 0; !r && !buf_error(out) && i < t->n; i++) {
		if (bytes[i])
			add_line(&c, (uint32_t)i, bytes[i]);
	}
	buf_release(&c.texts);
	free_all(bytes, c.path, c.text);
	return r ? r : buf_error(out);
}
