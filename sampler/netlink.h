/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SAMPLER_NETLINK_H
#define BUILDBEAT_SAMPLER_NETLINK_H

#include "base/cursor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/*
 * A netlink socket on which the kernel reports events. Many messages are read at a time. Other
 * processes may send to it as well: a message is ignored unless it comes from the kernel, goes to
 * the group that we joined, and is complete.
 */

#define NETLINK_BATCH 64
#define NETLINK_MESSAGE_MAX 4096

struct netlink {
	int fd;
	uint32_t group;		/* 0: no group */
	char *memory;		/* NETLINK_BATCH messages */
	size_t len[NETLINK_BATCH];	/* 0: not from the kernel, or truncated */
	size_t n, at;		/* read; handed out */
	uint64_t overruns;	/* how often the kernel found no room for a message */
};

#define NETLINK_CLOSED { .fd = -1 }

/*
 * Open a socket for a protocol, in a multicast group (0: none). receive_bytes: the kernel's
 * buffer, 0: as large as it allows, up to 16 MiB. 0 or a negative errno.
 */
int netlink_open(struct netlink *n, int protocol, uint32_t group, int receive_bytes);
void netlink_close(struct netlink *n);

int netlink_send(const struct netlink *n, const void *message, size_t len);

/* Does a received message, with its sender's address, come from the kernel, and is it complete? */
bool netlink_accepts(const struct netlink *n, const struct msghdr *received);

/*
 * The header of a message and its body, whose length the header gives. False: the message is
 * shorter than its header says.
 */
struct nlmsghdr;
bool netlink_open_message(struct slice message, struct nlmsghdr *header, struct slice *body);

/* The next message, valid until the next call. False: there is none now. */
bool netlink_next(struct netlink *n, struct slice *message);

/* Wait for a message. False: none arrived in time. */
bool netlink_wait(const struct netlink *n, int timeout_ms);

#endif
