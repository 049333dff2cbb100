/* SPDX-License-Identifier: MIT */
#include "render/chart/svg.h"

#include <math.h>

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

void svg_add_number(struct buf *b, double value)
{
	if (!buf_reserve(b, NUMBER_SIZE))
		put_end(b, put_number(b->data + b->len, hundredths(value)));
}

void svg_attr_number(struct markup *m, const char *name, double value)
{
	markup_begin_attr(m, name);
	svg_add_number(m->out, value);
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
		put_end(p->svg->out, put_move(p, at, hundredths(x), hundredths(y)));
}

void svg_path_line(struct svg_path *p, double x, double y)
{
	char *at = path_room(p);

	if (at)
		put_end(p->svg->out, put_line(p, at, hundredths(x), hundredths(y)));
}

void svg_path_close(struct svg_path *p)
{
	char *at = path_room(p);

	if (at)
		put_end(p->svg->out, put_close(p, at));
}

void svg_path_rect(struct svg_path *p, double x, double y, double width, double height)
{
	int64_t left = hundredths(x), top = hundredths(y);
	int64_t right = left + hundredths(width), bottom = top + hundredths(height);
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
