/* SPDX-License-Identifier: MIT */
#include "compare/verdict_group.h"

#include "base/array.h"
#include "base/minmax.h"
#include "compare/everywhere.h"
#include "compare/history_group.h"
#include "compare/rules.h"
#include "compare/verdict_cause.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ALIKE 3			/* largest ratio of the logarithms of two effects */

#define NO_GROUP UINT32_MAX

struct item {
	uint32_t finding;
	uint32_t since, first, last;	/* of its event */
	struct slice place;	/* recipe or directory */
	enum verdict_group_of of;	/* what place is */
	struct slice kind;
	double size;		/* of the effect, its logarithm */
	uint32_t group;
};

struct grouping {
	struct verdict_groups *out;
	const struct verdict *v;
	const struct builds *builds;
	struct item *item;	/* one for each finding */
	uint32_t n_groups;
};

/* Events: as history groups changes */

static int by_change(const struct history_change *x, const struct history_change *y)
{
	const struct change *a = &x->change, *b = &y->change;

	return x->task != y->task ? array_order(x->task, y->task) :
	       x->metric != y->metric ? array_order(x->metric, y->metric) :
	       x->creep != y->creep ? array_order(x->creep, y->creep) :
	       a->at != b->at ? array_order(a->at, b->at) :
	       a->first != b->first ? array_order(a->first, b->first) :
	       array_order(a->last, b->last);
}

static int order_changes(const void *a, const void *b)
{
	return by_change(a, b);
}

static struct history_change change_of(const struct verdict_finding *f)
{
	return (struct history_change){
		.task = f->task, .metric = f->metric, .creep = f->creep,
		.change = { .at = f->since, .first = f->first, .last = f->last,
			    .before = f->before, .after = f->now, .effect = f->effect },
	};
}

static int order_items(const void *a, const void *b, void *context)
{
	const struct verdict_finding *finding = context;
	const struct item *x = a, *y = b;
	struct history_change one = change_of(&finding[x->finding]);
	struct history_change other = change_of(&finding[y->finding]);

	return by_change(&one, &other);
}

/* An item outside the interval of its event keeps its own. */
static void set_event(struct item *item, const struct history_change *c,
		      const struct history_event *e)
{
	if (e->at < c->change.first || e->at > c->change.last)
		return;
	item->since = e->at;
	item->first = e->first;
	item->last = e->last;
}

/* Of confirmed findings: a suspect began with the newest build. The history's changes are in
 * another order than the items, so both are sorted. */
static int find_events(struct grouping *g, size_t n)
{
	struct verdict_finding *finding = g->v->finding;
	struct history h = { .change = array_new_zero(n, sizeof *h.change), .n_changes = n };
	int r = h.change ? 0 : -ENOMEM;

	if (r)
		goto out;
	for (size_t i = 0; i < n; i++)
		h.change[i] = change_of(&finding[g->item[i].finding]);
	r = history_group(&h, g->builds);
	if (r)
		goto out;
	qsort(h.change, n, sizeof *h.change, order_changes);
	qsort_r(g->item, n, sizeof *g->item, order_items, finding);
	for (size_t i = 0; i < n; i++)
		set_event(&g->item[i], &h.change[i], &h.event[h.change[i].event]);
out:
	free_all(h.change, h.event);
	return r;
}

/* Groups of an event */

/* "recipe: do_compile", "directory: target", "directory/target". */
static void set_place(struct item *item, const char *name)
{
	const char *colon = strstr(name, ": "), *slash = strrchr(name, '/');

	item->of = colon && !strncmp(colon + 2, "do_", 3) ? GROUP_RECIPE : GROUP_DIRECTORY;
	item->place = colon ? (struct slice){ name, (size_t)(colon - name) } :
		      slash ? (struct slice){ name, (size_t)(slash - name) } : slice_of(".");
}

static struct item item_of(const struct grouping *g, uint32_t finding)
{
	const struct verdict_finding *f = &g->v->finding[finding];
	struct item item = {
		.finding = finding, .since = f->since, .first = f->first, .last = f->last,
		.size = f->effect >= -1 ? fabs(log1p(f->effect)) : 0, .group = NO_GROUP,
	};

	if (f->task < g->builds->n_tasks) {
		const struct builds_task *task = &g->builds->task[f->task];

		set_place(&item, task->name);
		item.kind = slice_of(task->kind ? task->kind : "");
	}
	return item;
}

static int order_slices(struct slice a, struct slice b)
{
	size_t n = MIN(a.len, b.len);
	int order = n ? memcmp(a.p, b.p, n) : 0;

	return order ? order : array_order((int64_t)a.len, (int64_t)b.len);
}

