/* SPDX-License-Identifier: MIT */
#include "write/markup.h"

#include "base/array.h"
#include "base/text.h"

#include <assert.h>
#include <string.h>

void markup_init(struct markup *m, struct buf *out)
{
	*m = (struct markup){ .out = out };
}

static void close_tag(struct markup *m)
{
	if (m->in_tag)
		buf_addc(m->out, '>');
	m->in_tag = false;
}

void markup_begin(struct markup *m, const char *element)
{
	assert(m->depth < MARKUP_DEPTH_MAX);
	close_tag(m);
	buf_addc(m->out, '<');
	buf_adds(m->out, element);
	m->open[m->depth++] = element;
	m->in_tag = true;
}

/* HTML: without content and end tag. */
static bool is_void(const char *element)
{
	static const char *const list[] = { "br", "col", "hr", "img", "input", "link", "meta" };

	for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
		if (!strcmp(element, list[i]))
			return true;
	}
	return false;
}

/* Part of a line of text, where a line break would show as a blank. */
static bool is_inline(const struct markup *m, const char *element)
{
	static const char *const html[] = { "a", "abbr", "b", "button", "code", "small", "span",
					    "strong", "time", NULL };
	static const char *const svg[] = { "title", "tspan", NULL };

	for (const char *const *list = m->html ? html : svg; *list; list++) {
		if (!strcmp(element, *list))
			return true;
	}
	return false;
}

/* A line for every other element, so that the result can be read and compared. */
void markup_end(struct markup *m)
{
	const char *element;

	assert(m->depth);
	element = m->open[--m->depth];
	if (m->in_tag && !m->html) {
		buf_adds(m->out, "/>");
		m->in_tag = false;
	} else {
		close_tag(m);
		if (!m->html || !is_void(element)) {
			buf_adds(m->out, "</");
			buf_adds(m->out, element);
			buf_addc(m->out, '>');
		}
	}
	if (!is_inline(m, element))
		buf_addc(m->out, '\n');
}

void markup_open(struct markup *m, const char *element, const char *class)
{
	markup_begin(m, element);
	if (class)
		markup_attr(m, "class", class);
}

void markup_leaf(struct markup *m, const char *element, const char *class, const char *text)
{
	markup_open(m, element, class);
	markup_text(m, text);
	markup_end(m);
}

static void add_escaped(struct buf *b, const char *text)
{
	struct buf safe = BUF_PART_OF(b);
	const char *p, *from;

	text_add_name(&safe, text, 0);
	from = p = buf_str(&safe);
	for (; *p; p++) {
		const char *entity = *p == '<' ? "&lt;" : *p == '>' ? "&gt;" :
				     *p == '&' ? "&amp;" : *p == '"' ? "&quot;" : NULL;

		if (!entity)
			continue;
		buf_add(b, from, (size_t)(p - from));
		buf_adds(b, entity);
		from = p + 1;
	}
	buf_adds(b, from);
	buf_release(&safe);
}

void markup_begin_attr(struct markup *m, const char *name)
{
	assert(m->in_tag);
	buf_addc(m->out, ' ');
	buf_adds(m->out, name);
	buf_adds(m->out, "=\"");
}

void markup_attr(struct markup *m, const char *name, const char *value)
{
	markup_begin_attr(m, name);
	add_escaped(m->out, value);
	buf_addc(m->out, '"');
}

void markup_attr_int(struct markup *m, const char *name, int64_t value)
{
	markup_begin_attr(m, name);
	buf_addi(m->out, value);
	buf_addc(m->out, '"');
}

/* What the buffer lacks, the document lacks too. */
static const char *whole_text(struct markup *m, struct buf *text)
{
	if (!m->out->error)
		m->out->error = buf_error(text);
	return buf_str(text);
}

void markup_attr_buf(struct markup *m, const char *name, struct buf *value)
{
	markup_attr(m, name, whole_text(m, value));
}

void markup_text(struct markup *m, const char *text)
{
	close_tag(m);
	add_escaped(m->out, text);
}

void markup_text_buf(struct markup *m, struct buf *text)
{
	markup_text(m, whole_text(m, text));
}

void markup_verbatim(struct markup *m, const char *text)
{
	const char *end;

	close_tag(m);
	buf_adds(m->out, "<![CDATA[\n");
	for (; (end = strstr(text, "]]>")); text = end + 2) {
		buf_add(m->out, text, (size_t)(end - text) + 2);
		buf_adds(m->out, "]]><![CDATA[");
	}
	buf_adds(m->out, text);
	buf_adds(m->out, "]]>");
}

struct buf *markup_content(struct markup *m)
{
	close_tag(m);
	return m->out;
}
