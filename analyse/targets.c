/* SPDX-License-Identifier: MIT */
#include "analyse/targets.h"

#include "base/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Hash tables of targets by key and name, one for each instance: of a large build one
 * table of all would be in no cache. */
struct slot {
	uint32_t check;		/* more of the hash: other names are seldom looked at */
	uint32_t target;	/* 1 + index, 0 is free */
};

struct table {
	size_t n;		/* tasks that ran */
	size_t first, mask;	/* in slot */
};

struct names {
	struct slot *slot;
	struct table *table;	/* of each instance */
};

static bool is_target(const struct summary *s, uint32_t target, const struct task *t)
{
	const struct task *other = &s->rec->task[s->target[target].first_task];

	return !strcmp(other->name, t->name) &&
	       (other->key == t->key || !strcmp(other->key, t->key));
}

/* Room for the targets of every instance, of which at most half is used. */
static int make_tables(struct names *names, const struct summary *s)
{
	const struct recording *rec = s->rec;
	size_t slots = 0;

	names->table = calloc(rec->n_instances + 1, sizeof *names->table);
	if (!names->table)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_ran; i++)
		names->table[rec->task[s->order[i]].instance].n++;
	for (size_t i = 0; i < rec->n_instances; i++) {
		struct table *t = &names->table[i];

		t->first = slots;
		t->mask = 1;
		while (t->mask < 2 * t->n)
			t->mask = 2 * t->mask + 1;
		slots += t->mask + 1;
	}
	names->slot = calloc(slots + 1, sizeof *names->slot);
	return names->slot ? 0 : -ENOMEM;
}

/* Where a task's target is, or belongs. */
static struct slot *find(const struct names *n, const struct summary *s, const struct task *t)
{
	uint64_t hash = hash_bytes(hash_bytes(0, t->key, strlen(t->key)),
				   t->name, strlen(t->name));
	const struct table *table = &n->table[t->instance];
	uint32_t check = (uint32_t)(hash >> 32);

	for (size_t at = hash & table->mask;; at = (at + 1) & table->mask) {
		struct slot *slot = &n->slot[table->first + at];

		if (!slot->target)
			slot->check = check;
		if (!slot->target || (slot->check == check && is_target(s, slot->target - 1, t)))
			return slot;
	}
}

static void begin_target(struct summary *s, uint32_t task, uint32_t *last)
{
	const struct task *t = &s->rec->task[task];

	last[s->n_targets] = task;
	s->target[s->n_targets++] = (struct target){
		.first_task = task, .n_tasks = 1, .start_us = t->start_us,
		.end_us = recording_task_end_us(s->rec, t),
	};
}

static void extend_target(struct summary *s, uint32_t target, uint32_t task, uint32_t *last)
{
	struct target *g = &s->target[target];
	int64_t end_us = recording_task_end_us(s->rec, &s->rec->task[task]);

	s->nest[last[target]].next = task;
	last[target] = task;
	g->n_tasks++;
	if (end_us > g->end_us)
		g->end_us = end_us;
}

/* A task without a name is a target of its own. */
static void add_task(struct summary *s, struct names *names, uint32_t task, uint32_t *last)
{
	const struct task *t = &s->rec->task[task];
	struct slot *slot = *t->name ? find(names, s, t) : NULL;
	bool known = slot && slot->target;

	s->nest[task].target = known ? slot->target - 1 : (uint32_t)s->n_targets;
	if (known) {
		extend_target(s, slot->target - 1, task, last);
		return;
	}
	begin_target(s, task, last);
	if (slot)
		slot->target = (uint32_t)s->n_targets;
}

int targets_fill(struct summary *s)
{
	const struct recording *rec = s->rec;
	const size_t ahead = 16;
	struct names names = { 0 };
	uint32_t *last = malloc((s->n_ran + 1) * sizeof *last);
	bool ok;

	s->target = malloc((s->n_ran + 1) * sizeof *s->target);
	ok = last && s->target && !make_tables(&names, s);
	for (size_t i = 0; ok && i < s->n_ran; i++) {
		/* A large build is in no cache. Not in a function of its own: gcc drops one
		 * that only prefetches. */
		if (i + ahead < s->n_ran) {
			__builtin_prefetch(&rec->task[s->order[i + ahead]].end_us);
			__builtin_prefetch(&rec->task[s->order[i + ahead]].key);
			__builtin_prefetch(&s->nest[s->order[i + ahead]].target, 1);
			__builtin_prefetch(rec->task[s->order[i + ahead / 2]].name);
		}
		add_task(s, &names, s->order[i], last);
	}
	free(names.table);
	free(names.slot);
	free(last);
	return ok ? 0 : -ENOMEM;
}

struct cost target_cost(const struct summary *s, const struct target *g)
{
	struct cost sum = s->nest[g->first_task].cost;

	for (uint32_t i = s->nest[g->first_task].next; i != NO_INDEX; i = s->nest[i].next)
		cost_add(&sum, &s->nest[i].cost);
	return sum;
}

uint32_t target_main_task(const struct summary *s, const struct target *g)
{
	uint32_t longest = g->first_task;

	for (uint32_t i = s->nest[longest].next; i != NO_INDEX; i = s->nest[i].next) {
		if (s->nest[i].cost.wall_us > s->nest[longest].cost.wall_us)
			longest = i;
	}
	return longest;
}
