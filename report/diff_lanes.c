/* SPDX-License-Identifier: MIT */
#include "report/diff_picture.h"

#include "base/array.h"
#include "base/minmax.h"
#include "base/sort.h"
#include "compare/pairs.h"
#include "render/chart/axis.h"
#include "render/chart/lane_pack.h"
#include "render/chart/svg.h"
#include "report/amount.h"
#include "report/html.h"
#include "report/words_change.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 1000		/* of the picture's coordinates; the page stretches it */
#define SHOWN_WIDTH 1200	/* pixels, about: decides which labels fit */
#define LANE_NAMED 20		/* height of a lane whose bars have names */
#define LANE_PLAIN 9		/* of any other lane */
#define HEIGHT_MOST 320		/* of all of those, unless a lane is a pixel high */
#define LANES_NAMED_MOST 12
#define LABEL_SIZE 11.5
#define LABEL_LEAST 60		/* pixels: shorter names are whole or left out */
#define RECTS_MOST 400		/* longest tasks, which have a title each */
#define MERGED .6		/* shorter tasks are drawn with their neighbours */
#define TICKS_MOST 7

struct bar {
	uint32_t task;		/* row of the diff */
	int64_t from_us, wall_us;
	uint32_t lane;
	double x, width;
	enum difference difference;
};

struct diff_lanes {
	const struct diff_picture *picture;
	enum diff_side side;
	const struct values *run;	/* the newest of the side */
	int64_t end_us;
	size_t n;
	struct bar *bar;	/* by start */
	uint32_t n_lanes;
};

static size_t row_of(const struct diff_lanes *s, uint32_t task)
{
	const struct diff_task *t = &s->picture->view->diff->task[task];

	return values_find(s->run, s->side == DIFF_BASE && t->was ? t->was : t->name);
}

static bool has_times(const struct diff_lanes *s, size_t row)
{
	return row < s->run->n_tasks && s->run->column[COLUMN_START_US][row] >= 0 &&
	       s->run->column[COLUMN_WALL_US][row] >= 0;
}

/* An archive has rows, of which most are one task. */
static int list_rows(struct diff_lanes *s)
{
	const struct diff *d = s->picture->view->diff;
	struct keyed *order = array_new(d->n_tasks, sizeof *order);
	int r;

	s->bar = array_new(d->n_tasks, sizeof *s->bar);
	if (!order || !s->bar) {
		free(order);
		return -ENOMEM;
	}
	for (size_t i = 0; i < d->n_tasks; i++) {
		size_t row = row_of(s, (uint32_t)i);

		if (has_times(s, row))
			order[s->n++] = (struct keyed){
				(uint64_t)s->run->column[COLUMN_START_US][row], (int64_t)i };
	}
	r = sort_keyed(order, s->n);
	for (size_t i = 0; !r && i < s->n; i++) {
		size_t row = row_of(s, (uint32_t)order[i].value);

		s->bar[i] = (struct bar){ .task = (uint32_t)order[i].value,
					  .from_us = (int64_t)order[i].key,
					  .wall_us = s->run->column[COLUMN_WALL_US][row] };
	}
	free(order);
	return r;
}

/* The tasks of a recording; of those that ran a build of their own, its tasks are drawn. */
static int list_tasks(struct diff_lanes *s, const struct summary *sum)
{
	uint32_t *row = NULL;
	int r = pairs_rows(&row, s->picture->view->diff, s->side, s->run, sum);

	s->bar = array_new(sum->n_ran, sizeof *s->bar);
	if (!s->bar)
		r = -ENOMEM;
	for (size_t i = 0; !r && i < sum->n_ran; i++) {
		const struct task *t = &sum->rec->task[sum->order[i]];
		int64_t end_us = recording_task_end_us(sum->rec, t);

		if (row[i] == NO_INDEX || t->hosts)
			continue;
		s->bar[s->n++] = (struct bar){ .task = row[i], .from_us = t->start_us,
					       .wall_us = end_us > t->start_us ? end_us - t->start_us : 0 };
	}
	free(row);
	return r;
}

