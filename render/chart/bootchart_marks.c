/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/minmax.h"
#include "render/chart/bootchart_parts.h"
#include "render/chart/legend.h"
#include "render/chart/svg.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define THIN 2.0		/* pixels: height of lead-ins and phases */
#define STRIPS_MAX 6000
#define CLOSE 1.0		/* strips less far apart than this in pixels may become one */
#define SMALL 1.5		/* where one of them is smaller than this */
#define BRACKET_FOOT 2.5	/* how far a bracket reaches down */
#define BRACKET_FEET 6.0	/* pixels of a bracket that has feet */
#define BRACKET_EDGE 0.8	/* from the end of a bar to that of its bracket */
#define BRACKET_PATH_Y 1.5	/* in the lane of the path */
#define GLYPH 2.2		/* half the size of a cross or a bolt */
#define BADGE 5.0		/* and of the disc below it */

/* A stretch of time in a lane. */
struct strip {
	uint32_t lane;
	double from, until;	/* pixels */
};

struct strips {
	size_t n;
	struct strip *strip;
};

static int add_strip(struct strips *l, const struct chart *c, uint32_t lane, int64_t from_us,
		     int64_t until_us)
{
	struct strip *added = array_add(&l->strip, &l->n, sizeof *added);

	if (!added)
		return -ENOMEM;
	*added = (struct strip){ lane, chart_x(c, from_us), chart_x(c, until_us) };
	return 0;
}

static int by_place(const void *a, const void *b)
{
	const struct strip *x = a, *y = b;

	if (x->lane != y->lane)
		return x->lane < y->lane ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->until > y->until) - (x->until < y->until);
}

/* Join neighbours that look like one. */
static void join(struct strips *l, double close, double small)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++) {
		struct strip *s = &l->strip[i], *last = n ? &l->strip[n - 1] : NULL;

		if (last && last->lane == s->lane && s->from - last->until < close &&
		    (s->until - s->from < small || last->until - last->from < small)) {
			if (s->until > last->until)
				last->until = s->until;
		} else {
			l->strip[n++] = *s;
		}
	}
	l->n = n;
}

/* In order, and no more than a picture shows. */
static void bound(struct strips *l)
{
	if (!l->n)
		return;
	qsort(l->strip, l->n, sizeof *l->strip, by_place);
	join(l, CLOSE, SMALL);
	for (double close = 2 * CLOSE; l->n > STRIPS_MAX && close < CHART_WIDTH; close *= 2)
		join(l, close, CHART_WIDTH);
}

/* A class of strips: rectangles from a part of the lane's height on. */
static void draw(struct markup *s, const struct chart *c, struct strips *l, const char *class,
		 double at, double height)
{
	struct svg_path path;

	bound(l);
	svg_path_init(&path, s, class);
	for (size_t i = 0; i < l->n; i++) {
		struct lane_place place = chart_lane(c, l->strip[i].lane);
		double thin = height > 0 && height < place.height ? height : place.height;
		double width = l->strip[i].until - l->strip[i].from;

		svg_path_rect(&path, l->strip[i].from, place.y - c->lanes_y +
			      at * (place.height - thin), MAX(0.5, width), thin);
	}
	svg_path_end(&path);
	free(l->strip);
	*l = (struct strips){ 0 };
}

/* Below the bars: when tasks waited for a worker */
int bootchart_marks_below(struct markup *s, const struct chart *c)
{
	struct strips l = { 0 };
	int r = 0;

	for (size_t i = 0; !r && c->has_queue && i < c->sum->n_ran; i++) {
		const struct task *t = &c->sum->rec->task[c->sum->order[i]];

		if (t->queued_us >= 0 && t->queued_us < t->start_us)
			r = add_strip(&l, c, c->lanes.lane[i], t->queued_us, t->start_us);
	}
	draw(s, c, &l, "queue", 0.5, THIN);
	return r;
}

/* How tasks ended: an outline, and where there is room a badge with a sign */

static void add_cross(struct svg_path *p, double x, double y)
{
	svg_path_move(p, x - GLYPH, y - GLYPH);
	svg_path_line(p, x + GLYPH, y + GLYPH);
	svg_path_move(p, x + GLYPH, y - GLYPH);
	svg_path_line(p, x - GLYPH, y + GLYPH);
}

