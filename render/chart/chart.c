/* SPDX-License-Identifier: MIT */
#include "render/chart/chart.h"

#include "analyse/facts.h"
#include "base/minmax.h"
#include "render/chart/legend.h"
#include "render/chart/svg.h"
#include "rerun/advise.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROW_LABEL_SIZE 10.5	/* of the font */
#define ROW_LABEL_ROOM (CHART_MARGIN / 2 + 10)	/* beside a label */
#define GUTTER_MIN 84		/* of axes */
#define RIGHT_AXES 58		/* room for them */
#define TIME_LEAST_US 1000000	/* of an axis for a build of no time */

/* Facts */

static void write_fact(void *chart, const char *label, enum tone tone, const struct buf *parts)
{
	struct chart *c = chart;
	struct buf text = BUF_PART_OF(parts->whole);

	if (c->n_facts == CHART_FACTS_MAX)
		return;
	for (const char *p = parts->data; p < parts->data + parts->len; p += strlen(p) + 1) {
		buf_adds(&text, text.len ? " \xc2\xb7 " : "");
		buf_adds(&text, p);
	}
	c->fact[c->n_facts++] = (struct fact){
		.label = label, .text = text.data, .alarm = tone == TONE_ALARM,
	};
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
	struct facts f;

	facts_begin(&f, &all, write_fact, c);
	f.brief = true;
	f.running = c->running;
	add_headline(&f, s->rec);
	fact_result(&f, s);
	fact_cpu(&f, s);
	fact_tasks(&f, s);
	fact_samples(&f, s);
	fact_memory(&f, s);
	fact_disk(&f, s);
	fact_host(&f, s);
	fact_when(&f, s->rec);
	fact_directory(&f, s->rec);
	fact_sources(&f, s->rec);
	add_other_build(&f, c);
	fact_inspected(&f, c->inspected);
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

/* The plots begin where the labels of rows end, and end where the right axes begin. */
static int place_gutter(struct chart *c)
{
	double widest = 0;
	bool right = false;

	for (size_t i = 0; i < c->lanes.n_rows; i++) {
		struct buf safe = BUF_INIT;
		double width;

		text_add_name(&safe, c->lanes.row[i].label, 0);
		width = svg_text_width(buf_str(&safe), ROW_LABEL_SIZE);
		widest = MAX(width, widest);
		if (buf_error(&safe)) {
			buf_release(&safe);
			return -ENOMEM;
		}
		buf_release(&safe);
	}
	for (size_t i = 0; i < c->panels.n; i++)
		right |= c->panels.panel[i].right_ceiling > 0 &&
			 chart_draws_panel(c, &c->panels.panel[i]);
	widest += ROW_LABEL_ROOM;
	c->plot_x = widest < GUTTER_MIN ? GUTTER_MIN : widest > CHART_GUTTER_MAX ?
		    CHART_GUTTER_MAX : (int)widest + 1;
	c->plot_width = CHART_WIDTH - c->plot_x - (right ? RIGHT_AXES : CHART_MARGIN);
	c->plot_width -= c->plot_width % CHART_COLUMN;
	return 0;
}

/* How the tasks differ from those of another build, and its lanes. */
static int make_other(struct chart *c)
{
	int r = differences_make(&c->differences, c->sum, c->other);

	r = r ? r : lanes_make(&c->other_lanes, c->ghost, LANES_WORKER);
	r = r ? r : pieces_make(&c->other_pieces, &c->other_lanes, c->ghost,
				&c->differences.other_shades, 0, c->end_us,
				(unsigned)c->plot_width, CHART_PIECES_MAX);
	return r;
}

static int make_parts(struct chart *c, const struct chart_input *in)
{
	int r = lanes_make(&c->lanes, in->sum, in->by);
	struct idle idle;

	r = r ? r : place_gutter(c);
	r = r ? r : works_make(&c->works, in->sum);
	if (c->other)
		r = r ? r : make_other(c);
	r = r ? r : pieces_make(&c->pieces, &c->lanes, in->sum, chart_colours(c), 0, c->end_us,
				(unsigned)c->plot_width, CHART_PIECES_MAX);
	idle_find(&idle, in->sum->rec);
	r = r ? r : answer_make(&c->answer, in->sum, &c->chain, &idle);
	r = r ? r : advise_answer(&c->answer, in->sum, &c->chain);
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
		if (chart_is_dense(c, &c->panels.panel[i]) &&
		    chart_draws_panel(c, &c->panels.panel[i])) {
			legend_add_spread(&c->panel_legend[i]);
			break;
		}
	}
	r = r ? r : legend_of_works(&c->kinds, chart_colours(c));
	legend_of_marks(&c->marks, c);
	return r;
}

