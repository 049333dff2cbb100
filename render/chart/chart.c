/* SPDX-License-Identifier: MIT */
#include "render/chart/chart.h"

#include "render/chart/legend.h"
#include "render/chart/svg.h"
#include "render/facts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PANEL_GAP 22		/* from a plot to the next title's baseline */
#define TITLE_SIZE 12.5		/* of the font */
#define TITLE_WIDTH 124		/* legends begin right of it, one below the other */
#define TITLE_GAP 16		/* or so far right of a longer title */
#define TITLE_DEPTH 7		/* from the legend's last baseline to the plot */
#define TIME_DEPTH 16		/* from a plot to the baseline of the time axis */
#define LANES_GAP 10		/* from there to the lanes */
#define LANES_HEIGHT_MAX 960
#define LANE_HEIGHT_MAX 20.0
#define LANE_HEIGHT_MIN 0.5
#define ROW_HEIGHT_MIN 13	/* of a label */
#define NEST_HEIGHT 13
#define TIME_LEAST_US 1000000	/* of an axis for a build of no time */
#define EMPTY_HEIGHT 40		/* of the sentence in place of the lanes */

#define FACT_COLUMNS 4
#define FACT_GAP 20
#define FACT_PITCH 38

static const int panel_height[PANELS] = {
	[PANEL_CPU] = 96, [PANEL_RUNNING] = 64, [PANEL_MEMORY] = 96, [PANEL_DISK] = 72,
	[PANEL_NET] = 56, [PANEL_PRESSURE] = 56, [PANEL_CGROUP] = 64,
};

/* Facts */

static void write_fact(struct facts *f, const char *label, enum tone tone)
{
	struct chart *c = f->context;
	struct buf text = BUF_PART_OF(f->part.whole);

	if (c->n_facts == CHART_FACTS_MAX)
		return;
	for (const char *p = f->part.data; p < f->part.data + f->part.len; p += strlen(p) + 1) {
		buf_adds(&text, text.len ? " \xc2\xb7 " : "");
		buf_adds(&text, p);
	}
	c->fact[c->n_facts++] = (struct fact){ label, text.data, tone == TONE_ALARM, 0, 0, 0 };
}

static void add_headline(struct facts *f, const struct recording *rec)
{
	const char *command = recording_build(rec, "command");
	const char *name = rec->path ? strrchr(rec->path, '/') : NULL;

	if (!command && rec->source.system) {
		text_add_name(&f->part, rec->source.system, 0);
		buf_adds(&f->part, " build ");
		text_add_name(&f->part, name && name[1] ? name + 1 : "", 0);
	} else {
		fact_add_name(f, "", command ? command : "A build whose command was not recorded");
	}
	fact_end(f, NULL, TONE_PLAIN);
}

static void add_path(struct facts *f, const struct chart *c)
{
	if (!c->chain.n_path)
		return;
	fact_add_count(f, c->chain.n_path, c->chain.n_path == 1 ? " task" : " tasks");
	fact_add_time(f, c->chain.path_us, "");
	if (c->sum->wall_us > 0) {
		text_add_percent(&f->part, (double)c->chain.path_us / (double)c->sum->wall_us);
		buf_adds(&f->part, " of the build");
	}
	fact_end(f, "critical path", TONE_PLAIN);
}

static void add_other_build(struct facts *f, const struct chart *c)
{
	const char *command;

	if (!c->ghost)
		return;
	command = recording_build(c->ghost->rec, "command");
	fact_add_name(f, "", command ? command : "its command was not recorded");
	text_add_time(&f->part, c->ghost->wall_us);
	buf_adds(&f->part, " there, ");
	text_add_time(&f->part, c->sum->wall_us);
	buf_adds(&f->part, " here");
	if (c->ghost->wall_us > 0)
		buf_addf(&f->part, " (%+.1f %%)", 100 * ((double)c->sum->wall_us /
			 (double)c->ghost->wall_us - 1));
	fact_part(f);
	fact_add_count(f, c->other->n_same, c->other->n_same == 1 ? " task in both" :
		       " tasks in both");
	fact_add_count(f, c->other->n_only_here, " only here");
	fact_add_count(f, c->other->n_only_there, " only there");
	fact_end(f, "compared with", TONE_PLAIN);
	if (c->other->warning) {
		buf_adds(&f->part, c->other->warning);
		fact_part(f);
		fact_end(f, "warning", TONE_ALARM);
	}
}

