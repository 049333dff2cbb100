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
#define ALARM_SIZE 8		/* of the mark at facts that tell of something wrong */
#define EDGE 30			/* labels that near the end of the axis do not stand out of it */

/* Small things */

void add_text(struct svg *s, const char *class, double x, double y, const char *text)
{
	svg_begin(s, "text");
	svg_attr(s, "class", class);
	svg_attr_number(s, "x", x);
	svg_attr_number(s, "y", y);
	svg_text(s, text);
	svg_end(s);
}

/* The same, shortened to a width; in full in its title then. */
static void add_fitting(struct svg *s, const char *class, double x, double y,
			const char *text, double width, double size)
{
	struct buf fitting = BUF_INIT, whole = BUF_INIT;

	label_add(&fitting, text, width, size);
	text_add_name(&whole, text, 0);
	svg_begin(s, "text");
	svg_attr(s, "class", class);
	svg_attr_number(s, "x", x);
	svg_attr_number(s, "y", y);
	svg_text_buf(s, &fitting);
	if (strcmp(buf_str(&fitting), buf_str(&whole))) {
		svg_begin(s, "title");
		svg_text(s, text);
		svg_end(s);
	}
	svg_end(s);
	buf_take_error(s->out, &whole);
	buf_release(&fitting);
	buf_release(&whole);
}

void begin_plot(struct svg *s, int y, int height)
{
	svg_begin(s, "svg");
	svg_attr(s, "class", "plot");
	svg_attr_number(s, "x", CHART_PLOT_X);
	svg_attr_number(s, "y", y);
	svg_attr_number(s, "width", CHART_PLOT_WIDTH);
	svg_attr_number(s, "height", height);
}

/* Head */

static void add_fact(struct svg *s, const struct fact *f)
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

void part_head(struct svg *s, const struct chart *c)
{
	svg_begin(s, "g");
	svg_attr(s, "id", "head");
	add_fitting(s, "headline", CHART_MARGIN, CHART_HEADLINE_Y, c->fact[0].text,
		    (CHART_WIDTH - 2 * CHART_MARGIN) / LABEL_BOLD, HEADLINE_SIZE);
	for (size_t i = 1; i < c->n_facts; i++)
		add_fact(s, &c->fact[i]);
	svg_end(s);
}

/* Time */

static void add_time_labels(struct svg *s, const struct chart *c, const struct tick *tick,
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

void part_time(struct svg *s, const struct chart *c)
{
	struct tick tick[TIME_TICKS];
	size_t n = axis_time_ticks(tick, TIME_TICKS, 0, c->end_us);
	struct svg_path grid;

	svg_begin(s, "g");
	svg_attr(s, "id", "time");
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
	svg_end(s);
}

/* Document */

static void add_titles(struct svg *s, const struct chart *c)
{
	svg_begin(s, "title");
	svg_attr(s, "id", "bb-title");
	svg_text(s, c->fact[0].text);
	svg_end(s);
	svg_begin(s, "desc");
	svg_attr(s, "id", "bb-desc");
	svg_text(s, "Bootchart of a build.");
	for (size_t i = 1; i < c->n_facts; i++) {
		svg_text(s, " ");
		svg_text(s, c->fact[i].label);
		svg_text(s, ": ");
		svg_text(s, c->fact[i].text);
		svg_text(s, ".");
	}
	svg_end(s);
}

static void begin_document(struct svg *s, const struct chart *c)
{
	struct buf *b;

	svg_begin(s, "svg");
	svg_attr(s, "id", "bb");
	svg_attr(s, "xmlns", "http://www.w3.org/2000/svg");
	svg_attr_number(s, "width", CHART_WIDTH);
	svg_attr_number(s, "height", c->height);
	b = s->out;
	buf_addf(b, " viewBox=\"0 0 %d %d\"", CHART_WIDTH, c->height);
	svg_attr(s, "lang", "en");
	svg_attr(s, "role", "graphics-document");
	svg_attr(s, "aria-labelledby", "bb-title bb-desc");
	add_titles(s, c);
	svg_begin(s, "style");
	part_style(s);
	svg_end(s);
	svg_begin(s, "rect");
	svg_attr(s, "class", "ground");
	svg_attr(s, "width", "100%");
	svg_attr(s, "height", "100%");
	svg_end(s);
}

static int add_data(struct svg *s, const struct chart *c)
{
	int r;

	svg_begin(s, "script");
	svg_attr(s, "id", "data");
	svg_attr(s, "type", "application/x-buildbeat");
	r = pack_chart(svg_content(s), c);
	svg_end(s);
	return r;
}

static void add_script(struct svg *s)
{
	svg_begin(s, "script");
	svg_verbatim(s, bootchart_js);
	svg_end(s);
}

int bootchart_write(struct buf *out, const struct chart *c)
{
	struct svg s;
	int r;

	svg_init(&s, out);
	begin_document(&s, c);
	part_head(&s, c);
	r = part_panels(&s, c);
	part_time(&s, c);
	r = r ? r : part_lanes(&s, c);
	part_legend(&s, c);
	r = r ? r : add_data(&s, c);
	add_script(&s);
	svg_end(&s);
	r = r ? r : buf_error(out);
	return r ? r : recording_command_error(c->sum->rec);
}
