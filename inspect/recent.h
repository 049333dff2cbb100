/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_INSPECT_RECENT_H
#define BUILDBEAT_INSPECT_RECENT_H

#include "inspect/snapshot.h"

#include <stddef.h>
#include <stdint.h>

/*
 * The last samples of one process: a ring. Rates are those since the sample before.
 */
#define RECENT_MAX 120

struct recent_sample {
	int64_t time_us;	/* CLOCK_MONOTONIC */
	int64_t cpu_permille;	/* of one CPU; -1: the first sample */
	uint64_t rss_kb;
	uint32_t threads;
	int64_t minor_faults, major_faults;	/* since the sample before, -1 in the first */
	int64_t read_kb, written_kb;		/* the same; -1 without permission too */
};

struct recent {
	size_t n, first;
	struct recent_sample sample[RECENT_MAX];
	struct process_values last;
	int64_t last_us;
};

/* Samples at the same time as the last one are ignored. */
void recent_add(struct recent *r, int64_t time_us, const struct process_values *v);

/* Sample i of r->n, the oldest first. */
const struct recent_sample *recent_at(const struct recent *r, size_t i);

#endif
