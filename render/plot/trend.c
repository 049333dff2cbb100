/* SPDX-License-Identifier: MIT */
#include "render/plot/trend.h"

#include "base/array.h"
#include "base/text.h"
#include "render/chart/palette.h"
#include "render/plot/drawing.h"
#include "render/plot/script.h"
#include "render/plot/sheet.h"
#include "render/plot/trend_axis.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define HEAD 86
#define TITLE_LINE 24
#define LABEL_LINE 15		/* of what the changes are */
#define LABEL_LINES 3
#define PLOT 170
#define BELOW 48
#define FOOT 4
#define DAYS 12
#define DIGIT 7			/* a letter of a label is so wide */
#define LEGEND 250		/* an entry of the legend */
#define COLUMNS 80
#define LINES 24
#define WORD "trend"		/* of the files' names */

static void add_number(struct buf *b, double x)
{
	sheet_add_number(b, llround(x * 1000), 3);
}

static void add_level(struct buf *b, const struct trend_axis *a, const struct trend_pane *p,
		      double value)
{
	sheet_add_value(b, a->unit, trend_value(p, value));
}

/* Data */

/* What the build's level is: NaN on a slope. */
static double level_at(const struct trend_pane *p, size_t build)
{
	double level = p->n_changes ? p->change[0].before : NAN;

	for (size_t i = 0; i < p->n_changes; i++) {
		const struct trend_change *c = &p->change[i];

		if (c->creep && build >= c->first && build < c->last)
			return c->before + (c->after - c->before) * (double)(build - c->first) /
			       (c->last - c->first);
		if (build >= (c->creep ? c->last : c->at))
			level = c->after;
	}
	return level;
}

/* A block a pane: a line a build, its number, value and level. */
static void add_data(struct buf *b, const struct trend *t, const struct trend_axis *axis)
{
	for (size_t k = 0; k < t->n_panes; k++) {
		const struct trend_pane *p = &t->pane[k];

		buf_adds(b, k ? "\n\n" : "");
		for (size_t i = 0; i < t->n; i++) {
			double value[2] = { p->value[i], level_at(p, i) };

			buf_addf(b, "%zu", i);
			for (size_t j = 0; j < 2; j++) {
				buf_addc(b, ' ');
				if (isfinite(value[j]))
					add_level(b, &axis[k], p, value[j]);
				else
					buf_adds(b, "NaN");
			}
			buf_addc(b, '\n');
		}
	}
}

/* Pictures */

static double x_of(const struct trend *t, double build)
{
	double width = SHEET_WIDTH - SHEET_LEFT - SHEET_RIGHT;

	return SHEET_LEFT + width * (build + 1) / ((double)t->n + 1);
}

/* Worse is orange, better is blue, and the words say the same. */
static void add_change(const struct sheet *s, const struct trend_change *c)
{
	uint32_t rgb = palette_light.colour[c->after > c->before ? COLOUR_ORANGE : COLOUR_BLUE];

	buf_adds(s->out, "set object rectangle from first ");
	add_number(s->out, c->first - 0.5);
	buf_adds(s->out, ", graph 0 to first ");
	add_number(s->out, c->last + 0.5);
	buf_adds(s->out, ", graph 1 behind fillstyle solid 0.18 noborder fillcolor ");
	sheet_add_colour(s->out, rgb);
	buf_addc(s->out, '\n');
	if (c->creep)
		return;
	buf_adds(s->out, "set arrow from first ");
	add_number(s->out, c->at - 0.5);
	buf_adds(s->out, ", graph 0 to first ");
	add_number(s->out, c->at - 0.5);
	buf_adds(s->out, ", graph 1 nohead back linewidth 1.5 dashtype 2 linecolor ");
	sheet_add_colour(s->out, rgb);
	buf_addc(s->out, '\n');
}

