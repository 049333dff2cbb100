/* SPDX-License-Identifier: MIT */
#include "analyse/profile_view.h"

#include "analyse/profile_match.h"
#include "base/arena.h"
#include "base/array.h"
#include "base/index.h"
#include "base/minmax.h"
#include "base/sort.h"
#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define THREAD_KEYS (1u << PROFILE_BORN | 1u << PROFILE_DIED)
#define NAME_MAX_BYTES 512

/* Merged threads */

static const char *text_of(const struct profile_view *v, uint32_t number)
{
	return v->shown ? v->similar.name[v->shown[number]].p : profile_text(v->p, number);
}

/* Tasks were born in a build tool, whose directory has digits that mean something. */
static bool is_thread(const struct profile_row *row, int key, uint32_t tally)
{
	return key == PROFILE_DIED || row->key[PROFILE_KIND] == tally;
}

static int name_similar(struct profile_view *v)
{
	uint32_t tally = name_table_find(&v->p->text, slice_of(PROFILE_TALLY));
	char name[NAME_MAX_BYTES];
	int r = 0;

	v->shown = array_new(v->p->text.n, sizeof *v->shown);
	v->similar.arena = v->memory;
	if (!v->shown)
		return -ENOMEM;
	for (size_t i = 0; i < v->p->text.n; i++)
		v->shown[i] = NO_INDEX;
	for (size_t i = 0; !r && i < v->p->n_rows; i++) {
		for (int k = PROFILE_BORN; !r && k <= PROFILE_DIED; k++) {
			uint32_t text = v->p->row[i].key[k];
			struct slice shown = v->p->text.name[text];

			if (v->shown[text] != NO_INDEX)
				continue;
			if (is_thread(&v->p->row[i], k, tally))
				shown = (struct slice){ name,
					tally_similar_name(name, sizeof name, shown.p) };
			r = name_table_add(&v->similar, shown, &v->shown[text]);
		}
	}
	return r;
}

/* A number that is different for different texts of a key. */
static uint32_t key_of(const struct profile_view *v, const struct profile_row *row, int key)
{
	return v->shown && THREAD_KEYS >> key & 1 ? v->shown[row->key[key]] : row->key[key];
}

/* Nodes */

/* The keys that keep rows apart, and that no column of the group fixes. */
static unsigned apart(const struct profile_view *v)
{
	unsigned keys = ((1u << PROFILE_KEYS) - 1) & ~v->wish.merged;

	for (size_t i = 0; i < v->wish.group.n; i++)
		keys &= ~(1u << v->wish.group.column[i]);
	return keys;
}

/* One number for those keys. */
static int number_rows(struct profile_view *v, struct keyed *at)
{
	struct index seen = INDEX_INIT;
	unsigned keys = apart(v);
	uint32_t next = 0;
	int r = 0;

	for (size_t i = 0; !r && i < v->n_members; i++) {
		const struct profile_row *row = &v->p->row[at[i].value];
		uint64_t a = 0, b = 0;
		uint32_t n = next;

		for (int k = 0; k < PROFILE_KEYS; k++) {
			if (!(keys >> k & 1))
				continue;
			a = (a ^ key_of(v, row, k)) * 0x9e3779b97f4a7c15u;
			a ^= a >> 29;
			b = (b + a) * 0xbf58476d1ce4e5b9u + key_of(v, row, k);
			b ^= b >> 31;
		}
		/* and what cannot be added up */
		a ^= ((uint64_t)row->unit[PROFILE_OF_AMOUNT] << 32 | row->unit[PROFILE_OF_RUN]) *
		     0x94d049bb133111ebu;
		if (!index_find(&seen, a, b, &n))
			r = index_put(&seen, a, b, next++);
		at[i].key = n;
	}
	index_release(&seen);
	return r;
}

/* Put the members in order: those of a node are neighbours. */
static int order_members(struct profile_view *v, uint32_t *row_number)
{
	struct keyed *at = array_new(v->n_members, sizeof *at);
	bool all_apart = apart(v) == (1u << PROFILE_KEYS) - 1 && !v->shown;
	int r = at ? 0 : -ENOMEM;

	if (r)
		goto out;
	for (size_t i = 0; i < v->n_members; i++)
		at[i] = (struct keyed){ (uint64_t)i, v->member[i] };
	if (!all_apart)
		r = number_rows(v, at);
	if (r)
		goto out;
	for (size_t i = 0; i < v->n_members; i++)
		row_number[at[i].value] = (uint32_t)at[i].key;
	if (!all_apart)
		r = sort_keyed(at, v->n_members);
	if (r)
		goto out;
	for (size_t g = v->wish.group.n; g > 0; g--) {
		for (size_t i = 0; i < v->n_members; i++)
			at[i].key = key_of(v, &v->p->row[at[i].value], v->wish.group.column[g - 1]);
		r = sort_keyed(at, v->n_members);
		if (r)
			goto out;
	}
	for (size_t i = 0; i < v->n_members; i++)
		v->member[i] = (uint32_t)at[i].value;
out:
	free(at);
	return r;
}

