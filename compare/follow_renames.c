/* SPDX-License-Identifier: MIT */
#include "compare/follow_renames.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/minmax.h"
#include "base/name_table.h"
#include "compare/presence.h"
#include "compare/renames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NOBODY UINT32_MAX

/* A gone task and a new one. */
struct link {
	uint32_t from, to;
};

/* Names of one task. */
struct group {
	uint32_t root;		/* a task in it */
	size_t n, changes;	/* names, and how often they change places */
	uint32_t first, last;	/* builds */
};

enum state { UNSEEN, THERE, GONE };

struct following {
	struct builds *builds;
	struct presence *p;
	uint8_t *state;		/* of each task, an enum state */
	uint32_t *since;	/* of each task: the whole build in which it came, an index */
	uint8_t *reason;	/* of each task: why it is another one that is gone */
	struct rename_task *gone, *now;	/* candidates of one build */
	uint32_t *gone_task, *now_task;
	size_t n_gone, n_now;
	struct link *link;	/* in the order of builds */
	size_t n_links;
	uint32_t *root, *next;	/* of each task: its group, and a ring of its members */
	struct group *group;	/* of each task that is a root */
	uint32_t *owner;	/* of each build, for one group */
};

static int add_candidates(struct rename_task **list, uint32_t **task, size_t *n, uint32_t index,
			  const struct builds_task *t)
{
	size_t same = *n;
	struct rename_task *added = array_add(list, n, sizeof *added);
	uint32_t *number = added ? array_add(task, &same, sizeof *number) : NULL;

	if (!number)
		return -ENOMEM;
	*added = (struct rename_task){ .name = t->name, .kind = t->kind };
	*number = index;
	return 0;
}

static int add_gone(struct following *f, size_t whole, uint32_t task)
{
	if (!presence_regular(f->p, f->since[task], whole, task))
		return 0;
	f->state[task] = GONE;
	return add_candidates(&f->gone, &f->gone_task, &f->n_gone, task, &f->builds->task[task]);
}

static int add_now(struct following *f, size_t whole, uint32_t task)
{
	if (f->state[task] == THERE)
		return 0;
	if (f->state[task] == UNSEEN)
		f->since[task] = (uint32_t)whole;
	f->state[task] = THERE;
	return add_candidates(&f->now, &f->now_task, &f->n_now, task, &f->builds->task[task]);
}

/* What differs between a whole build and the one before. */
static int find_candidates(struct following *f, size_t whole)
{
	const uint64_t *was = f->p->set[f->p->whole[whole - 1]];
	const uint64_t *is = f->p->set[f->p->whole[whole]];
	int r = 0;

	f->n_gone = f->n_now = 0;
	for (size_t w = 0; !r && was != is && w < f->p->words; w++) {
		uint32_t base = (uint32_t)(64 * w);

		for (uint64_t left = was[w] & ~is[w]; !r && left; left &= left - 1)
			r = add_gone(f, whole, base + (uint32_t)__builtin_ctzll(left));
		for (uint64_t left = is[w] & ~was[w]; !r && left; left &= left - 1)
			r = add_now(f, whole, base + (uint32_t)__builtin_ctzll(left));
	}
	return r;
}

static bool has_recipes(const struct rename_task *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (strstr(list[i].name, ": "))
			return true;
	}
	return false;
}

static void set_recipes(struct rename_task *list, size_t n, const struct name_table *own,
			const struct name_table *other)
{
	for (size_t i = 0; i < n; i++) {
		const char *end = strstr(list[i].name, ": ");
		struct slice recipe = { list[i].name, end ? (size_t)(end - list[i].name) : 0 };

		list[i].recipe = end && name_table_find(own, recipe) != NAME_TABLE_NONE;
		list[i].whole = list[i].recipe &&
				name_table_find(other, recipe) == NAME_TABLE_NONE;
	}
}

