/* SPDX-License-Identifier: MIT */
#include "render/plot/sheet.h"

#include "render/plot/script.h"

#define MILLIONTHS 1000000

void sheet_add_colour(struct buf *b, uint32_t rgb)
{
	buf_addf(b, "rgb '#%06x'", (unsigned)rgb);
}

/* Sizes in pixels, which PNG has 96 of where it counts 72 points. */
static void add_font(const struct sheet *s, int px)
{
	buf_adds(s->out, "font 'sans-serif,");
	script_add_number(s->out, s->format == PLOT_PNG ? px * 75 : px * 100, 2);
	buf_addc(s->out, '\'');
}

void sheet_add_x(const struct sheet *s, int x)
{
	buf_adds(s->out, "screen ");
	script_add_number(s->out, (int64_t)x * MILLIONTHS / SHEET_WIDTH, 6);
}

void sheet_add_y(const struct sheet *s, int y)
{
	buf_adds(s->out, "screen ");
	script_add_number(s->out, (int64_t)(s->height - y) * MILLIONTHS / s->height, 6);
}

void sheet_add_label(const struct sheet *s, const char *text, int x, int y, int px,
		      uint32_t rgb)
{
	buf_adds(s->out, "set label ");
	script_add_text(s->out, text);
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
		script_add_number(b, SHEET_WIDTH * 1000 / 96, 3);
		buf_adds(b, "in,");
		script_add_number(b, s->height * 1000 / 96, 3);
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
