/* SPDX-License-Identifier: MIT */
#include "report/inspect/class_plot.h"

#include "base/array.h"
#include "base/minmax.h"
#include "base/sort.h"
#include "base/text.h"
#include "render/chart/axis.h"
#include "render/chart/palette.h"
#include "render/plot/drawing.h"
#include "render/plot/script.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STRETCHES 1000
#define LAYERS (COLOURS - 1)	/* with a colour of their own; the rest is one grey layer */
#define COLUMNS 80
#define LINES 24

/* What a pane divides. */
struct divided {
	const struct classes *c;
	unsigned value;
	int64_t scale;		/* of a value, in bytes */
};

static int64_t bytes_of(const struct divided *d, size_t class, size_t snapshot)
{
	return classes_value(d->c, class, snapshot, d->value) * d->scale;
}

static int64_t most_of(const struct divided *d, size_t class)
{
	int64_t most = 0;

	for (size_t s = 0; s < d->c->n_snapshots; s++) {
		int64_t bytes = bytes_of(d, class, s);

		most = MAX(bytes, most);
	}
	return most;
}

static bool is_larger(const void *ctx, uint32_t a, uint32_t b)
{
	int64_t x = most_of(ctx, a), y = most_of(ctx, b);

	return x != y ? x > y : a < b;
}

/* The end of the last snapshot: the mean time between two after it, or a moment if the process
 * had ended, so that there are only values of its heap. */
static int64_t end_us(const struct class_plot *p)
{
	const int64_t *time_us = p->time_us;
	size_t n = p->memory->n_snapshots;
	bool ended = n > 1 && !classes_value(p->memory, 0, n - 1, MAPPING_RSS);
	int64_t step = n > 1 ? (time_us[n - 1] - time_us[0]) / (ended ? 100 : (int64_t)(n - 1)) :
		1000000;

	return time_us[n - 1] + (step > 0 ? step : 1);
}

/* Add a class to a layer. */
static void add_values(struct pane *p, struct layer *l, const struct divided *d, size_t class,
		       const int64_t *time_us)
{
	size_t s = 0;

	for (size_t i = 0; i < p->n; i++) {
		int64_t now = plot_page_time_us(p, i);

		while (s + 1 < d->c->n_snapshots && time_us[s + 1] <= now)
			s++;
		l->value[i] += bytes_of(d, class, s);
	}
}

static struct layer *add_layer(struct pane *p, const char *name, uint32_t rgb)
{
	struct layer *l = &p->layer[p->n_layers];
	struct buf b;

	l->value = array_new_zero(p->n + 1, sizeof *l->value);
	if (!l->value)
		return NULL;
	l->mark = MARK_STACK;
	l->rgb = rgb;
	buf_init_fixed(&b, l->label, sizeof l->label);
	text_add_name(&b, name, 60);
	p->n_layers++;
	return l;
}

/* The end is that of the last stretch in which there is anything. */
static void add_words(struct layer *l, const struct pane *p)
{
	size_t last = p->n - 1;
	int64_t most = 0, all = 0;
	struct buf b;

	for (size_t i = 0; i < p->n; i++)
		most = MAX(l->value[i], most);
	for (; last; last--) {
		for (size_t i = 0; i < p->n_layers; i++)
			all += p->layer[i].value[last];
		if (all)
			break;
	}
	buf_init_fixed(&b, l->values, sizeof l->values);
	buf_adds(&b, "max ");
	text_add_bytes(&b, most);
	buf_adds(&b, ", at the end ");
	text_add_bytes(&b, l->value[last]);
}