static int find_recipes(struct following *f, size_t whole, struct error *err)
{
	struct name_table side[2] = { { .arena = arena_new() }, { .arena = arena_new() } };
	int r = side[0].arena && side[1].arena ? 0 :
		error_sys(err, -ENOMEM, f->builds->ref, NULL);

	if (!r)
		r = f->builds->packages(f->builds, f->p->whole[whole - 1], &side[0], err);
	if (!r)
		r = f->builds->packages(f->builds, f->p->whole[whole], &side[1], err);
	if (!r) {
		set_recipes(f->gone, f->n_gone, &side[0], &side[1]);
		set_recipes(f->now, f->n_now, &side[1], &side[0]);
	}
	for (int i = 0; i < 2; i++) {
		name_table_release(&side[i]);
		arena_free(side[i].arena);
	}
	return r;
}

/* The pairs of a whole build and the one before. */
static int find_pairs(struct following *f, size_t whole, struct error *err)
{
	int r = find_candidates(f, whole);

	if (r || !f->n_gone || !f->n_now)
		return r ? error_sys(err, r, f->builds->ref, NULL) : 0;
	if (f->builds->packages && has_recipes(f->gone, f->n_gone)) {
		r = find_recipes(f, whole, err);
		if (r)
			return r;
	}
	r = renames_find(f->gone, f->n_gone, f->now, f->n_now);
	for (size_t i = 0; !r && i < f->n_gone; i++) {
		struct link *added;
		uint32_t to;

		if (f->gone[i].reason == RENAME_NONE)
			continue;
		to = f->now_task[f->gone[i].other];
		/* One that came back by itself runs only sometimes. */
		f->since[to] = (uint32_t)whole;
		f->reason[to] = f->gone[i].reason;
		added = array_add(&f->link, &f->n_links, sizeof *added);
		if (added)
			*added = (struct link){ f->gone_task[i], to };
		r = added ? 0 : -ENOMEM;
	}
	return r ? error_sys(err, r, f->builds->ref, NULL) : 0;
}

static int find_links(struct following *f, struct error *err)
{
	const struct presence *p = f->p;
	int r = 0;

	for (uint32_t t = 0; p->n_whole && t < p->n_tasks; t++)
		f->state[t] = presence_ran(p, p->whole[0], t) ? THERE : UNSEEN;
	for (size_t i = 1; !r && i < p->n_whole; i++)
		r = find_pairs(f, i, err);
	return r;
}

static void init_group(struct following *f, uint32_t task)
{
	struct group *g = &f->group[task];
	bool any = false;

	f->root[task] = f->next[task] = task;
	*g = (struct group){ .root = task, .n = 1 };
	for (uint32_t i = 0; i < f->p->n_builds; i++) {
		if (!presence_ran(f->p, i, task))
			continue;
		g->first = any ? g->first : i;
		g->last = i;
		any = true;
	}
}

static struct group *group_of(struct following *f, uint32_t task)
{
	if (f->root[task] == NOBODY)
		init_group(f, task);
	while (f->root[task] != task) {
		f->root[task] = f->root[f->root[task]];
		task = f->root[task];
	}
	return &f->group[task];
}

/* Sets the owner of each build among the members of a group. False if there are two in one. */
static bool set_owners(struct following *f, const struct group *g)
{
	uint32_t task = g->root;

	do {
		for (uint32_t i = g->first; i <= g->last; i++) {
			if (!presence_ran(f->p, i, task))
				continue;
			if (f->owner[i] != NOBODY)
				return false;
			f->owner[i] = task;
		}
		task = f->next[task];
	} while (task != g->root);
	return true;
}

static void clear_owners(struct following *f)
{
	memset(f->owner, 0xff, f->p->n_builds * sizeof *f->owner);
}

static size_t count_changes(const struct following *f, uint32_t first, uint32_t last)
{
	uint32_t owner = NOBODY;
	size_t n = 0;

	for (uint32_t i = first; i <= last; i++) {
		if (f->owner[i] == NOBODY)
			continue;
		n += owner != NOBODY && f->owner[i] != owner;
		owner = f->owner[i];
	}
	return n;
}

static void join_groups(struct following *f, const struct link *link)
{
	struct group *a = group_of(f, link->from), *b = group_of(f, link->to);
	struct group both = {
		.root = a->root, .n = a->n + b->n, .changes = a->changes + b->changes + 1,
		.first = MIN(a->first, b->first),
		.last = MAX(a->last, b->last),
	};
	uint32_t next = f->next[a->root];

	if (a == b)
		return;
	if (a->last >= b->first) {
		clear_owners(f);
		if (!set_owners(f, a) || !set_owners(f, b))
			return;
		both.changes = count_changes(f, both.first, both.last);
	}
	if (both.changes > both.n)
		return;
	f->root[b->root] = a->root;
	f->next[a->root] = f->next[b->root];
	f->next[b->root] = next;
	*a = both;
}

