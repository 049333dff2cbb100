/* SPDX-License-Identifier: MIT */
#include "render/chart/bootchart_parts.h"

#include "base/array.h"
#include "base/minmax.h"
#include "render/chart/bar_name.h"

#include <errno.h>
#include <stdlib.h>

/*
 * Phases, the spans of tasks, at the bottom of their bars; those of instances in the rows of
 * nested builds. The outermost of each time are drawn, with their names.
 */

#define PHASES_MAX 4000		/* drawn */
#define NARROW 0.5		/* pixels: less is drawn as that */
#define GAP 0.8			/* pixels between two */
#define PAD 2.0			/* on both sides of a name */

struct phase {
	uint32_t span, lane;
	int64_t from_us, until_us;
};

static int64_t span_end_us(const struct chart *c, const struct span *p)
{
	return p->end_us < p->begin_us ? c->sum->wall_us : p->end_us;
}

/* By lane and time; of those that begin together the longest first. */
static int by_place(const void *a, const void *b)
{
	const struct phase *x = a, *y = b;

	if (x->lane != y->lane)
		return x->lane < y->lane ? -1 : 1;
	if (x->from_us != y->from_us)
		return x->from_us < y->from_us ? -1 : 1;
	if (x->until_us != y->until_us)
		return x->until_us > y->until_us ? -1 : 1;
	return x->span < y->span ? -1 : x->span > y->span;
}

/* Those with a lane, without those within or beside one that began before. */
static int collect(struct phase **out, size_t *n, const struct chart *c)
{
	const struct recording *rec = c->sum->rec;
	struct phase *list = NULL;
	size_t all = 0;

	*n = 0;
	for (size_t i = 0; i < rec->n_spans; i++) {
		const struct span *p = &rec->span[i];
		struct phase *added;

		if (c->lanes.span_lane[i] == NO_INDEX)
			continue;
		added = array_add(&list, &all, sizeof *added);
		if (!added) {
			free(list);
			return -ENOMEM;
		}
		*added = (struct phase){ (uint32_t)i, c->lanes.span_lane[i], p->begin_us,
					 span_end_us(c, p) };
	}
	if (all)
		qsort(list, all, sizeof *list, by_place);
	for (size_t i = 0; i < all; i++) {
		const struct phase *last = *n ? &list[*n - 1] : NULL;

		if (!last || last->lane != list[i].lane || list[i].from_us >= last->until_us)
			list[(*n)++] = list[i];
	}
	*out = list;
	return 0;
}

static struct bar box_of(const struct chart *c, const struct phase *p)
{
	struct lane_place place = chart_lane(c, p->lane);
	double x = chart_x(c, p->from_us), width = chart_x(c, p->until_us) - x;

	if (x + width > c->plot_width)
		width = c->plot_width - x;
	width = width > 2 * GAP ? width - GAP : width;
	return (struct bar){
		.x = x, .y = place.y - c->lanes_y + place.height - place.phases,
		.width = MAX(NARROW, width), .height = place.phases,
	};
}

/* "configure 1.2 s" */
static void add_name(struct markup *s, const struct chart *c, const struct phase *p,
		     const struct bar *b)
{
	struct buf name = BUF_PART_OF(s->out);

	if (b->width < BAR_NAME_LEAST || b->height < BAR_NAME_HEIGHT)
		return;
	bar_name_add_text(&name, c->sum->rec->span[p->span].name, p->until_us - p->from_us,
			  b->width - 2 * PAD, BAR_NAME_SMALL);
	if (name.len)
		bootchart_add_text(s, "phase-name", b->x + PAD,
				   b->y + b->height / 2 + BAR_NAME_SMALL * 0.36, buf_str(&name));
	buf_release(&name);
}

int bootchart_phases(struct markup *s, const struct chart *c)
{
	struct phase *list;
	struct svg_path path;
	size_t n;
	double last = -1;
	int r = collect(&list, &n, c);

	if (r)
		return r;
	svg_path_init(&path, s, "phase");
	for (size_t i = 0, drawn = 0; i < n && drawn < PHASES_MAX; i++) {
		struct bar b = box_of(c, &list[i]);

		/* Those too narrow to see are one. */
		if (i && list[i].lane == list[i - 1].lane && b.x + b.width < last + 1)
			continue;
		svg_path_rect(&path, b.x, b.y, b.width, b.height);
		last = b.x + b.width;
		drawn++;
	}
	svg_path_end(&path);
	for (size_t i = 0; i < n; i++) {
		struct bar b = box_of(c, &list[i]);

		add_name(s, c, &list[i], &b);
	}
	free(list);
	return 0;
}