static int make_facts(struct chart *c)
{
	const struct summary *s = c->sum;
	struct buf all = BUF_INIT;	/* empty: it takes over the errors of the facts */
	struct facts f = {
		.part = BUF_PART_OF(&all), .brief = true, .write = write_fact, .context = c,
	};

	add_headline(&f, s->rec);
	fact_result(&f, s);
	fact_cpu(&f, s);
	fact_tasks(&f, s);
	add_path(&f, c);
	fact_samples(&f, s);
	fact_memory(&f, s);
	fact_disk(&f, &s->host);
	fact_host(&f, s);
	fact_when(&f, s->rec);
	fact_directory(&f, s->rec);
	fact_sources(&f, s->rec);
	add_other_build(&f, c);
	fact_warnings(&f, s->rec);
	facts_release(&f);
	return buf_error(&all);
}

/* Content */

/* Both builds against one axis. */
static void share_ceilings(struct chart *c)
{
	for (size_t i = 0; i < c->panels.n; i++) {
		struct panel *p = &c->panels.panel[i];
		const struct panel *other = panels_find(&c->ghost_panels, p->id);

		if (other && other->ceiling > p->ceiling)
			p->ceiling = other->ceiling;
	}
}

static int make_parts(struct chart *c, const struct chart_input *in)
{
	int r = lanes_make(&c->lanes, in->sum, in->by);

	r = r ? r : works_make(&c->works, in->sum);
	r = r ? r : pieces_make(&c->pieces, &c->lanes, in->sum, &c->works, 0, c->end_us,
				CHART_PLOT_WIDTH, CHART_PIECES_MAX);
	r = r ? r : chain_make(&c->chain, in->sum);
	r = r ? r : queue_make(&c->queue, in->sum, &c->chain);
	r = r ? r : answer_make(&c->answer, in->sum, &c->chain, &c->queue);
	if (c->ghost) {
		r = r ? r : panels_make(&c->ghost_panels, c->ghost);
		share_ceilings(c);
	}
	return r;
}

static int make_legends(struct chart *c)
{
	int r = 0;

	for (size_t i = 0; !r && i < c->panels.n; i++)
		r = legend_of_panel(&c->panel_legend[i], &c->panels.panel[i]);
	for (size_t i = 0; i < c->panels.n; i++) {
		if (chart_is_dense(&c->panels.panel[i])) {
			legend_add_spread(&c->panel_legend[i]);
			break;
		}
	}
	r = r ? r : legend_of_works(&c->kinds, &c->works);
	legend_of_marks(&c->marks, c);
	return r;
}

/* Places */

/* Each fact in the first line that has room for it. Returns the bottom of the last line. */
static int place_facts(struct chart *c, int top_y)
{
	int cell = (CHART_WIDTH - 2 * CHART_MARGIN + FACT_GAP) / FACT_COLUMNS;
	int taken[CHART_FACTS_MAX] = { 0 }, lines = 0;

	for (size_t i = 1; i < c->n_facts; i++) {
		struct fact *f = &c->fact[i];
		double width = svg_text_width(f->text, FACT_SIZE) * (f->alarm ? SVG_BOLD : 1) +
			FACT_GAP;
		int cells = width <= cell ? 1 : width <= 2 * cell ? 2 : FACT_COLUMNS;
		int line = 0;

		while (taken[line] + cells > FACT_COLUMNS)
			line++;
		f->x = CHART_MARGIN + taken[line] * cell;
		f->y = top_y + 2 * FACT_LABEL_RISE + 8 + line * FACT_PITCH;
		f->width = cells * cell - FACT_GAP;
		taken[line] += cells;
		lines = line >= lines ? line + 1 : lines;
	}
	return top_y + 2 * FACT_LABEL_RISE + lines * FACT_PITCH - FACT_PITCH / 2 + 8;
}

/* Returns the bottom of the last one. */
static int place_panels(struct chart *c, int y)
{
	int right = CHART_PLOT_X + CHART_PLOT_WIDTH;

	for (size_t i = 0; i < c->panels.n; i++) {
		struct place *p = &c->panel_place[i];
		double title = svg_text_width(c->panels.panel[i].title, TITLE_SIZE) * SVG_BOLD;
		int left = CHART_PLOT_X + (title + TITLE_GAP > TITLE_WIDTH ?
					   (int)title + TITLE_GAP : TITLE_WIDTH);

		p->title_y = y + PANEL_GAP;
		p->y = legend_place(&c->panel_legend[i], left, p->title_y, right) + TITLE_DEPTH;
		p->height = panel_height[c->panels.panel[i].id];
		y = p->y + p->height;
	}
	return y;
}

static int row_height(const struct row *r, double lane)
{
	int height = (int)(r->n_lanes * lane + 0.5);
	int least = r->nest ? NEST_HEIGHT : ROW_HEIGHT_MIN;

	return r->nest || height < least ? least : height;
}

static int rows_height(const struct chart *c, double lane)
{
	int height = 0;

	for (size_t i = 0; i < c->lanes.n_rows; i++)
		height += row_height(&c->lanes.row[i], lane);
	return height;
}

