/* SPDX-License-Identifier: MIT */
#include "render/chart/bootchart_parts.h"

#include "analyse/names.h"
#include "base/text.h"
#include "render/chart/svg.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MAX 240
#define NAME_WIDTH_MIN 26
#define NAME_HEIGHT_MIN 10
#define NAME_PAD 4
#define NAME_MARGIN 1.3	/* pixels kept free above and below */
#define SIGN_WIDTH 12		/* kept free at the end of a bar that has a sign there */
#define NAME_CUT_MIN 44		/* pixels in which a part of a name says something */
#define ROW_LABEL_SIZE 10.5
#define EFFICIENCY_ALL 200
#define EFFICIENCY_UNKNOWN 255
#define PIECE_LEAST 0.6		/* pixels that are drawn of any piece */

/* Where a piece is drawn, within the plot of the lanes. */
struct box {
	double x, y, width, height;
	bool nest;
};

static struct box piece_box(const struct chart *c, const struct piece *p)
{
	struct lane_place place = chart_lane(c, p->lane);
	double x = time_x(c, p->from_us), width = time_x(c, p->until_us) - x;

	return (struct box){
		.x = x, .y = place.y - c->lanes_y, .height = place.height,
		.width = width < PIECE_LEAST ? PIECE_LEAST : width, .nest = place.nest,
	};
}

/* Bars */

static void add_bar(struct svg_path *path, const struct box *b, double height)
{
	svg_path_rect(path, b->x, b->y + b->height - height, b->width, height);
}

/* How much of a bar, from its bottom up, computed. What a task that ran a build of its
 * own computed is shown where that build's tasks are. */
static double computed(const struct piece *p, const struct box *b)
{
	unsigned share = p->efficiency == EFFICIENCY_UNKNOWN || b->nest ? 0 : p->efficiency;

	return b->height * (share > EFFICIENCY_ALL ? EFFICIENCY_ALL : share) / EFFICIENCY_ALL;
}

static void draw_bars(struct markup *s, const struct chart *c, const struct box *box)
{
	char bar_class[] = "bar c0", cpu_class[] = "cpu c0";
	struct svg_path path;

	for (int colour = 0; colour < COLOURS; colour++) {
		bar_class[5] = cpu_class[5] = (char)('0' + colour);
		svg_path_init(&path, s, bar_class);
		for (size_t i = 0; i < c->pieces.n; i++) {
			if (c->pieces.piece[i].colour == colour)
				add_bar(&path, &box[i], box[i].height);
		}
		svg_path_end(&path);
		svg_path_init(&path, s, cpu_class);
		for (size_t i = 0; i < c->pieces.n; i++) {
			double height = computed(&c->pieces.piece[i], &box[i]);

			if (c->pieces.piece[i].colour == colour && height > 0)
				add_bar(&path, &box[i], height);
		}
		svg_path_end(&path);
	}
}

/* Names in the longest bars */

struct candidate {
	uint32_t piece;
	double width;
};

static int by_width(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->width != y->width)
		return x->width > y->width ? -1 : 1;
	return x->piece < y->piece ? -1 : x->piece > y->piece;
}

static size_t find_candidates(struct candidate *out, const struct chart *c,
			      const struct box *box)
{
	size_t n = 0;

	for (size_t i = 0; i < c->pieces.n; i++) {
		if (box[i].width >= NAME_WIDTH_MIN && box[i].height >= NAME_HEIGHT_MIN &&
		    c->pieces.piece[i].n_tasks == 1)
			out[n++] = (struct candidate){ (uint32_t)i, box[i].width };
	}
	qsort(out, n, sizeof *out, by_width);
	return n < NAMES_MAX ? n : NAMES_MAX;
}

/* The longest name of a task that fits, or the shortest one, shortened. */
static void add_best_name(struct buf *out, const struct chart *c, const struct task *t,
			  double width, double size)
{
	const char *slash = strrchr(t->name, '/');
	struct buf full = BUF_PART_OF(out);
	const char *name[3] = { NULL, t->name, slash && slash[1] ? slash + 1 : t->name };
	size_t i = 0;

	name_add_task(&full, c->sum->rec, t);
	name[0] = buf_str(&full);
	while (i < 2 && *name[i + 1] && svg_text_width(name[i], size) > width)
		i++;
	if (svg_text_width(name[i], size) <= width || width >= NAME_CUT_MIN)
		svg_add_label(out, name[i], width, size);
	buf_release(&full);
}

