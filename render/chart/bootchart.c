/* SPDX-License-Identifier: MIT */
#include "render/chart/bootchart.h"

#include "base/text.h"
#include "render/chart/axis.h"
#include "render/chart/bootchart_parts.h"
#include "render/chart/svg.h"
#include "render/chart/pack_chart.h"

#include <string.h>

#define TIME_TICKS 13
#define BULLET 4		/* its width and height */
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

void bootchart_add_fitting(struct markup *s, const char *class, double x, double y,
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

void bootchart_begin_plot(struct markup *s, const struct chart *c, int y, int height)
{
	markup_begin(s, "svg");
	markup_attr(s, "class", "plot");
	svg_attr_number(s, "x", c->plot_x);
	svg_attr_number(s, "y", y);
	svg_attr_number(s, "width", c->plot_width);
	svg_attr_number(s, "height", height);
}

/* Head */

static void add_fact(struct markup *s, const struct fact *f)
{
	struct svg_path mark;

	if (f->alarm) {
		svg_path_init(&mark, s, "alarm-mark");
		svg_path_move(&mark, f->x, f->y);
		svg_path_line(&mark, f->x + ALARM_SIZE / 2.0, f->y - ALARM_SIZE);
		svg_path_line(&mark, f->x + ALARM_SIZE, f->y);
		svg_path_close(&mark);
		svg_path_end(&mark);
	}
	bootchart_add_text(s, "label", f->x + (f->alarm ? ALARM_SIZE + 4 : 0), f->y, f->label);
	bootchart_add_fitting(s, f->alarm ? "fact alarm" : "fact", f->text_x, f->y, f->text,
			      f->alarm ? f->width / SVG_BOLD : f->width, FACT_SIZE);
}

/* "make -j2: ok after 1m 43s"; of a long command only its beginning. */
static void add_headline(struct markup *s, const struct chart *c)
{
	double room = (CHART_WIDTH - 2 * CHART_MARGIN) / SVG_BOLD;
	struct buf line = BUF_PART_OF(s->out);
	const char *result = "";

	for (size_t i = 1; i < c->n_facts; i++) {
		if (!strcmp(c->fact[i].label, CHART_RESULT))
			result = c->fact[i].text;
	}
	svg_add_label(&line, c->fact[0].text, room - svg_text_width(result, CHART_HEADLINE_SIZE) -
		      svg_text_width(": ", CHART_HEADLINE_SIZE), CHART_HEADLINE_SIZE);
	buf_adds(&line, *result ? ": " : "");
	buf_adds(&line, result);
	bootchart_add_fitting(s, "headline", CHART_MARGIN, CHART_HEADLINE_Y, buf_str(&line), room,
			      CHART_HEADLINE_SIZE);
	buf_release(&line);
}

static void add_head(struct markup *s, const struct chart *c)
{
	markup_begin(s, "g");
	markup_attr(s, "id", "head");
	add_headline(s, c);
	for (size_t i = 1; i < c->n_facts; i++) {
		if (c->fact[i].y)
			add_fact(s, &c->fact[i]);
	}
	markup_end(s);
}

static void add_verdict(struct markup *s, const struct chart *c)
{
	struct buf text = BUF_PART_OF(s->out);
	struct svg_path bullet;

	if (!c->n_verdict)
		return;
	markup_begin(s, "g");
	markup_attr(s, "id", "verdict");
	svg_path_init(&bullet, s, "bullet");
	for (size_t i = 0; i < c->n_verdict; i++) {
		if (c->verdict[i].first)
			svg_path_rect(&bullet, CHART_MARGIN + 2, c->verdict[i].y - 2 * BULLET,
				      BULLET, BULLET);
	}
	svg_path_end(&bullet);
	for (size_t i = 0; i < c->n_verdict; i++) {
		const struct verdict_line *l = &c->verdict[i];

		buf_clear(&text);
		buf_add(&text, l->text, l->len);
		bootchart_add_text(s, "verdict", CHART_MARGIN + VERDICT_INDENT, l->y,
				   buf_str(&text));
	}
	markup_end(s);
	buf_release(&text);
}

/* Time */

static void add_time_labels(struct markup *s, const struct chart *c, const struct tick *tick,
			    size_t n, int y)
{
	for (size_t i = 0; i < n; i++) {
		double x = chart_x(c, tick[i].value);

		bootchart_add_text(s, x > c->plot_width - EDGE ? "tick end" :
				   x < EDGE ? "tick start" : "tick", c->plot_x + x, y,
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
		double x = c->plot_x + chart_x(c, tick[i].value);

		for (size_t k = 0; k < c->panels.n; k++) {
			if (c->panel_place[k].height)
				add_grid(&grid, x, c->panel_place[k].y,
					 c->panel_place[k].height);
		}
		add_grid(&grid, x, c->lanes_y, c->lanes_height);
		if (c->path_title)
			add_grid(&grid, x, c->path_place.y, c->path_place.height);
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
	struct buf css = BUF_PART_OF(s->out);
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
	bootchart_style(&css);
	markup_verbatim(s, buf_str(&css));
	buf_release(&css);
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

static void add_script(struct markup *s, const char *nonce)
{
	markup_begin(s, "script");
	if (nonce)
		markup_attr(s, "nonce", nonce);
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
	add_verdict(&s, c);
	add_time(&s, c);
	r = bootchart_path(&s, c);
	r = r ? r : bootchart_lanes(&s, c);
	r = r ? r : bootchart_other(&s, c);
	r = r ? r : bootchart_panels(&s, c);
	bootchart_legend(&s, c);
	r = r ? r : add_data(&s, c);
	add_script(&s, c->nonce);
	markup_end(&s);
	r = r ? r : buf_error(out);
	return r ? r : recording_command_error(c->sum->rec);
}
