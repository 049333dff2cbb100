/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RECORDING_PIDSPACE_H
#define BUILDBEAT_RECORDING_PIDSPACE_H

#include "base/cursor.h"

#include <stdint.h>
#include <sys/un.h>

/*
 * PID namespaces. A process in another namespace than the launcher has one number there and another
 * one here, and it can see neither this one nor the processes around its namespace. So it asks the
 * launcher, through a socket beside the ticket: the kernel reports to the launcher which process has
 * connected. The answer is the list of numbers that the `open` line of an instance has.
 */

#define PIDSPACE_SOCKET "pids"
#define PIDSPACE_LIST_MAX 112

/* The inode of the namespace of this process; 0: unknown. */
uint64_t pidspace_own(void);

/* The address of the socket beside a ticket. False: the path is too long. */
bool pidspace_address(struct sockaddr_un *address, struct slice ticket);

/* The numbers of this process and of those around it, as the launcher sees them: see
 * buildbeat-recording(5), open. Returns the first one; -1 and an empty list: there is no answer.
 * errno is kept. */
int32_t pidspace_ask(char list[PIDSPACE_LIST_MAX], struct slice ticket);

#endif