static int place(struct diff_lanes *s, struct lane_pack *lanes, struct bar *b)
{
	struct stretch stretch = { b->from_us, b->from_us + b->wall_us, b->task };

	if (stretch.until_us > s->end_us)
		s->end_us = stretch.until_us;
	b->x = (double)b->from_us;
	b->width = (double)b->wall_us;
	b->difference = diff_picture_difference(s->picture, b->task);
	return lane_pack_put(lanes, &stretch, NO_LANE, &b->lane);
}

static int lanes_of_side(struct diff_lanes *s, const struct diff_picture *p, enum diff_side which)
{
	const struct diff *d = p->view->diff;
	struct lane_pack lanes = LANE_PACK_INIT(NO_LANE);
	int r;

	*s = (struct diff_lanes){ .picture = p, .side = which,
				  .run = &d->run[which][d->n_runs[which] - 1] };
	if (!s->run->column[COLUMN_START_US] || !s->run->column[COLUMN_WALL_US])
		return 0;
	if (s->run->total[TOTAL_WALL_US] > 0)
		s->end_us = s->run->total[TOTAL_WALL_US];
	r = p->view->sum[which] ? list_tasks(s, p->view->sum[which]) : list_rows(s);
	for (size_t i = 0; !r && i < s->n; i++)
		r = place(s, &lanes, &s->bar[i]);
	s->n_lanes = lanes.n;
	lane_pack_release(&lanes);
	return r;
}

static void scale(struct diff_lanes *s, int64_t end_us)
{
	for (size_t i = 0; i < s->n; i++) {
		s->bar[i].x *= WIDTH / (double)end_us;
		s->bar[i].width *= WIDTH / (double)end_us;
	}
}

static double lane_height(const struct diff_lanes *s)
{
	double fits = (double)HEIGHT_MOST / s->n_lanes;

	if (s->n_lanes <= LANES_NAMED_MOST)
		return LANE_NAMED;
	return fits > LANE_PLAIN ? LANE_PLAIN : fmax(1, fits);
}

static const char *class_of(enum difference d)
{
	static const char *const name[DIFFERENCES] = { "d0", "d1", "d2", "d3", "d4", "d5" };

	return name[d];
}

/* "lib.o: 12 s, before 9 s"; of one of several tasks of a name what all of them took. */
static void add_words(struct buf *text, const struct diff_lanes *s, const struct bar *b)
{
	const struct diff_picture *p = s->picture;
	const struct diff *d = p->view->diff;
	const struct diff_value *f = &d->value[p->metric][b->task];
	enum unit unit = metric_info[p->metric].unit;
	int64_t all_us = s->run->column[COLUMN_WALL_US][row_of(s, b->task)];

	buf_addf(text, "%s: ", d->task[b->task].name);
	amount_add(text, UNIT_US, (double)b->wall_us);
	if (p->metric != METRIC_WALL || all_us > b->wall_us) {
		buf_addf(text, "; %s ", p->metric == METRIC_WALL ? "in all" :
			 metric_info[p->metric].title);
		amount_add(text, unit, f->value[s->side]);
	}
	if (d->task[b->task].presence == DIFF_BOTH) {
		buf_adds(text, s->side == DIFF_BASE ? ", then " : ", before ");
		amount_add(text, unit, f->value[s->side == DIFF_BASE ? DIFF_NOW : DIFF_BASE]);
	} else {
		buf_adds(text, ", in this build only");
	}
}

static void add_rect(struct markup *h, const struct diff_lanes *s, const struct bar *b, double height)
{
	struct buf text = BUF_PART_OF(h->out);

	markup_open(h, "rect", class_of(b->difference));
	svg_attr_number(h, "x", b->x);
	svg_attr_number(h, "y", b->lane * height + (height > 4));
	svg_attr_number(h, "width", b->width);
	svg_attr_number(h, "height", height - (height > 4 ? 2 : 0));
	add_words(&text, s, b);
	markup_leaf(h, "title", NULL, buf_str(&text));
	markup_end(h);
	buf_release(&text);
}

