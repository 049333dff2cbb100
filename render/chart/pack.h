#ifndef BUILDBEAT_CHART_PACK_H
#define BUILDBEAT_CHART_PACK_H

#include "buf.h"
#include "chart.h"

/*
 * The data of a chart for its script: a line of JSON, a newline, then columns of
 * numbers and texts, compressed and written in characters that need no escaping.
 *
 * JSON: the geometry, the units, kinds, rows and panels, and `columns`: name, type
 * and length in bytes of each column, in the order in which they follow. Nothing in
 * it is '<', '>' or '&': they are \u003c and so on.
 *
 * The columns of all tasks that ran, by their start, end to end, are one stream
 * of raw deflate (RFC 1951), written 13 bits a pair of characters of 91: 23 % more
 * than the bytes. The types of columns:
 *	u	unsigned numbers, LEB128
 *	s	signed numbers, zigzag, LEB128
 *	d	changes since the number before (0 at first), zigzag, LEB128
 *	t	texts, each ended by a newline
 *	b	bytes
 * Times are in units of unit_us, the smallest of 1, 10, 100 ... in which the
 * build has less than 2^26; so that they add up, the end of a task is start + wall of
 * the rounded values. Sizes of tasks are round(64 * log2(1 + KiB)): within 1 %.
 */
int pack_chart(struct buf *out, const struct chart *c);

#endif
