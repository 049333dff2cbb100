/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "trace/live_state.h"
#include "trace/parts.h"

#include <errno.h>
#include <stdlib.h>

struct live_task *live_find_task(struct live *l, uint32_t instance, uint64_t seq)
{
	uint32_t at;

	return index_find(&l->tasks, instance, seq, &at) ? &l->task[at] : NULL;
}

/* free_task has room for all tasks. */
static int more_tasks(struct live *l, uint32_t *at)
{
	uint32_t *list = array_grow(l->free_task, l->n_tasks, sizeof *list);
	struct live_task *added;

	if (!list)
		return -ENOMEM;
	l->free_task = list;
	*at = (uint32_t)l->n_tasks;
	added = array_add(&l->task, &l->n_tasks, sizeof *added);
	return added ? 0 : -ENOMEM;
}

struct live_task *live_add_task(struct live *l, uint32_t instance, uint64_t seq)
{
	uint32_t at;

	if (l->n_free)
		at = l->free_task[--l->n_free];
	else if (more_tasks(l, &at))
		return NULL;
	l->task[at] = (struct live_task){ .instance = instance, .seq = seq, .pid = -1,
					  .start_us = -1, .used = true };
	return index_put(&l->tasks, instance, seq, at) ? NULL : &l->task[at];
}

void live_remove_task(struct live *l, struct live_task *t)
{
	index_remove(&l->tasks, t->instance, t->seq);
	free(t->name);
	free(t->key);
	free(t->kind);
	*t = (struct live_task){ .used = false };
	l->free_task[l->n_free++] = (uint32_t)(t - l->task);
}

struct live_task *live_task_of_pid(struct live *l, int32_t pid)
{
	struct live_task *found = NULL;

	for (size_t i = 0; i < l->n_tasks; i++) {
		struct live_task *t = &l->task[i];

		if (t->used && t->tid && t->pid == pid && (!found || t->start_us > found->start_us))
			found = t;
	}
	return found;
}

/* Tracks */

uint32_t live_add_track(struct live *l, uint32_t instance, uint32_t worker, uint32_t row)
{
	struct live_instance *i = &l->instance[instance];
	uint32_t tid = i->n_tids++;
	char name[PARTS_NAME_MAX];

	parts_track_name(name, worker, row);
	l->sink->ops->track(l->sink, instance + 1, tid, name, parts_track_order(worker, row));
	return tid;
}

static int add_lane(struct live *l, uint32_t instance)
{
	struct live_instance *i = &l->instance[instance];
	struct live_lane *added = array_add(&i->lane, &i->n_lanes, sizeof *added);

	if (!added)
		return -ENOMEM;
	*added = (struct live_lane){ live_add_track(l, instance, (uint32_t)i->n_lanes, 1),
				     INT64_MIN };
	return 0;
}

/* The task's worker if it is free, otherwise the lowest free one. */
int live_place(struct live *l, struct live_task *t, int32_t slot)
{
	struct live_instance *i = &l->instance[t->instance];
	size_t at = 0;

	while (slot >= 0 && slot < PARTS_WORKERS_MAX && i->n_lanes <= (size_t)slot) {
		if (add_lane(l, t->instance))
			return -ENOMEM;
	}
	if (slot >= 0 && (size_t)slot < i->n_lanes && i->lane[slot].free_us <= t->start_us)
		at = (size_t)slot;
	else
		while (at < i->n_lanes && i->lane[at].free_us > t->start_us)
			at++;
	if (at == i->n_lanes && add_lane(l, t->instance))
		return -ENOMEM;
	i->lane[at].free_us = INT64_MAX;
	t->lane = (uint32_t)at;
	t->tid = i->lane[at].tid;
	return 0;
}
