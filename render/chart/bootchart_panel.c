/* SPDX-License-Identifier: MIT */
#include "render/chart/bootchart_parts.h"

#include "base/minmax.h"
#include "base/saturate.h"
#include "render/chart/axis.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COLUMN CHART_COLUMN	/* of a bin: two points a band in each, four at most */
#define BINS (CHART_WIDTH / COLUMN)	/* at most */
#define AXIS_TICKS_MAX 5
#define TICK_PITCH 22		/* pixels between two ticks, at least */
#define AXIS_GAP 7		/* between the plot and its labels */
#define LABEL_RISE 3.5		/* from a label's middle to its baseline */
#define BAND_LEAST 1.0		/* pixels between least and most that are worth a band */

/* What a band comes to in each column of pixels, or between each two points where
 * these are fewer: in pixels from the top. */
struct profile {
	size_t n;
	bool steps;		/* from x to x; otherwise through the middles of columns */
	bool known[BINS];
	double x[BINS + 1];	/* where each begins, and the last ends */
	double min[BINS], mean[BINS], max[BINS];
};

struct plot {
	struct markup *svg;
	const struct panel *panel;
	const struct chart *chart;
	int height;
	size_t bins;		/* columns of this picture */
	struct bin bin[BINS];
	struct profile profile;
	double stack[PANEL_BANDS_MAX][BINS];	/* tops of a stack's bands, in pixels */
	bool stacked[BINS];	/* something is known of that column */
	bool areas;		/* lines pass over some */
};

static double scaled(const struct plot *p, double value, int64_t ceiling)
{
	double y = ceiling > 0 ? p->height * (1 - value / (double)ceiling) : p->height;

	return y < -1 ? -1 : MIN(p->height, y);
}

static void begin_profile(struct plot *p, const struct panel *panel, bool held)
{
	struct profile *f = &p->profile;
	bool dense = chart_is_dense(p->chart, panel);

	f->n = dense ? p->bins : panel->n - 1;
	f->steps = held || !dense;
	for (size_t i = 0; i <= f->n; i++)
		f->x[i] = dense ? (double)i * COLUMN : chart_x(p->chart, panel->time_us[i]);
}

static void bins_of_band(struct plot *p, const struct panel *panel, size_t band)
{
	const int64_t *value = panel->band[band].value;

	if (chart_is_dense(p->chart, panel)) {
		panel_bins(panel, band, 0, p->chart->end_us, p->bin, p->bins);
		return;
	}
	for (size_t i = 0; i + 1 < panel->n; i++)
		p->bin[i] = (struct bin){ value[i + 1], value[i + 1], value[i + 1] };
}

static void profile_of_bins(struct plot *p, int64_t ceiling)
{
	struct profile *f = &p->profile;

	for (size_t i = 0; i < f->n; i++) {
		f->known[i] = p->bin[i].min != BAND_ABSENT;
		if (!f->known[i])
			continue;
		f->min[i] = scaled(p, (double)p->bin[i].min, ceiling);
		f->mean[i] = scaled(p, (double)p->bin[i].mean, ceiling);
		f->max[i] = scaled(p, (double)p->bin[i].max, ceiling);
	}
}

/* The next stretch of known columns from *i on. */
static bool next_run(const struct profile *f, size_t *i, size_t *end)
{
	while (*i < f->n && !f->known[*i])
		(*i)++;
	for (*end = *i; *end < f->n && f->known[*end]; (*end)++)
		;
	return *i < *end;
}

/* A line through the middles of columns [from, end), forth or back, without points that a line
 * from its neighbours passes anyway. */
static void add_points(struct svg_path *path, const double *y, size_t from, size_t end, bool back)
{
	for (size_t k = from; k < end; k++) {
		size_t i = back ? end - 1 - (k - from) : k;

		if (i == from || i + 1 == end || y[i] != y[i - 1] || y[i] != y[i + 1])
			svg_path_line(path, (i + 0.5) * COLUMN, y[i]);
	}
}

