/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_CHART_SPARK_H
#define BUILDBEAT_RENDER_CHART_SPARK_H

#include "recording/recording.h"

#include <stddef.h>
#include <stdint.h>

#define SPARK_MOST 40
#define SPARK_FULL 63
#define SPARK_SAMPLES_MIN 3

/*
 * The memory of a task over its life, for a small curve: its life in
 * as many equal stretches as it has samples, at most `most`; level[i] is the largest
 * measured in one, in 1/SPARK_FULL of the task's largest. Where nothing was measured
 * it is what it was before; 0 before the first sample. Returns how many, 0 where
 * there are fewer than SPARK_SAMPLES_MIN samples; rec->usage must have been read.
 */
size_t spark_fill(uint8_t *level, size_t most, const struct recording *rec, const struct task *t);

#endif