static struct profile_node *add_node(struct profile_view *v, size_t *cap, uint32_t parent,
				     uint32_t depth, uint32_t first)
{
	struct profile_node *node = array_make_room(v->node, cap, v->n_nodes, sizeof *node);

	if (!node)
		return NULL;
	v->node = node;
	node += v->n_nodes++;
	*node = (struct profile_node){ .parent = parent, .depth = depth, .first = first };
	return node;
}

static uint32_t value_at(const struct profile_view *v, const uint32_t *row_number, size_t depth,
			 uint32_t row)
{
	return depth > v->wish.group.n ? row_number[row] :
	       key_of(v, &v->p->row[row], v->wish.group.column[depth - 1]);
}

/* A node of each depth is open: those that begin at this member. */
static int make_nodes(struct profile_view *v, const uint32_t *row_number)
{
	uint32_t open[PROFILE_LIST_MAX + 2];
	size_t deepest = v->wish.group.n + 1, cap = 0;

	if (!add_node(v, &cap, NO_INDEX, 0, 0))
		return -ENOMEM;
	open[0] = 0;
	for (size_t i = 0; i < v->n_members; i++) {
		uint32_t row = v->member[i], before = i ? v->member[i - 1] : 0;
		size_t depth = 1;

		while (i && depth <= deepest && value_at(v, row_number, depth, row) ==
		       value_at(v, row_number, depth, before))
			depth++;
		for (; depth <= deepest; depth++) {
			struct profile_node *node = add_node(v, &cap, open[depth - 1],
							     (uint32_t)depth, (uint32_t)i);

			if (!node)
				return -ENOMEM;
			open[depth] = (uint32_t)(node - v->node);
			v->node[open[depth - 1]].n_children++;
		}
		for (depth = 0; depth <= deepest; depth++)
			v->node[open[depth]].n++;
	}
	return 0;
}

/* Of a row, or empty for the rows below. */
static int begin_sum(struct profile_view *v, struct profile_node *node)
{
	const struct profile_row *first = node->n ? &v->p->row[v->member[node->first]] : NULL;

	if (node->n == 1) {
		node->sum = &v->p->row[v->member[node->first]];
		return 0;
	}
	node->sum = arena_alloc(v->memory, sizeof *node->sum);
	if (!node->sum)
		return -ENOMEM;
	*node->sum = (struct profile_row)PROFILE_ROW_INIT;
	if (first)
		memcpy(node->sum->key, first->key, sizeof first->key);
	return 0;
}

static void add_to(struct profile_row *sum, const struct profile_row *row)
{
	if (sum->task == NO_INDEX || row->max[PROFILE_RUN_MAX] > sum->max[PROFILE_RUN_MAX])
		sum->task = row->task;
	profile_row_add(sum, row);
}

/* From the rows up: the children of a node are behind it. */
static int add_sums(struct profile_view *v)
{
	uint32_t at = 0;
	int r = 0;

	v->child = array_new(v->n_nodes, sizeof *v->child);
	if (!v->child)
		return -ENOMEM;
	for (size_t i = 0; i < v->n_nodes; i++) {
		struct profile_node *node = &v->node[i];

		node->first_child = at;
		at += node->n_children;
		node->n_children = 0;
		if (node->parent != NO_INDEX) {
			struct profile_node *parent = &v->node[node->parent];

			v->child[parent->first_child + parent->n_children++] = (uint32_t)i;
		}
		r = begin_sum(v, node);
		if (r)
			return r;
	}
	for (size_t i = v->n_nodes; i > 0; i--) {
		struct profile_node *node = &v->node[i - 1];

		for (uint32_t k = 0; profile_is_row(v, node) && node->n > 1 && k < node->n; k++)
			add_to(node->sum, &v->p->row[v->member[node->first + k]]);
		if (node->parent != NO_INDEX && v->node[node->parent].n > 1)
			add_to(v->node[node->parent].sum, node->sum);
	}
	return 0;
}

