/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SAMPLER_CONNECTOR_H
#define BUILDBEAT_SAMPLER_CONNECTOR_H

#include "sampler/netlink.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The kernel's proc connector: every fork, exec and exit of the machine as it
 * happens. Only root may listen before Linux 6.6, and nobody from inside a
 * container with process numbers or a network of its own.
 */

enum connector_kind {
	CONNECTOR_FORK,		/* of a process or, with tid other than pid, a thread */
	CONNECTOR_EXEC,
	CONNECTOR_EXIT,		/* of a process's thread tid */
};

struct connector_event {
	enum connector_kind kind;
	int32_t pid, tid;
	int32_t parent;		/* of a fork */
	int32_t status;		/* of an exit: of wait(2) */
	int64_t time_ns;	/* CLOCK_MONOTONIC */
};

struct connector {
	struct netlink netlink;
	uint32_t *next;		/* number of the next message of each processor */
	bool *seen;		/* one of it was there */
	uint32_t n_cpus;
	uint64_t lost;		/* messages missing in between */
};

#define CONNECTOR_CLOSED { .netlink = NETLINK_CLOSED }

/* Opened, and a thread's birth was really told of. receive_bytes as in netlink.h.
 * 0 or a negative errno; -ENOTSUP: nothing is ever told. */
int connector_open(struct connector *c, int receive_bytes);
void connector_close(struct connector *c);

/* Parse one message. True if it is one of these events. Lost events that it reports are
 * counted. */
bool connector_parse(struct connector *c, struct slice message, struct connector_event *e);

/* The next of these events; false: there is none now. */
bool connector_next(struct connector *c, struct connector_event *e);

/* What is known to be lost so far: overruns of the socket leave numbers missing, once a
 * later message comes. */
uint64_t connector_lost(const struct connector *c);

#endif
