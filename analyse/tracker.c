/* SPDX-License-Identifier: MIT */
#include "analyse/tracker.h"

#include "analyse/tracker_parts.h"
#include "base/array.h"
#include "base/sort.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const tracker_metric_word[TRACKER_METRICS + 1] = {
	"running", "waiting", "cpu", "memory", "read", "written", NULL
};

struct tracker *tracker_new(const struct summary *s, const struct waits *q)
{
	struct tracker *t = calloc(1, sizeof *t);

	if (t)
		*t = (struct tracker){ .s = s, .q = q };
	return t;
}

void tracker_free(struct tracker *t)
{
	if (!t)
		return;
	for (int i = 0; i < TRACKER_METRICS; i++)
		free_all(t->pieces[i].piece, t->overhead[i].piece);
	for (int i = 0; i < TRACKER_BYS; i++)
		tracker_names_release(&t->names[i]);
	free(t);
}

static int need_names(struct tracker *t, enum tracker_by by)
{
	int r = 0;

	if (!t->names[by].made) {
		r = tracker_names_make(&t->names[by], t->s->rec, by);
		if (r)
			tracker_names_release(&t->names[by]);
	}
	return r;
}

int tracker_need_pieces(struct tracker *t, enum tracker_metric metric)
{
	struct tracker_pieces *p = &t->pieces[metric], *own = &t->overhead[metric];
	int r = p->made ? 0 : tracker_pieces_make(p, t, metric);

	if (!r && !own->made)
		r = tracker_pieces_overhead(own, t, metric);
	if (!p->made) {
		free(p->piece);
		*p = (struct tracker_pieces){ 0 };
	}
	if (!own->made) {
		free(own->piece);
		*own = (struct tracker_pieces){ 0 };
	}
	return r;
}

int tracker_groups(struct tracker *t, enum tracker_by by, struct tracker_groups *out)
{
	const struct tracker_names *x = &t->names[by];
	int r = need_names(t, by);

	*out = (struct tracker_groups){ x->table.n, x->name, x->of_task, x->n_tasks };
	return r;
}

/* Points */

/* The last one that begins at a time or before. */
static size_t point_at(const struct tracker_view *v, int64_t time_us)
{
	int64_t from_us = v->query.from_us, span_us = v->query.until_us - from_us;
	size_t i = (size_t)((double)(time_us - from_us) / (double)span_us * (double)v->n);

	i = i < v->n ? i : v->n - 1;
	while (i + 1 < v->n && v->edge_us[i + 1] <= time_us)
		i++;
	while (i && v->edge_us[i] > time_us)
		i--;
	return i;
}

/* The first moment that is not before a time. */
static size_t moment_from(const struct tracker_view *v, int64_t time_us)
{
	return curve_first_after(v->moment_us, 0, v->n, time_us - 1);
}

/*
 * Levels that are added to points. Where a piece covers a point only in part, `value` gets level times
 * microseconds. Points that it covers whole share two changes of the level, at the begin and the end.
 */
struct row {
	double *value, *change;
};

static void spread(const struct row *row, const struct tracker_view *v, const struct tracker_piece *p)
{
	int64_t from_us = p->from_us > v->query.from_us ? p->from_us : v->query.from_us;
	int64_t until_us = p->until_us < v->query.until_us ? p->until_us : v->query.until_us;
	size_t a, b;

	if (from_us >= until_us)
		return;
	if (v->moment_us) {
		row->change[moment_from(v, from_us)] += p->level;
		row->change[moment_from(v, until_us)] -= p->level;
		return;
	}
	a = point_at(v, from_us);
	b = point_at(v, until_us - 1);
	if (a == b) {
		row->value[a] += p->level * (double)(until_us - from_us);
		return;
	}
	row->value[a] += p->level * (double)(v->edge_us[a + 1] - from_us);
	row->value[b] += p->level * (double)(until_us - v->edge_us[b]);
	row->change[a + 1] += p->level;
	row->change[b] -= p->level;
}

/* Sums that return to 0 need not be 0 exactly. */
#define NOTHING 1e-9

