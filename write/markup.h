/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_WRITE_MARKUP_H
#define BUILDBEAT_WRITE_MARKUP_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The only place that writes markup, XML (SVG, JUnit) and HTML: it escapes texts and closes
 * what was opened. Texts may be any bytes: characters that XML forbids and those that change
 * the direction of writing are written as text_add_name() shows them. Names of elements and
 * attributes are ours, lower case words. Errors are those of the buffer.
 */
#define MARKUP_DEPTH_MAX 32

struct html_site;

struct markup {
	struct buf *out;
	bool html;		/* void elements have no end tag; otherwise XML */
	bool in_tag;		/* the last start tag still takes attributes */
	unsigned depth;
	const char *open[MARKUP_DEPTH_MAX];
	const struct html_site *site;	/* of report/html.h */
	const char *nonce;	/* that scripts of the page must have, or NULL */
};

/* XML; set html for the other. */
void markup_init(struct markup *m, struct buf *out);

void markup_begin(struct markup *m, const char *element);
void markup_end(struct markup *m);

/* An element with a class (NULL: none), left open; and one that has only a text. */
void markup_open(struct markup *m, const char *element, const char *class);
void markup_leaf(struct markup *m, const char *element, const char *class, const char *text);

/* Attributes of the element just begun. */
void markup_attr(struct markup *m, const char *name, const char *value);
void markup_attr_int(struct markup *m, const char *name, int64_t value);

void markup_text(struct markup *m, const char *text);

/* The same from a buffer, whose error is taken over. */
void markup_attr_buf(struct markup *m, const char *name, struct buf *value);
void markup_text_buf(struct markup *m, struct buf *text);

/* Text that keeps its line breaks, in a CDATA section: style and script of an SVG. */
void markup_verbatim(struct markup *m, const char *text);

/* The buffer, for content of the element that needs no escaping. */
struct buf *markup_content(struct markup *m);

/* For a value made of pieces: as markup_attr() up to its opening quote. */
void markup_begin_attr(struct markup *m, const char *name);

#endif
