/* SPDX-License-Identifier: MIT */
#include "analyse/tracker_class.h"

#include "analyse/tracker_parts.h"
#include "base/array.h"
#include "base/saturate.h"
#include "base/sort.h"
#include "stats/stats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* All groups */

static bool larger(const void *ctx, uint32_t a, uint32_t b)
{
	const struct tracker_row *row = ctx;

	return row[a].total != row[b].total ? row[a].total > row[b].total : a < b;
}

static double part(const struct tracker_piece *p, int64_t from_us, int64_t until_us)
{
	int64_t from = p->from_us > from_us ? p->from_us : from_us;
	int64_t until = p->until_us < until_us ? p->until_us : until_us;

	if (from_us == until_us)
		return p->from_us <= from_us && p->until_us > from_us ? p->level : 0;
	return until > from ? p->level * (double)(until - from) / (double)(until_us - from_us) : 0;
}

/* all: of every group. seen: one byte for each task. */
static void add_up(struct tracker_table *out, struct tracker_row *all, char *seen,
		   const struct tracker_pieces *list, const struct tracker_groups *g,
		   int64_t from_us, int64_t until_us)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct tracker_piece *p = &list->piece[i];
		double level = part(p, from_us, until_us);
		struct tracker_row *row;

		if (level <= 0)
			continue;
		row = &all[p->task == NO_INDEX ? g->n : g->of_task[p->task]];
		row->total += level;
		out->total += level;
		if (p->task != NO_INDEX && !seen[p->task]) {
			seen[p->task] = 1;
			row->n_tasks++;
		}
	}
}

int tracker_table_make(struct tracker_table *out, struct tracker *t, enum tracker_by by,
		       enum tracker_metric metric, int64_t from_us, int64_t until_us)
{
	struct tracker_groups g;
	struct tracker_row *all = NULL;
	uint32_t *order = NULL;
	char *seen = calloc(t->s->rec->n_tasks + 1, 1);
	int r = tracker_groups(t, by, &g);

	*out = (struct tracker_table){ 0 };
	r = r ? r : tracker_need_pieces(t, metric);
	if (!r) {
		all = calloc(g.n + 1, sizeof *all);
		order = malloc((g.n + 1) * sizeof *order);
		out->row = malloc((g.n + 1) * sizeof *out->row);
	}
	if (!r && (!all || !order || !out->row || !seen))
		r = -ENOMEM;
	if (!r) {
		add_up(out, all, seen, &t->pieces[metric], &g, from_us, until_us);
		for (uint32_t i = 0; i <= g.n; i++) {
			all[i].group = i;
			if (all[i].total > 0)
				order[out->n++] = i;
		}
		sort_top(order, out->n, out->n, larger, all);
		for (size_t i = 0; i < out->n; i++)
			out->row[i] = all[order[i]];
		out->known = t->pieces[metric].known;
	}
	free_all(all, order, seen);
	return r;
}

void tracker_table_release(struct tracker_table *table)
{
	free(table->row);
	*table = (struct tracker_table){ 0 };
}

/* One group */

static int64_t value_of(const struct tracker *t, uint32_t task, enum value v)
{
	return value_get(v, &t->s->nest[task].cost);
}

/* value: memory for all tasks of the class. */
static void fill_stat(struct tracker_stat *s, const struct tracker *t, const struct tracker_class *c,
		      enum value what, double *value)
{
	*s = (struct tracker_stat){ .sum = -1, .min = -1, .median = -1, .max = -1 };
	for (size_t i = 0; i < c->n; i++) {
		int64_t v = value_of(t, c->task[i], what);

		if (v < 0)
			continue;
		s->sum = s->n ? sat_add(s->sum, v) : v;
		s->min = !s->n || v < s->min ? v : s->min;
		s->max = v > s->max ? v : s->max;
		value[s->n++] = (double)v;
	}
	if (s->n)
		s->median = (int64_t)stats_median(value, s->n);
}

int tracker_class_make(struct tracker_class *c, struct tracker *t, enum tracker_by by,
		       const char *name)
{
	struct tracker_groups g;
	double *value = NULL;
	uint32_t group = NAME_TABLE_NONE;
	int r = tracker_groups(t, by, &g);

	*c = (struct tracker_class){ 0 };
	if (r)
		return r;
	group = name_table_find(&t->names[by].table, slice_of(name));
	if (group == NAME_TABLE_NONE)
		return -ENOENT;
	c->task = malloc((g.n_tasks[group] + 1) * sizeof *c->task);
	value = malloc((g.n_tasks[group] + 1) * sizeof *value);
	if (!c->task || !value)
		r = -ENOMEM;
	for (size_t i = 0; !r && i < t->s->n_ran; i++) {
		uint32_t task = t->s->order[i];

		if (g.of_task[task] == group)
			c->task[c->n++] = task;
	}
	for (enum value v = VALUE_WALL; !r && v < VALUES; v++)
		fill_stat(&c->stat[v], t, c, v, value);
	free(value);
	return r;
}

void tracker_class_release(struct tracker_class *c)
{
	free_all(c->task, c->sorted);
	*c = (struct tracker_class){ 0 };
}

void tracker_class_running(uint32_t *n_tasks, const struct tracker_class *c, const struct tracker *t,
			   const int64_t *edge_us, size_t n)
{
	const struct recording *rec = t->s->rec;
	uint32_t running = 0;

	/* First the changes; a number that wraps around comes back. */
	memset(n_tasks, 0, n * sizeof *n_tasks);
	for (size_t i = 0; i < c->n; i++) {
		const struct task *task = &rec->task[c->task[i]];
		int64_t end_us = recording_task_end_us(rec, task);
		size_t a, b;

		end_us = end_us > task->start_us ? end_us : task->start_us + 1;
		a = curve_first_after(edge_us, 0, n + 1, task->start_us);
		b = curve_first_after(edge_us, 0, n + 1, end_us - 1);
		a = a ? a - 1 : 0;
		if (a < n && b) {
			n_tasks[a]++;
			if (b < n)
				n_tasks[b]--;
		}
	}
	for (size_t i = 0; i < n; i++)
		n_tasks[i] = running += n_tasks[i];
}

int tracker_class_sort(struct tracker_class *c, const struct tracker *t, enum value by,
		       bool up)
{
	struct keyed *key = malloc((c->n + 1) * sizeof *key);
	int r;

	if (!c->sorted)
		c->sorted = malloc((c->n + 1) * sizeof *c->sorted);
	r = key && c->sorted ? 0 : -ENOMEM;
	for (size_t i = 0; !r && i < c->n; i++) {
		int64_t v = value_of(t, c->task[i], by);

		key[i] = (struct keyed){ v < 0 ? UINT64_MAX : up ? (uint64_t)v : (uint64_t)(INT64_MAX - v),
					 c->task[i] };
	}
	r = r ? r : sort_keyed(key, c->n);
	for (size_t i = 0; !r && i < c->n; i++)
		c->sorted[i] = (uint32_t)key[i].value;
	free(key);
	return r;
}
