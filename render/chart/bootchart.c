/* SPDX-License-Identifier: MIT */
#include "render/chart/bootchart.h"

#include "base/cursor.h"
#include "base/text.h"
#include "render/chart/axis.h"
#include "render/chart/bootchart_parts.h"
#include "render/chart/chart.h"
#include "render/chart/svg.h"
#include "render/chart/pack.h"
#include "render/chart/palette.h"

#include <stddef.h>
#include <string.h>

#define TIME_TICKS 13
#define HEADLINE_SIZE 22
#define ALARM_SIZE 8		/* of the mark at facts that report a problem */
#define EDGE 30			/* labels that near an end of the axis are aligned with it */

/* Small things */

void bootchart_add_text(struct markup *s, const char *class, double x, double y, const char *text)
{
	markup_begin(s, "text");
	markup_attr(s, "class", class);
	svg_attr_number(s, "x", x);
	svg_attr_number(s, "y", y);
	markup_text(s, text);
	markup_end(s);
}

/* The same, shortened to a width; in full in its title then. */
static void add_fitting(struct markup *s, const char *class, double x, double y,
			const char *text, double width, double size)
{
	struct buf fitting = BUF_INIT, whole = BUF_PART_OF(s->out);

	svg_add_label(&fitting, text, width, size);
	text_add_name(&whole, text, 0);
	markup_begin(s, "text");
	markup_attr(s, "class", class);
	svg_attr_number(s, "x", x);
	svg_attr_number(s, "y", y);
	markup_text_buf(s, &fitting);
	if (strcmp(buf_str(&fitting), buf_str(&whole))) {
		markup_begin(s, "title");
		markup_text(s, text);
		markup_end(s);
	}
	markup_end(s);
	buf_release(&fitting);
	buf_release(&whole);
}

void bootchart_begin_plot(struct markup *s, int y, int height)
{
	markup_begin(s, "svg");
	markup_attr(s, "class", "plot");
	svg_attr_number(s, "x", CHART_PLOT_X);
	svg_attr_number(s, "y", y);
	svg_attr_number(s, "width", CHART_PLOT_WIDTH);
	svg_attr_number(s, "height", height);
}

/* Head */

static void add_fact(struct markup *s, const struct fact *f)
{
	int label_y = f->y - FACT_LABEL_RISE;
	struct svg_path mark;

	if (f->alarm) {
		svg_path_init(&mark, s, "alarm-mark");
		svg_path_move(&mark, f->x, label_y);
		svg_path_line(&mark, f->x + ALARM_SIZE / 2.0, label_y - ALARM_SIZE);
		svg_path_line(&mark, f->x + ALARM_SIZE, label_y);
		svg_path_close(&mark);
		svg_path_end(&mark);
	}
	bootchart_add_text(s, "label", f->x + (f->alarm ? ALARM_SIZE + 4 : 0), label_y, f->label);
	add_fitting(s, f->alarm ? "fact alarm" : "fact", f->x, f->y, f->text,
		    f->alarm ? f->width / SVG_BOLD : f->width, FACT_SIZE);
}

static void add_head(struct markup *s, const struct chart *c)
{
	markup_begin(s, "g");
	markup_attr(s, "id", "head");
	add_fitting(s, "headline", CHART_MARGIN, CHART_HEADLINE_Y, c->fact[0].text,
		    (CHART_WIDTH - 2 * CHART_MARGIN) / SVG_BOLD, HEADLINE_SIZE);
	for (size_t i = 1; i < c->n_facts; i++)
		add_fact(s, &c->fact[i]);
	markup_end(s);
}

/* Time */

static void add_time_labels(struct markup *s, const struct chart *c, const struct tick *tick,
			    size_t n, int y)
{
	for (size_t i = 0; i < n; i++) {
		double x = time_x(c, tick[i].value);

		bootchart_add_text(s, x > CHART_PLOT_WIDTH - EDGE ? "tick end" :
				   x < EDGE ? "tick start" : "tick", CHART_PLOT_X + x, y,
				   tick[i].label);
	}
}

static void add_grid(struct svg_path *p, double x, int y, int height)
{
	svg_path_move(p, x, y);
	svg_path_line(p, x, y + height);
}

