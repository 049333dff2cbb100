/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BASE_CLOCK_H
#define BUILDBEAT_BASE_CLOCK_H

#include "base/buf.h"

#include <stdint.h>

/* CLOCK_MONOTONIC and CLOCK_REALTIME in nanoseconds. */
int64_t clock_mono_ns(void);
int64_t clock_wall_ns(void);

/* A wall clock time as 2026-11-21T08:39:24Z, and as 20261121083924 (UTC). */
void clock_add_iso(struct buf *b, int64_t wall_ns);
void clock_add_name(struct buf *b, int64_t wall_ns);

#endif