static void add_bolt(struct svg_path *p, double x, double y)
{
	svg_path_move(p, x + GLYPH * 0.5, y - GLYPH * 1.4);
	svg_path_line(p, x - GLYPH * 0.8, y + GLYPH * 0.2);
	svg_path_line(p, x + GLYPH * 0.8, y - GLYPH * 0.2);
	svg_path_line(p, x - GLYPH * 0.5, y + GLYPH * 1.4);
}

/* Eight corners: nearly round. */
static void add_badge(struct svg_path *p, double x, double y)
{
	svg_path_move(p, x - BADGE, y - BADGE / 2.4);
	svg_path_line(p, x - BADGE / 2.4, y - BADGE);
	svg_path_line(p, x + BADGE / 2.4, y - BADGE);
	svg_path_line(p, x + BADGE, y - BADGE / 2.4);
	svg_path_line(p, x + BADGE, y + BADGE / 2.4);
	svg_path_line(p, x + BADGE / 2.4, y + BADGE);
	svg_path_line(p, x - BADGE / 2.4, y + BADGE);
	svg_path_line(p, x - BADGE, y + BADGE / 2.4);
	svg_path_close(p);
}

static void add_open_end(struct svg_path *p, double x, double y, double width, double height)
{
	svg_path_move(p, x + width, y);
	svg_path_line(p, x, y);
	svg_path_line(p, x, y + height);
	svg_path_line(p, x + width, y + height);
	if (width > 3 * GLYPH) {
		svg_path_move(p, x + width - 2 * GLYPH, y + height / 2 - GLYPH);
		svg_path_line(p, x + width - GLYPH, y + height / 2);
		svg_path_line(p, x + width - 2 * GLYPH, y + height / 2 + GLYPH);
	}
}

static int find_ends(struct strips *l, const struct chart *c, enum task_state state)
{
	const struct recording *rec = c->sum->rec;
	int r = 0;

	for (size_t i = 0; !r && c->sum->n_state[state] && i < c->sum->n_ran; i++) {
		const struct task *t = &rec->task[c->sum->order[i]];

		if (t->state == state)
			r = add_strip(l, c, c->lanes.lane[i], t->start_us,
				      recording_task_end_us(rec, t));
	}
	bound(l);
	return r;
}

static void draw_outlines(struct markup *s, const struct chart *c, const struct strips *l,
			  const char *class, bool open)
{
	struct svg_path path;

	svg_path_init(&path, s, class);
	for (size_t i = 0; i < l->n; i++) {
		struct lane_place place = chart_lane(c, l->strip[i].lane);
		double x = l->strip[i].from, width = l->strip[i].until - x;
		double y = place.y - c->lanes_y;

		if (open)
			add_open_end(&path, x, y, width, place.height);
		else
			svg_path_rect(&path, x, y, MAX(1, width), place.height);
	}
	svg_path_end(&path);
}

static double badge_x(const struct chart *c, const struct strip *s)
{
	double x = s->until, width = x - s->from;

	x = width > 4 * BADGE ? x - 1.6 * BADGE : x - width / 2;
	return x < BADGE ? BADGE : MIN(c->plot_width - BADGE, x);
}

/* The signs at those, no two upon each other. */
static void draw_signs(struct markup *s, const struct chart *c, const struct strips *l,
		       const char *class, void (*add)(struct svg_path *p, double x, double y))
{
	const struct strip *last = NULL;
	struct svg_path path;

	svg_path_init(&path, s, class);
	for (size_t i = 0; i < l->n; i++) {
		const struct strip *p = &l->strip[i];
		struct lane_place place = chart_lane(c, p->lane);

		if (place.height < GLYPH ||
		    (last && last->lane == p->lane && badge_x(c, p) - badge_x(c, last) < 2 * BADGE))
			continue;
		add(&path, badge_x(c, p), place.y - c->lanes_y + place.height / 2);
		last = p;
	}
	svg_path_end(&path);
}