static int select_rows(struct profile_view *v, struct error *err)
{
	bool *fits = NULL;
	int r = 0;

	v->member = array_new(v->p->n_rows, sizeof *v->member);
	if (!v->member)
		return -ENOMEM;
	if (v->wish.filter && *v->wish.filter) {
		fits = malloc(v->p->n_rows + 1);
		r = fits ? profile_match(fits, v->p, v->wish.filter, err) : -ENOMEM;
	}
	for (size_t i = 0; !r && i < v->p->n_rows; i++) {
		if (!fits || fits[i])
			v->member[v->n_members++] = (uint32_t)i;
	}
	free(fits);
	return r;
}

int profile_view_make(struct profile_view *v, const struct profile *p,
		      const struct profile_wish *wish, struct error *err)
{
	uint32_t *row_number = array_new(p->n_rows, sizeof *row_number);
	int r;

	*v = (struct profile_view){ .p = p, .wish = *wish, .memory = arena_new() };
	r = row_number && v->memory ? 0 : -ENOMEM;
	if (!r && wish->similar)
		r = name_similar(v);
	if (!r)
		r = select_rows(v, err);
	if (!r)
		r = order_members(v, row_number);
	if (!r)
		r = make_nodes(v, row_number);
	if (!r)
		r = add_sums(v);
	free(row_number);
	return r;
}

void profile_view_release(struct profile_view *v)
{
	free_all(v->member, v->node, v->child, v->shown, v->scratch);
	name_table_release(&v->similar);
	arena_free(v->memory);
	*v = (struct profile_view){ .p = NULL };
}

/* Values */

/* The single times of all rows of a node, in v->scratch. */
static size_t collect_times(struct profile_view *v, const struct profile_node *n,
			    enum profile_time which)
{
	size_t count = 0, at = 0;
	struct profile_value *value;

	for (uint32_t i = 0; i < n->n; i++)
		count += v->p->row[v->member[n->first + i]].n[which];
	if (count > v->scratch_cap) {
		value = realloc(v->scratch, count * sizeof *value);
		if (!value) {
			v->no_memory = true;
			return 0;
		}
		v->scratch = value;
		v->scratch_cap = count;
	}
	value = v->scratch;
	for (uint32_t i = 0; i < n->n; i++) {
		const struct profile_row *row = &v->p->row[v->member[n->first + i]];

		for (uint32_t k = 0; k < row->n[which]; k++)
			value[at++] = v->p->value[which][row->first[which] + k];
	}
	return at;
}

static double quantile(struct profile_view *v, const struct profile_node *n,
		       enum profile_time which, double q)
{
	size_t count;
	int64_t value;

	if (v->p->is_difference)
		return NAN;
	count = collect_times(v, n, which);	/* which may move scratch */
	value = profile_quantile(v->scratch, count, q);
	return value < 0 ? NAN : (double)value;
}

static double mean(int64_t sum, int64_t n)
{
	return n ? (double)sum / (double)n : NAN;
}

static double known(const struct profile_view *v, int64_t n)
{
	return n < 0 || v->p->is_difference ? NAN : (double)n;
}

/* A largest value says nothing of a difference. */
static double value_number(const struct profile_view *v, const struct profile_row *s, enum value of)
{
	return !(s->known >> of & 1) || (v->p->is_difference && value_info[of].joined != VALUE_SUM) ? NAN :
	       (double)s->value[of - VALUE_CPU];
}

static double queue_sum(const struct profile_row *s, int k)
{
	return s->sum[PROFILE_QUEUED] || !s->sum[PROFILE_COUNT] ? (double)s->sum[k] : NAN;
}

const char *profile_view_unit(const struct profile_view *v, const struct profile_node *n,
			      enum profile_column c)
{
	static const char *const fixed[] = {
		[PROFILE_TEXT] = "", [PROFILE_PLAIN] = "", [PROFILE_NS] = "ns", [PROFILE_BYTES] = "bytes",
	};
	enum profile_unit unit = profile_column(c).unit;
	uint32_t own;

	if (unit < PROFILE_RUN_UNIT)
		return fixed[unit];
	own = n->sum->unit[unit == PROFILE_RUN_UNIT ? PROFILE_OF_RUN : PROFILE_OF_AMOUNT];
	return own == PROFILE_UNITS_DIFFER ? NULL : own == PROFILE_NO_UNIT ? "ns" :
	       profile_text(v->p, own);
}

