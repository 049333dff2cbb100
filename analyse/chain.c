/* SPDX-License-Identifier: MIT */
#include "analyse/chain.h"

#include "analyse/chain_bound.h"
#include "base/arena.h"
#include "base/array.h"
#include "base/saturate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const chain_link_word[LINKS] = {
	[LINK_NONE] = "none", [LINK_DEPENDENCY] = "dependency", [LINK_WORKER] = "no free worker",
	[LINK_POOL] = "full pool", [LINK_LOAD] = "load limit", [LINK_ORDER] = "host's order",
};

void chain_add_links(struct buf *b, const struct chain *c)
{
	static const char *const what[LINKS] = {
		[LINK_DEPENDENCY] = " for a dependency", [LINK_WORKER] = " for a free worker",
		[LINK_POOL] = " for a pool", [LINK_LOAD] = " for the load limit",
		[LINK_ORDER] = " by the host's order",
	};
	bool first = true;

	for (int link = LINK_DEPENDENCY; link < LINKS; link++) {
		if (!c->n_link[link])
			continue;
		buf_addf(b, first ? "%zu waited%s" : ", %zu%s", c->n_link[link], what[link]);
		first = false;
	}
	if (c->n_unknown)
		buf_addf(b, first ? "%zu waited%s" : ", %zu%s", c->n_unknown, " for an unknown reason");
}

const char *chain_bound_words(const struct chain *c)
{
	return c->free.known ? "on free cores" : "with unlimited workers";
}

struct work {
	const struct summary *s;
	struct chain *c;
	struct arena *memory;		/* of all arrays but those of c */
	uint32_t *inside;		/* the task that ended last in each */
};

static const struct task *task(const struct work *w, uint32_t i)
{
	return &w->s->rec->task[i];
}

static int64_t end_us(const struct work *w, uint32_t i)
{
	return recording_task_end_us(w->s->rec, task(w, i));
}

/* NO_INDEX for n items, in the memory of the arena, if there is one. */
static uint32_t *indices(struct arena *memory, size_t n)
{
	uint32_t *p = array_new(n, sizeof *p);

	if (!p || (memory && arena_keep(memory, p)))
		return NULL;
	return memset(p, 0xff, n * sizeof *p);
}

static void latest(const struct work *w, uint32_t *last, uint32_t i)
{
	if (*last == NO_INDEX || end_us(w, i) >= end_us(w, *last))
		*last = i;
}

/* The path: what the end of the build waited for */

/* The last to end inside a task, inside that ...; kept, as the way may be long. */
static uint32_t innermost(struct work *w, uint32_t i)
{
	uint32_t leaf = i;

	while (w->inside[leaf] != NO_INDEX)
		leaf = w->inside[leaf];
	while (i != leaf) {
		uint32_t next = w->inside[i];

		w->inside[i] = leaf;
		i = next;
	}
	return leaf;
}

/* place: of each task in the order. A path that would not lead back ends. */
static uint32_t step_back(struct work *w, const uint32_t *place, uint32_t i, uint8_t *why)
{
	const struct wait_task *wait = w->c->waits.task;

	for (uint32_t at = i, leaf; wait[at].before != NO_INDEX; at = wait[at].before) {
		if (wait[at].why == WAIT_HOST)
			continue;
		leaf = innermost(w, wait[at].before);
		if (place[leaf] < place[i] &&
		    end_us(w, leaf) <= task(w, i)->start_us + WAIT_STAMP_US) {
			*why = (uint8_t)wait[at].why;
			return leaf;
		}
	}
	*why = WAIT_NONE;
	return NO_INDEX;
}

static int find_path(struct work *w)
{
	const uint32_t *order = w->s->order;
	struct chain *c = w->c;
	uint32_t *place = indices(w->memory, w->s->rec->n_tasks), last = NO_INDEX;

	c->path = indices(NULL, w->s->n_ran);
	c->path_why = array_new_zero(w->s->n_ran, 1);
	c->path_link = array_new_zero(w->s->n_ran, 1);
	if (!place || !c->path || !c->path_why || !c->path_link)
		return -ENOMEM;
	for (size_t i = 0; i < w->s->n_ran; i++) {
		place[order[i]] = (uint32_t)i;
		if (!task(w, order[i])->hosts)
			latest(w, &last, order[i]);
	}
	for (uint32_t i = last; i != NO_INDEX; c->n_path++) {
		c->path[c->n_path] = i;
		c->path_us = sat_add(c->path_us, end_us(w, i) - task(w, i)->start_us);
		i = step_back(w, place, i, &c->path_why[c->n_path]);
	}
	for (size_t i = 0; i < c->n_path / 2; i++) {
		size_t mirror = c->n_path - 1 - i;
		uint32_t t = c->path[i];
		uint8_t why = c->path_why[i];

		c->path[i] = c->path[mirror];
		c->path[mirror] = t;
		c->path_why[i] = c->path_why[mirror];
		c->path_why[mirror] = why;
	}
	return 0;
}

/* Whether b is a line of the same recipe as a, right after it. */
static bool is_next_line(const struct work *w, uint32_t a, uint32_t b)
{
	const struct wait_task *wait = &w->c->waits.task[b];

	return wait->why == WAIT_LINE && wait->before == a &&
	       w->s->nest[a].target == w->s->nest[b].target;
}

static void find_links(struct work *w)
{
	struct chain *c = w->c;
	bool unknown = false;

	for (size_t i = 0; i < c->n_path; i++) {
		bool next = i && is_next_line(w, c->path[i - 1], c->path[i]);

		unknown = next ? unknown : c->path_why[i] == WAIT_UNKNOWN;
		c->path_link[i] = next ? c->path_link[i - 1] : chain_link((enum wait)c->path_why[i]);
		c->n_link[c->path_link[i]]++;
		c->n_unknown += unknown;
	}
}

static int find_inside(struct work *w)
{
	w->inside = w->memory ? indices(w->memory, w->s->rec->n_tasks) : NULL;
	for (size_t i = 0; w->inside && i < w->s->n_ran; i++) {
		uint32_t at = w->s->order[i], parent = w->s->nest[at].parent;

		if (parent != NO_INDEX)
			latest(w, &w->inside[parent], at);
	}
	return w->inside ? 0 : -ENOMEM;
}

int chain_make(struct chain *c, const struct summary *s)
{
	struct work w = { .s = s, .c = c, .memory = arena_new() };
	int r;

	*c = (struct chain){ 0 };
	r = wait_make(&c->waits, s);
	if (!r)
		r = find_inside(&w);
	if (!r)
		r = find_path(&w);
	if (!r)
		find_links(&w);
	if (!r)
		r = free_cores_make(&c->free, s);
	if (!r)
		r = chain_bound_fill(c, s);
	arena_free(w.memory);
	return r;
}

void chain_release(struct chain *c)
{
	wait_release(&c->waits);
	free_cores_release(&c->free);
	free_all(c->path, c->path_why, c->path_link, c->dependency);
	*c = (struct chain){ 0 };
}
