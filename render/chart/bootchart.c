/* SPDX-License-Identifier: MIT */
#include "render/chart/bootchart.h"

#include "base/text.h"
#include "render/chart/axis.h"
#include "render/chart/bootchart_parts.h"
#include "render/chart/bootchart_text.h"
#include "render/chart/chart_facts.h"
#include "render/chart/label.h"
#include "render/chart/pack.h"

#include <string.h>

#define TIME_TICKS 13
#define HEADLINE_SIZE 22
#define ALARM_SIZE 8		/* of the mark at facts that report a problem */
#define EDGE 30			/* labels that near the end of the axis do not stand out of it */

/* Small things */

void add_text(struct markup *s, const char *class, double x, double y, const char *text)
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

	label_add(&fitting, text, width, size);
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

void begin_plot(struct markup *s, int y, int height)
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
	add_text(s, "label", f->x + (f->alarm ? ALARM_SIZE + 4 : 0), label_y, f->label);
	add_fitting(s, f->alarm ? "fact alarm" : "fact", f->x, f->y, f->text,
		    f->alarm ? f->width / LABEL_BOLD : f->width, FACT_SIZE);
}

static void part_head(struct markup *s, const struct chart *c)
{
	markup_begin(s, "g");
	markup_attr(s, "id", "head");
	add_fitting(s, "headline", CHART_MARGIN, CHART_HEADLINE_Y, c->fact[0].text,
		    (CHART_WIDTH - 2 * CHART_MARGIN) / LABEL_BOLD, HEADLINE_SIZE);
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

		add_text(s, x > CHART_PLOT_WIDTH - EDGE ? "tick end" : x < EDGE ? "tick start" :
			 "tick", CHART_PLOT_X + x, y, tick[i].label);
	}
}

static void add_grid(struct svg_path *p, double x, int y, int height)
{
	svg_path_move(p, x, y);
	svg_path_line(p, x, y + height);
}

static void part_time(struct markup *s, const struct chart *c)
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
	part_style(s);
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
	part_head(&s, c);
	r = part_panels(&s, c);
	part_time(&s, c);
	r = r ? r : part_lanes(&s, c);
	part_legend(&s, c);
	r = r ? r : add_data(&s, c);
	add_script(&s);
	markup_end(&s);
	r = r ? r : buf_error(out);
	return r ? r : recording_command_error(c->sum->rec);
}