static int draw_ends(struct markup *s, const struct chart *c)
{
	struct strips unfinished = { 0 }, killed = { 0 }, failed = { 0 };
	int r = find_ends(&unfinished, c, TASK_UNFINISHED);

	r = r ? r : find_ends(&killed, c, TASK_KILLED);
	r = r ? r : find_ends(&failed, c, TASK_FAILED);
	draw_outlines(s, c, &unfinished, "unfinished", true);
	draw_outlines(s, c, &killed, "killed", false);
	draw_outlines(s, c, &failed, "failed", false);
	draw_signs(s, c, &killed, "badge", add_badge);
	draw_signs(s, c, &killed, "bolt", add_bolt);
	draw_signs(s, c, &failed, "badge", add_badge);
	draw_signs(s, c, &failed, "cross", add_cross);
	free_all(unfinished.strip, killed.strip, failed.strip);
	return r;
}

/* Above the bars: the path */

/* A bracket above each task of the path: from its start to its end, with feet where there is
 * room. */
static void add_bracket(struct svg_path *p, double x, double y, double width)
{
	bool feet = width >= BRACKET_FEET;

	svg_path_move(p, x, y + (feet ? BRACKET_FOOT : 0));
	svg_path_line(p, x, y);
	svg_path_line(p, x + width, y);
	if (feet)
		svg_path_line(p, x + width, y + BRACKET_FOOT);
}

static void draw_brackets(struct markup *s, const struct chart *c, struct strips *l,
			  const char *class, bool in_lane)
{
	struct svg_path path;

	bound(l);
	svg_path_init(&path, s, class);
	for (size_t i = 0; i < l->n; i++) {
		double x = l->strip[i].from, width = l->strip[i].until - x, y = BRACKET_PATH_Y;

		if (!in_lane) {
			struct lane_place place = chart_lane(c, l->strip[i].lane);

			y = place.y - c->lanes_y - place.bracket / 2;
		}
		if (width > 2 * BRACKET_EDGE)
			add_bracket(&path, x + BRACKET_EDGE, y, width - 2 * BRACKET_EDGE);
		else
			add_bracket(&path, x, y, MAX(0.5, width));
	}
	svg_path_end(&path);
	free(l->strip);
	*l = (struct strips){ 0 };
}

int bootchart_links(struct markup *s, const struct chart *c, bool in_lane)
{
	const struct recording *rec = c->sum->rec;
	uint32_t *lane = array_new(rec->n_tasks, sizeof *lane);
	struct strips needed = { 0 }, waited = { 0 };
	int r = lane ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < c->sum->n_ran; i++)
		lane[c->sum->order[i]] = c->lanes.lane[i];
	for (size_t i = 0; !r && i < c->chain.n_path; i++) {
		const struct task *t = &rec->task[c->chain.path[i]];
		bool worker = c->chain.waits.has_dependencies &&
			c->chain.path_link[i] >= LINK_WORKER;

		r = add_strip(worker ? &waited : &needed, c, in_lane ? 0 :
			      lane[c->chain.path[i]], t->start_us, recording_task_end_us(rec, t));
	}
	free(lane);
	draw_brackets(s, c, &needed, "needed", in_lane);
	draw_brackets(s, c, &waited, "waited", in_lane);
	return r;
}

int bootchart_marks_above(struct markup *s, const struct chart *c)
{
	int r = bootchart_links(s, c, false);

	return r ? r : draw_ends(s, c);
}

#define SWATCH 10		/* its width and height */
#define SWATCH_RISE 9		/* of its top above the baseline of the words */

static void add_box(struct markup *s, const char *class, const struct key *k, double top,
		    double height)
{
	struct svg_path p;

	svg_path_init(&p, s, class);
	svg_path_rect(&p, k->x, k->y - SWATCH_RISE + top, SWATCH, height);
	svg_path_end(&p);
}

static void add_small_open_end(struct svg_path *p, double x, double y)
{
	add_open_end(p, x, y, SWATCH, SWATCH);
}

static void add_small_bracket(struct svg_path *p, double x, double y)
{
	add_bracket(p, x, y + 3, SWATCH);
}

/* It computes, waits and computes again. */
static void add_small_pulse(struct svg_path *p, double x, double y)
{
	svg_path_rect(p, x, y + SWATCH * 0.3, SWATCH * 0.4, SWATCH * 0.7);
	svg_path_rect(p, x + SWATCH * 0.7, y + SWATCH * 0.6, SWATCH * 0.3, SWATCH * 0.4);
}

static void add_ghost_line(struct svg_path *p, double x, double y)
{
	svg_path_move(p, x - 2, y + SWATCH * 0.5);
	svg_path_line(p, x + SWATCH + 2, y + SWATCH * 0.5);
}