static void add_line(const struct sheet *s, const struct trend_axis *a, const struct trend_pane *p,
		     const double from[2], const double to[2])
{
	buf_adds(s->out, "set arrow from first ");
	add_number(s->out, from[0]);
	buf_adds(s->out, ", first ");
	add_level(s->out, a, p, from[1]);
	buf_adds(s->out, " to first ");
	add_number(s->out, to[0]);
	buf_adds(s->out, ", first ");
	add_level(s->out, a, p, to[1]);
	buf_adds(s->out, " nohead front linewidth 2.5 linecolor ");
	sheet_add_colour(s->out, palette_light.ink);
	buf_addc(s->out, '\n');
}

/* Each from where the one before it ends; a slope is a line of its own. */
static void add_levels(const struct sheet *s, const struct trend *t, const struct trend_axis *a,
		       const struct trend_pane *p)
{
	double from = -0.5;

	for (size_t i = 0; i < p->n_changes; i++) {
		const struct trend_change *c = &p->change[i];
		double until = c->creep ? c->first : c->at - 0.5;

		if (until > from)
			add_line(s, a, p, (double[]){ from, c->before },
				 (double[]){ until, c->before });
		from = until;
		if (!c->creep)
			continue;
		add_line(s, a, p, (double[]){ from, c->before }, (double[]){ c->last, c->after });
		from = c->last;
	}
	if (p->n_changes) {
		double last = p->change[p->n_changes - 1].after;

		add_line(s, a, p, (double[]){ from, last }, (double[]){ (double)t->n - 0.5, last });
	}
}

/* Lines of labels above a plot, and how far each is taken. */
struct shelf {
	double taken[LABEL_LINES];
	int lines;		/* in use */
};

/* In the first line that has room; false: no line has, and only colour and level show the
 * change. */
static bool place(struct shelf *shelf, const struct trend *t, const struct trend_change *c, int *x,
		  int *line)
{
	double width = DIGIT * (double)strlen(c->label);
	double left = fmin(x_of(t, c->at - 0.5) - width / 2,
			   SHEET_WIDTH - SHEET_RIGHT / 4.0 - width);

	for (*line = 0; *line < LABEL_LINES; (*line)++) {
		if (left < shelf->taken[*line])
			continue;
		shelf->taken[*line] = left + width + DIGIT;
		shelf->lines = *line < shelf->lines ? shelf->lines : *line + 1;
		*x = (int)left;
		return true;
	}
	return false;
}

static int label_lines(const struct trend *t, const struct trend_pane *p)
{
	struct shelf shelf = { 0 };
	int x, line;

	for (size_t i = 0; i < p->n_changes; i++)
		place(&shelf, t, &p->change[i], &x, &line);
	return shelf.lines;
}

static void add_labels(const struct sheet *s, const struct trend *t, const struct trend_pane *p,
		       int top)
{
	struct shelf shelf = { 0 };
	int x, line;

	for (size_t i = 0; i < p->n_changes; i++) {
		const struct trend_change *c = &p->change[i];

		if (place(&shelf, t, c, &x, &line))
			sheet_add_label(s, c->label, x, top - LABEL_LINE / 2 - 1 - line * LABEL_LINE,
					12, palette_light.ink);
	}
}

static void add_days(struct buf *b, const struct trend *t, size_t most)
{
	size_t step = trend_day_step(t->n, most);

	buf_adds(b, "set xtics (");
	for (size_t i = 0; i < t->n; i += step) {
		char memory[32];
		struct buf text;

		buf_init_fixed(&text, memory, sizeof memory);
		trend_add_day(&text, t, i);
		buf_adds(b, i ? ", " : "");
		sheet_add_text(b, buf_str(&text));
		buf_addf(b, " %zu", i);
	}
	buf_adds(b, ")\n");
}