/* The upper edge of a stretch of columns, from where it begins to where it ends. */
static void add_tops(struct svg_path *path, const struct profile *f, size_t from, size_t end)
{
	svg_path_line(path, f->x[from], f->mean[from]);
	for (size_t i = from + 1; i < end && f->steps; i++) {
		if (f->mean[i] == f->mean[i - 1])
			continue;
		svg_path_line(path, f->x[i], f->mean[i - 1]);
		svg_path_line(path, f->x[i], f->mean[i]);
	}
	if (!f->steps)
		add_points(path, f->mean, from, end, false);
	svg_path_line(path, f->x[end], f->mean[end - 1]);
}

/* The curve, and with area what is below it. */
static void add_curve(struct plot *p, const char *class, bool area)
{
	const struct profile *f = &p->profile;
	struct svg_path path;

	svg_path_init(&path, p->svg, class);
	path.coarse = true;
	for (size_t i = 0, end; next_run(f, &i, &end); i = end) {
		svg_path_move(&path, f->x[i], area ? p->height : f->mean[i]);
		add_tops(&path, f, i, end);
		if (area) {
			svg_path_line(&path, f->x[end], p->height);
			svg_path_close(&path);
		}
	}
	svg_path_end(&path);
}

/* From the least to the most, where they are apart: in columns of many points. */
static void add_band(struct plot *p, const char *class)
{
	const struct profile *f = &p->profile;
	struct svg_path path;

	if (!chart_is_dense(p->chart, p->panel))
		return;
	svg_path_init(&path, p->svg, class);
	path.coarse = true;
	for (size_t i = 0, end; i < f->n; i = end) {
		for (end = i; end < f->n && f->known[end] && f->min[end] - f->max[end] >
		     BAND_LEAST; end++)
			;
		if (end == i) {
			end++;
			continue;
		}
		svg_path_move(&path, f->x[i], f->max[i]);
		add_points(&path, f->max, i, end, false);
		svg_path_line(&path, f->x[end], f->max[end - 1]);
		svg_path_line(&path, f->x[end], f->min[end - 1]);
		add_points(&path, f->min, i, end, true);
		svg_path_line(&path, f->x[i], f->min[i]);
		svg_path_close(&path);
	}
	svg_path_end(&path);
}

/* Stretches of which nothing is known, from the axis to the top. */
static void draw_gaps(struct plot *p)
{
	const struct panel *panel = p->panel;
	struct svg_path path;
	double x, until, from = 0, last = -1;	/* of the stretch being made */

	svg_path_init(&path, p->svg, "gap");
	for (size_t i = 1; i < panel->n; i++) {
		if (!panel->gap[i])
			continue;
		x = chart_x(p->chart, panel->time_us[i - 1]);
		until = chart_x(p->chart, panel->time_us[i]);
		if (last >= 0 && x - last < 1) {
			last = until;
			continue;
		}
		if (last >= 0)
			svg_path_rect(&path, from, 0, last - from, p->height);
		from = x;
		last = until;
	}
	if (last >= 0)
		svg_path_rect(&path, from, 0, last - from, p->height);
	svg_path_end(&path);
}

/* Stacks: what is on top is drawn first, down to the axis; the others cover it. */
static void draw_stack(struct plot *p)
{
	const struct panel *panel = p->panel;
	double sum[BINS] = { 0 };
	char class[] = "area c0";
	bool any = false;

	begin_profile(p, panel, false);
	memset(p->stacked, 0, sizeof p->stacked);
	for (size_t i = 0; i < panel->n_bands; i++) {
		if (panel->band[i].mark != MARK_STACK)
			continue;
		any = true;
		bins_of_band(p, panel, i);
		for (size_t k = 0; k < p->profile.n; k++) {
			if (p->bin[k].min != BAND_ABSENT) {
				p->stacked[k] = true;
				sum[k] += (double)p->bin[k].mean;
			}
			p->stack[i][k] = scaled(p, sum[k], panel->ceiling);
		}
	}
	for (size_t i = panel->n_bands; i-- > 0;) {
		if (panel->band[i].mark != MARK_STACK)
			continue;
		memcpy(p->profile.known, p->stacked, sizeof p->stacked);
		memcpy(p->profile.mean, p->stack[i], sizeof p->stack[i]);
		class[6] = (char)('0' + panel->band[i].colour);
		add_curve(p, class, true);
	}
	if (!any || !chart_is_dense(p->chart, panel))
		return;
	panel_stack_bins(panel, 0, p->chart->end_us, p->bin, p->bins);
	profile_of_bins(p, panel->ceiling);
	add_band(p, "band all");
}

