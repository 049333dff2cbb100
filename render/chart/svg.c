/* SPDX-License-Identifier: MIT */
#include "render/chart/svg.h"

#include "base/text.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define NUMBER_SIZE 24		/* of any number we write, its sign and a letter */
#define NUMBER_MAX 1e13

void svg_init(struct svg *s, struct buf *out)
{
	*s = (struct svg){ .out = out };
}

static void close_tag(struct svg *s)
{
	if (s->in_tag)
		buf_addc(s->out, '>');
	s->in_tag = false;
}

void svg_begin(struct svg *s, const char *element)
{
	assert(s->depth < SVG_DEPTH_MAX);
	close_tag(s);
	buf_addc(s->out, '<');
	buf_adds(s->out, element);
	s->open[s->depth++] = element;
	s->in_tag = true;
}

void svg_end(struct svg *s)
{
	const char *element;

	assert(s->depth);
	element = s->open[--s->depth];
	if (s->in_tag) {
		buf_adds(s->out, "/>");
	} else {
		buf_adds(s->out, "</");
		buf_adds(s->out, element);
		buf_addc(s->out, '>');
	}
	s->in_tag = false;
	/* Lines, so that a picture can be read and compared, but none within a text. */
	if (strcmp(element, "tspan") && strcmp(element, "title"))
		buf_addc(s->out, '\n');
}

/* Text */

void svg_add_escaped(struct buf *b, const char *text)
{
	struct buf safe = BUF_INIT;
	const char *p, *from;

	text_add_name(&safe, text, 0);
	from = p = buf_str(&safe);
	for (; *p; p++) {
		const char *entity = *p == '<' ? "&lt;" : *p == '>' ? "&gt;" :
				     *p == '&' ? "&amp;" : *p == '"' ? "&quot;" : NULL;

		if (!entity)
			continue;
		buf_add(b, from, (size_t)(p - from));
		buf_adds(b, entity);
		from = p + 1;
	}
	buf_adds(b, from);
	buf_take_error(b, &safe);
	buf_release(&safe);
}

static void begin_attr(struct svg *s, const char *name)
{
	assert(s->in_tag);
	buf_addc(s->out, ' ');
	buf_adds(s->out, name);
	buf_adds(s->out, "=\"");
}

void svg_attr(struct svg *s, const char *name, const char *value)
{
	begin_attr(s, name);
	svg_add_escaped(s->out, value);
	buf_addc(s->out, '"');
}

void svg_attr_number(struct svg *s, const char *name, double value)
{
	begin_attr(s, name);
	svg_add_number(s->out, value);
	buf_addc(s->out, '"');
}

void svg_text(struct svg *s, const char *text)
{
	close_tag(s);
	svg_add_escaped(s->out, text);
}

void svg_text_buf(struct svg *s, struct buf *text)
{
	buf_take_error(s->out, text);
	svg_text(s, buf_str(text));
}

void svg_attr_buf(struct svg *s, const char *name, struct buf *value)
{
	buf_take_error(s->out, value);
	svg_attr(s, name, buf_str(value));
}

void svg_verbatim(struct svg *s, const char *text)
{
	const char *end;

	close_tag(s);
	buf_adds(s->out, "<![CDATA[\n");
	for (; (end = strstr(text, "]]>")); text = end + 2) {
		buf_add(s->out, text, (size_t)(end - text) + 2);
		buf_adds(s->out, "]]><![CDATA[");
	}
	buf_adds(s->out, text);
	buf_adds(s->out, "]]>");
}

struct buf *svg_content(struct svg *s)
{
	close_tag(s);
	return s->out;
}

/* Numbers */

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

/* Paths */

void svg_path_init(struct svg_path *p, struct svg *s, const char *class)
{
	*p = (struct svg_path){ .svg = s, .class = class };
}

static void begin_path(struct svg_path *p)
{
	svg_begin(p->svg, "path");
	svg_attr(p->svg, "class", p->class);
	begin_attr(p->svg, "d");
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
	svg_end(p->svg);
}
