/* SPDX-License-Identifier: MIT */
#include "plugin/procs_count.h"

#include "plugin/children.h"

#include <errno.h>

static char stack[COUNTING_STACK] __attribute__((aligned(16)));

void procs_count_begin(struct procs_count *c, enum counter_event event, bool vforks)
{
	c->event = event;
	if (event && vforks)
		counting_post_open(&c->post);
}

int procs_count_spawn(struct procs_count *c, const struct counting *call)
{
	if (!c->event)
		return call->function(call->pid, call->file, call->actions, call->attr, call->argv, call->envp);
	c->next = *call;
	c->next.event = c->event;
	return counting_spawn(&c->next, stack);
}

void procs_count_executing(struct procs_count *c)
{
	if (c->event)
		c->next.error = counting_post_send(&c->post, c->event);
}

void procs_count_started(struct procs_count *c, struct child *child)
{
	if (!c->event)
		return;
	if (c->next.error)
		counting_miss(&c->missed, c->next.error);
	if (child) {
		counter_close(&child->counter);	/* of a process that nobody waited for */
		child->counter = c->next.counter;
	} else {
		counter_close(&c->next.counter);
	}
	c->next = (struct counting){ .counter = COUNTER_CLOSED };
}

/* Counters that children of vfork() have sent. */
static void receive(struct procs_count *c, struct children *children)
{
	struct counter counter;
	pid_t pid;

	while (counting_post_take(&c->post, &pid, &counter)) {
		struct child *child = children_find(children, pid);

		if (counter.fd < 0)
			counting_miss(&c->missed, -EMFILE);
		if (child)
			child->counter = counter;
		else
			counter_close(&counter);
	}
}

int64_t procs_count_ended(struct procs_count *c, struct children *children, struct child *child)
{
	if (!c->event)
		return -1;
	receive(c, children);
	return child->counter.fd < 0 ? -1 : counting_take(&child->counter, c->event, &c->missed);
}
