/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SAMPLER_CONNECTOR_H
#define BUILDBEAT_SAMPLER_CONNECTOR_H

#include "sampler/netlink.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The kernel's proc connector reports every fork, exec and exit of the machine when it happens.
 * Before Linux 6.6 only root can listen to it, and nobody can from a container with process
 * numbers or a network of its own.
 */

enum connector_kind {
	CONNECTOR_FORK,		/* of a process or, if tid is not pid, a thread */
	CONNECTOR_EXEC,
	CONNECTOR_EXIT,		/* of thread tid of a process */
};

struct connector_event {
	enum connector_kind kind;
	int32_t pid, tid;
	int32_t parent;		/* of a fork */
	int32_t status;		/* of an exit: the wait(2) status */
	int64_t time_ns;	/* CLOCK_MONOTONIC */
};

struct connector {
	struct netlink netlink;
	uint32_t *next;		/* number of the next message of each processor */
	bool *seen;		/* a message of it was seen */
	uint32_t n_cpus;
	uint64_t lost;		/* missing messages */
};

#define CONNECTOR_CLOSED { .netlink = NETLINK_CLOSED }

/* Open it, and check that it reports the birth of a thread. receive_bytes as in netlink.h. 0 or
 * a negative errno; -ENOTSUP: it reports nothing. */
int connector_open(struct connector *c, int receive_bytes);
void connector_close(struct connector *c);

/* Parse one message. True if it is one of these events. Lost events that it reports are
 * counted. */
bool connector_parse(struct connector *c, struct slice message, struct connector_event *e);

/* The next event; false: there is none now. */
bool connector_next(struct connector *c, struct connector_event *e);

/* The events known to be lost. If the socket overflows, numbers are missing, which the next
 * message shows. */
uint64_t connector_lost(const struct connector *c);

#endif
