/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "trace/live_state.h"
#include "trace/trace_parts.h"

#include <errno.h>

uint32_t live_add_track(struct live *l, uint32_t instance, uint32_t worker, uint32_t row)
{
	struct live_instance *i = &l->instance[instance];
	uint32_t tid = i->n_tids++;
	char name[PARTS_NAME_MAX];

	trace_track_name(name, worker, row);
	l->sink->ops->track(l->sink, instance + 1, tid, name, trace_track_order(worker, row));
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
int live_place(struct live *l, uint32_t task)
{
	const struct task *t = &l->rec.task[task];
	struct live_instance *i = &l->instance[t->instance];
	int32_t slot = t->slot;
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
	l->task[task].lane = (uint32_t)at;
	l->task[task].tid = i->lane[at].tid;
	return 0;
}
