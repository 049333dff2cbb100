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
