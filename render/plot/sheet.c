/* SPDX-License-Identifier: MIT */
#include "render/plot/sheet.h"

#include "base/minmax.h"
#include "base/utf8.h"
#include "render/chart/axis.h"

#include <string.h>

#define MILLIONTHS 1000000

void sheet_add_colour(struct buf *b, uint32_t rgb)
{
	buf_addf(b, "rgb '#%06x'", (unsigned)rgb);
}

/* Sizes in pixels, which PNG has 96 of where it counts 72 points. */
static void add_font(const struct sheet *s, int px)
{
	buf_adds(s->out, "font 'sans-serif,");
	sheet_add_number(s->out, s->format == PLOT_PNG ? px * 75 : px * 100, 2);
	buf_addc(s->out, '\'');
}

void sheet_add_x(const struct sheet *s, int x)
{
	buf_adds(s->out, "screen ");
	sheet_add_number(s->out, (int64_t)x * MILLIONTHS / SHEET_WIDTH, 6);
}

void sheet_add_y(const struct sheet *s, int y)
{
	buf_adds(s->out, "screen ");
	sheet_add_number(s->out, (int64_t)(s->height - y) * MILLIONTHS / s->height, 6);
}

void sheet_add_label(const struct sheet *s, const char *text, int x, int y, int px,
		      uint32_t rgb)
{
	buf_adds(s->out, "set label ");
	sheet_add_text(s->out, text);
	buf_adds(s->out, " at ");
	sheet_add_x(s, x);
	buf_adds(s->out, ", ");
	sheet_add_y(s, y);
	buf_addc(s->out, ' ');
	add_font(s, px);
	buf_adds(s->out, " textcolor ");
	sheet_add_colour(s->out, rgb);
	buf_addc(s->out, '\n');
}

void sheet_add_margins(const struct sheet *s, int top, int bottom)
{
	buf_adds(s->out, "set tmargin at ");
	sheet_add_y(s, top);
	buf_adds(s->out, "\nset bmargin at ");
	sheet_add_y(s, bottom);
	buf_addc(s->out, '\n');
}

void sheet_add_terminal(const struct sheet *s)
{
	struct buf *b = s->out;

	buf_adds(b, "set encoding utf8\nset terminal ");
	if (s->format == PLOT_SVG)
		buf_addf(b, "svg fixed name '%s' size %d,%d", s->word, SHEET_WIDTH,
			 s->height);
	else if (s->format == PLOT_PNG)
		buf_addf(b, "pngcairo size %d,%d", SHEET_WIDTH, s->height);
	else {
		buf_adds(b, "pdfcairo size ");
		sheet_add_number(b, SHEET_WIDTH * 1000 / 96, 3);
		buf_adds(b, "in,");
		sheet_add_number(b, s->height * 1000 / 96, 3);
		buf_adds(b, "in");
	}
	buf_adds(b, " noenhanced background '#ffffff' ");
	add_font(s, 12);
	buf_addf(b, "\nset output '%s.%s'\n", s->word,
		 plot_format_word[s->format]);
}

void sheet_add_settings(const struct sheet *s)
{
	struct buf *b = s->out;

	buf_adds(b, "unset key\nset tics out nomirror scale 0.5 textcolor ");
	sheet_add_colour(b, palette_light.ink);
	buf_adds(b, "\nset border linewidth 1 linecolor ");
	sheet_add_colour(b, palette_light.faint);
	buf_adds(b, "\nset grid xtics ytics back linetype 1 linewidth 1 linecolor ");
	sheet_add_colour(b, palette_light.grid);
	buf_adds(b, "\nset lmargin at ");
	sheet_add_x(s, SHEET_LEFT);
	buf_adds(b, "\nset rmargin at ");
	sheet_add_x(s, SHEET_WIDTH - SHEET_RIGHT);
	buf_adds(b, "\nset multiplot\n");
}

/* The words and numbers of gnuplot's language that all scripts are made of. */

#define TICKS_MAX 32

/* Characters with a meaning in a line or string of any version of gnuplot are written as a
 * number, and so is every character not known to be harmless. Two single quotes are one,
 * but not where a string begins. */
static bool is_harmless(unsigned char c)
{
	return c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z') || (c && strchr(" %()+,-./:=_", c));
}

void sheet_add_text(struct buf *b, const char *text)
{
	buf_addc(b, '"');
	for (size_t len = strlen(text), n; len; text += n, len -= n) {
		unsigned char c = (unsigned char)*text;
		uint32_t code;

		n = utf8_decode((const unsigned char *)text, len, &code);
		if (c >= 0x80 && utf8_is_unsafe(code))
			buf_adds(b, UTF8_REPLACEMENT);
		else if (is_harmless(c))
			buf_add(b, text, n);
		else
			buf_addf(b, "\\%03o", c);
	}
	buf_addc(b, '"');
}

void sheet_add_number(struct buf *b, int64_t value, unsigned decimals)
{
	uint64_t n = value < 0 ? -(uint64_t)value : (uint64_t)value, unit = 1;

	for (; decimals && n % 10 == 0; decimals--)
		n /= 10;
	for (unsigned i = 0; i < decimals; i++)
		unit *= 10;
	if (value < 0)
		buf_addc(b, '-');
	buf_addu(b, n / unit);
	if (!decimals)
		return;
	buf_addc(b, '.');
	for (n %= unit; unit > 1; n %= unit) {
		unit /= 10;
		buf_addc(b, (char)('0' + n / unit));
	}
}

void sheet_add_value(struct buf *b, enum axis_unit unit, int64_t value)
{
	if (value == BAND_ABSENT) {
		buf_adds(b, "NaN");
		return;
	}
	switch (unit) {
	case AXIS_SHARE:
	case AXIS_COUNT:
		sheet_add_number(b, value, 2);
		break;
	case AXIS_BYTES:
	case AXIS_BYTES_A_SECOND:
		buf_addi(b, value);
		break;
	case AXIS_TIME:
		sheet_add_number(b, value, 6);
		break;
	}
}

static void add_tick(struct buf *b, const struct tick *t, enum axis_unit unit, bool first)
{
	char text[2 * sizeof t->label];
	struct buf label;

	/* Labels of ticks are formats. */
	buf_init_fixed(&label, text, sizeof text);
	for (const char *p = t->label; *p; p++) {
		if (*p == '%')
			buf_addc(&label, '%');
		buf_addc(&label, *p);
	}
	buf_adds(b, first ? "" : ", ");
	sheet_add_text(b, buf_str(&label));
	buf_addc(b, ' ');
	sheet_add_value(b, unit, t->value);
}

static void add_list(struct buf *b, const struct tick *tick, size_t n, enum axis_unit unit)
{
	buf_addc(b, '(');
	for (size_t i = 0; i < n; i++)
		add_tick(b, &tick[i], unit, i == 0);
	buf_adds(b, ")");
}

void sheet_add_ticks(struct buf *b, enum axis_unit unit, int64_t ceiling, size_t most)
{
	struct tick tick[TICKS_MAX];

	add_list(b, tick, axis_ticks(tick, MIN(most, TICKS_MAX), ceiling, unit),
		 unit);
}

void sheet_add_time_ticks(struct buf *b, const struct pane *p, size_t most)
{
	struct tick tick[TICKS_MAX];

	add_list(b, tick, axis_time_ticks(tick, MIN(most, TICKS_MAX), p->from_us,
					  p->until_us), AXIS_TIME);
}
