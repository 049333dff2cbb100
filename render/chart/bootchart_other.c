/* SPDX-License-Identifier: MIT */
#include "render/chart/bootchart_parts.h"

#include "base/array.h"
#include "base/minmax.h"
#include "base/text.h"
#include "render/chart/bar_name.h"

#include <errno.h>
#include <stdlib.h>

/*
 * The lanes of the build to compare with, on the time scale of ours. A task has the colour of its
 * pair. Beside the title is what differs most.
 */

#define TITLE "The other build"
#define TITLE_SIZE 12
#define NOTE_SIZE 11
#define NOTE_GAP 12
#define NAME_WIDTH 150.0
#define SHARE_MOST 128		/* as in bootchart_lanes.c */
#define UNKNOWN 255		/* efficiency: no gauge */

static struct bar piece_bar(const struct chart *c, const struct piece *p)
{
	double pitch = (double)c->other_place.height / c->other_lanes.n_lanes;
	double gap = pitch >= 8 ? 1 : 0;
	double x = chart_x(c, p->from_us), width = chart_x(c, p->until_us) - x;

	return (struct bar){
		.x = x, .y = p->lane * pitch + gap, .height = pitch - 2 * gap,
		.named = pitch - 2 * gap,
		.width = MAX(0.6, width),
		.task = p->share >= SHARE_MOST ? p->task : NO_INDEX, .n_tasks = p->n_tasks,
		.colour = p->colour, .efficiency = UNKNOWN, .ended_badly = p->ended != TASK_DONE,
	};
}

static int draw(struct markup *s, const struct chart *c)
{
	const struct pieces *p = &c->other_pieces;
	struct bar *bar = array_new_zero(p->n, sizeof *bar);
	int r;

	if (!bar)
		return -ENOMEM;
	for (size_t i = 0; i < p->n; i++)
		bar[i] = piece_bar(c, &p->piece[i]);
	bootchart_bars(s, bar, p->n);
	r = bootchart_names(s, c->ghost, LANES_WORKER, bar, p->n);
	free(bar);
	return r;
}

/* "lparser 2.0 s (+1.5 s)" */
static void add_task(struct buf *b, const struct chart *c, const struct differences_task *t)
{
	bool here = t->here != NO_INDEX;
	const struct summary *s = here ? c->sum : c->ghost;

	bar_name_add(b, s, LANES_WORKER, s->order[here ? t->here : t->there], NAME_WIDTH, NOTE_SIZE);
	buf_adds(b, t->change_us < 0 ? " (\u2212" : " (+");
	text_add_time(b, llabs(t->change_us));
	buf_addc(b, ')');
}

/* As many as have room. */
static void add_note(struct buf *b, const struct chart *c, double room)
{
	const struct differences *d = &c->differences;

	buf_adds(b, d->n_top ? "largest differences: " : "");
	for (size_t i = 0; i < d->n_top; i++) {
		size_t before = b->len;

		buf_adds(b, i ? ", " : "");
		add_task(b, c, &d->top[i]);
		if (i && svg_text_width(buf_str(b), NOTE_SIZE) > room) {
			buf_cut(b, before);
			break;
		}
	}
}

int bootchart_other(struct markup *s, const struct chart *c)
{
	double x = c->plot_x + svg_text_width(TITLE, TITLE_SIZE) * SVG_BOLD + NOTE_GAP;
	struct buf note = BUF_PART_OF(s->out);
	int r;

	if (!c->other_place.height)
		return 0;
	markup_begin(s, "g");
	markup_attr(s, "id", "other");
	bootchart_add_text(s, "title", c->plot_x, c->other_place.title_y, TITLE);
	add_note(&note, c, CHART_WIDTH - CHART_MARGIN - x);
	bootchart_add_fitting(s, "note", x, c->other_place.title_y, buf_str(&note),
			      CHART_WIDTH - CHART_MARGIN - x, NOTE_SIZE);
	bootchart_begin_plot(s, c, c->other_place.y, c->other_place.height);
	r = draw(s, c);
	markup_end(s);
	markup_end(s);
	buf_release(&note);
	return r;
}
