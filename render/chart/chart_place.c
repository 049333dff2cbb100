/* SPDX-License-Identifier: MIT */
#include "render/chart/chart.h"

#include "base/array.h"
#include "base/minmax.h"
#include "render/chart/legend.h"
#include "render/chart/svg.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FACT_PITCH 18
#define FACT_LABEL_GAP 5	/* between a label and its text */
#define FACT_GAP 22		/* between facts */
#define FACT_ALARM 12		/* room for the mark of a problem */
#define VERDICT_GAP 26		/* from the last facts to the first sentence */
#define VERDICT_PITCH 20
#define PATH_GAP 24		/* from there to the title of the path */
#define PATH_DEPTH 6		/* from that to its lane */
#define PATH_HEIGHT 26
#define TIME_DEPTH 16		/* from a plot to the baseline of the time axis */
#define LANES_GAP 7		/* from there to the lanes */
#define LANES_HEIGHT 360	/* of all lanes that can have names */
#define LANES_HEIGHT_MAX 640
#define LANE_HEIGHT_MAX 24.0
#define LANE_HEIGHT_PHASES 34.0	/* with a row of phases in each */
#define LANE_HEIGHT_NAMED 14.0	/* lanes of that height have room for names */
#define LANE_HEIGHT_MIN 0.5
#define PHASES_HEIGHT 12.0	/* of named phases, at the bottom of a bar */
#define PHASES_THIN 2.0		/* of others */
#define GAUGE_HEIGHT 6.0	/* of the part of a bar that shows CPU */
#define GAUGE_LEAST 2.0
#define GAUGE_SHARE 0.3
#define GAUGE_PITCH 8.0		/* of lanes that are high enough for it */
#define NAME_ROOM 13.5		/* of names of usual size, and of small ones */
#define NAME_ROOM_SMALL 9.5
#define ROW_HEIGHT_MIN 13	/* of a label */
#define NEST_HEIGHT 14.0	/* of a lane of nested builds */
#define NEST_HEIGHT_NAMED 12.0	/* of many, as long as these have room for names */
#define NEST_HEIGHT_MIN 6.0
#define NESTS_HEIGHT 140	/* of all of them, if possible */
#define NESTS_HEIGHT_MAX 240
#define EMPTY_HEIGHT 40		/* of the sentence in place of the lanes */
#define PANEL_GAP 19		/* from a plot to the next title's baseline */
#define TITLE_SIZE 12		/* of the font */
#define TITLE_GAP 16		/* from a title to the legend right of it */
#define TITLE_DEPTH 6		/* from the legend's last baseline to the plot */
#define PANEL_MORE 40		/* may be added to the height where there is room */
#define LEGEND_GAP 24
#define OTHER_LANE 16		/* of the other build: height of a lane */
#define OTHER_HEIGHT 160	/* of all its lanes */

static const int panel_height[PANELS] = {
	[PANEL_CPU] = 52, [PANEL_RUNNING] = 44, [PANEL_MEMORY] = 56, [PANEL_DISK] = 40,
	[PANEL_NET] = 36, [PANEL_PRESSURE] = 36, [PANEL_CGROUP] = 40, [PANEL_MACHINE] = 44,
	[PANEL_VOLUMES] = 36,
};

static const int panel_least[PANELS] = {
	[PANEL_CPU] = 44, [PANEL_RUNNING] = 32, [PANEL_MEMORY] = 48, [PANEL_DISK] = 30,
	[PANEL_NET] = 26, [PANEL_PRESSURE] = 26, [PANEL_CGROUP] = 26, [PANEL_MACHINE] = 26,
	[PANEL_VOLUMES] = 26,
};

/* The head */

static double bold(const char *text, double size)
{
	return svg_text_width(text, size) * SVG_BOLD;
}

