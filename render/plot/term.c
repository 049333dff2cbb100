/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "render/plot/script.h"
#include "render/plot/sheet.h"

#include "base/text.h"

#include <string.h>

/*
 * For terminals and the logs of builds: stacks are columns of characters,
 * lines are points, everything right of one margin. Values, and bands of a right axis, are
 * in the legend only.
 */
#define MARGIN 11		/* columns left of the axis */
#define LEAST_LINES 6

/* gnuplot's line types and the characters that it draws them with; those of points
 * are ours to choose. */
static const struct {
	int line_type;
	char character;
} fill[] = {
	{ 2, '#' }, { 7, '=' }, { 4, '%' }, { 1, '*' }, { 3, '$' }, { 6, '&' }, { 5, '@' },
};

#define FILLS ARRAY_SIZE(fill)

/* The top of a stack that has more layers than there are fills. */
#define TOP '+'

static const char point[] = "ox~vz";

struct terminal {
	struct buf *out;
	const struct plot_page *page;
	unsigned columns, lines;
};

size_t term_stretches(unsigned columns)
{
	return columns > MARGIN + 12 ? columns - MARGIN - 2 : 10;
}

static bool is_drawn(const struct layer *l)
{
	return !l->right;
}

/* Which fill or point a layer has: its number among those that are drawn alike. */
static size_t place_of(const struct pane *p, size_t layer)
{
	size_t n = 0;

	for (size_t i = 0; i < layer; i++)
		n += is_drawn(&p->layer[i]) &&
		     (p->layer[i].mark == MARK_LINE) == (p->layer[layer].mark == MARK_LINE);
	return n;
}

static char character_of(const struct pane *p, size_t layer)
{
	size_t at = place_of(p, layer);

	if (!is_drawn(&p->layer[layer]))
		return ' ';
	if (p->layer[layer].mark == MARK_LINE)
		return point[at % (sizeof point - 1)];
	return at < FILLS ? fill[at].character : TOP;
}

/* Text */

static void add_line(const struct terminal *p, const char *text)
{
	struct buf b = BUF_INIT;

	text_add_name(&b, text, p->columns);
	buf_adds(p->out, "print ");
	sheet_add_text(p->out, buf_str(&b));
	buf_addc(p->out, '\n');
	buf_release(&b);
}

static void add_legend_line(const struct terminal *p, char character, const char *label,
			    const char *values)
{
	size_t room = p->columns > MARGIN + 30 ? p->columns - MARGIN - 4 : 26;
	size_t width = strlen(values) + 2 < room ? room - strlen(values) - 2 : 6;
	struct buf b = BUF_INIT;

	text_add_blanks(&b, MARGIN);
	buf_addc(&b, character);
	buf_addc(&b, ' ');
	text_add_name(&b, label, width);
	buf_adds(&b, *values ? ": " : "");
	buf_adds(&b, values);
	add_line(p, buf_str(&b));
	buf_release(&b);
}

static void add_legend(const struct terminal *t, const struct pane *p)
{
	char text[64];
	struct buf b;

	for (size_t i = 0; i < p->n_layers; i++)
		add_legend_line(t, character_of(p, i), p->layer[i].label, p->layer[i].values);
	if (p->high)
		add_legend_line(t, '.', p->band_label, "");
	if (p->limit >= 0) {
		buf_init_fixed(&b, text, sizeof text);
		axis_add_value(&b, p->unit, p->limit);
		add_legend_line(t, '-', p->limit_label, buf_str(&b));
	}
	if (p->mark_us >= 0)
		add_legend_line(t, '^', "peak", p->mark_label);
	if (*p->note)
		add_line(t, p->note);
}

/* Drawing */

static void add_axes(const struct terminal *t, const struct pane *p, unsigned lines)
{
	struct buf *b = t->out;
	int64_t half = (plot_page_time_us(p, 1) - p->from_us) / 2;

	/* The axis has a column of its own, left of the first stretch. */
	buf_adds(b, "set xrange [");
	sheet_add_value(b, AXIS_TIME, p->from_us - half);
	buf_addc(b, ':');
	sheet_add_value(b, AXIS_TIME, p->until_us - half);
	buf_adds(b, "]\nset yrange [0:");
	sheet_add_value(b, p->unit, p->ceiling);
	buf_adds(b, "]\nset xtics ");
	sheet_add_time_ticks(b, p, t->columns / 14 + 2);
	buf_adds(b, "\nset ytics ");
	sheet_add_ticks(b, p->unit, p->ceiling, lines / 3 + 1);
	buf_addc(b, '\n');
}

static void add_columns(const struct terminal *t, const struct pane *p, size_t layer,
			size_t block)
{
	const char *between = "(";
	struct buf *b = t->out;

	buf_addf(b, "'%s.data' index %zu using 1:", plot_word[t->page->chart], block);
	for (size_t i = 0; i <= layer; i++) {
		if (i < layer && (p->layer[i].mark != MARK_STACK ||
				  p->layer[layer].mark != MARK_STACK))
			continue;
		buf_addf(b, "%s$%zu", between, i + 2);
		between = "+";
	}
	buf_adds(b, ") ");
	if (p->layer[layer].mark == MARK_LINE || place_of(p, layer) >= FILLS)
		buf_addf(b, "with points pointtype '%c' linetype %zu", character_of(p, layer),
			 place_of(p, layer) + 1);
	else
		buf_addf(b, "with impulses linetype %d", fill[place_of(p, layer)].line_type);
	buf_adds(b, ", \\\n\t");
}

