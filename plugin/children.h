/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_PLUGIN_CHILDREN_H
#define BUILDBEAT_PLUGIN_CHILDREN_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Which task a child process belongs to, in fixed memory, so that a child costs no
 * allocation. Children are in the order of their start, but the last one fills the gap
 * of one that is removed: so few children touch little memory. Not locked: for
 * hosts that spawn and wait in one thread. Interrupted at any instruction it is in order,
 * but the one that is being added or removed may be missing.
 */
#define CHILDREN_MAX 3072		/* held at once */

struct child {
	uint64_t task;		/* 0: its start or its end is being recorded */
	int io_fd;		/* its /proc/PID/io, or -1 */
	bool asked_for;		/* the tool told its name */
	char *const *env;	/* its environment, as the tool passed it; NULL: not known */
	struct buf name;	/* its target; the next user of the slot reuses the memory */
};

struct children {
	unsigned n;
	pid_t pid[CHILDREN_MAX];
	struct child child[CHILDREN_MAX];
};

/* The slot of the next child. Until a child is added, it holds the one that was removed
 * last. NULL when there is no room. */
struct child *children_next(struct children *c);

/* The entry of pid, made in that slot if there is none; NULL when there is no room. */
struct child *children_add(struct children *c, pid_t pid);

/* NULL when it is not there. */
struct child *children_find(struct children *c, pid_t pid);

void children_remove(struct children *c, struct child *child);

#endif