static void finish(const struct row *row, const struct tracker_view *v)
{
	double level = 0;

	for (size_t i = 0; i < v->n; i++) {
		double width_us = v->moment_us ? 1 : (double)(v->edge_us[i + 1] - v->edge_us[i]);

		level += row->change[i];
		row->value[i] = row->value[i] / width_us + level;
		if (row->value[i] < NOTHING)
			row->value[i] = 0;
	}
}

static int make_points(struct tracker_view *v, const struct summary *s)
{
	int64_t from_us = v->query.from_us, span_us = v->query.until_us - from_us;
	int64_t step_us;

	v->n = v->query.n_points;
	v->n = (uint64_t)span_us < v->n ? (size_t)span_us : v->n;
	step_us = span_us / (int64_t)v->n;
	v->edge_us = malloc((v->n + 1) * sizeof *v->edge_us);
	if (!v->edge_us)
		return -ENOMEM;
	for (size_t i = 0; i <= v->n; i++)
		v->edge_us[i] = from_us + step_us * (int64_t)i +
				span_us % (int64_t)v->n * (int64_t)i / (int64_t)v->n;
	if (v->query.metric != TRACKER_MEMORY)
		return 0;
	v->moment_us = malloc(v->n * sizeof *v->moment_us);
	for (size_t i = 0; v->moment_us && i < v->n; i++)
		curve_peak(&s->memory_kb, v->edge_us[i], v->edge_us[i + 1], &v->moment_us[i]);
	return v->moment_us ? 0 : -ENOMEM;
}

static double *zeros(size_t n)
{
	return calloc(n + 1, sizeof(double));
}

/* Groups */

/* What is known of each group before the largest are chosen; the last one is that of the hosts. */
struct choice {
	double *sum, *at_peak;
	const double *key;	/* by which they are sorted */
	uint32_t *order, *series;	/* of each group: its series */
	size_t n;
};

static bool before(const void *ctx, uint32_t a, uint32_t b)
{
	const struct choice *c = ctx;

	return c->key[a] != c->key[b] ? c->key[a] > c->key[b] : a < b;
}

static size_t group_of(const struct tracker_names *x, const struct tracker_piece *p)
{
	return p->task == NO_INDEX ? x->table.n : x->of_task[p->task];
}

static double overlap(const struct tracker_piece *p, int64_t from_us, int64_t until_us)
{
	from_us = p->from_us > from_us ? p->from_us : from_us;
	until_us = p->until_us < until_us ? p->until_us : until_us;
	return until_us > from_us ? p->level * (double)(until_us - from_us) : 0;
}

/* The level of a piece at the peak, as its part of the point's value. */
static double level_at_peak(const struct tracker_view *v, const struct tracker_piece *p)
{
	int64_t from_us = v->edge_us[v->peak], until_us = v->edge_us[v->peak + 1];

	if (v->moment_us)
		return p->from_us <= v->moment_us[v->peak] && p->until_us > v->moment_us[v->peak] ?
		       p->level : 0;
	return overlap(p, from_us, until_us) / (double)(until_us - from_us);
}

static int weigh(struct choice *c, const struct tracker_view *v, const struct tracker_names *x,
		 const struct tracker_pieces *list)
{
	c->n = x->table.n + 1;
	c->sum = zeros(c->n);
	c->at_peak = zeros(c->n);
	c->order = malloc((c->n + 1) * sizeof *c->order);
	c->series = malloc((c->n + 1) * sizeof *c->series);
	if (!c->sum || !c->at_peak || !c->order || !c->series)
		return -ENOMEM;
	for (size_t i = 0; i < list->n; i++) {
		const struct tracker_piece *p = &list->piece[i];
		size_t group = group_of(x, p);

		c->sum[group] += overlap(p, v->query.from_us, v->query.until_us);
		c->at_peak[group] += level_at_peak(v, p);
	}
	return 0;
}