static void add_time(struct markup *s, const struct chart *c)
{
	struct tick tick[TIME_TICKS];
	size_t n = axis_time_ticks(tick, TIME_TICKS, 0, c->end_us);
	struct svg_path grid;

	markup_begin(s, "g");
	markup_attr(s, "id", "time");
	svg_path_init(&grid, s, "grid");
	for (size_t i = 0; i < n; i++) {
		double x = CHART_PLOT_X + time_x(c, tick[i].value);

		for (size_t k = 0; k < c->panels.n; k++)
			add_grid(&grid, x, c->panel_place[k].y, c->panel_place[k].height);
		add_grid(&grid, x, c->lanes_y, c->lanes_height);
	}
	svg_path_end(&grid);
	add_time_labels(s, c, tick, n, c->time_y);
	add_time_labels(s, c, tick, n, c->time_end_y);
	markup_end(s);
}

/* Style */

/*
 * bootchart.css names colours as $ink, $c0 ... A declaration "fill:$ink" becomes two:
 * the plain colour on light ground, for readers that know no variables, and
 * var(--ink), which those that do take instead.
 *
 * Of each of the eight there are four: c0, the colour of the palette; t0, its tint,
 * for what is behind it; e0, for its lines and edges: the same or, where that stands
 * out too little from the ground, nearer to the ink; n0, for words upon it: ink or
 * ground, whichever is easier to read.
 */
#define TINT 0.45

struct named {
	char name[8];
	uint32_t rgb;
};

#define NAMED_COLOURS (5 + 4 * COLOURS)

static uint32_t tint(uint32_t colour, uint32_t ground)
{
	uint32_t rgb = 0;

	for (unsigned shift = 0; shift <= 16; shift += 8) {
		double x = (colour >> shift & 0xff) * TINT + (ground >> shift & 0xff) * (1 - TINT);

		rgb |= (uint32_t)(x + 0.5) << shift;
	}
	return rgb;
}

static void set_named(struct named *n, const char *name, int digit, uint32_t rgb)
{
	struct buf b;

	buf_init_fixed(&b, n->name, sizeof n->name);
	buf_adds(&b, name);
	if (digit >= 0)
		buf_addi(&b, digit);
	n->rgb = rgb & 0xffffff;
}

static void name_colours(struct named *n, const struct palette *p)
{
	set_named(n++, "ground", -1, p->ground);
	set_named(n++, "ink", -1, p->ink);
	set_named(n++, "faint", -1, p->faint);
	set_named(n++, "grid", -1, p->grid);
	set_named(n++, "outline", -1, p->outline);
	for (int i = 0; i < COLOURS; i++) {
		set_named(n++, "c", i, p->colour[i]);
		set_named(n++, "t", i, tint(p->colour[i], p->ground));
		set_named(n++, "e", i, palette_edge(p, p->colour[i]));
		set_named(n++, "n", i, palette_words(p, p->colour[i]));
	}
}

static void add_own(struct buf *b, int i, uint32_t colour, const struct palette *p)
{
	buf_addf(b, "--c%d:#%06x;--t%d:#%06x;--e%d:#%06x;--n%d:#%06x;", i, (unsigned)colour,
		 i, (unsigned)colour, i, (unsigned)palette_edge(p, colour),
		 i, (unsigned)palette_words(p, colour));
}

/* Within an element of the class, the steps of a scale are the first of the eight. */
static void add_scale(struct buf *b, const char *class, const uint32_t *step,
		      const struct palette *p)
{
	buf_addf(b, ".%s{", class);
	for (int i = 0; i < PALETTE_STEPS; i++)
		add_own(b, i, step[i], p);
	add_own(b, COLOUR_GREY, p->ground, p);
	buf_adds(b, "}\n");
}

static void add_variables(struct buf *b, const struct palette *p)
{
	struct named named[NAMED_COLOURS];

	name_colours(named, p);
	buf_adds(b, "#bb,#bb-app,.bb-body{");
	for (size_t i = 0; i < NAMED_COLOURS; i++)
		buf_addf(b, "--%s:#%06x;", named[i].name, (unsigned)named[i].rgb);
	buf_adds(b, "}\n");
	add_scale(b, "colours-share", p->share, p);
	add_scale(b, "colours-change", p->change, p);
}