static void add_number(struct buf *b, double n, const char *unit)
{
	int64_t whole = isnan(n) ? 0 : fabs(n) < 9e18 ? (int64_t)llround(fabs(n)) : INT64_MAX;

	if (isnan(n) || !unit) {
		buf_addc(b, '-');
		return;
	}
	if (n < 0 && whole)
		buf_addc(b, '-');
	if (!strcmp(unit, "ns"))
		text_add_ns(b, whole);
	else if (!strcmp(unit, "bytes"))
		text_add_bytes(b, whole);
	else
		text_add_count(b, whole);
	if (*unit && strcmp(unit, "ns") && strcmp(unit, "bytes"))
		buf_addf(b, " %s", unit);
}

unsigned profile_view_bounds(const struct profile_view *v, const struct profile_node *n)
{
	return v->p->is_difference ? 0 : n->sum->known >> VALUES & ~1u;	/* without PROFILE_HAS_AMOUNT */
}

void profile_view_add(struct buf *b, struct profile_view *v, const struct profile_node *n,
		      enum profile_column c)
{
	enum value of = VALUE_CPU + c - PROFILE_C_VALUES;

	if (c >= PROFILE_C_VALUES && n->sum->known >> of & 1 &&
	    value_is_at_least(of, n->sum->value[of - VALUE_CPU], profile_view_bounds(v, n)))
		buf_addc(b, '>');
	add_number(b, profile_view_number(v, n, c), profile_view_unit(v, n, c));
}

double profile_view_number(struct profile_view *v, const struct profile_node *n,
			   enum profile_column c)
{
	const struct profile_row *s = n->sum;

	if (!profile_view_unit(v, n, c))
		return NAN;
	if (c >= PROFILE_C_VALUES)
		return value_number(v, s, VALUE_CPU + c - PROFILE_C_VALUES);
	switch (c) {
	case PROFILE_C_COUNT: return (double)s->sum[PROFILE_COUNT];
	case PROFILE_C_LIVING: return (double)s->sum[PROFILE_LIVING];
	case PROFILE_C_RUN: return (double)s->sum[PROFILE_RUN];
	case PROFILE_C_MEAN: return mean(s->sum[PROFILE_RUN], s->sum[PROFILE_COUNT]);
	case PROFILE_C_MAX: return known(v, s->max[PROFILE_RUN_MAX]);
	case PROFILE_C_P50: return quantile(v, n, PROFILE_RUNS, .5);
	case PROFILE_C_P95: return quantile(v, n, PROFILE_RUNS, .95);
	case PROFILE_C_SAMPLE: return known(v, s->sample[PROFILE_RUNS]);
	case PROFILE_C_SELF: return (double)s->sum[PROFILE_SELF];
	case PROFILE_C_QUEUE: return queue_sum(s, PROFILE_QUEUE);
	case PROFILE_C_QUEUE_MEAN: return mean(s->sum[PROFILE_QUEUE], s->sum[PROFILE_QUEUED]);
	case PROFILE_C_QUEUE_MAX: return known(v, s->max[PROFILE_QUEUE_MAX]);
	case PROFILE_C_QUEUE_P50: return quantile(v, n, PROFILE_QUEUES, .5);
	case PROFILE_C_QUEUE_P95: return quantile(v, n, PROFILE_QUEUES, .95);
	case PROFILE_C_QUEUE_SAMPLE: return known(v, s->sample[PROFILE_QUEUES]);
	case PROFILE_C_AMOUNT: return s->known & PROFILE_HAS_AMOUNT ? (double)s->sum[PROFILE_AMOUNT] : NAN;
	case PROFILE_C_AMOUNT_MAX: return known(v, s->max[PROFILE_AMOUNT_MAX]);
	default: return queue_sum(s, PROFILE_WAIT + (int)c - PROFILE_C_WORKER);
	}
}

static int by_number(const void *a, const void *b)
{
	return array_order(*(const uint32_t *)a, *(const uint32_t *)b);
}

const char *profile_view_text(struct profile_view *v, const struct profile_node *n,
			      enum profile_key key, size_t *n_unique)
{
	bool thread = v->shown && THREAD_KEYS >> key & 1;
	uint32_t first = key_of(v, n->sum, key), *all;
	bool same = true;

