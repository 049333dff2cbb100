/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_PLUGIN_PROCS_COUNT_H
#define BUILDBEAT_PLUGIN_PROCS_COUNT_H

#include "plugin/counting.h"

struct child;
struct children;

/* The counters of the children of a build tool that starts them and waits for them in one thread. */
struct procs_count {
	enum counter_event event;	/* COUNTER_OFF: nothing is counted */
	struct counting next;		/* of the process that was started last */
	struct counting_post post;	/* of children of vfork() */
	struct counting_missed missed;
};

#define PROCS_COUNT_INIT { .next = { .counter = COUNTER_CLOSED }, .post = COUNTING_POST_CLOSED }

/* vforks: the tool may start processes by vfork(). */
void procs_count_begin(struct procs_count *c, enum counter_event event, bool vforks);

/* Calls the function of posix_spawn() that `call` has. Returns what it returns. */
int procs_count_spawn(struct procs_count *c, const struct counting *call);

/* In a child of vfork(), which is about to execute its program. */
void procs_count_executing(struct procs_count *c);

/* The process of one of these calls is this child; NULL: there was no room for it. */
void procs_count_started(struct procs_count *c, struct child *child);

/* A child that was waited for: its count or -1. */
int64_t procs_count_ended(struct procs_count *c, struct children *children, struct child *child);

#endif