static void draw_band(struct plot *p, size_t i)
{
	const struct band *band = &p->panel->band[i];
	char area[] = "area c0", range[] = "band c0", line[] = "line c0";

	area[6] = range[6] = line[6] = (char)('0' + band->colour);
	begin_profile(p, p->panel, band->held);
	bins_of_band(p, p->panel, i);
	profile_of_bins(p, band->right ? p->panel->right_ceiling : p->panel->ceiling);
	if (band->mark == MARK_AREA)
		add_curve(p, area, true);
	add_band(p, band->mark == MARK_AREA ? "band all" : range);
	if (band->mark != MARK_AREA) {
		if (p->areas)
			add_curve(p, "line halo", false);
		add_curve(p, line, false);
	}
}

/* A stack of few points. */
static void add_up_points(struct plot *p, const struct panel *panel)
{
	for (size_t k = 0; k + 1 < panel->n; k++) {
		int64_t sum = BAND_ABSENT;

		for (size_t i = 0; i < panel->n_bands; i++) {
			int64_t value = panel->band[i].value[k + 1];

			if (panel->band[i].mark == MARK_STACK && value != BAND_ABSENT)
				sum = sat_add(sum == BAND_ABSENT ? 0 : sum, value);
		}
		p->bin[k] = (struct bin){ sum, sum, sum };
	}
}

/* The other build: CPU in all, its tasks, their memory. */
static void draw_ghost(struct plot *p)
{
	const struct panel *other = panels_find(&p->chart->ghost_panels, p->panel->id);

	if (!other || !other->n_bands || p->panel->id > PANEL_MEMORY)
		return;
	begin_profile(p, other, other->band[0].held);
	if (p->panel->id == PANEL_RUNNING)
		bins_of_band(p, other, 0);
	else if (chart_is_dense(p->chart, other))
		panel_stack_bins(other, 0, p->chart->end_us, p->bin, p->bins);
	else
		add_up_points(p, other);
	profile_of_bins(p, p->panel->ceiling);
	add_curve(p, "line halo", false);
	add_curve(p, "line ghost", false);
}

/* Axes */

static void draw_axis(struct plot *p, int top, enum axis_unit unit, int64_t ceiling, bool right)
{
	size_t most = (size_t)p->height / TICK_PITCH + 1;
	struct tick tick[AXIS_TICKS_MAX];
	size_t n = axis_ticks(tick, most > AXIS_TICKS_MAX ? AXIS_TICKS_MAX : MAX(2, most),
			      ceiling, unit);
	struct svg_path grid;

	markup_begin(p->svg, "g");
	markup_attr(p->svg, "class", right ? "axis right" : "axis");
	svg_path_init(&grid, p->svg, "grid");
	for (size_t i = 0; i < n; i++) {
		double y = top + scaled(p, (double)tick[i].value, ceiling);

		if (!right) {
			svg_path_move(&grid, p->chart->plot_x, y);
			svg_path_line(&grid, p->chart->plot_x + p->chart->plot_width, y);
		}
	}
	svg_path_end(&grid);
	for (size_t i = 0; i < n; i++) {
		double y = top + scaled(p, (double)tick[i].value, ceiling) + LABEL_RISE;

		bootchart_add_text(p->svg, right ? "tick start" : "tick end", right ? p->chart->plot_x +
			 p->chart->plot_width + AXIS_GAP : p->chart->plot_x - AXIS_GAP, y, tick[i].label);
	}
	markup_end(p->svg);
}

