/* SPDX-License-Identifier: MIT */
#include "analyse/inspected.h"

#include "base/cursor.h"

/* The start of a process is known in clock ticks, which are 10 ms. */
#define TICK_US 20000

static uint32_t task_with_id(const struct recording *rec, const char *id)
{
	const char *dot = strrchr(id, '.');
	struct slice inst = { id, dot ? (size_t)(dot - id) : 0 };
	uint64_t seq;

	if (!dot || !cursor_slice_u64(slice_of(dot + 1), &seq))
		return NO_INDEX;
	for (uint32_t i = 0; i < rec->n_tasks; i++)
		if (rec->task[i].seq == seq &&
		    slice_is(inst, rec->instance[rec->task[i].instance].id))
			return i;
	return NO_INDEX;
}

static bool ran_at(const struct recording *rec, const struct task *t, int64_t at_us)
{
	return t->start_us >= 0 && at_us >= t->start_us - TICK_US &&
	       at_us <= recording_task_end_us(rec, t) + TICK_US;
}

/* The task whose own process has this pid: a number that is used again is that of another time. */
static uint32_t task_with_pid(const struct recording *rec, int64_t pid,
			      const struct inspected_origin *origin)
{
	for (uint32_t i = 0; i < rec->n_tasks; i++)
		if (rec->task[i].pid == pid && (ran_at(rec, &rec->task[i], origin->start_us) ||
						ran_at(rec, &rec->task[i], origin->inspected_us)))
			return i;
	return NO_INDEX;
}

uint32_t inspected_task(const struct recording *rec, const struct inspected_origin *origin)
{
	uint32_t task = *origin->task ? task_with_id(rec, origin->task) : NO_INDEX;
	struct cursor c;
	int64_t pid;

	if (task == NO_INDEX)
		task = task_with_pid(rec, origin->pid, origin);
	cursor_init(&c, origin->ancestors, strlen(origin->ancestors));
	while (task == NO_INDEX && cursor_i64(&c, &pid)) {
		task = task_with_pid(rec, pid, origin);
		if (!cursor_byte(&c, ','))
			break;
	}
	return task;
}