/* By the other series that have them too. */
static int order_also(const struct everywhere_also *a, const struct everywhere_also *b)
{
	size_t n = a ? a->n : 0, m = b ? b->n : 0;

	if (n != m || !n || a->joined != b->joined)
		return n != m ? array_order((int64_t)n, (int64_t)m) : n ? a->joined - b->joined : 0;
	for (size_t i = 0; i < n; i++) {
		int order = strcmp(a->part[i].builds->ref, b->part[i].builds->ref);

		if (order)
			return order;
	}
	return 0;
}

/* What all findings of a group have in common, apart from the place or kind. */
static int order_buckets(const struct verdict *v, const struct item *x, const struct item *y)
{
	const struct verdict_finding *f = &v->finding[x->finding], *g = &v->finding[y->finding];
	const int64_t differ[][2] = {
		{ f->state, g->state }, { !f->worse, !g->worse }, { f->fails, g->fails },
		{ f->metric, g->metric }, { f->creep, g->creep },
		{ (int64_t)(uintptr_t)f->known, (int64_t)(uintptr_t)g->known },
		{ (int64_t)(uintptr_t)f->overdue, (int64_t)(uintptr_t)g->overdue },
		{ x->since, y->since }, { x->first, y->first }, { x->last, y->last },
		{ f->task >= HISTORY_ALL, g->task >= HISTORY_ALL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(differ); i++) {
		if (differ[i][0] != differ[i][1])
			return array_order(differ[i][0], differ[i][1]);
	}
	return order_also(f->also, g->also);
}

static int by_bucket(const void *a, const void *b, void *context)
{
	const struct item *x = a, *y = b;
	int order = order_buckets(context, x, y);

	return order ? order : array_order(x->finding, y->finding);
}

/* Those without a group first. */
static int by_size(const struct item *x, const struct item *y)
{
	if ((x->group == NO_GROUP) != (y->group == NO_GROUP))
		return x->group == NO_GROUP ? -1 : 1;
	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	return array_order(x->finding, y->finding);
}

static int by_kind(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int order = order_slices(x->kind, y->kind);

	return order ? order : by_size(x, y);
}

static int by_item_place(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int order = order_slices(x->place, y->place);

	if (!order)
		order = array_order(x->of, y->of);
	return order ? order : by_size(x, y);
}

static bool is_most_of_kind(const struct builds *builds, struct slice kind, size_t n)
{
	size_t all = 0;

	for (size_t i = 0; i < builds->n_tasks; i++)
		all += builds->task[i].kind && slice_is(kind, builds->task[i].kind);
	return kind.len && 2 * n >= all;
}

struct ends {
	size_t prefix, suffix;
};

static bool is_part_of_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
	       (unsigned char)c >= 0x80;
}

/* The whole words that names begin and end with. */
static void add_name(struct ends *e, const char *one, const char *other)
{
	size_t len = strlen(one), most = strlen(other), i = 0;

	most = MIN(most, len);
	while (i < e->prefix && i < most && one[i] == other[i])
		i++;
	e->prefix = i;
	while (e->prefix && is_part_of_word(one[e->prefix - 1]))
		e->prefix--;
	i = 0;
	while (i < e->suffix && i + e->prefix < most &&
	       one[len - i - 1] == other[strlen(other) - i - 1])
		i++;
	e->suffix = i;
	while (e->suffix && is_part_of_word(one[len - e->suffix]))
		e->suffix--;
}

static const char *name_of(const struct grouping *g, const struct item *item)
{
	return g->builds->task[g->v->finding[item->finding].task].name;
}

/* Whether a pattern for accept and ack fits these and not every task. */
static bool has_pattern(const struct grouping *g, const struct item *item, size_t n)
{
	struct ends e = { SIZE_MAX, SIZE_MAX };

	for (size_t i = 1; i < n; i++)
		add_name(&e, name_of(g, item), name_of(g, &item[i]));
	return e.prefix || e.suffix;
}

/* The largest set of neighbours whose sizes are alike, in items sorted by size. */
static size_t find_alike(const struct item *item, size_t n, size_t *first)
{
	size_t most = 0, from = 0;

	for (size_t i = 0; i < n; i++) {
		if (item[i].group != NO_GROUP) {
			from = i + 1;
			continue;
		}
		while (item[i].size > ALIKE * item[from].size)
			from++;
		if (i - from + 1 <= most)
			continue;
		most = i - from + 1;
		*first = from;
	}
	return most;
}

static void take_alike(struct grouping *g, struct item *item, size_t n, bool kinds)
{
	size_t first = 0, found;

	while ((found = find_alike(item, n, &first)) >= GROUP_LEAST) {
		if (!has_pattern(g, &item[first], found) ||
		    (kinds && !is_most_of_kind(g->builds, item->kind, found)))
			return;
		for (size_t i = 0; i < found; i++)
			item[first + i].group = g->n_groups;
		g->n_groups++;
	}
}

