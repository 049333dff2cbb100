#ifndef BUILDBEAT_CHILDREN_H
#define BUILDBEAT_CHILDREN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Which task a child process is: pid -> number, in fixed memory, so that a child
 * costs no allocation. Not locked: for hosts that spawn and wait in one thread.
 */
#define CHILDREN_SLOTS 4096		/* a power of two */
#define CHILDREN_MAX 3072		/* held at once; full enough above that */

struct child {
	pid_t pid;		/* 0: free */
	int io_fd;		/* its /proc/PID/io, or -1 */
	uint64_t task;
};

struct children {
	unsigned n;
	struct child slot[CHILDREN_SLOTS];
};

/* The entry of pid, made if there is none; NULL when the table is full. */
struct child *children_add(struct children *c, pid_t pid);

/* NULL when it is not there. */
struct child *children_find(struct children *c, pid_t pid);

void children_remove(struct children *c, struct child *child);

#endif
