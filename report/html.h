/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_HTML_H
#define BUILDBEAT_REPORT_HTML_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The only place that writes HTML: it escapes, closes what was opened, and puts the
 * common style sheet (page.css) into each document, which asks for nothing outside of
 * itself. Its colours are those of palette.h, as variables: --ground, --ink, --faint, --grid,
 * --outline, --c0 ... --c7. Texts may be any bytes: control characters and what would
 * turn the direction of writing are shown as text_add_name() does. Names of elements and
 * attributes are ours, lower case words. Errors are those of the buffer. Pictures go in by
 * svg.h on html_content().
 */
#define HTML_DEPTH_MAX 32

struct html {
	struct buf *out;
	unsigned depth;
	bool in_tag;		/* the last start tag still takes attributes */
	const char *open[HTML_DEPTH_MAX];
};

/* A document from its beginning to within <body>, and its end. */
void html_document(struct html *h, struct buf *out, const char *title);
void html_document_end(struct html *h);

void html_begin(struct html *h, const char *element);
void html_end(struct html *h);

/* Attributes of the element just begun. */
void html_attr(struct html *h, const char *name, const char *value);
void html_attr_int(struct html *h, const char *name, int64_t value);

void html_text(struct html *h, const char *text);

/* An element with a class (NULL: none), open; and one that has but a text. */
void html_open(struct html *h, const char *element, const char *class);
void html_leaf(struct html *h, const char *element, const char *class, const char *text);

/* Where content of the element goes that needs no escaping. */
struct buf *html_content(struct html *h);

/* A program of ours, in which "</script" does not come. */
void html_script(struct html *h, const char *script);

/* Data for it: <script type="application/json" id=ID>. */
void html_json(struct html *h, const char *id, const struct buf *json);

#endif
