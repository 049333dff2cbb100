/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_PLUGIN_PIDTABLE_H
#define BUILDBEAT_PLUGIN_PIDTABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The task of each child process, for a host with any number of threads whose forked and vforked
 * children take part. The table is in shared memory, has no lock and can be used in signal
 * handlers. A pid is added by one process and removed by one.
 *
 * An entry is within PIDTABLE_REACH slots of its home, so that looking for a missing one costs
 * little. Pids in use are close to each other, and so are their homes.
 */
#define PIDTABLE_SLOTS 4096	/* a power of two */
#define PIDTABLE_REACH 32

struct pidtable {
	_Atomic pid_t pid[PIDTABLE_SLOTS + PIDTABLE_REACH];	/* 0: free, -1: being filled */
	uint64_t value[PIDTABLE_SLOTS + PIDTABLE_REACH];
};

/* All zero is empty. False: there is no room near its home. If the pid is in the table, nobody
 * waited for its process, and it is replaced. */
bool pidtable_put(struct pidtable *t, pid_t pid, uint64_t value);

/* Remove it; false: it is not in the table. If several try at once, one gets it. */
bool pidtable_take(struct pidtable *t, pid_t pid, uint64_t *value);

/* Is it in the table? Its value may change at any time. */
bool pidtable_has(struct pidtable *t, pid_t pid);

#endif