/* The names of a group, in the order of the builds that have them. */
static int set_names(struct following *f, const struct group *g)
{
	struct builds_task *t = &f->builds->task[g->root];
	struct builds_name *held = arena_alloc(f->builds->texts, (g->changes + 1) * sizeof *held);
	const struct builds_task *newest = t;
	uint32_t owner = NOBODY;
	size_t n = 0;

	if (!held)
		return -ENOMEM;
	clear_owners(f);
	set_owners(f, g);
	for (uint32_t i = g->first; i <= g->last; i++) {
		if (f->owner[i] == NOBODY || f->owner[i] == owner)
			continue;
		owner = f->owner[i];
		newest = &f->builds->task[owner];
		held[n] = (struct builds_name){ newest->name, i, RENAME_NONE };
		if (n)
			held[n].reason = f->reason[owner];
		n++;
	}
	*t = (struct builds_task){
		.name = newest->name, .kind = newest->kind, .n_held = n, .held = held,
	};
	return 0;
}

/* Every group becomes the task that is its root. */
static int join_tasks(struct following *f)
{
	struct builds *builds = f->builds;
	uint32_t *to = array_new(builds->n_tasks, sizeof *to);
	size_t n = 0;
	int r = to ? 0 : -ENOMEM;

	if (r)
		goto out;
	for (uint32_t t = 0; t < builds->n_tasks; t++) {
		const struct group *g = f->root[t] == NOBODY ? NULL : group_of(f, t);

		if (!g || g->root == t)
			to[t] = (uint32_t)n++;
		if (g && g->root == t && g->n > 1)
			r = set_names(f, g);
		if (r)
			goto out;
	}
	for (uint32_t t = 0; t < builds->n_tasks; t++) {
		if (f->root[t] != NOBODY)
			to[t] = to[group_of(f, t)->root];
	}
	r = presence_join(f->p, to, n);
	if (r)
		goto out;
	for (uint32_t t = 0; t < builds->n_tasks; t++) {
		if (f->root[t] == NOBODY || f->root[t] == t)
			builds->task[to[t]] = builds->task[t];
	}
	builds->n_tasks = n;
	builds->join(builds, to);
out:
	free(to);
	return r;
}

static int join_links(struct following *f)
{
	size_t n = f->builds->n_tasks + 1;

	f->root = array_new(n, sizeof *f->root);
	f->next = array_new(n, sizeof *f->next);
	f->group = array_new(n, sizeof *f->group);
	f->owner = array_new(f->p->n_builds, sizeof *f->owner);
	if (!f->root || !f->next || !f->group || !f->owner)
		return -ENOMEM;
	memset(f->root, 0xff, n * sizeof *f->root);
	for (size_t i = 0; i < f->n_links; i++)
		join_groups(f, &f->link[i]);
	return join_tasks(f);
}

int follow_renames(struct builds *builds, struct error *err)
{
	struct following f = { .builds = builds };
	int r = 0;

	if (!builds->ran)
		return 0;
	builds->presence = f.p = calloc(1, sizeof *f.p);
	f.state = array_new_zero(builds->n_tasks, sizeof *f.state);
	f.since = array_new_zero(builds->n_tasks, sizeof *f.since);
	f.reason = array_new_zero(builds->n_tasks, sizeof *f.reason);
	if (!f.p || !f.state || !f.since || !f.reason)
		r = error_sys(err, -ENOMEM, builds->ref, NULL);
	if (!r)
		r = presence_read(f.p, builds, err);
	if (!r)
		r = find_links(&f, err);
	if (!r && f.n_links && (r = join_links(&f)))
		error_sys(err, r, builds->ref, NULL);
	free_all(f.state, f.since, f.reason, f.gone, f.now, f.gone_task, f.now_task, f.link,
		 f.root, f.next, f.group, f.owner);
	return r;
}