static void add_values(struct buf *b, const struct trend_axis *a, size_t most)
{
	int64_t step = a->step;

	while ((a->high - a->low) / step > (int64_t)most)
		step *= 2;
	buf_adds(b, "set ytics (");
	for (int64_t v = a->low; v <= a->high; v += step) {
		char memory[64], escaped[128];
		struct buf text, label;

		buf_init_fixed(&text, memory, sizeof memory);
		buf_init_fixed(&label, escaped, sizeof escaped);
		axis_add_value(&text, a->unit, v);
		/* Labels of ticks are formats. */
		for (const char *c = buf_str(&text); *c; c++) {
			buf_adds(&label, *c == '%' ? "%" : "");
			buf_addc(&label, *c);
		}
		buf_adds(b, v > a->low ? ", " : "");
		sheet_add_text(b, buf_str(&label));
		buf_addc(b, ' ');
		sheet_add_value(b, a->unit, v);
	}
	buf_adds(b, ")\n");
}

static void add_ranges(struct buf *b, const struct trend *t, const struct trend_axis *a)
{
	buf_addf(b, "set xrange [-1:%zu]\nset yrange [", t->n);
	sheet_add_value(b, a->unit, a->low);
	buf_addc(b, ':');
	sheet_add_value(b, a->unit, a->high);
	buf_adds(b, "]\n");
}

static void add_plot(const struct sheet *s, size_t block)
{
	buf_addf(s->out, "plot '%s.data' index %zu using 1:2 with points pointtype 7 pointsize 0.4 "
		 "linecolor ", s->word, block);
	sheet_add_colour(s->out, palette_light.colour[COLOUR_SKY]);
	buf_addf(s->out, " notitle, '%s.data' index %zu using 1:2 with points pointtype 6 pointsize "
		 "0.4 linewidth 0.5 linecolor ", s->word, block);
	sheet_add_colour(s->out, palette_light.colour[COLOUR_BLUE]);
	buf_adds(s->out, " notitle\n");
}

static int add_pane(const struct sheet *s, const struct trend *t, const struct trend_axis *a,
		    size_t i, int y)
{
	const struct trend_pane *p = &t->pane[i];
	int top = y + TITLE_LINE + label_lines(t, p) * LABEL_LINE, bottom = top + PLOT;

	sheet_add_label(s, p->title, SHEET_LEFT, y + 8, 14, palette_light.ink);
	add_labels(s, t, p, top);
	sheet_add_margins(s, top, bottom);
	add_ranges(s->out, t, a);
	add_days(s->out, t, DAYS);
	add_values(s->out, a, 8);
	buf_adds(s->out, "set border 3\n");
	for (size_t k = 0; k < p->n_changes; k++)
		add_change(s, &p->change[k]);
	add_levels(s, t, a, p);
	add_plot(s, i);
	buf_adds(s->out, "unset label\nunset object\nunset arrow\n");
	return bottom + BELOW;
}

/* What the marks are, in one line. */
static void add_legend(const struct sheet *s)
{
	static const char *const text[] = {
		"a line: the level it keeps", "orange: more since then", "blue: less since then",
		"shaded: where that is, with 95 %",
	};

	for (size_t i = 0; i < ARRAY_SIZE(text); i++)
		sheet_add_label(s, text[i], SHEET_LEFT + (int)i * LEGEND, 62, 12,
				palette_light.faint);
}

static void add_script(struct buf *b, const struct trend *t, const struct trend_axis *axis,
		       enum plot_format format)
{
	struct sheet s = { .out = b, .word = WORD, .format = format };
	int y = HEAD;

	s.height = HEAD + FOOT;
	for (size_t i = 0; i < t->n_panes; i++)
		s.height += TITLE_LINE + label_lines(t, &t->pane[i]) * LABEL_LINE + PLOT + BELOW;
	sheet_add_terminal(&s);
	sheet_add_settings(&s);
	sheet_add_label(&s, t->title, SHEET_LEFT, 20, 18, palette_light.ink);
	sheet_add_label(&s, t->subtitle, SHEET_LEFT, 42, 12, palette_light.faint);
	add_legend(&s);
	for (size_t i = 0; i < t->n_panes; i++)
		y = add_pane(&s, t, &axis[i], i, y);
	buf_adds(b, "unset multiplot\n");
}

/* The terminal */