/* Lanes are as high as all of them find room, up to what looks good. */
static double lane_height(const struct chart *c)
{
	double lane = LANE_HEIGHT_MAX;

	while (lane > LANE_HEIGHT_MIN && rows_height(c, lane) > LANES_HEIGHT_MAX)
		lane -= 0.5;
	return lane;
}

/* Returns the bottom of the last one. */
static int place_rows(struct chart *c, int y)
{
	double lane = lane_height(c);
	int rest = lane < LANE_HEIGHT_MAX ? LANES_HEIGHT_MAX - rows_height(c, lane) : 0;

	c->lanes_y = y;
	if (!c->lanes.n_rows)
		return y + (c->lanes_height = EMPTY_HEIGHT);
	c->row_place = calloc(c->lanes.n_rows, sizeof *c->row_place);
	if (!c->row_place)
		return -ENOMEM;
	for (size_t i = 0; i < c->lanes.n_rows; i++) {
		const struct row *r = &c->lanes.row[i];
		uint32_t end = r->first_lane + r->n_lanes;

		/* The rows share what rounding left over, so that all large builds have the same
		 * height. */
		c->row_place[i].y = y;
		c->row_place[i].height = row_height(r, lane) +
			rest * (int)end / (int)c->lanes.n_lanes -
			rest * (int)r->first_lane / (int)c->lanes.n_lanes;
		y += c->row_place[i].height;
	}
	c->lanes_height = y - c->lanes_y;
	return y;
}

static int place_all(struct chart *c)
{
	int left = CHART_PLOT_X, right = CHART_WIDTH - CHART_MARGIN;
	int y = place_panels(c, place_facts(c, CHART_HEADLINE_Y));

	c->time_y = y + TIME_DEPTH;
	y = place_rows(c, c->time_y + LANES_GAP);
	if (y < 0)
		return y;
	c->time_end_y = y + TIME_DEPTH;
	y = legend_place(&c->kinds, left, c->time_end_y + PANEL_GAP, right);
	y = legend_place(&c->marks, left, y + LEGEND_PITCH, right);
	c->height = y + CHART_MARGIN;
	for (size_t i = 0; i < c->panels.n; i++) {
		if (c->panel_legend[i].error)
			return c->panel_legend[i].error;
	}
	return c->kinds.error ? c->kinds.error : c->marks.error;
}

int chart_make(struct chart *c, const struct chart_input *in)
{
	int r;

	*c = (struct chart){
		.sum = in->sum, .other = in->other, .ghost = in->other ? in->other->sum : NULL, .end_us = in->sum->wall_us,
		.lines = in->lines,
		.panels = *in->panels,
	};
	if (c->ghost && c->ghost->wall_us > c->end_us)
		c->end_us = c->ghost->wall_us;
	/* A build of no time at all still has an axis. */
	if (c->end_us <= 0)
		c->end_us = TIME_LEAST_US;
	for (size_t i = 0; i < in->sum->n_ran && !c->has_queue; i++) {
		const struct task *t = &in->sum->rec->task[in->sum->order[i]];

		c->has_queue = t->queued_us >= 0 && t->queued_us < t->start_us;
	}
	r = make_parts(c, in);
	r = r ? r : make_facts(c);
	r = r ? r : make_legends(c);
	return r ? r : place_all(c);
}

void chart_release(struct chart *c)
{
	for (size_t i = 0; i < c->n_facts; i++)
		free(c->fact[i].text);
	for (size_t i = 0; i < PANELS; i++)
		legend_release(&c->panel_legend[i]);
	legend_release(&c->kinds);
	legend_release(&c->marks);
	panels_release(&c->ghost_panels);
	pieces_release(&c->pieces);
	works_release(&c->works);
	lanes_release(&c->lanes);
	answer_release(&c->answer);
	queue_release(&c->queue);
	chain_release(&c->chain);
	free(c->row_place);
	*c = (struct chart){ 0 };
}

bool chart_is_dense(const struct panel *p)
{
	return p->n > CHART_PLOT_WIDTH / CHART_COLUMN;
}

struct lane_place chart_lane(const struct chart *c, uint32_t lane)
{
	size_t low = 0, high = c->lanes.n_rows;

	/* The last row whose first lane is not behind it. */
	while (high - low > 1) {
		size_t middle = (low + high) / 2;

		if (c->lanes.row[middle].first_lane <= lane)
			low = middle;
		else
			high = middle;
	}
	const struct row *r = &c->lanes.row[low];
	double pitch = (double)c->row_place[low].height / (r->n_lanes ? r->n_lanes : 1);
	double gap = pitch >= 8 ? 2 : pitch >= 4 ? 1 : pitch * 0.2;

	return (struct lane_place){
		.y = c->row_place[low].y + (lane - r->first_lane) * pitch + gap / 2,
		.height = pitch - gap,
		.nest = r->nest,
	};
}
