/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SYMBOLS_STACK_H
#define BUILDBEAT_SYMBOLS_STACK_H

#include "base/buf.h"
#include "base/error.h"

#include <stdint.h>

/*
 * Add the call stacks of all threads of a process to out, as JSON: functions, inlined ones too, with
 * their sources, and lines of those sources that are regular files below the directory `sources` (may
 * be NULL). The threads are stopped while the stacks are read. 0, or a negative errno
 * with err: -ESRCH, -EPERM.
 */
int stack_write(struct buf *out, int32_t pid, const char *sources, int cache_fd, struct error *err);

#endif
