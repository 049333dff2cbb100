/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_PLUGIN_PRELOAD_COUNT_H
#define BUILDBEAT_PLUGIN_PRELOAD_COUNT_H

#include "plugin/counting.h"

#include <stdbool.h>

/*
 * The counters of the processes that a host of the preload and its forks start. Any thread may call
 * these functions.
 */

/* Count from now on. Nothing is counted without memory. */
void preload_count_begin(enum counter_event event);
bool preload_counts(void);

/* As counting_spawn(). c->event is set here. */
int preload_count_spawn(struct counting *c);

/* The process of that call, before it is recorded. */
void preload_count_started(pid_t pid, struct counting *c);

/* Around fork(): in the process that calls it, before; and in the new one. */
void preload_count_forking(void);
void preload_count_forked(void);

/* A child of fork() or vfork() is about to execute its program. */
void preload_count_executing(void);

/* Its count, -1: unknown, or taken. Once it was waited for. */
int64_t preload_count_take(pid_t pid);

/* How many are unknown, as text of a note; nothing if there are none. */
void preload_count_add_missed(struct buf *b);

#endif
