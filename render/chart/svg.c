/* SPDX-License-Identifier: MIT */
#include "render/chart/svg.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

#define NUMBER_SIZE 24		/* of any number we write, its sign and a letter */
#define NUMBER_MAX 1e13

static int64_t hundredths(double value)
{
	if (!(value > -NUMBER_MAX))
		value = -NUMBER_MAX;
	else if (value > NUMBER_MAX)
		value = NUMBER_MAX;
	return llround(value * 100);
}

/* At p, which has room for NUMBER_SIZE; returns its end. */
static char *put_number(char *p, int64_t n)
{
	char digits[NUMBER_SIZE];
	unsigned len = 0, decimals;
	uint64_t whole;

	if (n < 0) {
		*p++ = '-';
		n = -n;
	}
	whole = (uint64_t)n / 100;
	decimals = (unsigned)((uint64_t)n % 100);
	for (; whole; whole /= 10)
		digits[len++] = (char)('0' + whole % 10);
	if (!len && !decimals)
		*p++ = '0';
	while (len)
		*p++ = digits[--len];
	if (decimals) {
		*p++ = '.';
		*p++ = (char)('0' + decimals / 10);
		if (decimals % 10)
			*p++ = (char)('0' + decimals % 10);
	}
	return p;
}

static void put_end(struct buf *b, const char *end)
{
	b->len = (size_t)(end - b->data);
	b->data[b->len] = '\0';
}

void svg_attr_number(struct markup *m, const char *name, double value)
{
	markup_begin_attr(m, name);
	if (!buf_reserve(m->out, NUMBER_SIZE))
		put_end(m->out, put_number(m->out->data + m->out->len, hundredths(value)));
	buf_addc(m->out, '"');
}

/* Paths */

void svg_path_init(struct svg_path *p, struct markup *s, const char *class)
{
	*p = (struct svg_path){ .svg = s, .class = class };
}

static void begin_path(struct svg_path *p)
{
	markup_begin(p->svg, "path");
	markup_attr(p->svg, "class", p->class);
	markup_begin_attr(p->svg, "d");
	p->begun = true;
}

/* A command with one or two numbers, the letter left out where it is the last one's. */
static char *put_command(struct svg_path *p, char *at, char command, int64_t a, int64_t b)
{
	bool pair = command == 'm' || command == 'l', repeated = p->last == command;

	if (!repeated)
		*at++ = command;
	else if (a >= 0)
		*at++ = ' ';
	at = put_number(at, a);
	if (pair) {
		if (b >= 0)
			*at++ = ' ';
		at = put_number(at, b);
	}
	/* Pairs after an m are lines. */
	p->last = command == 'm' ? 'l' : command;
	return at;
}

static char *put_line(struct svg_path *p, char *at, int64_t x, int64_t y)
{
	int64_t dx = x - p->x, dy = y - p->y;

	p->x = x;
	p->y = y;
	if (!dy)
		return dx ? put_command(p, at, 'h', dx, 0) : at;
	return dx ? put_command(p, at, 'l', dx, dy) : put_command(p, at, 'v', dy, 0);
}

static char *put_move(struct svg_path *p, char *at, int64_t x, int64_t y)
{
	int64_t dx = x - p->x, dy = y - p->y;

	p->x = p->start_x = x;
	p->y = p->start_y = y;
	p->last = 0;
	return put_command(p, at, 'm', dx, dy);
}

static char *put_close(struct svg_path *p, char *at)
{
	*at++ = 'z';
	p->last = 0;
	p->x = p->start_x;
	p->y = p->start_y;
	return at;
}

static int64_t rounded(const struct svg_path *p, double value)
{
	return p->coarse ? hundredths(value / 10) * 10 : hundredths(value);
}

/* Room for a few commands; NULL: no memory. */
static char *path_room(struct svg_path *p)
{
	struct buf *b = p->svg->out;

	if (!p->begun)
		begin_path(p);
	return buf_reserve(b, 10 * NUMBER_SIZE) ? NULL : b->data + b->len;
}

void svg_path_move(struct svg_path *p, double x, double y)
{
	char *at = path_room(p);

	if (at)
		put_end(p->svg->out, put_move(p, at, rounded(p, x), rounded(p, y)));
}

void svg_path_line(struct svg_path *p, double x, double y)
{
	char *at = path_room(p);

	if (at)
		put_end(p->svg->out, put_line(p, at, rounded(p, x), rounded(p, y)));
}

void svg_path_close(struct svg_path *p)
{
	char *at = path_room(p);

	if (at)
		put_end(p->svg->out, put_close(p, at));
}

void svg_path_rect(struct svg_path *p, double x, double y, double width, double height)
{
	int64_t left = rounded(p, x), top = rounded(p, y);
	int64_t right = left + rounded(p, width), bottom = top + rounded(p, height);
	char *at = path_room(p);

	if (!at)
		return;
	at = put_move(p, at, left, top);
	at = put_line(p, at, right, top);
	at = put_line(p, at, right, bottom);
	at = put_line(p, at, left, bottom);
	put_end(p->svg->out, put_close(p, at));
}

void svg_path_end(struct svg_path *p)
{
	if (!p->begun)
		return;
	buf_addc(p->svg->out, '"');
	markup_end(p->svg);
}

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

double svg_text_width(const char *text, double size)
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

size_t svg_text_fit(const char *text, double width, double size)
{
	size_t fit = head_length(text, width > 0 ? (unsigned)(width * 100 / size) : 0);
	const char *p = text;

	if (!text[fit])
		return fit;
	if (!fit) {
		letter_width(&p);
		return (size_t)(p - text);
	}
	for (size_t i = fit; i > 0; i--) {
		if (text[i] == ' ')
			return i;
	}
	return fit;
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

void svg_add_label(struct buf *b, const char *name, double width, double size)
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

void svg_add_beginning(struct buf *b, const char *text, double width, double size)
{
	unsigned room = width > 0 && size > 0 ? (unsigned)(width * 100 / size) : 0;

	if (text_width(text) <= room) {
		buf_adds(b, text);
	} else if (room >= ELLIPSIS_WIDTH + 3 * LATIN) {
		buf_add(b, text, head_length(text, room - ELLIPSIS_WIDTH));
		buf_adds(b, ELLIPSIS);
	} else {
		buf_add(b, text, head_length(text, room));
	}
}