static size_t name_length(const char *p)
{
	return strspn(p, "abcdefghijklmnopqrstuvwxyz0123456789");
}

/* property: from the last brace or semicolon to the dollar, "fill:". */
static void add_colour(struct buf *b, struct slice property, struct slice name,
		       const struct named *named)
{
	for (size_t i = 0; i < NAMED_COLOURS; i++) {
		if (!slice_is(name, named[i].name))
			continue;
		buf_addf(b, "#%06x;", (unsigned)named[i].rgb);
		buf_add(b, property.p, property.len);
		buf_addf(b, "var(--%s)", named[i].name);
	}
}

static void add_sheet(struct buf *b, const char *css)
{
	struct named named[NAMED_COLOURS];
	const char *from = css, *begin = css;

	name_colours(named, &palette_light);
	for (const char *p = css; *p; p++) {
		if (*p == '{' || *p == ';') {
			begin = p + 1;
		} else if (*p == '$') {
			struct slice name = { p + 1, name_length(p + 1) };

			buf_add(b, from, (size_t)(p - from));
			add_colour(b, (struct slice){ begin, (size_t)(p - begin) }, name, named);
			p += name.len;
			from = p + 1;
		}
	}
	buf_adds(b, from);
}

static void add_style(struct markup *s)
{
	struct buf css = BUF_PART_OF(s->out);

	add_variables(&css, &palette_light);
	buf_adds(&css, "@media screen and (prefers-color-scheme:dark){\n");
	add_variables(&css, &palette_dark);
	buf_adds(&css, "}\n");
	add_sheet(&css, bootchart_css);
	buf_adds(&css, bootchart_app_css);
	markup_verbatim(s, buf_str(&css));
	buf_release(&css);
}

/* Document */

static void add_titles(struct markup *s, const struct chart *c)
{
	markup_begin(s, "title");
	markup_attr(s, "id", "bb-title");
	markup_text(s, c->fact[0].text);
	markup_end(s);
	markup_begin(s, "desc");
	markup_attr(s, "id", "bb-desc");
	markup_text(s, "Bootchart of a build.");
	for (size_t i = 1; i < c->n_facts; i++) {
		markup_text(s, " ");
		markup_text(s, c->fact[i].label);
		markup_text(s, ": ");
		markup_text(s, c->fact[i].text);
		markup_text(s, ".");
	}
	markup_end(s);
}

static void begin_document(struct markup *s, const struct chart *c)
{
	struct buf *b;

	markup_begin(s, "svg");
	markup_attr(s, "id", "bb");
	markup_attr(s, "xmlns", "http://www.w3.org/2000/svg");
	svg_attr_number(s, "width", CHART_WIDTH);
	svg_attr_number(s, "height", c->height);
	b = s->out;
	buf_addf(b, " viewBox=\"0 0 %d %d\"", CHART_WIDTH, c->height);
	markup_attr(s, "lang", "en");
	markup_attr(s, "role", "graphics-document");
	markup_attr(s, "aria-labelledby", "bb-title bb-desc");
	add_titles(s, c);
	markup_begin(s, "style");
	add_style(s);
	markup_end(s);
	markup_begin(s, "rect");
	markup_attr(s, "class", "ground");
	markup_attr(s, "width", "100%");
	markup_attr(s, "height", "100%");
	markup_end(s);
}

static int add_data(struct markup *s, const struct chart *c)
{
	int r;

	markup_begin(s, "script");
	markup_attr(s, "id", "data");
	markup_attr(s, "type", "application/x-buildbeat");
	r = pack_chart(markup_content(s), c);
	markup_end(s);
	return r;
}

static void add_script(struct markup *s)
{
	markup_begin(s, "script");
	markup_verbatim(s, bootchart_js);
	markup_end(s);
}

int bootchart_write(struct buf *out, const struct chart *c)
{
	struct markup s;
	int r;

	markup_init(&s, out);
	begin_document(&s, c);
	add_head(&s, c);
	r = bootchart_panels(&s, c);
	add_time(&s, c);
	r = r ? r : bootchart_lanes(&s, c);
	bootchart_legend(&s, c);
	r = r ? r : add_data(&s, c);
	add_script(&s);
	markup_end(&s);
	r = r ? r : buf_error(out);
	return r ? r : recording_command_error(c->sum->rec);
}