/* Each mark as it looks on a bar: boxes, a sign on a badge, or a path. Those that are not here are
 * a thin box of their own class. */
static const struct swatch {
	const char *id;
	struct { const char *class; double top, height; } box[2];
	const char *class;	/* of the sign or the path */
	void (*sign)(struct svg_path *p, double x, double y);	/* around x and y */
	void (*path)(struct svg_path *p, double x, double y);	/* from their upper left corner */
} swatches[] = {
	{ "cpu", .box = { { "bar c7", 0, SWATCH } }, .class = "gauge c7", .path = add_small_pulse },
	{ "spread", .box = { { "area c0", SWATCH * 0.5, SWATCH * 0.5 }, { "band all", 0, SWATCH } } },
	{ "gap", .box = { { "gap", 0, SWATCH } } },
	{ "failed", .class = "cross", .sign = add_cross },
	{ "killed", .class = "bolt", .sign = add_bolt },
	{ "unfinished", .class = "unfinished", .path = add_small_open_end },
	{ "needed", .class = "needed", .path = add_small_bracket },
	{ "waited", .class = "waited", .path = add_small_bracket },
	{ "ghost", .class = "line ghost", .path = add_ghost_line },
};

static void add_path(struct markup *s, const char *class, double x, double y,
		     void (*add)(struct svg_path *p, double x, double y))
{
	struct svg_path p;

	svg_path_init(&p, s, class);
	add(&p, x, y);
	svg_path_end(&p);
}

static void add_mark_swatch(struct markup *s, const struct key *k)
{
	const struct swatch *w = NULL;
	double x = k->x, y = k->y - SWATCH_RISE, middle = SWATCH / 2.0;

	for (size_t i = 0; i < ARRAY_SIZE(swatches) && !w; i++)
		w = !strcmp(k->id, swatches[i].id) ? &swatches[i] : NULL;
	if (!w) {
		add_box(s, k->id, k, SWATCH * 0.35, THIN);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(w->box) && w->box[i].class; i++)
		add_box(s, w->box[i].class, k, w->box[i].top, w->box[i].height);
	if (w->sign) {
		add_path(s, "badge", x + middle, y + middle, add_badge);
		add_path(s, w->class, x + middle, y + middle, w->sign);
	}
	if (w->path)
		add_path(s, w->class, x, y, w->path);
}

static void add_colour_swatch(struct markup *s, const struct key *k)
{
	char class[] = "swatch c0";

	class[8] = (char)('0' + k->colour);
	if (k->mark == MARK_LINE)
		add_box(s, class, k, 4, 2.5);
	else
		add_box(s, class, k, 0, SWATCH);
}

static void add_words(struct markup *s, const struct key *k)
{
	struct buf label = BUF_INIT;

	svg_add_label(&label, k->label, k->width, LEGEND_SIZE);
	markup_begin(s, "text");
	svg_attr_number(s, "x", k->x + (k->id ? LEGEND_SWATCH : 0));
	svg_attr_number(s, "y", k->y);
	markup_text_buf(s, &label);
	if (k->values) {
		markup_text(s, label.len ? " " : "");
		markup_begin(s, "tspan");
		markup_attr(s, "class", "figures");
		markup_text(s, k->values);
		markup_end(s);
	}
	markup_end(s);
	buf_release(&label);
}

void bootchart_add_key(struct markup *s, const struct key *k, const char *attribute)
{
	markup_begin(s, "g");
	markup_attr(s, "class", "key");
	if (k->id)
		markup_attr(s, attribute, k->id);
	if (k->meaning) {
		markup_begin(s, "title");
		markup_text(s, k->meaning);
		markup_end(s);
	}
	if (k->id && !strcmp(attribute, "data-mark"))
		add_mark_swatch(s, k);
	else if (k->id)
		add_colour_swatch(s, k);
	add_words(s, k);
	markup_end(s);
}

void bootchart_legend(struct markup *s, const struct chart *c)
{
	markup_begin(s, "g");
	markup_attr(s, "id", "legend");
	for (size_t i = 0; i < c->kinds.n; i++)
		bootchart_add_key(s, &c->kinds.key[i], "data-kind");
	for (size_t i = 0; i < c->marks.n; i++)
		bootchart_add_key(s, &c->marks.key[i], "data-mark");
	markup_end(s);
}
