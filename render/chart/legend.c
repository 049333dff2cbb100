/* SPDX-License-Identifier: MIT */
#include "render/chart/legend.h"

#include "base/saturate.h"
#include "base/text.h"
#include "render/chart/svg.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KEY_GAP 18
#define WORD_GAP 6
#define REST_NAMED 4	/* of the works that share grey */

/* A new key, or NULL when there is no room for more. */
static struct key *add_key(struct legend *l, const char *id, const char *label)
{
	struct key *k;

	if (l->n == LEGEND_KEYS_MAX)
		return NULL;
	k = &l->key[l->n++];
	*k = (struct key){ .id = id, .label = label, .mark = MARK_AREA };
	return k;
}

/* Take the text of b, which is released. */
static int set_values(struct key *k, struct buf *b)
{
	k->values = strdup(buf_str(b));
	if (buf_error(b) || !k->values) {
		buf_release(b);
		return -ENOMEM;
	}
	buf_release(b);
	return 0;
}

static void add_value(struct buf *b, const char *what, enum axis_unit unit, int64_t value)
{
	if (value < 0)
		return;
	if (b->len)
		buf_adds(b, ", ");
	buf_adds(b, what);
	axis_add_value(b, unit, value);
}

static int add_band(struct legend *l, const struct panel *p, const struct band *band)
{
	struct key *k = add_key(l, band->id, band->label);
	enum axis_unit unit = band->right ? p->right_unit : p->unit;
	struct buf values = BUF_INIT;
	/* Its keys are many, and the most of each is what matters. */
	bool brief = p->id == PANEL_MEMORY && !band->right;

	if (!k)
		return 0;
	k->meaning = band->meaning;
	k->colour = band->colour;
	k->mark = band->mark;
	add_value(&values, band->max && !brief ? "max " : "", unit, band->max);
	if (band->max && band->total >= 0)
		add_value(&values, "total ", AXIS_BYTES, band->total);
	else if (band->max && p->id != PANEL_MEMORY)
		add_value(&values, "mean ", unit, band->mean);
	if (band->right)
		buf_adds(&values, ", right axis");
	return set_values(k, &values);
}

int legend_of_panel(struct legend *l, const struct panel *p)
{
	for (size_t i = 0; i < p->n_bands; i++) {
		if (p->band[i].max >= 0 && add_band(l, p, &p->band[i]))
			return -ENOMEM;
	}
	if (p->note)
		add_key(l, NULL, p->note);
	return 0;
}

void legend_add_spread(struct legend *l)
{
	struct key *k = add_key(l, "spread", "from least to most in each column; edges are means");

	if (!k)
		return;
	k->is_mark = true;
	k->meaning = "a column of pixels stands for many samples here; in all panels";
}

/* Works */

static int add_work(struct legend *l, const char *id, const struct work *sum)
{
	struct key *k = add_key(l, id, sum->name);
	struct buf values = BUF_INIT;

	k->colour = sum->colour;
	text_add_time(&values, sum->wall_us);
	buf_addf(&values, " in %zu", sum->n_tasks);
	return set_values(k, &values);
}

/* "everything else: shell, make, install" */
static int add_rest(struct legend *l, const struct works *w)
{
	struct work rest = { .name = w->work[w->n_coloured].name, .colour = COLOUR_GREY };
	struct buf names = BUF_INIT;
	int r;

	buf_adds(&names, w->n_coloured ? "everything else: " : "");
	for (size_t i = w->n_coloured; i < w->n; i++) {
		if (i < w->n_coloured + REST_NAMED) {
			buf_adds(&names, i > w->n_coloured ? ", " : "");
			buf_adds(&names, w->work[i].name);
		}
		rest.n_tasks += w->work[i].n_tasks;
		rest.wall_us = sat_add(rest.wall_us, w->work[i].wall_us);
	}
	buf_adds(&names, w->n > w->n_coloured + REST_NAMED ? ", ..." : "");
	l->rest = strdup(buf_str(&names));
	r = buf_error(&names) || !l->rest ? -ENOMEM : 0;
	buf_release(&names);
	rest.name = l->rest;
	return r ? r : add_work(l, "everything else", &rest);
}

