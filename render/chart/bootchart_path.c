/* SPDX-License-Identifier: MIT */
#include "render/chart/bootchart_parts.h"

#include "base/array.h"
#include "base/minmax.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * The lane of the path: what the end of the build waited for, one task behind the other. Above
 * each is a line that says why it waited for the one before. A task that hosts the next one and
 * worked itself before has a bar without a line.
 */

#define TITLE_SIZE 12
#define NOTE_SIZE 11
#define NOTE_GAP 12
#define BRACKET 4.0		/* room above the bars */
#define HOST_LEAST 3.0		/* pixels of what a hosting task did itself */
#define SMALL 1.5		/* pixels: tasks up to that join the next */

static struct bar task_bar(const struct chart *c, uint32_t task, size_t order)
{
	const struct task *t = &c->sum->rec->task[task];
	double x = chart_x(c, t->start_us);

	return (struct bar){
		.x = x, .width = chart_x(c, recording_task_end_us(c->sum->rec, t)) - x,
		.y = BRACKET, .height = c->path_place.height - BRACKET,
		.named = c->path_place.height - BRACKET,
		.task = task, .n_tasks = 1, .efficiency = 255,
		.colour = (uint8_t)works_colour(chart_colours(c), order),
		.ended_badly = t->state != TASK_DONE,
	};
}

/* b, the next, becomes part of a. */
static void join(struct bar *a, const struct bar *b, double *longest)
{
	if (b->width > *longest) {
		*longest = b->width;
		a->task = b->task;
		a->colour = b->colour;
	}
	a->n_tasks++;
	if (b->x + b->width > a->x + a->width)
		a->width = b->x + b->width - a->x;
	if (*longest < a->width / 2)
		a->task = NO_INDEX;
}

/* Where each task is in summary.order. */
static uint32_t *positions(const struct summary *s)
{
	uint32_t *at = array_new(s->rec->n_tasks, sizeof *at);

	for (uint32_t i = 0; at && i < s->n_ran; i++)
		at[s->order[i]] = i;
	return at;
}

/* What the task that hosts the next one did itself before, such as the first part of a link. */
static struct bar host_bar(const struct chart *c, const struct bar *next, double from,
			   const uint32_t *at)
{
	uint32_t host = c->sum->nest[next->task].parent;
	struct bar b;

	if (host == NO_INDEX || !task_ran(&c->sum->rec->task[host]))
		return (struct bar){ .width = 0 };
	b = task_bar(c, host, at[host]);
	b.x = MAX(from, b.x);
	b.width = next->x - b.x;
	b.part_us = (int64_t)(b.width * (double)c->end_us / c->plot_width);
	b.ended_badly = false;
	return b;
}

static size_t fill(struct bar *bar, const struct chart *c, const uint32_t *at)
{
	double longest = 0;
	size_t n = 0;

	for (size_t i = 0; i < c->chain.n_path; i++) {
		struct bar b = task_bar(c, c->chain.path[i], at[c->chain.path[i]]), host;
		struct bar *last = n ? &bar[n - 1] : NULL;
		double from = last ? last->x + last->width : 0;

		if (b.x < from) {
			b.width -= from - b.x;
			b.x = from;
		}
		if (b.x + b.width > c->plot_width)
			b.width = c->plot_width - b.x;
		if (b.width <= 0)
			continue;
		host = host_bar(c, &b, from, at);
		if (host.width >= HOST_LEAST) {
			bar[n++] = host;
			last = NULL;
		}
		if (last && (last->width < SMALL || b.width < 0.1) && b.x - from < 1) {
			join(last, &b, &longest);
			continue;
		}
		bar[n++] = b;
		longest = b.width;
	}
	return n;
}

static int draw(struct markup *s, const struct chart *c)
{
	struct bar *bar = array_new_zero(2 * c->chain.n_path, sizeof *bar);
	uint32_t *at = positions(c->sum);
	int r = bar && at ? 0 : -ENOMEM;

	if (!r) {
		size_t n = fill(bar, c, at);

		bootchart_bars(s, bar, n);
		r = bootchart_names(s, c->sum, LANES_WORKER, bar, n);
	}
	r = r ? r : bootchart_links(s, c, true);
	free(bar);
	free(at);
	return r;
}

static void add_words(struct markup *s, const struct chart *c)
{
	double x = c->plot_x + svg_text_width(c->path_title, TITLE_SIZE) * SVG_BOLD + NOTE_GAP;

	bootchart_add_text(s, "title", c->plot_x, c->path_title_y, c->path_title);
	bootchart_add_fitting(s, "note", x, c->path_title_y, c->path_note,
			      CHART_WIDTH - CHART_MARGIN - x, NOTE_SIZE);
}

int bootchart_path(struct markup *s, const struct chart *c)
{
	int r;

	if (!c->path_title)
		return 0;
	markup_begin(s, "g");
	markup_attr(s, "id", "path");
	add_words(s, c);
	bootchart_add_text(s, "label end", c->plot_x - 8, c->path_place.y +
			   c->path_place.height / 2.0 + 5, "path");
	bootchart_begin_plot(s, c, c->path_place.y, c->path_place.height);
	r = draw(s, c);
	markup_end(s);
	markup_end(s);
	return r;
}
