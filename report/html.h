/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_HTML_H
#define BUILDBEAT_REPORT_HTML_H

#include "render/markup.h"

/*
 * HTML documents, by the markup writer: with the common style sheet (page.css) and without
 * references to anything outside. Its colours are those of palette.h as variables: --ground,
 * --ink, --faint, --grid, --outline, --c0 ... --c7, and --t0 ... --t7 for texts on those. Pictures go in by svg.h.
 */

/* A document from its beginning to within <body>, and its end. */
void html_document(struct markup *h, struct buf *out, const char *title);
void html_document_end(struct markup *h);

/* A program of ours, in which "</script" does not come. */
void html_script(struct markup *h, const char *script);

/* Data for it: <script type="application/json" id=ID>. */
void html_json(struct markup *h, const char *id, const struct buf *json);

#endif