/* The path in words */

static int describe_path(struct chart *c)
{
	struct buf note = BUF_INIT;
	int r;

	if (!c->chain.n_path)
		return 0;
	buf_addf(&note, "%zu %s in ", c->chain.n_path, c->chain.n_path == 1 ? "task" : "tasks");
	text_add_time(&note, c->chain.path_us);
	if (c->chain.waits.has_dependencies &&
	    c->chain.n_link[LINK_NONE] - c->chain.n_unknown < c->chain.n_path) {
		buf_adds(&note, "; ");
		chain_add_links(&note, &c->chain);
	}
	buf_adds(&note, " \xc2\xb7 ");
	if (c->chain.dependency_us >= 0) {
		buf_addf(&note, "%s at least ", chain_bound_words(&c->chain));
		text_add_time(&note, c->chain.dependency_us);
	} else {
		buf_adds(&note, "no dependencies were recorded");
	}
	r = buf_error(&note);
	c->path_title = "What the end of the build waited for";
	c->path_note = note.data;
	return r;
}

int chart_make(struct chart *c, const struct chart_input *in)
{
	int r;

	*c = (struct chart){
		.sum = in->sum, .other = in->other, .ghost = in->other ? in->other->sum : NULL,
		.end_us = in->sum->wall_us,
		.lines = in->lines, .excerpt = in->excerpt,
		.inspected = in->inspected, .archives = in->archives,
		.served = in->served, .running = in->running,
		.panels = *in->panels, .chain = in->panels->chain,
	};
	if (c->ghost && c->ghost->wall_us > c->end_us)
		c->end_us = c->ghost->wall_us;
	if (in->until_us > c->end_us)
		c->end_us = in->until_us;
	/* A build of no time at all still has an axis. */
	if (c->end_us <= 0)
		c->end_us = TIME_LEAST_US;
	for (size_t i = 0; i < in->sum->n_ran && !c->has_queue; i++) {
		const struct task *t = &in->sum->rec->task[in->sum->order[i]];

		c->has_queue = t->queued_us >= 0 && t->queued_us < t->start_us;
	}
	for (size_t i = 0; i < in->sum->rec->n_spans && !c->has_phases; i++)
		c->has_phases = in->sum->rec->span[i].task != NO_INDEX;
	r = make_parts(c, in);
	r = r ? r : make_facts(c);
	r = r ? r : make_legends(c);
	r = r ? r : describe_path(c);
	return r ? r : chart_place(c);
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
	differences_release(&c->differences);
	lanes_release(&c->lanes);
	lanes_release(&c->other_lanes);
	pieces_release(&c->other_pieces);
	answer_release(&c->answer);
	free(c->row_place);
	free(c->path_note);
	*c = (struct chart){ 0 };
}

bool chart_is_dense(const struct chart *c, const struct panel *p)
{
	return p->n > (size_t)c->plot_width / CHART_COLUMN;
}

static bool has_band(const struct panel *p, const char *id)
{
	for (size_t i = 0; p && i < p->n_bands; i++) {
		if (!strcmp(p->band[i].id, id))
			return true;
	}
	return false;
}

bool chart_draws_panel(const struct chart *c, const struct panel *p)
{
	const struct panel *memory = panels_find(&c->panels, PANEL_MEMORY);

	if (p->id == PANEL_MACHINE)
		return !has_band(memory, "used") || has_band(p, "swap");
	if (p->id == PANEL_CGROUP)
		return !memory || has_band(p, "throttled") || (has_band(p, "cpu") &&
			!has_band(panels_find(&c->panels, PANEL_CPU), "build"));
	return true;
}