static void list_peak(struct tracker_view *v, struct choice *c, const struct tracker_names *x)
{
	size_t n = c->n;

	for (uint32_t i = 0; i < n; i++)
		c->order[i] = i;
	c->key = c->at_peak;
	n = sort_top(c->order, n, TRACKER_TOP_MAX, before, c);
	for (size_t i = 0; i < n && c->at_peak[c->order[i]] > NOTHING; i++) {
		uint32_t group = c->order[i];
		bool hosts = group == x->table.n;

		v->at_peak[v->n_peak++] = (struct tracker_share){ hosts ? "" : x->name[group],
			hosts ? TRACKER_HOSTS : TRACKER_GROUP, c->at_peak[group] };
	}
}

/*
 * Half of the series are those with most at the peak, which people ask for, the rest those with most
 * over all the time.
 */
static void choose(struct tracker_view *v, struct choice *c, const struct tracker_names *x)
{
	size_t n = c->n - 1, sure = (v->query.top + 1) / 2, chosen = 0;

	for (uint32_t i = 0; i <= n; i++)
		c->series[i] = NO_INDEX;
	list_peak(v, c, x);
	for (size_t i = 0; i < v->n_peak && chosen < sure; i++) {
		if (c->order[i] == n)
			continue;
		c->series[c->order[i]] = 0;
		chosen++;
	}
	for (uint32_t i = 0; i < n; i++)
		c->order[i] = i;
	c->key = c->sum;
	sort_top(c->order, n, n < 2 * v->query.top ? n : 2 * v->query.top, before, c);
	for (size_t i = 0; i < n && chosen < v->query.top && c->sum[c->order[i]] > 0; i++) {
		if (c->series[c->order[i]] != NO_INDEX)
			continue;
		c->series[c->order[i]] = 0;
		chosen++;
	}
	/* The chosen ones by their sum, the largest first. */
	n = 0;
	for (uint32_t i = 0; i + 1 < c->n; i++) {
		if (!c->series[i])
			c->order[n++] = i;
	}
	sort_top(c->order, n, n, before, c);
	for (size_t i = 0; i < n; i++) {
		uint32_t group = c->order[i];

		c->series[group] = (uint32_t)i;
		v->series[i] = (struct tracker_series){ .name = x->name[group],
			.n_groups = 1, .n_tasks = x->n_tasks[group] };
	}
	v->n_series = n;
}

/* Also if it has no part in the total. */
static void choose_only(struct tracker_view *v, struct choice *c, const struct tracker_names *x)
{
	uint32_t group = name_table_find(&x->table, slice_of(v->query.only));

	memset(c->series, 0xff, c->n * sizeof *c->series);
	list_peak(v, c, x);
	if (group == NAME_TABLE_NONE)
		return;
	c->series[group] = 0;
	v->series[v->n_series++] = (struct tracker_series){ .name = x->name[group], .n_groups = 1,
		.n_tasks = x->n_tasks[group] };
}

/* The series after those of groups: the others, and the hosts. */
static void join(struct tracker_view *v, struct choice *c, const struct tracker_names *x)
{
	struct tracker_series *others = &v->series[v->n_series];
	struct tracker_series *hosts = &v->series[v->n_series + 1];

	*others = (struct tracker_series){ .name = "", .role = TRACKER_OTHERS };
	*hosts = (struct tracker_series){ .name = "", .role = TRACKER_HOSTS };
	for (size_t i = 0; i + 1 < c->n; i++) {
		if (c->series[i] == NO_INDEX && c->sum[i] > 0) {
			others->n_groups++;
			others->n_tasks += x->n_tasks[i];
		}
		if (c->series[i] == NO_INDEX)
			c->series[i] = (uint32_t)v->n_series;
	}
	c->series[c->n - 1] = (uint32_t)v->n_series + 1;
	for (size_t i = 0; i < c->n; i++) {
		struct tracker_series *s = &v->series[c->series[i]];

		s->sum += c->sum[i];
		s->at_peak += c->at_peak[i];
	}
	v->n_series += 2;
}

