/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_PLUGIN_SPAN_H
#define BUILDBEAT_PLUGIN_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The open spans of a session in this process. The table has a fixed size. Spans that do not fit
 * are recorded as well, but nothing is known to be inside them.
 *
 * Any thread may use it. A forked child begins with an empty table, whatever another thread was
 * doing when it was forked. A thread that waits too long, such as a signal handler that
 * interrupted its own thread, goes on without the table.
 */

#define SPAN_SLOTS 128
#define SPAN_TASKS 64		/* whose names are known: the last ones */
#define SPAN_NAME_SIZE 48	/* of the texts kept for the stack */
#define SPAN_DEPTH_MAX 32	/* of a stack */

struct span_open {
	uint64_t span;		/* its number, 0: the slot is free */
	uint64_t task, parent;	/* 0: none */
	uint64_t name_hash;	/* of all of the name */
	int64_t begin_us;
	int32_t thread;
	uint32_t copy;
	char name[SPAN_NAME_SIZE];
};

struct buildbeat_span_event;

struct span_watch {
	void (*event)(const struct buildbeat_span_event *event, void *data);
	void *data;
};

struct span_task {
	uint64_t task;
	char name[SPAN_NAME_SIZE];
};

struct span_table {
	_Atomic int32_t lock;	/* 0, or the process of the thread that has it */
	int32_t pid;		/* whose spans these are */
	uint32_t n;		/* slots that may be used */
	struct span_watch watch;	/* of forked children, too */
	struct span_open slot[SPAN_SLOTS];
	struct span_task task[SPAN_TASKS];
};

/* All of it for the next session; no thread uses it. */
void span_table_clear(struct span_table *t);

/* The id of the calling thread, in the process pid. */
int32_t span_thread(int32_t pid);

/*
 * Add a span with its span, task, begin_us, thread, and its parent (0: the innermost one of its
 * task that its thread began). Sets name, parent and copy, which is the lowest number from 1 that
 * no open span of this name has. False: there is no room, and nothing is set.
 */
bool span_table_add(struct span_table *t, int32_t pid, struct span_open *s, const char *name);

/* Remove a span and those inside it, which it outlived. *s is what was removed. False: it is not
 * in the table. */
bool span_table_remove(struct span_table *t, int32_t pid, uint64_t task, uint64_t span,
		       struct span_open *s);

/* A task begins, with its name; it ends, and so do its spans. */
void span_table_add_task(struct span_table *t, int32_t pid, uint64_t task, const char *name);
void span_table_remove_task(struct span_table *t, int32_t pid, uint64_t task);

/* The host's callback: set it; get it, with a NULL event if there is none. */
void span_table_set_watch(struct span_table *t, int32_t pid, struct span_watch watch);
struct span_watch span_table_watch(struct span_table *t, int32_t pid);

/* The innermost span of a thread and those around it, which are first, and the name of their
 * task, "" if it is not known. Returns their number, at most SPAN_DEPTH_MAX. */
size_t span_table_stack(struct span_table *t, int32_t pid, int32_t thread,
			struct span_open stack[SPAN_DEPTH_MAX], struct span_task *task);

#endif
