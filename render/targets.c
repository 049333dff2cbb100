#include "targets.h"

#include "hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A hash table of targets by instance, key and name. */
struct slot {
	uint32_t check;		/* more of the hash: other names are seldom looked at */
	uint32_t target;	/* 1 + index, 0 is free */
};

struct names {
	struct slot *slot;
	size_t mask;
};

static bool is_target(const struct summary *s, uint32_t target, const struct task *t)
{
	const struct task *other = &s->rec->task[s->target[target].first_task];

	return other->instance == t->instance && !strcmp(other->name, t->name) &&
	       (other->key == t->key || !strcmp(other->key, t->key));
}

/* Where a task's target is, or belongs. */
static struct slot *find(const struct names *n, const struct summary *s, const struct task *t)
{
	uint64_t hash = hash_bytes(hash_bytes(t->instance, t->key, strlen(t->key)),
				   t->name, strlen(t->name));
	uint32_t check = (uint32_t)(hash >> 32);

	for (size_t at = hash & n->mask;; at = (at + 1) & n->mask) {
		struct slot *slot = &n->slot[at];

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
		.end_us = recording_task_end_us(s->rec, t), .cost = s->nest[task].cost,
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
	cost_add(&g->cost, &s->nest[task].cost);
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
	struct names names = { .mask = 15 };
	uint32_t *last;
	bool ok;

	while (names.mask < 2 * s->n_ran)
		names.mask = 2 * names.mask + 1;
	names.slot = calloc(names.mask + 1, sizeof *names.slot);
	last = malloc((s->n_ran + 1) * sizeof *last);
	s->target = malloc((s->n_ran + 1) * sizeof *s->target);
	ok = names.slot && last && s->target;
	for (size_t i = 0; ok && i < s->n_ran; i++)
		add_task(s, &names, s->order[i], last);
	free(names.slot);
	free(last);
	return ok ? 0 : -ENOMEM;
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
