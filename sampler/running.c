/* SPDX-License-Identifier: MIT */
#include "sampler/running.h"

#include <string.h>

static struct running_task *find_task(struct running *r, const struct event *e)
{
	for (size_t i = 0; i < r->top; i++)
		if (r->task[i].seq == e->seq && slice_is(e->inst, r->task[i].inst))
			return &r->task[i];
	return NULL;
}

static struct running_instance *find_instance(struct running *r, struct slice id)
{
	for (size_t i = 0; i < INSTANCES_MAX; i++)
		if (r->instance[i].id[0] && slice_is(id, r->instance[i].id))
			return &r->instance[i];
	return NULL;
}

static void set_id(char out[INSTANCE_ID_MAX], struct slice id)
{
	memcpy(out, id.p, id.len);	/* event_parse() has checked its length */
	out[id.len] = '\0';
}

static struct running_instance *free_instance(struct running *r)
{
	for (size_t i = 0; i < INSTANCES_MAX; i++)
		if (!r->instance[i].id[0])
			return &r->instance[i];
	return &r->instance[r->next_instance++ % INSTANCES_MAX];
}

static void take_open(struct running *r, struct event *e)
{
	struct running_instance *i = free_instance(r);
	struct slice list, pid;
	struct cursor c;
	int64_t n = event_number(e);

	event_number(e);	/* level */
	list = event_field(e);
	*i = (struct running_instance){ .outer = NO_SLOT };
	i->pid = n > 0 && n <= INT32_MAX ? (int32_t)n : 0;
	set_id(i->id, e->inst);
	cursor_init(&c, list.p, list.len);
	while (i->n_ancestors < ANCESTORS_READ && cursor_until(&c, ',', &pid))
		if (cursor_slice_i64(pid, &n) && n > 0 && n <= INT32_MAX)
			i->ancestor[i->n_ancestors++] = (int32_t)n;
}

/* The task in which an instance runs. Its line may come after that of the instance. */
static struct running_task *outer_task(struct running *r, struct running_instance *i)
{
	for (size_t a = 0; i->outer == NO_SLOT && a < i->n_ancestors; a++)
		for (size_t s = 0; s < r->top && i->outer == NO_SLOT; s++)
			if (r->task[s].inst[0] && r->task[s].pid == i->ancestor[a])
				i->outer = s;
	if (i->outer == NO_SLOT)
		return NULL;
	r->task[i->outer].hosts = true;
	return &r->task[i->outer];
}

/* A pid has one owner: the end of an earlier one is missing. */
void running_set_pid(struct running *r, struct running_task *t, int64_t pid)
{
	for (size_t i = 0; i < r->top; i++)
		if (pid > 0 && r->task[i].pid == pid)
			r->task[i].pid = 0;
	t->pid = pid > 0 && pid <= INT32_MAX ? (int32_t)pid : 0;
	t->start_ticks = 0;
}

static void take_pid(struct running *r, struct running_task *t, const struct running_instance *i,
		     struct event *e)
{
	bool inner;
	int32_t pid = event_pid(e, &inner);

	t->host = i ? i->pid : 0;
	t->inner_pid = inner && pid > 0 ? pid : 0;
	running_set_pid(r, t, inner ? 0 : pid);
}

struct running_task *running_find_inner(struct running *r, int32_t host, int32_t inner_pid)
{
	for (size_t s = 0; s < r->top; s++) {
		struct running_task *t = &r->task[s];

		if (t->inst[0] && !t->pid && t->inner_pid == inner_pid && t->host == host)
			return t;
	}
	return NULL;
}

static void take_start(struct running *r, struct event *e)
{
	struct running_instance *i = find_instance(r, e->inst);
	struct running_task *t = find_task(r, e);

	/* looked up while the outer task is certainly there */
	if (i)
		outer_task(r, i);
	for (size_t s = 0; s < RUNNING_MAX && !t; s++)
		if (!r->task[s].inst[0])
			t = &r->task[s];
	if (!t)
		return;
	if ((size_t)(t - r->task) >= r->top)
		r->top = (size_t)(t - r->task) + 1;
	*t = (struct running_task){ .seq = e->seq };
	set_id(t->inst, e->inst);
	take_pid(r, t, i, e);
}

static void free_task(struct running *r, struct running_task *t)
{
	size_t slot = (size_t)(t - r->task);

	for (size_t i = 0; t->hosts && i < INSTANCES_MAX; i++)
		if (r->instance[i].id[0] && r->instance[i].outer == slot)
			r->instance[i].id[0] = '\0';
	*t = (struct running_task){ 0 };
}

/* What the task used: as its parent reported it, otherwise as sampled. */
static struct used used_at_end(struct event *e, const struct running_task *t)
{
	struct used u = t ? t->total : (struct used){ 0 };
	int64_t user, system, in, out;

	event_number(e);	/* status */
	user = event_number(e);
	system = event_number(e);
	event_number(e);	/* max RSS */
	event_number(e);	/* minor and */
	event_number(e);	/* major faults */
	in = event_number(e);
	out = event_number(e);
	if (user >= 0 && system >= 0)
		u.cpu_us = user / 2 + system / 2 < INT64_MAX / 4 ? user + system : 0;
	if (in >= 0)
		u.read_kb = in / 2;
	if (out >= 0)
		u.written_kb = out / 2;
	return u;
}

/* The numbers of a damaged line must not overflow the sum. */
static int64_t add_safely(int64_t a, int64_t b)
{
	return a < INT64_MAX / 2 && b < INT64_MAX / 2 ? a + b : a;
}

static void take_end(struct running *r, struct event *e)
{
	struct running_instance *i = find_instance(r, e->inst);
	struct running_task *outer = i ? outer_task(r, i) : NULL;
	struct running_task *t = find_task(r, e);

	if (outer && outer != t) {
		struct used u = used_at_end(e, t);

		outer->inner.cpu_us = add_safely(outer->inner.cpu_us, u.cpu_us);
		outer->inner.read_kb = add_safely(outer->inner.read_kb, u.read_kb);
		outer->inner.written_kb = add_safely(outer->inner.written_kb, u.written_kb);
	}
	if (t)
		free_task(r, t);
}

static void take_close(struct running *r, struct event *e)
{
	struct running_instance *i = find_instance(r, e->inst);

	if (i)
		i->id[0] = '\0';
}

bool running_take(struct running *r, struct slice line)
{
	struct running_task *t;
	struct event e;

	if (event_parse(line, &e) != EVENT_PARSED)
		return false;
	switch (e.kind) {
	case EVENT_OPEN:
		take_open(r, &e);
		break;
	case EVENT_CLOSE:
		take_close(r, &e);
		return true;
	case EVENT_START:
		if (e.seq)
			take_start(r, &e);
		break;
	case EVENT_PID:
		t = e.seq ? find_task(r, &e) : NULL;
		if (t)
			take_pid(r, t, find_instance(r, e.inst), &e);
		break;
	case EVENT_DONE:
	case EVENT_FAIL:
	case EVENT_KILL:
		if (e.seq)
			take_end(r, &e);
		break;
	default:
		break;
	}
	return false;
}
