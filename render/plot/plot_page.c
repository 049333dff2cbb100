/* SPDX-License-Identifier: MIT */
#include "render/plot/plot_page.h"

#include "analyse/words.h"
#include "base/array.h"
#include "base/minmax.h"
#include "base/text.h"
#include "render/chart/axis.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TITLE_COLUMNS 110
#define HOST_COLUMNS 60
#define BESIDE_MAX 2
#define RIGHT_AXIS " (right)"

/* Which panels a chart has, and which bands of other panels, shares, are lines in it. */
static const struct content {
	enum plot_chart chart;
	enum panel_id panel;
	struct beside {
		enum panel_id panel;
		const char *id, *label;
		enum colour colour;
	} beside[BESIDE_MAX];
} contents[] = {
	{ PLOT_CPU, PANEL_CPU, {
		{ PANEL_PRESSURE, "cpu_some", "time waited for a core", COLOUR_GREEN },
		{ PANEL_CGROUP, "throttled", "held back by the group's limit", COLOUR_PURPLE } } },
	{ PLOT_CPU, PANEL_RUNNING, { { .id = NULL } } },
	{ PLOT_DISK, PANEL_DISK, {
		{ PANEL_PRESSURE, "io_some", "time waited for disks", COLOUR_RED } } },
	{ PLOT_DISK, PANEL_NET, { { .id = NULL } } },
	{ PLOT_DISK, PANEL_VOLUMES, { { .id = NULL } } },
	{ PLOT_MEMORY, PANEL_MACHINE, { { .id = NULL } } },
};

static int64_t *new_values(size_t n)
{
	int64_t *value = array_new(n, sizeof *value);

	for (size_t i = 0; value && i < n; i++)
		value[i] = BAND_ABSENT;
	return value;
}

static struct layer *add_layer(struct pane *p)
{
	struct layer *l = &p->layer[p->n_layers];

	*l = (struct layer){ .value = new_values(p->n) };
	if (!l->value)
		return NULL;
	p->n_layers++;
	return l;
}

static int add_room(struct pane *p)
{
	p->low = new_values(p->n);
	p->high = new_values(p->n);
	return p->low && p->high ? 0 : -ENOMEM;
}

int64_t plot_page_time_us(const struct pane *p, size_t i)
{
	return p->from_us + (int64_t)((double)(p->until_us - p->from_us) * (double)i /
				      (double)p->n);
}

/* From the panels */

static void add_values(struct buf *b, const struct band *band, enum axis_unit unit)
{
	if (!band->max) {
		buf_adds(b, "none");
		return;
	}
	if (band->total >= 0) {
		axis_add_value(b, AXIS_BYTES, band->total);
		buf_adds(b, " in total");
	} else {
		buf_adds(b, "mean ");
		axis_add_value(b, unit, band->mean);
	}
	buf_adds(b, ", max ");
	axis_add_value(b, unit, band->max);
}

/* Is what a stretch shows a mean of several samples. */
static bool has_many(const struct panel *from, const struct pane *p)
{
	return from->n > p->n + 1;
}

/* Where a sample's end lies within a stretch the longer part counts: an edge stays
 * an edge. */
static int64_t nearest(const struct bin *bin)
{
	if (bin->min == BAND_ABSENT)
		return BAND_ABSENT;
	return bin->max - bin->mean < bin->mean - bin->min ? bin->max : bin->min;
}

static int add_band(struct pane *p, const struct panel *from, size_t i, struct bin *bin)
{
	const struct band *band = &from->band[i];
	struct layer *l;
	struct buf b;

	if (band->max < 0 || p->n_layers == LAYERS_MAX)
		return 0;
	l = add_layer(p);
	if (!l)
		return -ENOMEM;
	l->mark = band->mark;
	l->right = band->right;
	l->rgb = palette_light.colour[band->colour];
	buf_init_fixed(&b, l->label, sizeof l->label);
	buf_adds(&b, band->label);
	buf_adds(&b, band->right ? RIGHT_AXIS : "");
	buf_init_fixed(&b, l->values, sizeof l->values);
	add_values(&b, band, band->right ? from->right_unit : from->unit);
	panel_bins(from, i, p->from_us, p->until_us, bin, p->n);
	for (size_t j = 0; j < p->n; j++)
		l->value[j] = has_many(from, p) ? bin[j].mean : nearest(&bin[j]);
	return 0;
}

/* The least and most of the sum of the stack, or without a stack of the first band. */
static int add_extremes(struct pane *p, const struct panel *from, struct bin *bin)
{
	bool stack = false;
	struct buf b;

	if (!has_many(from, p) || !from->n_bands)
		return 0;
	for (size_t i = 0; i < from->n_bands; i++)
		stack |= from->band[i].mark == MARK_STACK;
	if (add_room(p))
		return -ENOMEM;
	if (stack)
		panel_stack_bins(from, p->from_us, p->until_us, bin, p->n);
	else
		panel_bins(from, 0, p->from_us, p->until_us, bin, p->n);
	for (size_t i = 0; i < p->n; i++) {
		p->low[i] = bin[i].min;
		p->high[i] = bin[i].max;
	}
	buf_init_fixed(&b, p->band_label, sizeof p->band_label);
	buf_adds(&b, stack ? "all" : from->band[0].label);
	buf_adds(&b, ": least to most within ");
	text_add_time(&b, (p->until_us - p->from_us) / (int64_t)p->n);
	return 0;
}

