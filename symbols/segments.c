/* SPDX-License-Identifier: MIT */
#include "symbols/segments.h"

#include "base/array.h"
#include "base/search.h"

#include <errno.h>
#include <stdlib.h>

void segments_release(struct segments *s)
{
	free(s->segment);
	*s = (struct segments){ 0 };
}

static int add_segment(struct segments *s, uint64_t start, uint32_t what)
{
	struct segment *last = s->n ? &s->segment[s->n - 1] : NULL, *new;

	if (last && last->start == start) {
		last->what = what;
		if (s->n > 1 && last[-1].what == what)
			s->n--;
		return 0;
	}
	if (last ? last->what == what : what == SEGMENT_NONE)
		return 0;
	/* not array_add(): the list shrinks above */
	new = array_grow(s->segment, s->n, sizeof *new);
	if (!new)
		return -ENOMEM;
	s->segment = new;
	new[s->n++] = (struct segment){ start, what };
	return 0;
}

/* Close the intervals that end at or before `until`; they are indices of interval[]. */
static int close_intervals(struct segments *s, const struct code_range *interval,
			   const uint32_t *open, size_t *n_open, uint64_t until)
{
	int r = 0;

	while (*n_open && interval[open[*n_open - 1]].end <= until) {
		uint64_t end = interval[open[--*n_open]].end;

		while (*n_open && interval[open[*n_open - 1]].end <= end)
			(*n_open)--;
		r = add_segment(s, end, *n_open ? interval[open[*n_open - 1]].what : SEGMENT_NONE);
		if (r)
			return r;
	}
	return 0;
}

int segments_flatten(struct segments *s, const struct code_range *interval, size_t n)
{
	uint32_t *open = array_new(n, sizeof *open);
	size_t n_open = 0;
	int r = open && n < UINT32_MAX ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !r; i++) {
		if (interval[i].end <= interval[i].start)
			continue;
		r = close_intervals(s, interval, open, &n_open, interval[i].start);
		open[n_open++] = (uint32_t)i;
		if (!r)
			r = add_segment(s, interval[i].start, interval[i].what);
	}
	if (!r)
		r = close_intervals(s, interval, open, &n_open, UINT64_MAX);
	free(open);
	return r;
}

int segments_merge(struct segments *s, const struct segments *above, const struct segments *below)
{
	const struct segment *a = above->segment, *b = below->segment;
	size_t i = 0, j = 0;
	uint32_t upper = SEGMENT_NONE, lower = SEGMENT_NONE;
	int r = 0;

	while (i < above->n || j < below->n) {
		uint64_t at = j >= below->n || (i < above->n && a[i].start < b[j].start) ?
			a[i].start : b[j].start;

		if (i < above->n && a[i].start == at)
			upper = a[i++].what;
		if (j < below->n && b[j].start == at)
			lower = b[j++].what;
		r = add_segment(s, at, upper != SEGMENT_NONE ? upper : lower);
		if (r)
			return r;
	}
	return 0;
}

uint32_t segments_find(const struct segments *s, uint64_t address)
{
	struct search_range search = search_all(s->n);

	while (search_next(&search))
		search_past(&search, s->segment[search.at].start <= address);
	return search.at ? s->segment[search.at - 1].what : SEGMENT_NONE;
}