/* Away from the middle if the edge of the strong part would cross the name: into the larger
 * part. */
static double name_shift(const struct box *box, double strong, double size)
{
	double room = (box->height - size) / 2 - NAME_MARGIN;

	if (room <= 0 || fabs(strong / box->height - 0.5) > 0.3)
		return 0;
	return strong > box->height / 2 ? room : -room;
}

static void draw_name(struct markup *s, const struct chart *c, const struct box *box,
		      const struct piece *p)
{
	double size = box->height >= 14 ? 10.5 : 9;
	double strong = computed(p, box);
	struct buf label = BUF_PART_OF(s->out), class = BUF_INIT;

	add_best_name(&label, c, &c->sum->rec->task[p->task], box->width - 2 * NAME_PAD -
		      (p->ended == TASK_DONE ? 0 : SIGN_WIDTH), size);
	if (label.len) {
		buf_addf(&class, "name %c%u%s", strong > box->height / 2 ? 'c' : 't',
			 (unsigned)p->colour, size < 10.5 ? " small" : "");
		markup_begin(s, "text");
		markup_attr_buf(s, "class", &class);
		svg_attr_number(s, "x", box->x + NAME_PAD);
		svg_attr_number(s, "y", box->y + box->height / 2 + size * 0.36 +
				name_shift(box, strong, size));
		markup_text_buf(s, &label);
		markup_end(s);
	}
	buf_release(&label);
	buf_release(&class);
}

static int draw_names(struct markup *s, const struct chart *c, const struct box *box)
{
	struct candidate *list = calloc(c->pieces.n + 1, sizeof *list);
	size_t n;

	if (!list)
		return -ENOMEM;
	n = find_candidates(list, c, box);
	for (size_t i = 0; i < n; i++)
		draw_name(s, c, &box[list[i].piece], &c->pieces.piece[list[i].piece]);
	free(list);
	return 0;
}

static int draw_tasks(struct markup *s, const struct chart *c)
{
	struct box *box = calloc(c->pieces.n + 1, sizeof *box);
	int r;

	if (!box)
		return -ENOMEM;
	for (size_t i = 0; i < c->pieces.n; i++)
		box[i] = piece_box(c, &c->pieces.piece[i]);
	r = bootchart_marks_below(s, c);
	draw_bars(s, c, box);
	r = r ? r : bootchart_marks_above(s, c);
	r = r ? r : draw_names(s, c, box);
	free(box);
	return r;
}

/* Rows */

static void draw_stripes(struct markup *s, const struct chart *c)
{
	struct svg_path path;

	svg_path_init(&path, s, "stripe");
	for (size_t i = 1; i < c->lanes.n_rows; i += 2)
		svg_path_rect(&path, CHART_PLOT_X, c->row_place[i].y, CHART_PLOT_WIDTH,
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
	svg_add_label(&label, c->lanes.row[i].label, CHART_PLOT_X - 16, ROW_LABEL_SIZE);
	markup_begin(s, "text");
	markup_attr(s, "class", "label");
	svg_attr_number(s, "x", CHART_PLOT_X - 8);
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
	markup_attr(s, "tabindex", "0");
	markup_attr_buf(s, "aria-label", &label);
	buf_release(&label);
}

int bootchart_lanes(struct markup *s, const struct chart *c)
{
	int r = 0;

	begin_lanes(s, c);
	if (c->lanes.n_rows)
		bootchart_add_text(s, "axis-name end", CHART_PLOT_X - 8, c->time_y,
			 lanes_word[c->lanes.by]);
	draw_stripes(s, c);
	for (size_t i = 0; i < c->lanes.n_rows; i++)
		draw_row_label(s, c, i);
	bootchart_begin_plot(s, c->lanes_y, c->lanes_height);
	markup_begin(s, "g");
	markup_attr(s, "class", "draw");
	if (c->lanes.n_rows)
		r = draw_tasks(s, c);
	else
		bootchart_add_text(s, "nothing", CHART_PLOT_WIDTH / 2.0, c->lanes_height / 2.0 + 4,
			 "No task was recorded.");
	markup_end(s);
	markup_end(s);
	markup_end(s);
	return r;
}