/* Groups what has no group yet. */
static void gather(struct grouping *g, struct item *item, size_t n, bool kinds)
{
	qsort(item, n, sizeof *item, kinds ? by_kind : by_item_place);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n; end++) {
			if (kinds ? order_slices(item[i].kind, item[end].kind) :
				    order_slices(item[i].place, item[end].place) ||
				    item[i].of != item[end].of)
				break;
		}
		take_alike(g, item + i, end - i, kinds);
	}
}

/* Returns the number of lines that an output would have. */
static size_t try_way(struct grouping *g, struct item *item, size_t n, bool kinds_first)
{
	uint32_t before = g->n_groups;
	size_t single = 0;

	for (size_t i = 0; i < n; i++)
		item[i].group = NO_GROUP;
	gather(g, item, n, kinds_first);
	gather(g, item, n, !kinds_first);
	for (size_t i = 0; i < n; i++)
		single += item[i].group == NO_GROUP;
	return single + g->n_groups - before;
}

/* Either kinds or places come first, whichever needs fewer groups. */
static void group_bucket(struct grouping *g, struct item *item, size_t n)
{
	uint32_t before = g->n_groups;

	if (n >= GROUP_LEAST && g->v->finding[item->finding].task < HISTORY_ALL) {
		size_t of_kinds = try_way(g, item, n, true), of_places;

		g->n_groups = before;
		of_places = try_way(g, item, n, false);
		if (of_kinds < of_places) {
			g->n_groups = before;
			try_way(g, item, n, true);
		}
	}
	for (size_t i = 0; i < n; i++) {
		if (item[i].group == NO_GROUP)
			item[i].group = g->n_groups++;
	}
}

static void group_items(struct grouping *g)
{
	qsort_r(g->item, g->v->n, sizeof *g->item, by_bucket, (void *)g->v);
	for (size_t i = 0, end; i < g->v->n; i = end) {
		for (end = i + 1; end < g->v->n; end++) {
			if (order_buckets(g->v, &g->item[i], &g->item[end]))
				break;
		}
		group_bucket(g, g->item + i, end - i);
	}
}

/* The result */

static double change_in(const struct verdict_finding *f)
{
	return f->now - f->before;
}

/* Group by group, the largest change first. */
static int by_group(const void *a, const void *b, void *context)
{
	const struct verdict_finding *finding = context;
	const struct item *x = a, *y = b;
	double one = fabs(change_in(&finding[x->finding]));
	double other = fabs(change_in(&finding[y->finding]));

	if (x->group != y->group)
		return array_order(x->group, y->group);
	if (one != other)
		return one > other ? -1 : 1;
	return array_order(x->finding, y->finding);
}

static double effect_of(double before, double now)
{
	if (before > 0)
		return now / before - 1;
	return now > before ? INFINITY : now < before ? -INFINITY : 0;
}

static void add_member(struct verdict_group *group, const struct verdict_finding *f)
{
	struct verdict_finding *whole = &group->whole;

	whole->before += f->before;
	whole->now += f->now;
	whole->newest += f->newest;
	whole->back &= f->back;
	whole->at = MAX(f->at, whole->at);
	whole->low = fmin(whole->low, f->effect);
	whole->high = fmax(whole->high, f->effect);
	whole->rate = fmax(whole->rate, f->rate);
	whole->machine |= f->machine;
	whole->builds = MAX(f->builds, whole->builds);
}

/* Sums up the n items of a group, which begin at i. */
static void sum_up(struct grouping *g, struct verdict_group *group, size_t i, size_t n, bool kind)
{
	const struct verdict_finding *finding = g->v->finding;
	const struct item *item = &g->item[i];

	*group = (struct verdict_group){
		.first = i, .n = n, .whole = finding[item->finding],
		.largest = change_in(&finding[item->finding]),
	};
	group->whole.since = item->since;
	group->whole.first = item->first;
	group->whole.last = item->last;
	if (n == 1)
		return;
	group->of = kind ? GROUP_KIND : item->of;
	group->name = kind ? item->kind : item->place;
	group->whole.low = group->whole.high = group->whole.effect;
	for (size_t k = 1; k < n; k++)
		add_member(group, &finding[item[k].finding]);
	group->whole.effect = effect_of(group->whole.before, group->whole.now);
}

static bool is_of_kind(const struct item *item, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		if (item[i].of != item->of || order_slices(item[i].place, item->place))
			return true;
	}
	return false;
}

static int class_of(const struct verdict_finding *f)
{
	return f->task == TASK_HOST ? 0 : f->task == TASK_TOTAL ? 1 : f->task == TASK_SHARED ? 2 : 3;
}

