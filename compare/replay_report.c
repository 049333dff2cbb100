/* SPDX-License-Identifier: MIT */
#include "compare/replay.h"

#include "base/array.h"
#include "base/minmax.h"
#include "stats/changepoints.h"
#include "stats/creep.h"

#include <errno.h>
#include <stdlib.h>

#define LEAST_EFFECT 0.01	/* of the steps of a slope */

int replay_work_init(struct replay_work *w, size_t n_builds)
{
	w->values = array_new(n_builds + 1, sizeof *w->values);
	w->points = changepoints_new();
	w->creep = creep_finder_new();
	return w->values && w->points && w->creep ? 0 : -ENOMEM;
}

void replay_work_release(struct replay_work *w)
{
	changepoints_free(w->points);
	creep_finder_free(w->creep);
	free(w->values);
}

/* A change that came slowly has no first build. Its steps are one change with the slope's builds.
 * Returns 0 or -ENOMEM. */
static int find_slope(const struct replay *r, struct replay_step *s, struct replay_work *w)
{
	uint32_t begin = replay_least(r, s->row, s->first > r->cap ? s->first - (uint32_t)r->cap : 0);
	uint32_t end = r->newest + 1, since = s->since;
	const struct change *change;
	const struct creep *slope;
	size_t n, n_slopes = 0;
	int status;

	for (uint32_t b = begin; b < end; b++)
		w->values[b - begin] = replay_amount(r, s->row, replay_x(r, s->row, b));
	status = changepoints_find(w->points, &change, &n, w->values, end - begin, LEAST_EFFECT);
	if (!status && n)
		status = creep_find(w->creep, &slope, &n_slopes, w->points, change, n);
	for (size_t i = 0; !status && i < n_slopes; i++) {
		const struct change *c = &slope[i].change;

		if ((c->after > c->before) != s->worse || begin + c->first > since ||
		    begin + c->last < since)
			continue;
		s->slope = (struct replay_slope){ true, begin + c->first, begin + c->last };
		since = s->slope.first;
	}
	return status == -EFBIG ? 0 : status;
}

int replay_step_place(const struct replay *r, struct replay_step *s, struct replay_work *w)
{
	uint32_t end = MIN(s->end, s->at + REPLAY_AROUND);

	if (s->placed)
		return 0;
	replay_place(r, s, s->older ? r->step[s->older - 1].since : 0, MIN(end, r->newest + 1));
	return s->row < r->host_row ? find_slope(r, s, w) : 0;
}

/* The level of its builds, or of later ones that undid a part of it. */
double replay_step_level(const struct replay *r, const struct replay_step *s, uint32_t end,
			 struct replay_work *w, uint32_t *n)
{
	const struct replay_step *newest = &r->step[r->row[s->row].step - 1];
	double now = s->now;

	*n = s->n_now;
	if (s->end > r->first_judged) {
		*n = (uint32_t)replay_values(r, s->row, s->since, MIN(s->end, end), r->cap, w->values);
		stats_sort(w->values, *n);
		now = *n ? stats_median_sorted(w->values, *n) : s->now;
	}
	if (newest != s && (s->worse ? newest->now < now : newest->now > now))
		now = newest->now;
	return now;
}

uint32_t replay_step_values(const struct replay *r, const struct replay_step *s, uint32_t end)
{
	uint32_t n = s->n_values;

	for (uint32_t b = MAX(s->since, r->first_judged); b < end; b++)
		n += !isnan(replay_x(r, s->row, b));
	return n;
}