int legend_of_works(struct legend *l, const struct works *w)
{
	int r = 0;

	for (size_t i = 0; !r && i < w->n_coloured; i++)
		r = add_work(l, w->work[i].name, &w->work[i]);
	return r || w->n_coloured == w->n ? r : add_rest(l, w);
}

/* Marks */

static bool has_gap(const struct panels *l)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct panel *p = &l->panel[i];

		if (p->n > 1 && memchr(p->gap + 1, true, (p->n - 1) * sizeof *p->gap))
			return true;
	}
	return false;
}

static void add_links(struct legend *l, const struct chart *c)
{
	const size_t *n = c->chain.n_link;
	size_t waited = n[LINK_WORKER] + n[LINK_POOL] + n[LINK_LOAD] + n[LINK_ORDER];

	if (c->chain.n_path && (!c->chain.waits.has_dependencies || (!n[LINK_DEPENDENCY] && !waited)))
		add_key(l, "needed", "on the path: the end of the build waited for it");
	else if (n[LINK_DEPENDENCY])
		add_key(l, "needed", "on the path: waited for a dependency");
	if (!c->chain.waits.has_dependencies)
		return;
	if (n[LINK_WORKER])
		add_key(l, "waited", "on the path: waited for a free worker")->meaning =
			"with more workers it could have run earlier";
	else if (n[LINK_POOL])
		add_key(l, "waited", "on the path: waited for a pool");
	else if (n[LINK_LOAD])
		add_key(l, "waited", "on the path: waited for the load limit");
	else if (n[LINK_ORDER])
		add_key(l, "waited", "on the path: by the host's order");
}

void legend_of_marks(struct legend *l, const struct chart *c)
{
	const struct summary *s = c->sum;

	if (s->n_ran)
		add_key(l, "cpu", "CPU of a task over time, or its mean as a line")->meaning =
			"in the lower part of a bar: all of its height is one CPU, darker: more";
	if (s->n_state[TASK_FAILED])
		add_key(l, "failed", "failed");
	if (s->n_state[TASK_KILLED])
		add_key(l, "killed", "killed by a signal");
	if (s->n_state[TASK_UNFINISHED])
		add_key(l, "unfinished", "unfinished: its end was not recorded");
	add_links(l, c);
	if (c->has_queue)
		add_key(l, "queue", "queued: waited for a free worker")->meaning =
			"from when a task could have run until it did";
	if (s->rec->n_spans)
		add_key(l, "phase", "span of a task");
	if (has_gap(&c->panels))
		add_key(l, "gap", "no samples");
	if (c->ghost)
		add_key(l, "ghost", "the other build, dashed")->meaning =
			"in the panels; colours of tasks: how long they took there";
}

/* Places */

static double key_width(const struct key *k, int *error)
{
	double width = k->id ? LEGEND_SWATCH : 0;
	struct buf safe = BUF_INIT;

	text_add_name(&safe, k->label, 0);
	width += svg_text_width(buf_str(&safe), LEGEND_SIZE);
	if (k->values)
		width += (*k->label ? WORD_GAP : 0) + svg_text_width(k->values, LEGEND_SIZE);
	if (buf_error(&safe))
		*error = buf_error(&safe);
	buf_release(&safe);
	return width;
}

int legend_place(struct legend *l, int x, int y, int right)
{
	int at = x;

	for (size_t i = 0; i < l->n; i++) {
		struct key *k = &l->key[i];
		double width = key_width(k, &l->error) + 1;

		if (width > right - x)
			width = right - x;
		if (at > x && at + width > right) {
			at = x;
			y += LEGEND_PITCH;
		}
		k->x = at;
		k->y = y;
		k->width = (int)width;
		at += k->width + KEY_GAP;
	}
	return y;
}

void legend_release(struct legend *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->key[i].values);
	free(l->rest);
	*l = (struct legend){ 0 };
}
