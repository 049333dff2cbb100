/* SPDX-License-Identifier: MIT */
#include "plugin/children.h"

#include "base/cursor.h"
#include "recording/event.h"

#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

struct child *children_next(struct children *c)
{
	return c->n < CHILDREN_MAX ? &c->child[c->n] : NULL;
}

struct child *children_find(struct children *c, pid_t pid)
{
	for (unsigned i = c->n; i-- > 0;) {
		if (c->pid[i] == pid)
			return &c->child[i];
	}
	return NULL;
}

struct child *children_add(struct children *c, pid_t pid)
{
	struct child *child = children_find(c, pid);

	if (child)
		return child;
	child = children_next(c);
	if (!child)
		return NULL;
	child->io_fd = -1;
	child->counter = (struct counter)COUNTER_CLOSED;
	child->output = (struct pipes_of){ 0 };
	child->task = 0;
	c->pid[c->n] = pid;
	atomic_signal_fence(memory_order_seq_cst);
	c->n++;
	return child;
}

/* Until n decreases, the last one is found at its place, and then at its new place. */
void children_remove(struct children *c, struct child *child)
{
	struct child *last = &c->child[c->n - 1];
	struct child removed = *child;

	c->pid[child - c->child] = c->pid[c->n - 1];
	*child = *last;
	atomic_signal_fence(memory_order_seq_cst);
	c->n--;
	atomic_signal_fence(memory_order_seq_cst);
	*last = removed;
}

void children_read_io(const struct child *child, struct event_end *e)
{
	char text[512];
	ssize_t n = child->io_fd < 0 ? 0 : pread(child->io_fd, text, sizeof text, 0);
	struct cursor c;
	uint64_t rchar, wchar;

	cursor_init(&c, text, n > 0 ? (size_t)n : 0);
	if (!cursor_literal(&c, "rchar: ") || !cursor_u64(&c, &rchar) ||
	    !cursor_literal(&c, "\nwchar: ") || !cursor_u64(&c, &wchar))
		return;
	e->rchar = (int64_t)rchar;
	e->wchar = (int64_t)wchar;
}
