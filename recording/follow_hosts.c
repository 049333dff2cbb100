/* SPDX-License-Identifier: MIT */
#include "recording/follow.h"

#include "base/array.h"

#include <errno.h>
#include <string.h>

/*
 * The tasks in which instances run. An instance has the ancestors of its process, the nearest first.
 * Its task is that of the first ancestor that was the process of a running task when it opened.
 */

bool follow_next_pid(struct cursor *c, int32_t *pid)
{
	uint64_t n;

	if (!cursor_u64(c, &n) || n > INT32_MAX)
		return false;
	cursor_byte(c, ',');
	*pid = (int32_t)n;
	return true;
}

uint32_t follow_named_parent(struct follow *f, const char *ancestors)
{
	struct cursor c;
	struct slice inst;
	uint64_t seq;

	cursor_init(&c, ancestors, strlen(ancestors));
	if (!cursor_byte(&c, '=') || !cursor_until(&c, '.', &inst) || !cursor_u64(&c, &seq))
		return NO_INDEX;
	return follow_find_task(f, inst, seq);
}

/* Parents open before their children, so parents cannot form a ring. */
static bool can_host(const struct recording *rec, uint32_t task, uint32_t instance)
{
	const struct task *t = &rec->task[task];
	const struct instance *parent = &rec->instance[t->instance];
	const struct instance *child = &rec->instance[instance];

	if (t->end_us >= 0 && t->end_us < child->open_us)
		return false;
	return parent->open_us < child->open_us ||
	       (parent->open_us == child->open_us && t->instance < instance);
}

void follow_set_parent(struct recording *rec, uint32_t at, uint32_t task)
{
	if (task == NO_INDEX || !can_host(rec, task, at))
		return;
	rec->instance[at].parent_task = task;
	rec->task[task].hosts |= !rec->instance[at].only_spans;
}

/* While a recording grows */

uint32_t follow_host(const struct follow *f, uint32_t instance, uint64_t *seq)
{
	*seq = f->instance[instance].host_seq;
	return f->instance[instance].host;
}

int follow_put_pid(struct follow *f, uint32_t task)
{
	int32_t pid = f->rec->task[task].pid;

	return pid < 0 ? 0 : index_put(&f->pids, (uint64_t)pid, 0, task);
}

int follow_new_orphan(struct follow *f, uint32_t instance)
{
	uint32_t *added = array_add(&f->orphan, &f->n_orphans, sizeof *added);

	if (!added)
		return -ENOMEM;
	*added = instance;
	return 0;
}

static uint32_t running_task(const struct follow *f, int32_t pid, int64_t time_us)
{
	uint32_t at;

	return index_find(&f->pids, (uint64_t)pid, 0, &at) && f->rec->task[at].start_us <= time_us ?
	       at : NO_INDEX;
}

/* The task can be forgotten before the instance, which keeps its number. False: it cannot host it. */
static bool set_host(struct follow *f, uint32_t instance, uint32_t task)
{
	struct follow_instance *of = &f->instance[instance];

	follow_set_parent(f->rec, instance, task);
	if (f->rec->instance[instance].parent_task == NO_INDEX)
		return false;
	f->rec->instance[instance].parent_task = NO_INDEX;
	of->host = f->rec->task[task].instance;
	of->host_seq = f->rec->task[task].seq;
	return true;
}

static int find_host(struct follow *f, uint32_t instance)
{
	const struct instance *i = &f->rec->instance[instance];
	uint32_t task = follow_named_parent(f, i->ancestors);
	struct cursor c;
	bool hosted;
	int32_t pid;

	cursor_init(&c, i->ancestors, strlen(i->ancestors));
	for (;;) {
		hosted = task != NO_INDEX && f->rec->task[task].hosts;
		if (set_host(f, instance, task))
			break;
		if (!follow_next_pid(&c, &pid))
			return 0;
		task = running_task(f, pid, i->open_us + FOLLOW_SLACK_US);
	}
	return !hosted && f->rec->task[task].hosts && f->to->hosts ?
	       f->to->hosts(f->context, task, instance) : 0;
}

/* Hosts whose lines come later than that of the instance, too. */
int follow_find_hosts(struct follow *f)
{
	size_t left = 0;
	int r = 0;

	for (size_t k = 0; k < f->n_orphans && !r; k++) {
		uint32_t instance = f->orphan[k];

		r = find_host(f, instance);
		if (f->instance[instance].host == NO_INDEX && f->rec->instance[instance].close_us < 0)
			f->orphan[left++] = instance;
	}
	f->n_orphans = left;
	return r;
}