static int fill_series(struct tracker_view *v, const struct choice *c,
		       const struct tracker_names *x, const struct tracker_pieces *list)
{
	double *change = zeros((v->n_series + 1) * (v->n + 1)), *value = NULL;

	if (!change)
		return -ENOMEM;
	for (size_t i = 0; i < v->n_series; i++) {
		value = v->series[i].value = zeros(v->n);
		if (!value) {
			free(change);
			return -ENOMEM;
		}
	}
	for (size_t i = 0; i < list->n; i++) {
		size_t k = c->series[group_of(x, &list->piece[i])];
		struct row row = { v->series[k].value, change + k * (v->n + 1) };

		spread(&row, v, &list->piece[i]);
	}
	for (size_t k = 0; k < v->n_series; k++)
		finish(&(struct row){ v->series[k].value, change + k * (v->n + 1) }, v);
	free(change);
	return 0;
}

static int fill_total(struct tracker_view *v, const struct tracker_pieces *list)
{
	struct row row = { zeros(v->n), zeros(v->n + 1) };

	v->total = row.value;
	if (!row.value || !row.change) {
		free(row.change);
		return -ENOMEM;
	}
	for (size_t i = 0; i < list->n; i++) {
		spread(&row, v, &list->piece[i]);
		v->sum += overlap(&list->piece[i], v->query.from_us, v->query.until_us);
	}
	finish(&row, v);
	free(row.change);
	for (size_t i = 1; i < v->n; i++) {
		if (v->total[i] > v->total[v->peak])
			v->peak = i;
	}
	return 0;
}

/* It is beside the total: buildbeat's processes are not the build's. */
static int add_overhead(struct tracker_view *v, const struct tracker_pieces *list)
{
	struct tracker_series *s = &v->series[v->n_series];
	struct row row = { zeros(v->n), zeros(v->n + 1) };

	*s = (struct tracker_series){ .name = "", .role = TRACKER_OVERHEAD, .value = row.value };
	v->n_series++;
	if (!row.value || !row.change) {
		free(row.change);
		return -ENOMEM;
	}
	for (size_t i = 0; i < list->n; i++) {
		spread(&row, v, &list->piece[i]);
		s->sum += overlap(&list->piece[i], v->query.from_us, v->query.until_us);
		s->at_peak += level_at_peak(v, &list->piece[i]);
	}
	finish(&row, v);
	free(row.change);
	return 0;
}

static void leave_out_empty(struct tracker_view *v)
{
	size_t n = 0;

	for (size_t i = 0; i < v->n_series; i++) {
		if (v->series[i].role != TRACKER_GROUP && v->series[i].sum <= 0)
			free(v->series[i].value);
		else
			v->series[n++] = v->series[i];
	}
	v->n_series = n;
}

int tracker_view_make(struct tracker_view *v, struct tracker *t, const struct tracker_query *q)
{
	struct choice c = { 0 };
	const struct tracker_names *x = &t->names[q->by];
	const struct tracker_pieces *list = &t->pieces[q->metric];
	int r;

	*v = (struct tracker_view){ .query = *q };
	if (q->from_us < 0 || q->from_us >= q->until_us || !q->n_points ||
	    q->n_points > TRACKER_POINTS_MAX || q->top > TRACKER_TOP_MAX)
		return -EINVAL;
	r = need_names(t, q->by);
	r = r ? r : tracker_need_pieces(t, q->metric);
	r = r ? r : make_points(v, t->s);
	r = r ? r : fill_total(v, list);
	r = r ? r : weigh(&c, v, x, list);
	if (!r) {
		v->known = list->known;
		if (q->only)
			choose_only(v, &c, x);
		else
			choose(v, &c, x);
		join(v, &c, x);
		r = fill_series(v, &c, x, list);
	}
	r = r ? r : add_overhead(v, &t->overhead[q->metric]);
	if (!r)
		leave_out_empty(v);
	free_all(c.sum, c.at_peak, c.order, c.series);
	return r;
}

void tracker_view_release(struct tracker_view *v)
{
	for (size_t i = 0; i < v->n_series; i++)
		free(v->series[i].value);
	free_all(v->edge_us, v->moment_us, v->total);
	*v = (struct tracker_view){ 0 };
}
