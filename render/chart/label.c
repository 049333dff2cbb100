/* SPDX-License-Identifier: MIT */
#include "render/chart/label.h"

#include "base/text.h"

#include <string.h>

#define ELLIPSIS "\xe2\x80\xa6"
#define ELLIPSIS_WIDTH 100
#define WIDE 105		/* of a letter beyond ASCII and Latin, in 1/100 of the size */
#define LATIN 70

/* Of ' ' to '~', in 1/100 of the font's size. */
static const uint8_t widths[] = {
	32, 41, 46, 84, 64, 96, 78, 28, 40, 40, 50, 84, 32, 37, 32, 34,
	64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 34, 34, 84, 84, 84, 54,
	100, 69, 69, 70, 78, 64, 58, 78, 76, 30, 30, 66, 56, 87, 75, 79,
	61, 79, 70, 64, 62, 74, 69, 99, 69, 62, 69, 40, 34, 40, 84, 50,
	50, 62, 64, 55, 64, 62, 36, 64, 64, 28, 28, 58, 28, 98, 64, 62,
	64, 64, 42, 53, 40, 64, 60, 82, 60, 60, 53, 64, 34, 64, 84,
};

static bool continues(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* The letter at p, moved past. */
static unsigned letter_width(const char **p)
{
	unsigned char c = (unsigned char)*(*p)++;
	unsigned width = c < 0x80 ? widths[c < ' ' || c > '~' ? '~' - ' ' : c - ' '] :
			 c < 0xd0 ? LATIN : WIDE;

	while (continues(**p))
		(*p)++;
	return width;
}

static unsigned text_width(const char *text)
{
	unsigned width = 0;

	while (*text)
		width += letter_width(&text);
	return width;
}

double label_width(const char *text, double size)
{
	return text_width(text) * size / 100;
}

/* The beginning that takes at most width; its length in bytes. */
static size_t head_length(const char *text, unsigned width)
{
	const char *p = text, *end = text;
	unsigned sum = 0;

	while (*p && (sum += letter_width(&p)) <= width)
		end = p;
	return (size_t)(end - text);
}

/* Where the end begins that takes at most width. */
static const char *tail(const char *text, unsigned width)
{
	const char *p = text;
	unsigned rest = text_width(text);

	while (*p && rest > width)
		rest -= letter_width(&p);
	return p;
}

void label_add(struct buf *b, const char *name, double width, double size)
{
	struct buf safe = BUF_PART_OF(b);
	unsigned room = width > 0 && size > 0 ? (unsigned)(width * 100 / size) : 0;
	const char *text;

	text_add_name(&safe, name, 0);
	text = buf_str(&safe);
	if (text_width(text) <= room) {
		buf_adds(b, text);
	} else if (room >= ELLIPSIS_WIDTH + 2 * LATIN) {
		/* The end of a path says more than its beginning. */
		room -= ELLIPSIS_WIDTH;
		buf_add(b, text, head_length(text, room / 3));
		buf_adds(b, ELLIPSIS);
		buf_adds(b, tail(text, room - room / 3));
	}
	buf_release(&safe);
}
