/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BASE_CLOCK_H
#define BUILDBEAT_BASE_CLOCK_H

#include "base/buf.h"
#include "base/cursor.h"

#include <stdint.h>

/* CLOCK_MONOTONIC and CLOCK_REALTIME in nanoseconds. */
int64_t clock_mono_ns(void);
int64_t clock_wall_ns(void);

/* A wall clock time as 2026-11-21T08:39:24Z, and as 20261121083924 (UTC). */
void clock_add_iso(struct buf *b, int64_t wall_ns);
void clock_add_name(struct buf *b, int64_t wall_ns);

/*
 * Parse 2026-11-21T08:39:24 and pass it; a time zone may follow. False if there is no such time,
 * or the year is not one that nanoseconds since 1970 can express.
 */
#define CLOCK_FIRST_YEAR 1970
#define CLOCK_LAST_YEAR 2261
bool clock_parse_iso(struct cursor *c, int64_t *wall_s);

#endif
