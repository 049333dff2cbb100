/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_PACKED_H
#define BUILDBEAT_REPORT_PACKED_H

#include "base/json.h"
#include "render/chart/pack_code.h"
#include "write/markup.h"

/*
 * Data of a page in an element <script type="application/x-buildbeat">: a line of JSON, then
 * columns of numbers and texts, packed (render/chart/pack_chart.h); readData() of unpack.js reads it. The
 * line has "numbers", a list of [name, type, n, unit], "texts", a list of [name, bytes], and what
 * the caller adds to head first.
 */
#define PACKED_TEXTS_MAX 8

struct packed {
	struct json head;
	struct buf head_text, numbers, texts;
	unsigned n_texts;
	struct { const char *name; size_t bytes; } text[PACKED_TEXTS_MAX];
	int r;
};

/* The head is an open object without keys; packed_columns() ends what is added to it. */
void packed_init(struct packed *p);
void packed_columns(struct packed *p);

/* A column that was filled, which is released. The script multiplies its numbers by unit. */
void packed_column(struct packed *p, struct pack_column *c, const char *name, double unit);

/* The unit in which no number up to `most` is longer than 31 bits: a power of base. */
double packed_unit(int64_t most, int base);

/* Texts that were added to a buffer with pack_text(). It is released. */
void packed_texts(struct packed *p, const char *name, struct buf *texts);

/* Write the element and release p. 0 or -ENOMEM. */
int packed_write(struct packed *p, struct markup *h, const char *id);

/* pack_text() of at most this many bytes */
#define PACKED_TEXT_MAX 400

#endif
