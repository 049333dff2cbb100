/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_INSPECT_INSPECT_PARTS_H
#define BUILDBEAT_RENDER_INSPECT_INSPECT_PARTS_H

#include "render/inspect/inspect.h"
#include "render/inspect/maps.h"

/* Shared by inspect_text*.c: cells of tables, right-aligned, with two blanks behind. */

#define INSPECT_BYTES_COLUMNS 8

void inspect_head(struct buf *out, const char *text, size_t columns);
void inspect_bytes(struct buf *out, int64_t bytes);
void inspect_growth(struct buf *out, int64_t bytes);	/* with its sign */
void inspect_error(struct buf *out, double variance);	/* "+- 12 KiB", or blanks if exact */
void inspect_count(struct buf *out, int64_t n, size_t columns);
void inspect_share(struct buf *out, int64_t part, int64_t whole);

/* How many of n columns, which take so much, leave room for the name behind them. */
size_t inspect_fitting(const struct style *style, const size_t *columns, size_t n);

/* "5.2 s" */
void inspect_time(struct buf *out, int64_t us);

/* A function with its source and line, in what is left of the width. */
void inspect_call(struct buf *out, const struct inspect_view *v, const struct call *call);

/* The name of the last column and the end of the line. */
void inspect_name(struct buf *out, const struct style *style, size_t taken, size_t indent,
		  const char *name);

/* The mappings that are shown. */
struct maps_wish inspect_maps_wish(const struct inspect_view *v,
				   const struct inspect_show_options *o);

/* The parts */
int inspect_text_tree(struct buf *out, const struct inspect_view *v, const struct heap_tree *t,
		      const struct style *style);
int inspect_text_sites(struct buf *out, const struct inspect_view *v,
		       const struct inspect_show_options *o, const struct style *style);
int inspect_text_growth(struct buf *out, const struct inspect_view *v,
			const struct inspect_show_options *o, const struct style *style);
void inspect_text_classes(struct buf *out, const struct inspect_view *v, const struct style *style);

/* The one sentence that says what the process is made of. */
void inspect_sentence(struct buf *out, const struct inspect_view *v);

#endif
