/* SPDX-License-Identifier: MIT */
#include "render/chart/bootchart_parts.h"

#include "base/array.h"
#include "base/minmax.h"
#include "base/text.h"
#include "render/chart/bar_name.h"
#include "render/chart/svg.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROW_LABEL_SIZE 10.5
#define PIECE_LEAST 0.6		/* pixels that are drawn of any piece */
#define GAP 1.0			/* pixels between bars */
#define GAP_LEAST 3.0		/* of a bar with a gap behind it */
#define TOUCHING 0.1		/* pixels between narrow bars that are one shape */
#define SEAM_APART 4.0		/* between two seams of it */
#define SHARE_MOST 128		/* of a piece, in 1/255: it can have the name of its task */

/* What phases and CPU leave; but low bars have a name rather than room beside it. */
static double named_height(const struct lane_place *p)
{
	double left = p->height - (p->nest ? 0 : p->phases) - p->gauge;

	return left < BAR_NAME_HEIGHT && p->height >= BAR_NAME_HEIGHT ? BAR_NAME_HEIGHT : left;
}

static struct bar piece_bar(const struct chart *c, const struct piece *p)
{
	struct lane_place place = chart_lane(c, p->lane);
	double x = chart_x(c, p->from_us), width = chart_x(c, p->until_us) - x;

	return (struct bar){
		.x = x, .y = place.y - c->lanes_y, .height = place.height,
		.gauge = place.gauge, .gauge_y = place.y - c->lanes_y + place.height -
			(place.nest ? 0 : place.phases) - place.gauge,
		.named = named_height(&place),
		.width = MAX(PIECE_LEAST, width),
		.task = p->share >= SHARE_MOST ? p->task : NO_INDEX, .n_tasks = p->n_tasks,
		.colour = p->colour, .efficiency = p->efficiency,
		.ended_badly = p->ended != TASK_DONE,
	};
}

double bootchart_bar_width(const struct bar *b)
{
	return b->width >= GAP_LEAST ? b->width - GAP : b->width;
}

/* Runs: narrow bars of one colour that touch are one shape, with seams between them. */

static bool continues(const struct bar *a, const struct bar *b)
{
	return a->colour == b->colour && a->y == b->y && a->width < GAP_LEAST &&
	       b->width < GAP_LEAST && b->x - a->x - a->width < TOUCHING;
}

/* The length of the run that begins with the first of n. */
static size_t run_length(const struct bar *bar, size_t n)
{
	size_t end = 1;

	while (end < n && continues(&bar[end - 1], &bar[end]))
		end++;
	return end;
}

static void add_seams(struct svg_path *path, const struct bar *bar, size_t n)
{
	double last = bar->x;

	for (size_t i = 1; i < n; i++) {
		if (bar[i].x - last < SEAM_APART)
			continue;
		last = bar[i].x;
		svg_path_move(path, last, bar[i].y);
		svg_path_line(path, last, bar[i].y + bar[i].height);
	}
}

static void draw_seams(struct markup *s, const struct bar *bar, size_t n)
{
	struct svg_path path;

	svg_path_init(&path, s, "seam");
	path.coarse = true;
	for (size_t i = 0, length; i < n; i += length) {
		length = run_length(bar + i, n - i);
		add_seams(&path, bar + i, length);
	}
	svg_path_end(&path);
}

/* The bars of a colour, alone or in runs. */
static void draw_bars(struct markup *s, const struct bar *bar, size_t n, int colour, bool runs)
{
	char class[] = "bar c0", run[] = "run c0";
	struct svg_path path;

	class[5] = run[5] = (char)('0' + colour);
	svg_path_init(&path, s, runs ? run : class);
	path.coarse = true;
	for (size_t i = 0, length; i < n; i += length) {
		const struct bar *last;

		length = run_length(bar + i, n - i);
		last = &bar[i + length - 1];
		if (bar[i].colour == colour && (length > 1) == runs)
			svg_path_rect(&path, bar[i].x, bar[i].y,
				      last->x - bar[i].x + bootchart_bar_width(last), bar[i].height);
	}
	svg_path_end(&path);
}

