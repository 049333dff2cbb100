/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_INSPECT_INSPECT_PARTS_H
#define BUILDBEAT_REPORT_INSPECT_INSPECT_PARTS_H

#include "base/array.h"
#include "report/inspect/inspect_outputs.h"
#include "report/inspect/maps.h"
#include "write/doc.h"

/* Shared by inspect_*.c. Columns of tables; the first one has no gap. */
#define INSPECT_BYTES(title_) { .title = (title_), .type = DOC_BYTES, .gap = 2, .width = 8 }
#define INSPECT_NAME(title_) { .title = (title_), .gap = 2, .last = true }
#define INSPECT_CELL(title_, width_) { .title = (title_), .right = true, .gap = 2, .width = (width_) }
#define INSPECT_TABLE(title_, columns) { \
	.title = (title_), .column = (columns), .n_columns = ARRAY_SIZE(columns), .heads = true, \
	.empty = true, .least = 12, .room = 30 }

/* Their values. */
void inspect_growth(struct doc *d, int64_t bytes);	/* with its sign */
void inspect_error(struct doc *d, double variance);	/* "+-12 KiB", nothing if exact */
void inspect_share(struct doc *d, int64_t part, int64_t whole);

/* "5.2 s" */
void inspect_time(struct buf *out, int64_t us);

/* A function with its source and line. */
void inspect_call(struct buf *out, const struct inspect_view *v, const struct call *call);

/* The mappings that are shown. */
struct maps_wish inspect_maps_wish(const struct inspect_view *v,
				   const struct inspect_show_options *o);

/* The parts. 0 or -ENOMEM. */
int inspect_text_tree(struct doc *d, const struct inspect_view *v, const struct heap_tree *t);
int inspect_text_sites(struct doc *d, const struct inspect_view *v,
		       const struct inspect_show_options *o);
int inspect_text_growth(struct doc *d, const struct inspect_view *v,
			const struct inspect_show_options *o);
void inspect_text_classes(struct doc *d, const struct inspect_view *v);

/* The one sentence that says what the process is made of. */
void inspect_sentence(struct buf *out, const struct inspect_view *v);

#endif