static int add_layers(struct pane *p, const struct divided *d, const int64_t *time_us)
{
	uint32_t *class = array_new_zero(d->c->n, sizeof *class);
	size_t n = 0, top;
	int r = class ? 0 : -ENOMEM;

	for (size_t i = 1; class && i < d->c->n; i++) {
		if (d->c->item[i].parent == 0 && most_of(d, i))
			class[n++] = (uint32_t)i;
	}
	top = class ? sort_top(class, n, n, is_larger, d) : 0;
	for (size_t i = 0; !r && i < top; i++) {
		bool rest = i >= LAYERS && top > LAYERS + 1;
		uint32_t rgb = palette_light.colour[i < LAYERS ? i : COLOUR_GREY];

		if (i <= LAYERS && !add_layer(p, rest ? "smaller classes" :
					      d->c->item[class[i]].name, rgb))
			r = -ENOMEM;
		else
			add_values(p, &p->layer[p->n_layers - 1], d, class[i], time_us);
	}
	for (size_t i = 0; !r && i < p->n_layers; i++)
		add_words(&p->layer[i], p);
	free(class);
	return r;
}

static int add_pane(struct plot_page *page, const char *title, const struct divided *d,
		    const struct class_plot *from, size_t n)
{
	struct pane *p = &page->pane[page->n_panes++];

	*p = (struct pane){
		.unit = AXIS_BYTES, .limit = -1, .mark_us = -1, .n = n, .legend_columns = 2,
		.from_us = from->time_us[0], .until_us = end_us(from),
		.ceiling = axis_ceiling(most_of(d, 0) > 0 ? most_of(d, 0) : 1, AXIS_BYTES),
	};
	snprintf(p->title, sizeof p->title, "%s", title);
	return add_layers(p, d, from->time_us);
}

static void add_titles(struct plot_page *page, const struct class_plot *p)
{
	struct buf b;

	buf_init_fixed(&b, page->title, sizeof page->title);
	buf_adds(&b, "Memory of ");
	text_add_name(&b, p->in->program, 60);
	buf_addf(&b, " %d", p->in->pid);
	buf_init_fixed(&b, page->subtitle, sizeof page->subtitle);
	text_add_name(&b, p->in->command, 140);
}

static int make_page(struct plot_page *page, const struct class_plot *p, size_t n)
{
	struct divided memory = { p->memory, MAPPING_RSS, 1024 }, heap = { p->heap, HEAP_LIVE_BYTES, 1 };
	int r;

	*page = (struct plot_page){ .chart = PLOT_MEMORY };
	if (!p->memory->n_snapshots || !p->memory->n)
		return -ENODATA;
	add_titles(page, p);
	r = add_pane(page, "Memory in use (RSS) by class", &memory, p, n);
	if (!r && p->heap && p->heap->n && most_of(&heap, 0))
		r = add_pane(page, p->in->heap == HEAP_SAMPLED ? "Live allocations by class, estimated" :
			     "Live allocations by class", &heap, p, n);
	return r;
}

int class_plot_draw(const struct class_plot *p, struct buf *out, struct error *err)
{
	unsigned columns = p->columns ? p->columns : COLUMNS, lines = p->lines ? p->lines : LINES;
	struct buf directory = BUF_INIT;
	struct plot_page page;
	struct drawing d = {
		.word = plot_word[PLOT_MEMORY], .format = p->format, .title = page.title,
		.path = p->path, .named = true, .colour = p->colour, .stop_fd = p->stop_fd,
	};
	int r = make_page(&page, p, p->format == PLOT_TERM ? term_stretches(columns) : STRETCHES);

	if (r == -ENODATA) {
		error_set(err, r, NULL, 0, 0, "the inspection has no snapshot");
	} else if (r) {
		error_sys(err, r, NULL, "memory");
	} else {
		if (p->keep && p->path) {
			const char *slash = strrchr(p->path, '/');

			buf_add(&directory, p->path, slash ? (size_t)(slash - p->path) : 0);
			d.keep_in = !slash ? "." : slash == p->path ? "/" : buf_str(&directory);
		}
		r = plot_draw_page(&d, &page, columns, lines, out, err);
	}
	drawing_release(&d);
	buf_release(&directory);
	plot_page_release(&page);
	return r;
}
