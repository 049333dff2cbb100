/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SYMBOLS_STACK_THREADS_H
#define BUILDBEAT_SYMBOLS_STACK_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The threads of a process, stopped by ptrace() without a signal (PTRACE_SEIZE): when this process
 * ends, in whatever way, the kernel lets them run on.
 */
#define STACK_THREADS_MAX 512

struct stack_threads {
	size_t n;
	struct stack_stopped {
		pid_t tid;
		bool stopped;
		int signal;	/* that the thread was about to get */
	} thread[STACK_THREADS_MAX];
};

/* Stop them; one that waits for a device does not stop. 0, or a negative errno: -ESRCH, -EPERM. */
int stack_threads_stop(struct stack_threads *t, pid_t pid);

/* Let them run on. */
void stack_threads_release(struct stack_threads *t);

#endif
