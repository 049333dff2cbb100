/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TRACE_TRACKS_H
#define BUILDBEAT_TRACE_TRACKS_H

#include "analyse/summary.h"

#include <stddef.h>
#include <stdint.h>

/*
 * On which track everything is. An instance is a process of the trace: its thread 0 has the
 * instance itself and its own spans; each worker is a thread with its tasks and, inside them, their spans. A
 * worker is the one that the host recorded, otherwise the lowest free one. A span that overlaps
 * another one without being inside it is on a further row of its thread. So two slices of one track
 * are always one inside the other or beside each other.
 */

#define TRACKS_NONE UINT32_MAX

struct tracks_row {
	uint32_t pid, tid;
	uint32_t worker;	/* from 1; 0: the instance */
	uint32_t row;		/* from 1; a number above 1 for further rows */
};

struct tracks_span {
	uint32_t span;		/* index */
	uint32_t task;		/* or NO_INDEX */
	uint32_t pid, tid;
	int64_t begin_us, end_us;
	uint32_t outer;		/* private: the one around it on its track */
};

struct tracks {
	uint32_t *tid;		/* of each task; TRACKS_NONE: it never started */
	size_t n_tracks;
	struct tracks_row *track;	/* tracks of an instance need not be together */
	size_t n_spans;
	struct tracks_span *span;	/* those without a task, then those of each task: by
					   their begin, outer spans first */
	uint32_t *first;	/* span of each task, and behind them n_spans */
};

/* s: with its recording. 0 or -ENOMEM. Always release. */
int tracks_make(struct tracks *p, const struct summary *s);
void tracks_release(struct tracks *p);

/* Times of an instance, which may lack both in imported recordings. */
int64_t tracks_instance_begin_us(const struct recording *rec, uint32_t instance);
int64_t tracks_instance_end_us(const struct recording *rec, uint32_t instance);

#endif
