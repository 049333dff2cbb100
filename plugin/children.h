/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_PLUGIN_CHILDREN_H
#define BUILDBEAT_PLUGIN_CHILDREN_H

#include "base/buf.h"
#include "plugin/pipes.h"
#include "sampler/counter.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct event_end;

/*
 * The task of each child process, in fixed memory, so that a child costs no allocation. Children
 * are in the order of their start, but the last one fills the gap of a removed one: so few
 * children touch little memory. There is no lock: it is for hosts that spawn and wait in one
 * thread. If it is interrupted at any instruction, it is consistent, but the child that is being
 * added or removed may be missing.
 */
#define CHILDREN_MAX 3072		/* at the same time */

struct child {
	uint64_t task;		/* 0: its start or end is being recorded */
	int io_fd;		/* its /proc/PID/io, or -1 */
	struct counter counter;	/* of its instructions */
	struct pipes_of output;
	bool asked_for;		/* the tool announced it with a name */
	char *const *env;	/* its environment, as passed by the tool; NULL: unknown */
	struct buf name;	/* its target; the next child in the slot reuses the memory */
};

struct children {
	unsigned n;
	pid_t pid[CHILDREN_MAX];
	struct child child[CHILDREN_MAX];
};

/* The slot of the next child. Until a child is added, it contains the one that was removed last.
 * NULL: there is no room. */
struct child *children_next(struct children *c);

/* The entry of pid, created in that slot if necessary. NULL: there is no room. */
struct child *children_add(struct children *c, pid_t pid);

/* NULL: it is unknown. */
struct child *children_find(struct children *c, pid_t pid);

void children_remove(struct children *c, struct child *child);

/* What it has read and written, if its /proc/PID/io is open and readable. */
void children_read_io(const struct child *child, struct event_end *e);

#endif