static void draw_limit(struct plot *p, int top)
{
	const struct panel *panel = p->panel;
	double y = top + scaled(p, (double)panel->limit, panel->ceiling);
	struct svg_path path;

	if (panel->limit < 0 || panel->limit > panel->ceiling)
		return;
	svg_path_init(&path, p->svg, "limit");
	svg_path_move(&path, p->chart->plot_x, y);
	svg_path_line(&path, p->chart->plot_x + p->chart->plot_width, y);
	svg_path_end(&path);
	if (panel->limit_label)
		bootchart_add_text(p->svg, "over end", p->chart->plot_x + p->chart->plot_width - 4,
			 y - top < 14 ? y + 11 : y - 4, panel->limit_label);
}

/* Panels */

/* "CPU: user max 98 %, mean 40 %; ..." */
static void add_description(struct markup *s, const struct panel *p, const struct legend *l)
{
	struct buf b = BUF_INIT;

	buf_adds(&b, p->title);
	for (size_t i = 0; i < l->n; i++) {
		buf_adds(&b, i ? "; " : ": ");
		buf_adds(&b, l->key[i].label);
		buf_adds(&b, l->key[i].values ? " " : "");
		buf_adds(&b, l->key[i].values ? l->key[i].values : "");
	}
	markup_attr_buf(s, "aria-label", &b);
	buf_release(&b);
}

static void begin_panel(struct plot *p, const struct legend *l, int title_y)
{
	struct markup *s = p->svg;
	struct buf id = BUF_INIT;

	buf_adds(&id, "p-");
	buf_adds(&id, p->panel->word);
	markup_begin(s, "g");
	markup_attr_buf(s, "id", &id);
	markup_attr(s, "class", "panel");
	markup_attr(s, "role", "group");
	add_description(s, p->panel, l);
	bootchart_add_text(s, "title", p->chart->plot_x, title_y, p->panel->title);
	markup_begin(s, "g");
	markup_attr(s, "class", "legend");
	for (size_t i = 0; i < l->n; i++)
		bootchart_add_key(s, &l->key[i], l->key[i].is_mark ? "data-mark" : "data-band");
	markup_end(s);
	buf_release(&id);
}

static void draw_panel(struct plot *p, size_t index)
{
	const struct place *place = &p->chart->panel_place[index];

	p->panel = &p->chart->panels.panel[index];
	p->height = place->height;
	begin_panel(p, &p->chart->panel_legend[index], place->title_y);
	draw_axis(p, place->y, p->panel->unit, p->panel->ceiling, false);
	if (p->panel->right_ceiling > 0)
		draw_axis(p, place->y, p->panel->right_unit, p->panel->right_ceiling, true);
	bootchart_begin_plot(p->svg, p->chart, place->y, place->height);
	markup_begin(p->svg, "g");
	markup_attr(p->svg, "class", "draw");
	draw_gaps(p);
	draw_stack(p);
	p->areas = false;
	for (size_t i = 0; i < p->panel->n_bands; i++)
		p->areas |= p->panel->band[i].mark != MARK_LINE;
	for (size_t i = 0; i < p->panel->n_bands; i++) {
		if (p->panel->band[i].mark != MARK_STACK)
			draw_band(p, i);
	}
	draw_ghost(p);
	markup_end(p->svg);
	markup_end(p->svg);
	draw_limit(p, place->y);
	markup_end(p->svg);
}

int bootchart_panels(struct markup *s, const struct chart *c)
{
	struct plot *p = calloc(1, sizeof *p);

	if (!p)
		return -ENOMEM;
	p->svg = s;
	p->chart = c;
	p->bins = (size_t)c->plot_width / COLUMN;
	for (size_t i = 0; i < c->panels.n; i++) {
		if (c->panel_place[i].height)
			draw_panel(p, i);
	}
	free(p);
	return 0;
}
