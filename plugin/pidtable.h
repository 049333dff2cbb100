/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_PLUGIN_PIDTABLE_H
#define BUILDBEAT_PLUGIN_PIDTABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Which task a child process is, for a host with any number of threads whose
 * forked and vforked children take part: in memory they share, without a lock,
 * safe in signal handlers. A pid is put in by one and taken out by one.
 *
 * An entry is found within PIDTABLE_REACH slots of its home or not at all, so that
 * what is not there costs no search; pids in use lie close to each other, homes
 * too.
 */
#define PIDTABLE_SLOTS 4096	/* a power of two */
#define PIDTABLE_REACH 32

struct pidtable {
	_Atomic pid_t pid[PIDTABLE_SLOTS + PIDTABLE_REACH];	/* 0: free, -1: being filled */
	uint64_t value[PIDTABLE_SLOTS + PIDTABLE_REACH];
};

/* All zero is empty. False: there is no room near its home. A pid that is there
 * belonged to a process that nobody waited for, and is replaced. */
bool pidtable_put(struct pidtable *t, pid_t pid, uint64_t value);

/* Takes it out; false when it is not there. Of several at once one gets it. */
bool pidtable_take(struct pidtable *t, pid_t pid, uint64_t *value);

/* Is it there; value may change hands at once. */
bool pidtable_has(struct pidtable *t, pid_t pid);

#endif
