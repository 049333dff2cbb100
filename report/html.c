/* SPDX-License-Identifier: MIT */
#include "report/html.h"

#include "base/array.h"
#include "render/chart/difference.h"
#include "render/chart/palette.h"
#include "report/page_static.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static void add_reference(struct markup *h, const char *attribute, const char *name,
			  const char *suffix)
{
	markup_begin_attr(h, attribute);
	buf_addf(h->out, "/%s.%s\"", name, suffix);
}

static void link_style(struct markup *h, const char *name)
{
	markup_begin(h, "link");
	markup_attr(h, "rel", "stylesheet");
	add_reference(h, "href", name, "css");
	markup_end(h);
}

static void link_script(struct markup *h, const char *name)
{
	markup_begin(h, "script");
	add_reference(h, "src", name, "js");
	markup_content(h);
	markup_end(h);
}

void html_script(struct markup *h, const char *name, const char *script)
{
	assert(!strcasestr(script, "</script"));
	if (h->site) {
		link_script(h, name);
		return;
	}
	markup_begin(h, "script");
	if (h->nonce)
		markup_attr(h, "nonce", h->nonce);
	buf_addc(markup_content(h), '\n');
	buf_adds(h->out, script);
	markup_end(h);
}

void html_more_style(struct markup *h, const char *name, const char *style)
{
	if (h->site) {
		link_style(h, name);
		return;
	}
	markup_begin(h, "style");
	buf_adds(markup_content(h), style);
	markup_end(h);
}

void html_style_attr(struct markup *h, struct buf *value)
{
	markup_attr_buf(h, h->site ? "data-style" : "style", value);
}

/* '<' is escaped, so that nothing in it is a tag. */
void html_json(struct markup *h, const char *id, const struct buf *json)
{
	const char *p = json->data, *end = p + json->len;

	markup_begin(h, "script");
	markup_attr(h, "type", "application/json");
	markup_attr(h, "id", id);
	markup_content(h);
	while (p < end) {
		const char *tag = memchr(p, '<', (size_t)(end - p));

		buf_add(h->out, p, (size_t)((tag ? tag : end) - p));
		if (tag)
			buf_adds(h->out, "\\u003c");
		p = tag ? tag + 1 : end;
	}
	markup_end(h);
}

/* Whether black has the larger contrast to it, WCAG 2.2. */
static bool is_bright(uint32_t rgb)
{
	static const double weight[] = { 0.2126, 0.7152, 0.0722 };
	double luminance = 0;

	for (unsigned i = 0; i < ARRAY_SIZE(weight); i++) {
		double c = (double)(rgb >> (16 - 8 * i) & 255) / 255;

		luminance += weight[i] * (c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
	}
	return (luminance + 0.05) * (luminance + 0.05) > 1.05 * 0.05;
}

static void add_colours(struct buf *b, const struct palette *p)
{
	buf_addf(b, ":root{--ground:#%06x;--ink:#%06x;--faint:#%06x;--grid:#%06x;--outline:#%06x;",
		 (unsigned)p->ground, (unsigned)p->ink, (unsigned)p->faint, (unsigned)p->grid,
		 (unsigned)p->outline);
	for (int i = 0; i < COLOURS; i++)
		buf_addf(b, "--c%d:#%06x;--t%d:%s;", i, (unsigned)p->colour[i], i,
			 is_bright(p->colour[i]) ? "#000" : "#fff");
	buf_adds(b, "}\n");
}

/* The scale of differences: --d, and --t for texts on it. */
static void add_scale(struct buf *b)
{
	for (int i = 0; i < DIFFERENCES; i++)
		buf_addf(b, ".d%d{--d:var(--c%u);--t:var(--t%u)}\n", i, difference_colour[i],
			 difference_colour[i]);
}

void html_style(struct buf *out)
{
	add_colours(out, &palette_light);
	buf_adds(out, "@media screen and (prefers-color-scheme:dark){\n");
	add_colours(out, &palette_dark);
	buf_adds(out, "}\n");
	add_scale(out);
	buf_adds(out, page_css);
}

static void add_style(struct markup *h)
{
	struct buf *b;

	markup_begin(h, "style");
	b = markup_content(h);
	buf_addc(b, '\n');
	html_style(b);
	markup_end(h);
}

static void add_meta(struct markup *h, const char *name, const char *content)
{
	markup_begin(h, "meta");
	markup_attr(h, "name", name);
	markup_attr(h, "content", content);
	markup_end(h);
}

void html_head(struct markup *h, struct buf *out, const char *title, const struct html_site *site)
{
	markup_init(h, out);
	h->html = true;
	h->site = site;
	buf_adds(out, "<!DOCTYPE html>\n");
	markup_begin(h, "html");
	markup_attr(h, "lang", "en");
	markup_begin(h, "head");
	markup_begin(h, "meta");
	markup_attr(h, "charset", "utf-8");
	markup_end(h);
	add_meta(h, "viewport", "width=device-width,initial-scale=1");
	add_meta(h, "color-scheme", "light dark");
	markup_leaf(h, "title", NULL, title);
	if (site) {
		/* none: browsers would ask for /favicon.ico */
		markup_begin(h, "link");
		markup_attr(h, "rel", "icon");
		markup_attr(h, "href", "data:,");
		markup_end(h);
		link_style(h, "page");
		link_style(h, "live");
	} else {
		add_style(h);
	}
}

void html_document(struct markup *h, struct buf *out, const char *title,
		   const struct html_site *site)
{
	html_head(h, out, title, site);
	markup_end(h);
	markup_begin(h, "body");
	if (!site)
		return;
	if (site->rec)
		markup_attr(h, "data-rec", site->rec);
	site->navigate(h, site);
}

void html_document_end(struct markup *h)
{
	if (h->site)
		link_script(h, "site");
	while (h->depth)
		markup_end(h);
}