/* The order of findings in a verdict, by the sums. */
static int in_order(const void *a, const void *b)
{
	const struct verdict_group *x = a, *y = b;
	const struct verdict_finding *f = &x->whole, *g = &y->whole;
	double one = fabs(change_in(f)), other = fabs(change_in(g));

	if (f->state != g->state)
		return array_order(f->state, g->state);
	if (f->worse != g->worse)
		return f->worse ? -1 : 1;
	if (class_of(f) != class_of(g))
		return class_of(f) - class_of(g);
	if (f->metric != g->metric)
		return array_order(f->metric, g->metric);
	if (one != other)
		return one > other ? -1 : 1;
	return array_order((int64_t)x->first, (int64_t)y->first);
}

static void make_groups(struct grouping *g)
{
	struct verdict_groups *out = g->out;
	size_t n = g->v->n, to = 0;

	if (n)
		qsort_r(g->item, n, sizeof *g->item, by_group, g->v->finding);
	for (size_t i = 0, end; i < n; i = end) {
		end = i + 1;
		while (end < n && g->item[end].group == g->item[i].group)
			end++;
		sum_up(g, &out->group[out->n++], i, end - i, is_of_kind(&g->item[i], end - i));
	}
	if (out->n)
		qsort(out->group, out->n, sizeof *out->group, in_order);
	for (size_t i = 0; i < out->n; i++) {
		struct verdict_group *group = &out->group[i];
		size_t from = group->first;

		group->first = to;
		for (size_t k = 0; k < group->n; k++) {
			out->member[to] = g->item[from + k].finding;
			out->of[out->member[to++]] = (uint32_t)i;
		}
	}
}

int verdict_groups_make(struct verdict_groups *out, const struct verdict *v,
			const struct builds *builds)
{
	struct grouping g = {
		.out = out, .v = v, .builds = builds, .item = array_new(v->n, sizeof *g.item),
	};
	size_t n = 0;
	int r = -ENOMEM;

	*out = (struct verdict_groups){
		.group = array_new(v->n, sizeof *out->group),
		.member = array_new(v->n, sizeof *out->member),
		.of = array_new(v->n + 1, sizeof *out->of),
	};
	if (g.item && out->group && out->member && out->of) {
		/* Those that have an event come first. */
		for (uint32_t i = 0; i < v->n; i++) {
			if (v->finding[i].state != FINDING_SUSPECT)
				g.item[n++] = item_of(&g, i);
		}
		r = find_events(&g, n);
		for (uint32_t i = 0; i < v->n; i++) {
			if (v->finding[i].state == FINDING_SUSPECT)
				g.item[n++] = item_of(&g, i);
		}
	}
	if (!r && n)
		group_items(&g);
	if (!r)
		make_groups(&g);
	free(g.item);
	return r ? r : verdict_cause_find(out, v, builds);
}

void verdict_groups_release(struct verdict_groups *g)
{
	free_all(g->group, g->member, g->of, g->cause, g->like);
	*g = (struct verdict_groups){ 0 };
}

/* Patterns */

static void add_task(struct buf *list, bool *added, const struct builds *builds, uint32_t task)
{
	const char *name = builds_task_name(builds, task);

	if (added[task])
		return;
	added[task] = true;
	rules_add_literal(list, name, strlen(name));
	buf_addc(list, '\n');
}

void verdict_add_changed(struct buf *list, bool *added, const struct verdict *v,
			 const struct builds *builds, const struct verdict_finding *f)
{
	for (size_t i = 0; i < f->n_moved; i++)
		add_task(list, added, builds, v->moved[f->first_moved + i]);
	for (size_t i = 0; i < v->n; i++) {
		if (verdict_cause_shows(f, &v->finding[i], builds))
			add_task(list, added, builds, v->finding[i].task);
	}
}

void verdict_group_add_pattern(struct buf *pattern, const struct verdict_groups *g,
			       const struct verdict *v, const struct builds *builds,
			       const struct verdict_group *group)
{
	const uint32_t *member = &g->member[group->first];
	struct ends e = { SIZE_MAX, SIZE_MAX };
	const char *name;

	if (group->whole.task == TASK_HOST)
		buf_addc(pattern, '*');
	if (group->whole.task == TASK_SHARED)
		shared_add_pattern(pattern, builds, &group->whole.group);
	if (group->whole.task >= HISTORY_ALL)
		return;
	name = builds->task[v->finding[*member].task].name;
	if (group->n == 1) {
		rules_add_literal(pattern, name, strlen(name));
		return;
	}
	for (size_t i = 1; i < group->n; i++)
		add_name(&e, name, builds->task[v->finding[member[i]].task].name);
	rules_add_literal(pattern, name, e.prefix);
	buf_addc(pattern, '*');
	rules_add_literal(pattern, name + strlen(name) - e.suffix, e.suffix);
}
