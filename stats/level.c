/* SPDX-License-Identifier: MIT */
#include "stats/level.h"

#include "base/search.h"

#include <math.h>
#include <string.h>

float level_middle(const float *sorted, size_t n)
{
	return n % 2 ? sorted[n / 2] : 0.5f * (sorted[n / 2 - 1] + sorted[n / 2]);
}

/* Distances grow on both sides of the middle: the two sides are merged up to their median. */
float level_distance(const float *sorted, size_t n, float middle)
{
	size_t low = n / 2, high = n / 2;
	float before = 0, now = 0;

	for (size_t i = 0; i <= n / 2; i++) {
		float down = low ? middle - sorted[low - 1] : INFINITY;
		float up = high < n ? sorted[high] - middle : INFINITY;

		before = now;
		if (down < up) {
			now = down;
			low--;
		} else {
			now = up;
			high++;
		}
	}
	return n % 2 ? now : 0.5f * (before + now);
}

/* Four at a time, on every processor that has such instructions. */
#define AT_ONCE 4
typedef float floats __attribute__((vector_size(AT_ONCE * sizeof(float))));
typedef int masks __attribute__((vector_size(AT_ONCE * sizeof(int))));

void level_sort(float *sorted, const float *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sorted[i] = NAN;
	for (size_t i = 0; i < n; i++) {
		const floats of = { v[i], v[i], v[i], v[i] };
		masks below = { 0 };
		size_t at = 0, k = 0;

		for (; k + AT_ONCE <= n; k += AT_ONCE) {
			floats some;

			memcpy(&some, v + k, sizeof some);
			below -= some < of;
		}
		for (int lane = 0; lane < AT_ONCE; lane++)
			at += (size_t)below[lane];
		for (; k < n; k++)
			at += v[k] < v[i];
		/* equal values follow each other */
		while (!isnan(sorted[at]))
			at++;
		sorted[at] = v[i];
	}
}

/* The first index whose value is not below. */
static size_t place_of_value(const float *sorted, size_t n, float value)
{
	struct search_range s = search_all(n);

	while (search_next(&s))
		search_past(&s, sorted[s.at] < value);
	return s.at;
}

void level_insert(float *sorted, size_t n, float value)
{
	size_t at = place_of_value(sorted, n, value);

	memmove(sorted + at + 1, sorted + at, (n - at) * sizeof *sorted);
	sorted[at] = value;
}

void level_remove(float *sorted, size_t n, float value)
{
	size_t at = place_of_value(sorted, n, value);

	memmove(sorted + at, sorted + at + 1, (n - at - 1) * sizeof *sorted);
}
