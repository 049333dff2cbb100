/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SAMPLER_CALIBRATION_H
#define BUILDBEAT_SAMPLER_CALIBRATION_H

#include "base/buf.h"

#include <stdint.h>

/*
 * The speed of the machine, measured without the build: the time of a fixed loop in this thread.
 * A slow build of unchanged tasks on a slower machine has a slower loop, too.
 *
 * The loop has eight independent chains of multiplications, with a table that is always in the
 * first-level cache. Another thread on the same core makes it about as much slower as it makes
 * a compiler, because it keeps most of the core's units busy. The times are comparable if the
 * same build of buildbeat measured them. The clock is that of wall time: the kernel subtracts
 * stolen time from a thread's CPU time in portions, so that a short part of it can be too short
 * by a half.
 */
struct calibration {
	int64_t least_ns;	/* of the loop; it ran without a break, so this is CPU time */
	int64_t mean_ns;	/* longer if the thread had to wait for a processor */
	int64_t mhz;		/* clock of the core, from a chain of instructions that take one
				   cycle each, because many machines do not tell it */
};

/* Unknown values are -1. */
#define CALIBRATION_INIT { -1, -1, -1 }

/* Usually takes less than a millisecond, and up to four while the clock of the core goes up or
 * others disturb. Safe in signal handlers; needs 5 KiB of stack; keeps errno. */
void calibration_run(struct calibration *c);

/* Append calibration_WHEN_least_ns, _mean_ns and _mhz for store_append_build(), WHEN being "start"
 * or "end". Unknown values are omitted. */
void calibration_add(struct buf *b, const char *when, const struct calibration *c);

#endif
