/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SAMPLER_PIDSERVER_H
#define BUILDBEAT_SAMPLER_PIDSERVER_H

#include "recording/store.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/un.h>

/*
 * Answers instances in other PID namespaces which processes they are and which are around them, see
 * pidspace.h: one thread, which waits for the first one. If a process around an instance is that of
 * a task of another such instance, the thread writes a `pid` line of that task. So readers find the
 * task around the instance by its process, as they always do.
 */
struct pidserver {
	int fd;
	struct store *store;	/* of the caller */
	struct sockaddr_un address;
	pthread_t thread;
	bool started;
	_Atomic bool stop;
};

#define PIDSERVER_CLOSED { .fd = -1 }

/* The socket is made beside the ticket. Without a server, instances in other namespaces are
 * recorded with unknown processes. 0 or a negative errno. */
int pidserver_open(struct pidserver *p, struct slice ticket, struct store *store);
/* After the build was forked: the thread makes libc handle a signal of its own, and the build's
 * first process would no longer have it ignored as we had. What is asked before that waits. */
void pidserver_start(struct pidserver *p);
void pidserver_stop(struct pidserver *p);

#endif
