#ifndef BUILDBEAT_CHILDREN_H
#define BUILDBEAT_CHILDREN_H

#include "buf.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Which task a child process is, in fixed memory, so that a child costs no
 * allocation. In the order of their start but for the gaps, which the last one
 * fills: few children touch little memory, and are found at once. Not locked: for
 * hosts that spawn and wait in one thread.
 */
#define CHILDREN_MAX 3072		/* held at once */

struct child {
	uint64_t task;
	int io_fd;		/* its /proc/PID/io, or -1 */
	bool asked_for;		/* the tool told its name */
	char *const *env;	/* its environment, as the tool passed it; NULL: not known */
	struct buf name;	/* its target; grows, and goes to whoever has the slot next */
};

struct children {
	unsigned n;
	pid_t pid[CHILDREN_MAX];
	struct child child[CHILDREN_MAX];
};

/* The slot of the next one: while nothing else was added, it still holds what was
 * removed last. NULL when there is no room. */
struct child *children_next(struct children *c);

/* The entry of pid, made in that slot if there is none; NULL when there is no room. */
struct child *children_add(struct children *c, pid_t pid);

/* NULL when it is not there. */
struct child *children_find(struct children *c, pid_t pid);

void children_remove(struct children *c, struct child *child);

#endif
