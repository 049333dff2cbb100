/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RECORDING_ALIVE_H
#define BUILDBEAT_RECORDING_ALIVE_H

#include <stdbool.h>
#include <stdint.h>

/* Does a process with this pid run that started at since_ns (CLOCK_MONOTONIC) or earlier? A
 * process that started later has the pid of one that is gone. A zombie does not run. */
bool alive_since(int32_t pid, int64_t since_ns);

/* Is that process stopped, by ^Z or SIGSTOP? */
bool alive_is_stopped(int32_t pid, int64_t since_ns);

/* Are these the names of this machine and of its current boot? NULL: unknown, which is no. */
bool alive_same_host(const char *host);
bool alive_same_boot(const char *boot_id);

#endif