static void add_text(struct buf *b, const char *text, unsigned columns)
{
	struct buf line = BUF_INIT;

	text_add_name(&line, text, columns);
	buf_adds(b, "print ");
	sheet_add_text(b, buf_str(&line));
	buf_addc(b, '\n');
	buf_release(&line);
}

static void add_changes(struct buf *b, const struct trend *t, const struct trend_pane *p,
			unsigned columns)
{
	for (size_t i = 0; i < p->n_changes; i++) {
		const struct trend_change *c = &p->change[i];
		struct buf text = BUF_INIT;

		buf_addf(&text, "           %s since ", c->label);
		trend_add_day(&text, t, c->creep ? c->first : c->at);
		if (c->creep) {
			buf_adds(&text, ", slowly until ");
			trend_add_day(&text, t, c->last);
		}
		add_text(b, buf_str(&text), columns);
		buf_release(&text);
	}
}

static void add_term(struct buf *b, const struct trend *t, const struct trend_axis *axis,
		     unsigned columns, unsigned lines)
{
	unsigned height = lines > 14 ? lines - 6 : 8;

	term_add_settings(b);
	add_text(b, t->title, columns);
	add_text(b, t->subtitle, columns);
	for (size_t i = 0; i < t->n_panes; i++) {
		buf_addf(b, "set terminal dumb size %u,%u nofeed noenhanced mono\nprint ''\n", columns,
			 height);
		add_text(b, t->pane[i].title, columns);
		add_ranges(b, t, &axis[i]);
		add_days(b, t, columns / 16 + 1);
		add_values(b, &axis[i], height / 3 + 1);
		buf_addf(b, "plot '%s.data' index %zu using 1:2 with points pointtype 'o'", WORD, i);
		/* gnuplot dies of a column with one build that has no value. */
		if (t->pane[i].n_changes)
			buf_addf(b, ", '' index %zu using 1:3 with points pointtype '='", i);
		buf_adds(b, "\nprint ''\n");
		add_changes(b, t, &t->pane[i], columns);
	}
}


static int format_of(enum plot_format *format, const char *path, struct error *err)
{
	const char *end = path ? strrchr(path, '.') : ".term";

	for (*format = PLOT_SVG; *format < PLOT_FORMATS; (*format)++) {
		if (end && !strcmp(end + 1, plot_format_word[*format]) &&
		    (*format == PLOT_TERM) == !path)
			return 0;
	}
	return error_set(err, -EINVAL, path, 0, 0, "the name of a picture ends with .svg, .png or "
			 ".pdf");
}

/* The picture in words, for screen readers. */
static void describe(struct buf *b, const struct trend *t)
{
	buf_adds(b, t->subtitle);
	for (size_t i = 0; i < t->n_panes; i++) {
		const struct trend_pane *p = &t->pane[i];

		buf_addf(b, ". %s: ", p->title);
		if (!p->n_changes)
			buf_adds(b, "no change");
		for (size_t k = 0; k < p->n_changes; k++) {
			buf_addf(b, "%s%s since ", k ? ", " : "", p->change[k].label);
			trend_add_day(b, t, p->change[k].at);
		}
	}
}

int trend_draw(const struct trend *t, const struct trend_output *o, struct buf *out,
	       struct error *err)
{
	struct trend_axis axis[TREND_PANES];
	struct drawing d = {
		.word = WORD, .title = t->title, .path = o->path, .named = true,
		.colour = o->colour,
	};
	int r = format_of(&d.format, o->path, err);

	if (r)
		return r;
	for (size_t i = 0; i < t->n_panes; i++) {
		if (trend_axis_make(&axis[i], t, &t->pane[i]))
			return error_set(err, -ENODATA, NULL, 0, 0, "%s: there is nothing to draw",
					 t->title);
	}
	add_data(&d.data, t, axis);
	describe(&d.description, t);
	if (d.format == PLOT_TERM)
		add_term(&d.script, t, axis, o->columns ? o->columns : COLUMNS,
			 o->lines ? o->lines : LINES);
	else
		add_script(&d.script, t, axis, d.format);
	r = drawing_draw(&d, out, err);
	drawing_release(&d);
	return r;
}
