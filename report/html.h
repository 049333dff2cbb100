/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_HTML_H
#define BUILDBEAT_REPORT_HTML_H

#include "write/markup.h"

/*
 * HTML documents, by the markup writer: with the common style sheet (page.css) and without
 * references to anything outside. Its colours are those of palette.h as variables: --ground,
 * --ink, --faint, --grid, --outline, --c0 ... --c7, and --t0 ... --t7 for texts on those. Pictures go in by svg.h.
 */

/* The style sheet alone. */
void html_style(struct buf *out);

/*
 * Where pages are served, and not files. Then a document has nothing inline: it links /page.css, and
 * its own styles and scripts by their names, /NAME.css and /NAME.js. Style attributes become
 * data-style, which /site.js sets.
 */
struct html_site {
	const char *path;	/* of this page, "/log" */
	const char *rec;	/* the parameter rec of links to other pages, or NULL */
	void (*navigate)(struct markup *h, const struct html_site *site);	/* the first part of the body */
	const void *context;	/* of navigate() */
};

/* A document from its beginning to within <head>, or to within <body>; and its end. site: NULL for a
 * file. */
void html_head(struct markup *h, struct buf *out, const char *title, const struct html_site *site);
void html_document(struct markup *h, struct buf *out, const char *title,
		   const struct html_site *site);
void html_document_end(struct markup *h);

/* A program of ours, in which "</script" does not come; and a further style. */
void html_script(struct markup *h, const char *name, const char *script);
void html_more_style(struct markup *h, const char *name, const char *style);

/* The style attribute of the element just begun. */
void html_style_attr(struct markup *h, struct buf *value);

/* Data for it: <script type="application/json" id=ID>. */
void html_json(struct markup *h, const char *id, const struct buf *json);

#endif