static int add_share(struct pane *p, const struct panel *from, const struct beside *what,
		     struct bin *bin)
{
	for (size_t i = 0; i < from->n_bands; i++) {
		struct layer *l = &p->layer[p->n_layers];
		struct buf b;

		if (strcmp(from->band[i].id, what->id) || !from->band[i].max)
			continue;
		if (add_band(p, from, i, bin))
			return -ENOMEM;
		l->mark = MARK_LINE;
		l->right = p->unit != AXIS_SHARE;
		l->rgb = palette_light.colour[what->colour];
		buf_init_fixed(&b, l->label, sizeof l->label);
		buf_adds(&b, what->label);
		if (!l->right)
			continue;
		buf_adds(&b, RIGHT_AXIS);
		p->right_unit = AXIS_SHARE;
		p->right_ceiling = 10000;
	}
	return 0;
}

static int add_beside(struct pane *p, const struct content *c, const struct panels *panels)
{
	struct bin *bin = array_new(p->n, sizeof *bin);
	int r = bin ? 0 : -ENOMEM;

	for (size_t i = 0; i < BESIDE_MAX && c->beside[i].id; i++) {
		const struct panel *from = panels_find(panels, c->beside[i].panel);

		if (!r && from && p->n_layers < LAYERS_MAX)
			r = add_share(p, from, &c->beside[i], bin);
	}
	free(bin);
	return r;
}

struct pane *plot_page_add_panel(struct plot_page *page, const struct panel *from, size_t n,
				 int64_t from_us, int64_t until_us)
{
	struct bin *bin = array_new(n, sizeof *bin);
	struct pane *p = &page->pane[page->n_panes];
	struct buf b;
	int r = 0;

	if (!bin)
		return NULL;
	page->n_panes++;
	*p = (struct pane){
		.mark_us = -1, .from_us = from_us, .until_us = until_us,
		.legend_columns = 3, .n = n,
	};
	p->unit = from->unit;
	p->ceiling = from->ceiling;
	p->right_unit = from->right_unit;
	p->right_ceiling = from->right_ceiling;
	p->limit = from->limit;
	buf_init_fixed(&b, p->title, sizeof p->title);
	buf_adds(&b, from->title);
	buf_init_fixed(&b, p->limit_label, sizeof p->limit_label);
	buf_adds(&b, from->limit >= 0 && from->limit_label ? from->limit_label : "");
	buf_init_fixed(&b, p->note, sizeof p->note);
	buf_adds(&b, from->note ? from->note : "");
	for (size_t i = 0; i < from->n_bands && !r; i++)
		r = add_band(p, from, i, bin);
	r = r ? r : add_extremes(p, from, bin);
	free(bin);
	return r ? NULL : p;
}

static int add_content(struct plot_page *page, const struct content *c, const struct panels *panels,
		       size_t n, int64_t until_us)
{
	const struct panel *from = panels_find(panels, c->panel);
	struct pane *p = from ? plot_page_add_panel(page, from, n, 0, until_us) : NULL;

	if (!from)
		return 0;
	return p ? add_beside(p, c, panels) : -ENOMEM;
}

/* Head */

static void add_title(struct plot_page *page, const struct summary *s)
{
	static const char *const what[] = {
		[PLOT_CPU] = "CPU: ", [PLOT_DISK] = "Disk and network: ",
		[PLOT_MEMORY] = "Memory: ",
	};
	const char *command = recording_build(s->rec, "command");
	struct buf b;

	buf_init_fixed(&b, page->title, sizeof page->title);
	buf_adds(&b, page->chart == PLOT_DISK && page->n_panes < 2 ? "Disk: " : what[page->chart]);
	if (!command && s->rec->source.system)
		buf_addf(&b, "an %s build", s->rec->source.system);
	else
		text_add_name(&b, command ? command : "a build whose command was not recorded",
			      TITLE_COLUMNS);
}

static void add_date(struct buf *b, const struct recording *rec)
{
	time_t seconds = (time_t)(rec->start_wall_ns / 1000000000);
	char text[64];
	struct tm tm;

	if (rec->start_wall_ns < 0 || !localtime_r(&seconds, &tm))
		return;
	buf_add(b, text, strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S %Z", &tm));
	buf_adds(b, ", ");
}

static void add_subtitle(struct plot_page *page, const struct summary *s)
{
	const char *host = recording_build(s->rec, "host");
	struct buf b;

	buf_init_fixed(&b, page->subtitle, sizeof page->subtitle);
	if (host) {
		text_add_name(&b, host, HOST_COLUMNS);
		buf_adds(&b, ", ");
	}
	add_date(&b, s->rec);
	words_add_result(&b, s->result, s->status);
	buf_adds(&b, s->result == BUILD_UNFINISHED ? ", seen for " : " after ");
	text_add_time(&b, s->wall_us);
}

int plot_page_make(struct plot_page *page, enum plot_chart chart, const struct summary *s,
		     const struct panels *panels, size_t n)
{
	int64_t until_us = MAX(s->wall_us, 1000);
	int r = 0;

	*page = (struct plot_page){ .chart = chart };
	for (size_t i = 0; i < ARRAY_SIZE(contents) && !r; i++) {
		if (contents[i].chart == chart)
			r = add_content(page, &contents[i], panels, n, until_us);
	}
	if (!r && chart == PLOT_MEMORY)
		r = page_add_tasks(page, s, panels, n);
	if (r)
		return r;
	add_title(page, s);
	add_subtitle(page, s);
	return page->n_panes ? 0 : -ENODATA;
}

void plot_page_release(struct plot_page *page)
{
	for (size_t i = 0; i < page->n_panes; i++) {
		struct pane *p = &page->pane[i];

		for (size_t j = 0; j < p->n_layers; j++)
			free(p->layer[j].value);
		free(p->low);
		free(p->high);
	}
	*page = (struct plot_page){ 0 };
}
