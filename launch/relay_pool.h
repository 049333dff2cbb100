/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LAUNCH_RELAY_POOL_H
#define BUILDBEAT_LAUNCH_RELAY_POOL_H

#include "plugin/pipes.h"

/*
 * Pipes that the relay of an output hands to makes for their processes, plugin/pipes.h. They exist
 * before the build begins and are used again and again, so the launcher has their read ends, too: if the
 * relay is killed, no writer gets a signal, and the next relay reads what is in them.
 */
struct relay_pool {
	unsigned n;		/* 0: there is none */
	int fd[PIPES_MAX];	/* read ends */
	int listen_fd, page_fd;
	struct pipes_page *page;
};

#define RELAY_POOL_NONE { .listen_fd = -1, .page_fd = -1 }

/* in_fd: the relay's own pipe. out_fd: the original output, which may be a small pipe. Nothing is left if
 * it fails. */
void relay_pool_open(struct relay_pool *p, const char *ticket, unsigned relay, int in_fd, int out_fd);
void relay_pool_close(struct relay_pool *p);

/* A write end of the pipe. -1: there is none. */
int relay_pool_writer(const struct relay_pool *p, unsigned slot);

#endif