/* One behind the other in lines. Returns the last baseline. */
static int place_facts(struct chart *c, int y)
{
	int right = CHART_WIDTH - CHART_MARGIN, x = CHART_MARGIN;

	for (size_t i = 1; i < c->n_facts; i++) {
		struct fact *f = &c->fact[i];
		int label = (f->alarm ? FACT_ALARM : 0) +
			(int)svg_text_width(f->label, FACT_SIZE) + 1 + FACT_LABEL_GAP;
		int width = (int)(f->alarm ? bold(f->text, FACT_SIZE) :
				  svg_text_width(f->text, FACT_SIZE)) + 1;

		if (!strcmp(f->label, CHART_RESULT))
			continue;
		if (x > CHART_MARGIN && x + label + width > right) {
			x = CHART_MARGIN;
			y += FACT_PITCH;
		}
		f->x = x;
		f->y = y;
		f->text_x = x + label;
		f->width = f->text_x + width > right ? right - f->text_x : width;
		x = f->text_x + f->width + FACT_GAP;
	}
	return y;
}

static int place_verdict(struct chart *c, int y)
{
	double room = CHART_WIDTH - 2 * CHART_MARGIN - VERDICT_INDENT;

	if (c->answer.n)
		y += VERDICT_GAP - VERDICT_PITCH;
	for (size_t i = 0; i < c->answer.n; i++) {
		const char *text = c->answer.sentence[i].text;

		for (bool first = true; *text && c->n_verdict < VERDICT_LINES_MAX; first = false) {
			size_t len = svg_text_fit(text, room, VERDICT_SIZE);

			y += VERDICT_PITCH;
			c->verdict[c->n_verdict++] = (struct verdict_line){ text, len, first, y };
			text += len;
			text += *text == ' ';
		}
	}
	return y;
}

/* Returns the bottom of its lane. */
static int place_path(struct chart *c, int y)
{
	if (!c->path_title)
		return y + PATH_DEPTH;
	c->path_title_y = y + PATH_GAP;
	c->path_place = (struct place){ .y = c->path_title_y + PATH_DEPTH, .height = PATH_HEIGHT };
	return c->path_place.y + c->path_place.height;
}

/* Rows */

static double nest_height(const struct chart *c)
{
	uint32_t n = 0;

	for (size_t i = 0; i < c->lanes.n_rows; i++)
		n += c->lanes.row[i].nest ? c->lanes.row[i].n_lanes : 0;
	if (n * NEST_HEIGHT <= NESTS_HEIGHT)
		return NEST_HEIGHT;
	if (n * NEST_HEIGHT_NAMED <= NESTS_HEIGHT_MAX)
		return NEST_HEIGHT_NAMED;
	return n * NEST_HEIGHT_MIN <= NESTS_HEIGHT_MAX ? NEST_HEIGHT_MIN :
	       (double)NESTS_HEIGHT_MAX / n;
}

static int row_height(const struct row *r, double lane, double nest)
{
	int height = (int)(r->n_lanes * (r->nest ? nest : lane) + 0.5);

	return MAX(ROW_HEIGHT_MIN, height);
}

static int rows_height(const struct chart *c, double lane, double nest)
{
	int height = 0;

	for (size_t i = 0; i < c->lanes.n_rows; i++)
		height += row_height(&c->lanes.row[i], lane, nest);
	return height;
}

/* Lanes are as high as looks good; many, as low as names allow; very many, as low as they must
 * be. */
static double lane_height(const struct chart *c, double nest)
{
	double lane = c->has_phases ? LANE_HEIGHT_PHASES : LANE_HEIGHT_MAX;

	while (lane > LANE_HEIGHT_NAMED && rows_height(c, lane, nest) > LANES_HEIGHT)
		lane -= 0.5;
	while (lane > LANE_HEIGHT_MIN && rows_height(c, lane, nest) > LANES_HEIGHT_MAX)
		lane -= 0.5;
	return lane;
}

/* Returns the bottom of the last one. */
static int place_rows(struct chart *c, int y)
{
	double nest = nest_height(c), lane = lane_height(c, nest);

	c->lanes_y = y;
	if (!c->lanes.n_rows)
		return y + (c->lanes_height = EMPTY_HEIGHT);
	c->row_place = calloc(c->lanes.n_rows, sizeof *c->row_place);
	if (!c->row_place)
		return -ENOMEM;
	for (size_t i = 0; i < c->lanes.n_rows; i++) {
		c->row_place[i].y = y;
		c->row_place[i].height = row_height(&c->lanes.row[i], lane, nest);
		y += c->row_place[i].height;
	}
	c->lanes_height = y - c->lanes_y;
	return y;
}

