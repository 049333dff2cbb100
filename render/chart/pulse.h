/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_CHART_PULSE_H
#define BUILDBEAT_RENDER_CHART_PULSE_H

#include "analyse/used.h"

#include <stddef.h>
#include <stdint.h>

#define PULSE_MOST 96
#define PULSE_CPU 16		/* the level of one CPU */
#define PULSE_LEVEL_MAX 255
#define PULSE_SAMPLES_MIN 2

/* The CPU time of tasks over their lives, as analyse/used.h knows it of their samples. */
struct pulse_source {
	const struct summary *s;
	size_t n;		/* samples of the machine; 0: nothing was sampled */
	int64_t *time_us;
	struct used_pieces pieces;	/* private */
};

/* 0 or -ENOMEM. Always release. */
int pulse_init(struct pulse_source *p, const struct summary *s);
void pulse_release(struct pulse_source *p);

/*
 * The life of a task in equal stretches: as many as there are samples in it, at most `most` and
 * at most PULSE_MOST. level[i] is the mean of CPUs that it used in one, in 1/PULSE_CPU.
 * *n is 0 if it is not known when the task computed: it has no samples, or fewer than
 * PULSE_SAMPLES_MIN were taken in its life, or it ran a build of its own. 0 or -ENOMEM.
 */
int pulse_fill(uint8_t *level, size_t *n, size_t most, struct pulse_source *p, uint32_t task);

#endif