static void add_points(const struct terminal *t, size_t block, size_t column, char character)
{
	buf_addf(t->out, "'%s.data' index %zu using 1:%zu with points pointtype '%c' "
		 "linetype 8, \\\n\t", plot_word[t->page->chart], block, column, character);
}

static void add_plot(const struct terminal *t, const struct pane *p, size_t block)
{
	buf_adds(t->out, "plot ");
	for (size_t i = p->n_layers; i-- > 0; ) {
		if (is_drawn(&p->layer[i]) && p->layer[i].mark != MARK_LINE)
			add_columns(t, p, i, block);
	}
	for (size_t i = 0; i < p->n_layers; i++) {
		if (is_drawn(&p->layer[i]) && p->layer[i].mark == MARK_LINE)
			add_columns(t, p, i, block);
	}
	if (p->high)
		add_points(t, block, p->n_layers + 2, '.');
	if (p->limit >= 0 && p->limit <= p->ceiling)
		add_points(t, block, p->n_layers + 2 + (p->high != NULL), '-');
	buf_adds(t->out, "NaN notitle\n");
}

static void add_moment(const struct terminal *t, const struct pane *p)
{
	if (p->mark_us < p->from_us || p->mark_us > p->until_us)
		return;
	buf_adds(t->out, "set label '^' at first ");
	sheet_add_value(t->out, AXIS_TIME, p->mark_us);
	buf_adds(t->out, ", first 0 center front\n");
}

/* As high as the terminal leaves room for, with its title and legend. */
static void add_pane(const struct terminal *t, size_t i)
{
	const struct pane *p = &t->page->pane[i];
	unsigned around = (unsigned)p->n_layers + (p->high != NULL) + (p->limit >= 0) +
			  (p->mark_us >= 0) + 3;
	unsigned lines = t->lines > around + LEAST_LINES ? t->lines - around : LEAST_LINES;

	buf_addf(t->out, "set terminal dumb size %u,%u nofeed noenhanced mono\n",
		 t->columns, lines);
	buf_adds(t->out, "print ''\n");
	add_line(t, p->title);
	add_axes(t, p, lines);
	add_moment(t, p);
	add_plot(t, p, i);
	buf_adds(t->out, "unset label\nprint ''\n");
	add_legend(t, p);
}

void term_add_settings(struct buf *b)
{
	buf_adds(b, "set encoding utf8\nset print '-'\nunset key\nset border 3\n"
		 "set tics nomirror scale 0\nset tmargin 0\nset bmargin 1\nset rmargin 1\n");
	buf_addf(b, "set lmargin %d\n", MARGIN);
}

void term_add(struct buf *b, const struct plot_page *page, unsigned columns, unsigned lines)
{
	struct terminal t = { .out = b, .page = page, .columns = columns, .lines = lines };

	term_add_settings(b);
	add_line(&t, page->title);
	add_line(&t, page->subtitle);
	for (size_t i = 0; i < page->n_panes; i++)
		add_pane(&t, i);
	if (*page->note) {
		buf_adds(b, "print ''\n");
		add_line(&t, page->note);
	}
}

/* The printed result */

/* Colours that people can distinguish, as far as terminals have them; the characters say
 * the same. */
static const char *colour_of(char c)
{
	static const struct {
		char character;
		const char *code;
	} colours[] = {
		{ '#', "34" }, { '=', "33" }, { '%', "35" }, { '*', "31" }, { '$', "36" },
		{ '&', "32" }, { '@', "37" }, { 'o', "32" }, { 'x', "31" }, { '~', "33" },
		{ '.', "2" }, { TOP, "2" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(colours); i++) {
		if (colours[i].character == c)
			return colours[i].code;
	}
	return NULL;
}

/* The part of a line that is drawn: [from, until) is all right of the axis, or the
 * character in front of a legend, or nothing. */
static void find_drawn(const char *line, size_t len, size_t *from, size_t *until)
{
	size_t blanks = strspn(line, " ");

	*from = *until = MARGIN;
	if (len <= MARGIN + 1)
		return;
	if (line[MARGIN] == '|' ||
	    (line[MARGIN] == '+' && line[MARGIN + 1] != '-' && blanks < MARGIN)) {
		*from = MARGIN + 1;
		*until = len;
	} else if (blanks == MARGIN && line[MARGIN + 1] == ' ') {
		*until = MARGIN + 1;
	}
}

static void add_coloured(struct buf *out, const char *line, size_t len)
{
	const char *now = NULL;
	size_t from, until;

	find_drawn(line, len, &from, &until);
	for (size_t i = 0; i < len; i++) {
		const char *code = i >= from && i < until ? colour_of(line[i]) : NULL;

		if (code != now)
			buf_addf(out, "\033[0%s%sm", code ? ";" : "", code ? code : "");
		now = code;
		buf_addc(out, line[i]);
	}
	if (now)
		buf_adds(out, "\033[0m");
}

void term_finish(struct buf *out, struct buf *drawn, bool colour)
{
	const char *text = buf_str(drawn), *end;

	for (; *text; text = end + (*end == '\n')) {
		size_t len;

		/* A form feed is for printers. */
		text += *text == '\f';
		end = text + strcspn(text, "\n");
		len = (size_t)(end - text);
		while (len && text[len - 1] == ' ')
			len--;
		if (colour)
			add_coloured(out, text, len);
		else
			buf_add(out, text, len);
		buf_addc(out, '\n');
	}
}
