/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_STATS_LEVEL_H
#define BUILDBEAT_STATS_LEVEL_H

#include <stddef.h>

/* The median of a sorted array, and the median distance from it, in time of n. */
float level_middle(const float *sorted, size_t n);
float level_distance(const float *sorted, size_t n, float middle);

/* Sorts n values: the smallest first. For tens of values, of which it compares each with all. */
void level_sort(float *sorted, const float *v, size_t n);

/* Adds a value to a sorted array with room for it, or removes one of its values. */
void level_insert(float *sorted, size_t n, float value);
void level_remove(float *sorted, size_t n, float value);

#endif