/* The lanes of the other build. Returns their bottom. */
static int place_other(struct chart *c, int y)
{
	uint32_t n = c->other_lanes.n_lanes;

	if (!n)
		return y;
	c->other_place.title_y = y + PANEL_GAP;
	c->other_place.y = c->other_place.title_y + TITLE_DEPTH;
	c->other_place.height = n * OTHER_LANE < OTHER_HEIGHT ? (int)n * OTHER_LANE : OTHER_HEIGHT;
	return c->other_place.y + c->other_place.height;
}

/* Panels */

/* Returns the bottom of the last one. */
static int place_panels(struct chart *c, int y, int more)
{
	int right = c->plot_x + c->plot_width;

	for (size_t i = 0; i < c->panels.n; i++) {
		struct place *p = &c->panel_place[i];

		*p = (struct place){ 0 };
		if (!chart_draws_panel(c, &c->panels.panel[i]))
			continue;
		int left = c->plot_x + (int)bold(c->panels.panel[i].title, TITLE_SIZE) + TITLE_GAP;

		p->title_y = y + PANEL_GAP;
		p->y = legend_place(&c->panel_legend[i], left, p->title_y, right) + TITLE_DEPTH;
		p->height = panel_height[c->panels.panel[i].id] + more;
		if (p->height < panel_least[c->panels.panel[i].id])
			p->height = panel_least[c->panels.panel[i].id];
		y = p->y + p->height;
	}
	return y;
}

/* The panels, higher than usual by so much, and the legends. */
static void place_below(struct chart *c, int more)
{
	int right = CHART_WIDTH - CHART_MARGIN, y = place_panels(c, c->time_end_y, more);

	y = legend_place(&c->kinds, c->plot_x, y + LEGEND_GAP, right);
	y = legend_place(&c->marks, c->plot_x, y + (c->kinds.n ? LEGEND_PITCH : 0), right);
	c->height = y + CHART_MARGIN / 2;
}

int chart_place(struct chart *c)
{
	int y, more, n = 0;

	y = place_facts(c, CHART_HEADLINE_Y + FACT_PITCH + 4);
	y = place_path(c, place_verdict(c, y));
	c->time_y = y + TIME_DEPTH;
	y = place_rows(c, c->time_y + LANES_GAP);
	if (y < 0)
		return y;
	c->time_end_y = place_other(c, y) + TIME_DEPTH;
	place_below(c, 0);
	for (size_t i = 0; i < c->panels.n; i++)
		n += c->panel_place[i].height > 0;
	if (n) {
		more = (CHART_HEIGHT - c->height) / n;
		place_below(c, MIN(more, PANEL_MORE));
	}
	for (size_t i = 0; i < c->panels.n; i++) {
		if (c->panel_legend[i].error)
			return c->panel_legend[i].error;
	}
	return c->kinds.error ? c->kinds.error : c->marks.error;
}

/* A name of either size keeps its room. */
static double gauge_height(double room)
{
	static const double name[] = { NAME_ROOM, NAME_ROOM_SMALL };
	double most = MIN(GAUGE_HEIGHT, GAUGE_SHARE * room);

	for (size_t i = 0; i < ARRAY_SIZE(name); i++) {
		if (room - name[i] >= GAUGE_LEAST)
			return MIN(most, room - name[i]);
	}
	return most;
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
	struct lane_place p = { .nest = r->nest };

	p.bracket = pitch >= 18 ? 3 : pitch >= 8 ? 1.5 : pitch * 0.2;
	p.y = c->row_place[low].y + (lane - r->first_lane) * pitch + p.bracket;
	p.height = pitch - p.bracket - (pitch >= 18 ? 1 : pitch >= 8 ? 0.5 : 0);
	if (r->nest || !c->has_phases)
		p.phases = r->nest ? p.height : 0;
	else
		p.phases = p.height >= 2 * PHASES_HEIGHT ? PHASES_HEIGHT :
			   p.height >= PHASES_HEIGHT ? PHASES_THIN : p.height * 0.1;
	p.gauge = r->nest || pitch < GAUGE_PITCH ? 0 : gauge_height(p.height - p.phases);
	return p;
}
