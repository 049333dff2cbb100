/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BASE_TEXT_H
#define BUILDBEAT_BASE_TEXT_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Text for people: numbers with units, names that are safe to print, aligned columns, and colour
 * that only repeats the words.
 */
struct style {
	unsigned width;		/* columns of the terminal, 0: no limit */
	bool colour;
};

enum tone { TONE_PLAIN, TONE_TITLE, TONE_FAINT, TONE_ALARM, TONE_BAR };

/* The tone of the following text, up to the next call. */
void text_tone(struct buf *b, const struct style *s, enum tone tone);

/* A heading after an empty line. */
void text_title(struct buf *out, const struct style *style, const char *title);

/* "812 us", "0.42 s", "2m 05s", "1h 02m"; at most 8 columns below 1000 days. */
void text_add_time(struct buf *b, int64_t us);

/* The same of nanoseconds: "24 ns" below a microsecond. */
void text_add_ns(struct buf *b, int64_t ns);

/* "0 B", "12 KiB", "1.4 GiB": at most 8 columns. */
void text_add_bytes(struct buf *b, int64_t bytes);

/* "812000", "1.25 M", "31.4 G", "-" if negative: at most 7 columns. */
void text_add_count(struct buf *b, int64_t n);

/* "0.31 %", "4.2 %", "98 %"; share is 0 to 1; "-" if negative or not a number. */
void text_add_percent(struct buf *b, double share);

/*
 * A name in at most width columns (0: no limit), shortened in its middle. Control characters,
 * bytes that are not UTF-8 and characters that change the direction of writing are shown as
 * escapes: \n, \x1b, \u202e. Returns the number of columns.
 */
size_t text_add_name(struct buf *b, const char *name, size_t width);

/* The same for text of several lines: newlines and tabs are kept. */
void text_add_lines(struct buf *b, const char *text, size_t len);

/* The number of columns of the whole name in text_add_name(). */
size_t text_columns(const char *s, size_t len);

void text_add_blanks(struct buf *b, size_t n);

/* A bar of up to width columns for a share of 0 to 1; false: too small to see. */
bool text_add_bar(struct buf *b, const struct style *s, double share, unsigned width);

#endif
