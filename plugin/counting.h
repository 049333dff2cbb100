/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_PLUGIN_COUNTING_H
#define BUILDBEAT_PLUGIN_COUNTING_H

#include "sampler/counter.h"

#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>

struct buf;

/*
 * posix_spawn() of a process whose instructions are counted from its first one on.
 *
 * A counter that is opened when posix_spawn() has returned is too late: by then the process runs, and
 * short ones have ended. A counter of the caller, which its children inherit, would count all later
 * children too. So the caller starts a thread for the call, which opens its own counter, calls
 * posix_spawn() and ends. Until then the caller waits, as after vfork(); that thread has its
 * thread-local memory and signal mask, so that both functions act as in the caller.
 */
typedef int counting_function(pid_t *, const char *, const posix_spawn_file_actions_t *,
			      const posix_spawnattr_t *, char *const[], char *const[]);

struct counting {
	counting_function *function;	/* posix_spawn() or posix_spawnp(), and its arguments */
	pid_t *pid;
	const char *file;
	const posix_spawn_file_actions_t *actions;
	const posix_spawnattr_t *attr;
	char *const *argv, *const *envp;
	enum counter_event event;
	struct counter counter;	/* result; closed if the process is not counted */
	int error;		/* and why not: negative errno */
	int result;		/* of the function */
};

/* Signal handlers may run on the stack of that thread. */
#define COUNTING_STACK (64 << 10)

/* Returns what the function returns. If it fails, the counter is closed. */
int counting_spawn(struct counting *c, char stack[COUNTING_STACK]);

/*
 * A child of fork() or vfork() opens its counter itself, just before it executes its program, and sends
 * it to its parent through a pair of sockets.
 */
struct counting_post {
	pid_t pid;		/* that waits for the children; 0: closed */
	int in, out;
	uint64_t in_inode, out_inode;	/* programs may close descriptors that are not theirs */
};

#define COUNTING_POST_CLOSED { 0, -1, -1, 0, 0 }

/* Without sockets it stays closed. */
void counting_post_open(struct counting_post *p);

/* In a forked child: the part of its parent is not needed. */
void counting_post_leave(struct counting_post *p);
void counting_post_close(struct counting_post *p);

/* In the child: 0 or a negative errno. Its program must be executed next. */
int counting_post_send(const struct counting_post *p, enum counter_event event);

/* A counter that a child has sent. False: there is none now. */
bool counting_post_take(const struct counting_post *p, pid_t *child, struct counter *c);

/* Processes without a count. */
struct counting_missed {
	_Atomic unsigned n;
	_Atomic int error;	/* of the first one */
};

void counting_miss(struct counting_missed *m, int error);

/* counter_take(), or -1: with a miss, unless the process executed nothing. */
int64_t counting_take(struct counter *c, enum counter_event event, struct counting_missed *m);

/* The text of a note to the user, if there are any. */
void counting_add_missed(struct buf *b, const struct counting_missed *m);

#endif
