#include "children.h"

#include <stddef.h>

#define MASK (CHILDREN_SLOTS - 1u)

/* Where pid is, or the free slot where it would be: neighbouring pids get
 * neighbouring slots, and the table is never full. */
static unsigned probe(const struct children *c, pid_t pid)
{
	unsigned i = (unsigned)pid & MASK;

	while (c->slot[i].pid && c->slot[i].pid != pid)
		i = (i + 1) & MASK;
	return i;
}

struct child *children_add(struct children *c, pid_t pid)
{
	struct child *child = &c->slot[probe(c, pid)];

	if (child->pid)
		return child;
	if (c->n == CHILDREN_MAX)
		return NULL;
	c->n++;
	*child = (struct child){ .pid = pid, .io_fd = -1 };
	return child;
}

struct child *children_find(struct children *c, pid_t pid)
{
	struct child *child = &c->slot[probe(c, pid)];

	return child->pid ? child : NULL;
}

/* Is home of the entry in slot i outside (hole, i], going round: then it may
 * move into the hole. */
static bool may_move(unsigned hole, unsigned i, unsigned home)
{
	return ((i - home) & MASK) >= ((i - hole) & MASK);
}

void children_remove(struct children *c, struct child *child)
{
	unsigned hole = (unsigned)(child - c->slot);

	for (unsigned i = (hole + 1) & MASK; c->slot[i].pid; i = (i + 1) & MASK) {
		if (!may_move(hole, i, (unsigned)c->slot[i].pid & MASK))
			continue;
		c->slot[hole] = c->slot[i];
		hole = i;
	}
	c->slot[hole].pid = 0;
	c->n--;
}