void bootchart_bars(struct markup *s, const struct bar *bar, size_t n)
{
	for (int colour = 0; colour < COLOURS; colour++) {
		draw_bars(s, bar, n, colour, false);
		draw_bars(s, bar, n, colour, true);
	}
	draw_seams(s, bar, n);
}

static int draw_tasks(struct markup *s, const struct chart *c)
{
	struct bar *bar = array_new_zero(c->pieces.n, sizeof *bar);
	int r;

	if (!bar)
		return -ENOMEM;
	for (size_t i = 0; i < c->pieces.n; i++)
		bar[i] = piece_bar(c, &c->pieces.piece[i]);
	r = bootchart_marks_below(s, c);
	bootchart_bars(s, bar, c->pieces.n);
	r = r ? r : bootchart_pulses(s, c, bar);
	r = r ? r : bootchart_names(s, c->sum, c->lanes.by, bar, c->pieces.n);
	r = r ? r : bootchart_phases(s, c);
	r = r ? r : bootchart_marks_above(s, c);
	free(bar);
	return r;
}

/* Rows */

static void draw_stripes(struct markup *s, const struct chart *c)
{
	struct svg_path path;

	svg_path_init(&path, s, "stripe");
	for (size_t i = 1; i < c->lanes.n_rows; i += 2)
		svg_path_rect(&path, c->plot_x, c->row_place[i].y, c->plot_width,
			      c->row_place[i].height);
	svg_path_end(&path);
}

static void draw_row_label(struct markup *s, const struct chart *c, size_t i)
{
	const struct place *place = &c->row_place[i];
	struct buf label = BUF_INIT;

	markup_begin(s, "g");
	markup_attr(s, "class", "row");
	svg_attr_number(s, "data-row", (double)i);
	svg_add_label(&label, c->lanes.row[i].label, c->plot_x - 16, ROW_LABEL_SIZE);
	markup_begin(s, "text");
	markup_attr(s, "class", "label");
	svg_attr_number(s, "x", c->plot_x - 8);
	svg_attr_number(s, "y", place->y + place->height / 2.0 + 4);
	markup_text_buf(s, &label);
	markup_begin(s, "title");
	markup_text(s, c->lanes.row[i].label);
	markup_text(s, ": ");
	buf_clear(&label);
	buf_addf(&label, "%zu tasks, ", c->lanes.row[i].n_tasks);
	text_add_time(&label, c->lanes.row[i].busy_us);
	markup_text_buf(s, &label);
	markup_end(s);
	markup_end(s);
	markup_end(s);
	buf_release(&label);
}

static void begin_lanes(struct markup *s, const struct chart *c)
{
	struct buf label = BUF_INIT;

	buf_adds(&label, "Tasks by ");
	buf_adds(&label, lanes_word[c->lanes.by]);
	markup_begin(s, "g");
	markup_attr(s, "id", "lanes");
	markup_attr(s, "role", "group");
	markup_attr_buf(s, "aria-label", &label);
	buf_release(&label);
}

int bootchart_lanes(struct markup *s, const struct chart *c)
{
	int r = 0;

	begin_lanes(s, c);
	if (c->lanes.n_rows)
		bootchart_add_text(s, "axis-name end", c->plot_x - 8, c->time_y,
			 lanes_word[c->lanes.by]);
	draw_stripes(s, c);
	for (size_t i = 0; i < c->lanes.n_rows; i++)
		draw_row_label(s, c, i);
	bootchart_begin_plot(s, c, c->lanes_y, c->lanes_height);
	markup_begin(s, "g");
	markup_attr(s, "class", "draw");
	if (c->lanes.n_rows)
		r = draw_tasks(s, c);
	else
		bootchart_add_text(s, "nothing", c->plot_width / 2.0, c->lanes_height / 2.0 + 4,
			 "No task was recorded.");
	markup_end(s);
	markup_end(s);
	markup_end(s);
	return r;
}