	*n_unique = 1;
	for (uint32_t i = 1; same && i < n->n; i++)
		same = key_of(v, &v->p->row[v->member[n->first + i]], key) == first;
	if (same)
		return thread ? v->similar.name[first].p : profile_text(v->p, first);
	all = array_new(n->n, sizeof *all);
	if (!all) {
		v->no_memory = true;
		return NULL;
	}
	for (uint32_t i = 0; i < n->n; i++)
		all[i] = key_of(v, &v->p->row[v->member[n->first + i]], key);
	qsort(all, n->n, sizeof *all, by_number);
	for (uint32_t i = 1; i < n->n; i++)
		*n_unique += all[i] != all[i - 1];
	free(all);
	return NULL;
}

/* Sorting */

struct order {
	struct profile_view *v;
	double *number[PROFILE_LIST_MAX];	/* of each child that is sorted, by its node */
	uint32_t least;				/* the first of them */
};

/* Before (-1) or behind (1); what is unknown comes last. */
static int compare_numbers(double a, double b)
{
	if (isnan(a) || isnan(b))
		return isnan(a) - isnan(b);
	return (a < b) - (a > b);
}

static int compare_texts(struct profile_view *v, uint32_t a, uint32_t b, uint8_t key)
{
	bool thread = v->shown && THREAD_KEYS >> key & 1;
	uint32_t x = v->node[a].sum->key[key], y = v->node[b].sum->key[key];

	if (key == PROFILE_LINE || key == PROFILE_PID)
		return array_order(atoll(profile_text(v->p, x)), atoll(profile_text(v->p, y)));
	return strcmp(thread ? text_of(v, x) : profile_text(v->p, x),
		      thread ? text_of(v, y) : profile_text(v->p, y));
}

static bool comes_before(const void *ctx, uint32_t a, uint32_t b)
{
	const struct order *o = ctx;
	const struct profile_wish *wish = &o->v->wish;

	for (size_t i = 0; i < wish->sort.n; i++) {
		int order = o->number[i] ? compare_numbers(o->number[i][a - o->least],
							   o->number[i][b - o->least]) :
			    compare_texts(o->v, a, b, wish->sort.column[i]);

		if (order)
			return (wish->reverse && !i) != (order < 0);
	}
	return a < b;
}

/* The numbers are computed once: percentiles are not cheap. */
static bool compute(struct order *o, size_t at, const uint32_t *child, uint32_t n, uint32_t span)
{
	enum profile_column c = o->v->wish.sort.column[at];

	if (c < PROFILE_FIRST_NUMBER)
		return true;
	o->number[at] = array_new(span, sizeof *o->number[at]);
	for (uint32_t i = 0; o->number[at] && i < n; i++)
		o->number[at][child[i] - o->least] =
			profile_view_number(o->v, &o->v->node[child[i]], c);
	return o->number[at];
}

size_t profile_view_sort(struct profile_view *v, const struct profile_node *n, size_t most)
{
	uint32_t *child = v->child + n->first_child;
	struct order o = { .v = v, .least = n->n_children ? child[0] : 0 };
	uint32_t last = o.least;
	bool known_all = true;

	for (uint32_t i = 0; i < n->n_children; i++) {
		o.least = MIN(child[i], o.least);
		last = MAX(child[i], last);
	}
	for (size_t i = 0; i < v->wish.sort.n; i++)
		known_all &= compute(&o, i, child, n->n_children, last - o.least + 1);
	v->no_memory |= !known_all;
	most = known_all ? sort_top(child, n->n_children, most, comes_before, &o) :
	       MIN(most, n->n_children);
	for (size_t i = 0; i < v->wish.sort.n; i++)
		free(o.number[i]);
	return most;
}

void profile_group_usually(struct profile_wish *w, const struct profile *p)
{
	uint32_t tally = name_table_find(&p->text, slice_of(PROFILE_TALLY));
	bool rules = true, tasks = false;

	w->group.n = 0;
	if (p->is_difference)
		return;
	for (size_t i = 0; i < p->n_rows; i++) {
		const uint32_t *key = p->row[i].key;

		tasks |= key[PROFILE_KIND] != tally;
		rules &= key[PROFILE_KIND] != tally && *profile_text(p, key[PROFILE_RULE]);
	}
	if (tasks)
		w->group = (struct profile_list){ 1, { rules ? PROFILE_RULE : PROFILE_KIND } };
}

void profile_sort_usually(struct profile_wish *w, const struct profile *p)
{
	if (w->sort.n)
		return;
	w->sort = (struct profile_list){ 2, { PROFILE_C_RUN, PROFILE_C_COUNT } };
	if (!profile_has_tasks(p))
		w->sort = (struct profile_list){ 2, { PROFILE_C_COUNT, PROFILE_C_RUN } };
}
