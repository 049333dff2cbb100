/* SPDX-License-Identifier: MIT */
#include "render/chart/bootchart_parts.h"

#include "analyse/names.h"
#include "analyse/path.h"
#include "base/text.h"
#include "render/chart/bar_name.h"

#include <string.h>

/*
 * Names of stretches of bars that are too narrow for names of their own: "src: 110 tasks", or of
 * recipes "fetch: 12 tasks". A stretch has bars of one directory of the build, or of one kind;
 * where these alternate it has the number alone.
 */

#define LEAST 54.0		/* pixels of a stretch that has a name */
#define APART 2.5		/* pixels between two bars of a stretch, at most */
#define PAD 4.0
#define COLOUR_LEAST 0.75	/* share of it that has the colour for which its words are made */
#define BARS_LEAST 4		/* fewer are better looked at one by one */
#define SIGN 9.0		/* pixels that the sign of a failed task takes of its neighbours */

struct stretch {
	double from, until;	/* none: until <= from */
	struct slice place;	/* "": of several, or not known */
	size_t n_tasks, n_bars;
	double colour[COLOURS];	/* pixels of each */
	const struct bar *bar;	/* the first */
};

struct walk {
	struct markup *svg;
	const struct summary *sum;
	enum lanes_by by;
	struct stretch open, mixed;	/* mixed: narrow ones before the open one */
};

/* The directory directly below that of the build, or the kind of a recipe's task. */
static struct slice place_of(const struct walk *w, uint32_t task)
{
	const struct recording *rec = w->sum->rec;
	const struct task *t = task == NO_INDEX ? NULL : &rec->task[task];
	const char *place, *end;

	if (!t || w->by == LANES_DIRECTORY || (w->by == LANES_KIND && name_is_recipe(rec, t)))
		return slice_of("");
	if (name_is_recipe(rec, t))
		return slice_of(t->kind);
	if (!path_is_below(t->name))
		return slice_of("");
	place = name_place(rec, t);
	if (!*place && strchr(t->name, '/') && !strchr(t->name, ' '))
		place = t->name;
	if (*place == '/' || !strncmp(place, "..", 2))
		return slice_of("");
	end = strchr(place, '/');
	return (struct slice){ place, end ? (size_t)(end - place) : strlen(place) };
}

static void add_name(struct walk *w, const struct stretch *s)
{
	double room = s->until - s->from - 2 * PAD, size = bootchart_name_size(s->bar);
	struct buf count = BUF_PART_OF(w->svg->out), name = BUF_PART_OF(w->svg->out);
	char class[] = "many n0 small";
	size_t colour = 0;
	double all = 0;

	for (size_t i = 0; i < COLOURS; i++) {
		colour = s->colour[i] > s->colour[colour] ? i : colour;
		all += s->colour[i];
	}
	if (s->n_bars < BARS_LEAST || s->colour[colour] < COLOUR_LEAST * all)
		return;
	class[6] = (char)('0' + colour);
	if (size > BAR_NAME_SMALL)
		class[7] = '\0';
	buf_addf(&count, "%zu tasks", s->n_tasks);
	if (s->place.len) {
		struct buf place = BUF_PART_OF(w->svg->out);

		buf_add(&place, s->place.p, s->place.len);
		text_add_name(&name, buf_str(&place), 0);
		buf_addf(&name, ": %s", buf_str(&count));
		buf_release(&place);
	}
	if (!name.len || svg_text_width(buf_str(&name), size) > room) {
		buf_clear(&name);
		buf_add(&name, count.data, count.len);
	}
	if (svg_text_width(buf_str(&name), size) <= room)
		bootchart_add_text(w->svg, class, s->from + PAD, s->bar->y + s->bar->named / 2 +
				   size * 0.36, buf_str(&name));
	buf_release(&count);
	buf_release(&name);
}

static void end_mixed(struct walk *w)
{
	if (w->mixed.until - w->mixed.from >= LEAST)
		add_name(w, &w->mixed);
	w->mixed = (struct stretch){ .n_tasks = 0 };
}

/* b, the next, becomes part of a. */
static void join(struct stretch *a, const struct stretch *b)
{
	if (!a->n_tasks) {
		*a = *b;
		return;
	}
	a->until = b->until;
	a->n_tasks += b->n_tasks;
	a->n_bars += b->n_bars;
	a->place.len = slice_equal(a->place, b->place) ? a->place.len : 0;
	for (size_t i = 0; i < COLOURS; i++)
		a->colour[i] += b->colour[i];
}

static void end_open(struct walk *w)
{
	if (w->open.until - w->open.from >= LEAST) {
		end_mixed(w);
		add_name(w, &w->open);
	} else if (w->open.n_tasks) {
		join(&w->mixed, &w->open);
	}
	w->open = (struct stretch){ .n_tasks = 0 };
}

static void add_bar(struct walk *w, const struct bar *b, bool after_sign)
{
	struct stretch one = {
		.from = b->x, .until = b->x + b->width, .place = place_of(w, b->task),
		.n_tasks = b->n_tasks, .n_bars = 1, .bar = b,
	};

	one.from += after_sign ? SIGN : 0;
	one.colour[b->colour] = b->width;
	if (w->open.n_tasks && !slice_equal(w->open.place, one.place))
		end_open(w);
	join(&w->open, &one);
}

void bootchart_stretches(struct markup *s, const struct summary *sum, enum lanes_by by,
			 const struct bar *bar, size_t n)
{
	struct walk w = { .svg = s, .sum = sum, .by = by };

	for (size_t i = 0; i < n; i++) {
		const struct bar *last = i ? &bar[i - 1] : NULL;

		if (!last || last->y != bar[i].y || bar[i].x - last->x - last->width > APART ||
		    bar[i].width >= BAR_NAME_LEAST || bar[i].ended_badly) {
			w.open.until -= bar[i].ended_badly ? SIGN : 0;
			end_open(&w);
			end_mixed(&w);
		}
		if (bar[i].width < BAR_NAME_LEAST && !bar[i].ended_badly &&
		    bootchart_name_size(&bar[i]) > 0)
			add_bar(&w, &bar[i], last && last->y == bar[i].y && last->ended_badly);
	}
	end_open(&w);
	end_mixed(&w);
}
