/* SPDX-License-Identifier: MIT */
#include "plugin/children.h"

#include <stddef.h>

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
	c->pid[c->n++] = pid;
	return child;
}

void children_remove(struct children *c, struct child *child)
{
	struct child *last = &c->child[--c->n];
	struct child removed = *child;

	c->pid[child - c->child] = c->pid[c->n];
	*child = *last;
	*last = removed;
}