/* One class of the short tasks; neighbours become one piece. */
static void add_path(struct markup *h, const struct diff_lanes *s, double least, enum difference which,
		     double height, double *from, double *until)
{
	struct svg_path path;

	svg_path_init(&path, h, class_of(which));
	for (uint32_t lane = 0; lane < s->n_lanes; lane++)
		from[lane] = NAN;
	for (size_t i = 0; i <= s->n; i++) {
		const struct bar *b = &s->bar[i];

		if (i < s->n && (b->width >= least || b->difference != which))
			continue;
		for (uint32_t l = i < s->n ? b->lane : 0; l < (i < s->n ? b->lane + 1 : s->n_lanes);
		     l++) {
			if (i < s->n && b->x <= until[l] + MERGED && !isnan(from[l])) {
				until[l] = fmax(until[l], b->x + b->width);
				continue;
			}
			if (!isnan(from[l]))
				svg_path_rect(&path, from[l], l * height + (height > 4),
					      fmax(MERGED, until[l] - from[l]),
					      height - (height > 4 ? 2 : 0));
			from[l] = i < s->n ? b->x : NAN;
			until[l] = i < s->n ? b->x + b->width : NAN;
		}
	}
	svg_path_end(&path);
}

static int by_width(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

/* The width from which on a task has an element of its own. */
static int find_least(const struct diff_lanes *s, double *least)
{
	double *width = array_new(s->n + 1, sizeof *width);

	if (!width)
		return -ENOMEM;
	for (size_t i = 0; i < s->n; i++)
		width[i] = s->bar[i].width;
	qsort(width, s->n, sizeof *width, by_width);
	*least = s->n > RECTS_MOST ? fmax(MERGED, width[RECTS_MOST]) : MERGED;
	free(width);
	return 0;
}

static int add_bars(struct markup *h, const struct diff_lanes *s, double height)
{
	double *edges = array_new(2 * s->n_lanes + 1, sizeof *edges), least;
	int r = edges ? find_least(s, &least) : -ENOMEM;

	for (enum difference d = 0; !r && d < DIFFERENCES; d++)
		add_path(h, s, least, d, height, edges, edges + s->n_lanes);
	for (size_t i = 0; !r && i < s->n; i++) {
		if (s->bar[i].width >= least)
			add_rect(h, s, &s->bar[i], height);
	}
	free(edges);
	return r;
}

/* The distinguishing part: the file, not its directory. */
static const char *short_name(const char *name)
{
	const char *at = name;

	for (const char *p = name; *p; p++) {
		if (*p == '/' && p[1])
			at = p + 1;
	}
	return at;
}

/* The name and the value, or the name alone, or nothing. */
static void add_label_text(struct buf *text, const struct diff_lanes *s, const struct bar *b)
{
	const char *name = short_name(s->picture->view->diff->task[b->task].name);
	double room = b->width / WIDTH * SHOWN_WIDTH - 8, name_width;
	struct buf value = BUF_PART_OF(text);

	svg_add_label(text, name, room, LABEL_SIZE);
	name_width = svg_text_width(buf_str(text), LABEL_SIZE);
	if (room < LABEL_LEAST && strcmp(buf_str(text), name))
		buf_clear(text);
	buf_addc(&value, ' ');
	amount_add(&value, UNIT_US, (double)b->wall_us);
	if (text->len && name_width + svg_text_width(buf_str(&value), LABEL_SIZE) <= room)
		buf_adds(text, buf_str(&value));
	buf_release(&value);
}

static void add_labels(struct markup *h, const struct diff_lanes *s, double height)
{
	struct buf text = BUF_PART_OF(h->out), style = BUF_PART_OF(h->out);

	for (size_t i = 0; i < s->n && height >= LANE_NAMED; i++) {
		const struct bar *b = &s->bar[i];

		buf_clear(&text);
		buf_clear(&style);
		add_label_text(&text, s, b);
		if (!text.len)
			continue;
		buf_addf(&style, "left:%.2f%%;top:%.0fpx;width:%.2f%%", b->x * 100 / WIDTH,
			 b->lane * height, b->width * 100 / WIDTH);
		markup_open(h, "span", "label");
		markup_attr(h, "aria-hidden", "true");
		html_style_attr(h, &style);
		markup_open(h, "span", class_of(b->difference));
		markup_text_buf(h, &text);
		markup_end(h);
		markup_end(h);
	}
	buf_release(&text);
	buf_release(&style);
}

static int add_side(struct markup *h, const struct diff_lanes *s)
{
	const struct diff *d = s->picture->view->diff;
	double height = lane_height(s);
	struct buf text = BUF_PART_OF(h->out), box = BUF_PART_OF(h->out);
	int r;

	buf_adds(&text, s->side == DIFF_BASE ? "base: " : "new: ");
	amount_add(&text, UNIT_US, (double)s->run->total[TOTAL_WALL_US]);
	buf_adds(&text, ", ");
	words_add_count(&text, (size_t)fmax(0, (double)s->run->total[TOTAL_TASKS]), "task", "tasks");
	if (s->run->total[TOTAL_RUNNING_MAX] > 0)
		buf_addf(&text, ", at most %lld at once",
			 (long long)s->run->total[TOTAL_RUNNING_MAX]);
	if (d->n_runs[s->side] > 1)
		buf_addf(&text, "; the last of %zu builds", d->n_runs[s->side]);
	markup_begin(h, "figure");
	markup_leaf(h, "figcaption", NULL, buf_str(&text));
	markup_open(h, "div", "bars");
	markup_begin(h, "svg");
	buf_addf(&box, "0 0 %d %.0f", WIDTH, ceil(s->n_lanes * height));
	markup_attr_buf(h, "viewBox", &box);
	markup_attr_int(h, "height", (int64_t)ceil(s->n_lanes * height));
	markup_attr(h, "preserveAspectRatio", "none");
	markup_attr(h, "role", "img");
	markup_attr_buf(h, "aria-label", &text);
	r = add_bars(h, s, height);
	markup_end(h);
	add_labels(h, s, height);
	markup_end(h);
	markup_end(h);
	buf_release(&text);
	buf_release(&box);
	return r;
}

static void add_ticks(struct markup *h, int64_t end_us)
{
	struct tick tick[TICKS_MOST];
	size_t n = axis_time_ticks(tick, TICKS_MOST, 0, end_us);
	struct buf style = BUF_PART_OF(h->out);

	markup_open(h, "div", "ticks");
	markup_attr(h, "aria-hidden", "true");
	for (size_t i = 0; i < n; i++) {
		buf_clear(&style);
		buf_addf(&style, "left:%.2f%%", 100 * (double)tick[i].value / (double)end_us);
		markup_begin(h, "span");
		html_style_attr(h, &style);
		markup_text(h, tick[i].label);
		markup_end(h);
	}
	markup_end(h);
	buf_release(&style);
}

int diff_lanes_add(struct markup *h, const struct diff_picture *p)
{
	struct diff_lanes side[DIFF_SIDES] = { { 0 } };
	int64_t end_us = 0;
	int r = 0;

	for (enum diff_side s = 0; !r && p->metric < METRICS && s < DIFF_SIDES; s++) {
		r = lanes_of_side(&side[s], p, s);
		end_us = MAX(side[s].end_us, end_us);
	}
	if (!r && side[DIFF_BASE].n && side[DIFF_NOW].n && end_us > 0) {
		markup_leaf(h, "h2", NULL, "Both builds on one time scale");
		diff_picture_add_keys(h, p);
		markup_open(h, "div", "lanes");
		add_ticks(h, end_us);
		for (enum diff_side s = 0; !r && s < DIFF_SIDES; s++) {
			scale(&side[s], end_us);
			r = add_side(h, &side[s]);
		}
		markup_end(h);
	}
	for (enum diff_side s = 0; s < DIFF_SIDES; s++)
		free(side[s].bar);
	return r;
}
