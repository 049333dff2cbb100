/* SPDX-License-Identifier: MIT */
#include "report/html.h"

#include "render/chart/palette.h"
#include "render/chart/svg.h"
#include "report/page_text.h"

#include <assert.h>
#include <string.h>

static bool is_of(const char *element, const char *const *list)
{
	for (; *list; list++) {
		if (!strcmp(element, *list))
			return true;
	}
	return false;
}

/* Without content and end tag. */
static bool is_void(const char *element)
{
	static const char *const list[] = { "br", "col", "hr", "img", "input", "meta", NULL };

	return is_of(element, list);
}

/* Within a line of text, where a line break would be seen as a blank. */
static bool is_inline(const char *element)
{
	static const char *const list[] = { "a", "abbr", "b", "button", "code", "small", "span",
					    "strong", "time", NULL };

	return is_of(element, list);
}

static void close_tag(struct html *h)
{
	if (h->in_tag)
		buf_addc(h->out, '>');
	h->in_tag = false;
}

void html_begin(struct html *h, const char *element)
{
	assert(h->depth < HTML_DEPTH_MAX);
	close_tag(h);
	buf_addc(h->out, '<');
	buf_adds(h->out, element);
	h->open[h->depth++] = element;
	h->in_tag = true;
}

void html_end(struct html *h)
{
	const char *element;

	assert(h->depth);
	element = h->open[--h->depth];
	close_tag(h);
	if (!is_void(element)) {
		buf_adds(h->out, "</");
		buf_adds(h->out, element);
		buf_addc(h->out, '>');
	}
	if (!is_inline(element))
		buf_addc(h->out, '\n');
}

static void begin_attr(struct html *h, const char *name)
{
	assert(h->in_tag);
	buf_addc(h->out, ' ');
	buf_adds(h->out, name);
	buf_adds(h->out, "=\"");
}

void html_attr(struct html *h, const char *name, const char *value)
{
	begin_attr(h, name);
	svg_add_escaped(h->out, value);
	buf_addc(h->out, '"');
}

void html_attr_int(struct html *h, const char *name, int64_t value)
{
	begin_attr(h, name);
	buf_addi(h->out, value);
	buf_addc(h->out, '"');
}

void html_text(struct html *h, const char *text)
{
	close_tag(h);
	svg_add_escaped(h->out, text);
}

void html_open(struct html *h, const char *element, const char *class)
{
	html_begin(h, element);
	if (class)
		html_attr(h, "class", class);
}

void html_leaf(struct html *h, const char *element, const char *class, const char *text)
{
	html_open(h, element, class);
	html_text(h, text);
	html_end(h);
}

struct buf *html_content(struct html *h)
{
	close_tag(h);
	return h->out;
}

void html_script(struct html *h, const char *script)
{
	assert(!strcasestr(script, "</script"));
	html_begin(h, "script");
	buf_addc(html_content(h), '\n');
	buf_adds(h->out, script);
	html_end(h);
}

/* Without any '<' nothing in it is a tag. */
void html_json(struct html *h, const char *id, const struct buf *json)
{
	const char *p = json->data, *end = p + json->len;

	html_begin(h, "script");
	html_attr(h, "type", "application/json");
	html_attr(h, "id", id);
	close_tag(h);
	while (p < end) {
		const char *tag = memchr(p, '<', (size_t)(end - p));

		buf_add(h->out, p, (size_t)((tag ? tag : end) - p));
		if (tag)
			buf_adds(h->out, "\\u003c");
		p = tag ? tag + 1 : end;
	}
	html_end(h);
}

/* The document */

static void add_colours(struct buf *b, const struct palette *p)
{
	buf_addf(b, ":root{--ground:#%06x;--ink:#%06x;--faint:#%06x;--grid:#%06x;--outline:#%06x;",
		 (unsigned)p->ground, (unsigned)p->ink, (unsigned)p->faint, (unsigned)p->grid,
		 (unsigned)p->outline);
	for (int i = 0; i < COLOURS; i++)
		buf_addf(b, "--c%d:#%06x;", i, (unsigned)p->colour[i]);
	buf_adds(b, "}\n");
}

static void add_style(struct html *h)
{
	struct buf *b;

	html_begin(h, "style");
	b = html_content(h);
	buf_addc(b, '\n');
	add_colours(b, &palette_light);
	buf_adds(b, "@media screen and (prefers-color-scheme:dark){\n");
	add_colours(b, &palette_dark);
	buf_adds(b, "}\n");
	buf_adds(b, page_css);
	html_end(h);
}

static void add_meta(struct html *h, const char *name, const char *content)
{
	html_begin(h, "meta");
	html_attr(h, "name", name);
	html_attr(h, "content", content);
	html_end(h);
}

void html_document(struct html *h, struct buf *out, const char *title)
{
	*h = (struct html){ .out = out };
	buf_adds(out, "<!DOCTYPE html>\n");
	html_begin(h, "html");
	html_attr(h, "lang", "en");
	html_begin(h, "head");
	html_begin(h, "meta");
	html_attr(h, "charset", "utf-8");
	html_end(h);
	add_meta(h, "viewport", "width=device-width,initial-scale=1");
	add_meta(h, "color-scheme", "light dark");
	html_leaf(h, "title", NULL, title);
	add_style(h);
	html_end(h);
	html_begin(h, "body");
}

void html_document_end(struct html *h)
{
	while (h->depth)
		html_end(h);
}
