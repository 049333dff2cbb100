/* SPDX-License-Identifier: MIT */
#include "render/chart/bootchart_parts.h"

#include "base/minmax.h"
#include "render/chart/pulse.h"

/*
 * CPU in the lowest part of the bars, whose height is one CPU. An area shows when a task
 * computed; more than one CPU is a second area upon the first. Where only the mean of a task is
 * known, a line has its height. Neighbours that are too narrow share an area of their mean: it
 * is known as finely as they can be seen.
 */

#define EFFICIENCY_ALL 200
#define EFFICIENCY_UNKNOWN 255
#define OWN_LEAST 4.0		/* pixels of a bar that shares with none */
#define APART 2.0		/* narrower bars that close share one area */
#define RUN 24.0		/* about as long as a shared one gets */
#define CURVE_LEAST 8.0		/* pixels of a bar with a curve */
#define STEP 2.0		/* and of a level of it, at least */
#define ALONE 230		/* share of a piece of its task, in 1/255: the curve is this task's */
#define LINE 1.0		/* height of a line */

struct drawing {
	const struct chart *c;
	struct pulse_source *pulses;
	struct svg_path path;
	bool more;		/* draw what is above one CPU */
	bool has_more;
	/* Of narrow bars; none: until < from */
	const struct bar *first;
	double from, until, cpu, wall;
};

/* CPUs, at most one; -1: not known. */
static double share_of(const struct bar *b)
{
	return b->efficiency == EFFICIENCY_UNKNOWN ? -1 :
	       (double)MIN(EFFICIENCY_ALL, b->efficiency) / EFFICIENCY_ALL;
}

static void end_shared(struct drawing *d)
{
	const struct bar *b = d->first;

	if (d->until >= d->from && d->cpu > 0) {
		double height = b->gauge * d->cpu / d->wall;

		svg_path_rect(&d->path, d->from, b->gauge_y + b->gauge - height,
			      d->until - d->from, height);
	}
	d->until = d->from - 1;
}

static void add_shared(struct drawing *d, const struct bar *b)
{
	double share = share_of(b);

	if (d->until < d->from || b->gauge_y != d->first->gauge_y || b->x < d->until ||
	    b->x - d->until >= APART || d->until - d->from >= RUN) {
		end_shared(d);
		d->first = b;
		d->from = b->x;
		d->cpu = d->wall = 0;
	}
	d->until = b->x + b->width;
	if (share >= 0) {
		d->cpu += share * b->width;
		d->wall += b->width;
	}
}

/* The height of a level, in parts of the whole: of the first CPU or of all further ones. */
static double height_of(const struct drawing *d, uint8_t level)
{
	double cpus = (double)level / PULSE_CPU, further = (double)d->c->sum->cores - 1;

	if (!d->more)
		return MIN(1.0, cpus);
	return cpus <= 1 ? 0 : further > 1 ? MIN(1.0, (cpus - 1) / further) : MIN(1.0, cpus - 1);
}

/* Over the time of the task, within the bar. */
static void add_curve(struct drawing *d, const struct bar *b, const uint8_t *level, size_t n)
{
	const struct recording *rec = d->c->sum->rec;
	const struct task *t = &rec->task[b->task];
	double start = chart_x(d->c, t->start_us), bottom = b->gauge_y + b->gauge;
	double step = (chart_x(d->c, recording_task_end_us(rec, t)) - start) / (double)n;
	double end = b->x + bootchart_bar_width(b), x = MAX(b->x, start);

	svg_path_move(&d->path, x, bottom);
	for (size_t i = 0; i < n; i++) {
		double until = MIN(end, start + step * (double)(i + 1));

		if (i + 1 < n && level[i] == level[i + 1])
			continue;
		svg_path_line(&d->path, x, bottom - b->gauge * height_of(d, level[i]));
		x = MAX(x, until);
		svg_path_line(&d->path, x, bottom - b->gauge * height_of(d, level[i]));
	}
	svg_path_line(&d->path, x, bottom);
	svg_path_close(&d->path);
}

static void add_line(struct drawing *d, const struct bar *b)
{
	double share = share_of(b);

	if (share >= 0 && !d->more)
		svg_path_rect(&d->path, b->x, b->gauge_y + (b->gauge - LINE) * (1 - share),
			      bootchart_bar_width(b), LINE);
}

static bool is_above_one(const uint8_t *level, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (level[i] > PULSE_CPU + 1)
			return true;
	}
	return false;
}

static int add_bar(struct drawing *d, const struct bar *b, uint8_t share)
{
	uint8_t level[PULSE_MOST];
	size_t n = 0;
	int r = 0;

	if (b->width < OWN_LEAST) {
		if (!d->more)
			add_shared(d, b);
		return 0;
	}
	end_shared(d);
	if (b->width >= CURVE_LEAST && share >= ALONE)
		r = pulse_fill(level, &n, (size_t)(b->width / STEP), d->pulses, b->task);
	if (!n) {
		add_line(d, b);
		return r;
	}
	if (is_above_one(level, n))
		d->has_more = true;
	else if (d->more)
		return 0;
	add_curve(d, b, level, n);
	return 0;
}

static int draw(struct markup *s, struct drawing *d, const struct bar *bar, uint8_t colour)
{
	char class[] = "gauge c0";
	int r = 0;

	class[7] = (char)('0' + colour);
	d->until = d->from - 1;
	svg_path_init(&d->path, s, class);
	d->path.coarse = true;
	for (size_t i = 0; !r && i < d->c->pieces.n; i++) {
		if (bar[i].colour == colour && bar[i].gauge > 0)
			r = add_bar(d, &bar[i], d->c->pieces.piece[i].share);
	}
	end_shared(d);
	svg_path_end(&d->path);
	return r;
}

int bootchart_pulses(struct markup *s, const struct chart *c, const struct bar *bar)
{
	struct pulse_source pulses;
	struct drawing d = { .c = c, .pulses = &pulses };
	int r = pulse_init(&pulses, c->sum);

	for (uint8_t colour = 0; !r && colour < COLOURS; colour++) {
		d.has_more = d.more = false;
		r = draw(s, &d, bar, colour);
		d.more = d.has_more;
		if (!r && d.more)
			r = draw(s, &d, bar, colour);
	}
	pulse_release(&pulses);
	return r;
}
