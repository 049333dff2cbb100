/* SPDX-License-Identifier: MIT */
#include "render/chart/lane_pack.h"

#include "base/array.h"
#include "base/minmax.h"
#include "base/saturate.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_SIZE 4
#define NOT_IN_USE INT64_MAX

void lane_pack_release(struct lane_pack *p)
{
	free(p->free_us);
	free(p->lane);
	*p = (struct lane_pack){ 0 };
}

static void set_free(struct lane_pack *p, uint32_t lane, int64_t free_us)
{
	uint32_t at = p->size + lane;

	p->free_us[at] = free_us;
	while (at /= 2) {
		int64_t least = MIN(p->free_us[2 * at], p->free_us[2 * at + 1]);

		if (p->free_us[at] == least)
			return;
		p->free_us[at] = least;
	}
}

static int grow(struct lane_pack *p, uint32_t size)
{
	int64_t *free_us = array_new(2 * (size_t)size, sizeof *free_us);
	struct packed_lane *lane = realloc(p->lane, size * sizeof *lane);

	if (lane)
		p->lane = lane;
	if (!free_us || !lane) {
		free(free_us);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < size; i++)
		free_us[size + i] = i < p->n ? p->free_us[p->size + i] : NOT_IN_USE;
	for (uint32_t i = size; i-- > 1; )
		free_us[i] = MIN(free_us[2 * i], free_us[2 * i + 1]);
	free(p->free_us);
	p->free_us = free_us;
	p->size = size;
	return 0;
}

/* Lanes up to this one, free from the beginning of time. */
static int open_lanes(struct lane_pack *p, uint32_t lane)
{
	uint32_t size = p->size ? p->size : FIRST_SIZE;

	while (size <= lane)
		size *= 2;
	if (size > p->size && grow(p, size))
		return -ENOMEM;
	while (p->n <= lane) {
		p->lane[p->n] = (struct packed_lane){ .last.mark = NO_LANE };
		set_free(p, p->n++, INT64_MIN);
	}
	return 0;
}

/* The lowest that is free at a time, which one is. */
static uint32_t lowest_free(const struct lane_pack *p, int64_t at_us)
{
	uint32_t at = 1;

	while (at < p->size) {
		at *= 2;
		at += p->free_us[at] > at_us;
	}
	return at - p->size;
}

static bool within_slack(const struct stretch *before, const struct stretch *s)
{
	int64_t overlap_us = before->until_us - s->from_us;

	return overlap_us <= LANE_SLACK_US &&
	       overlap_us <= (before->until_us - before->from_us) / 8 &&
	       overlap_us <= (s->until_us - s->from_us) / 8;
}

static bool is_free(const struct lane_pack *p, uint32_t lane, const struct stretch *s)
{
	return p->shared || lane >= p->n || p->free_us[p->size + lane] <= s->from_us ||
	       within_slack(&p->lane[lane].last, s);
}

static uint32_t choose(const struct lane_pack *p, const struct stretch *s)
{
	uint32_t lane;

	if (!p->n)
		return 0;
	lane = lowest_free(p, MIN(NOT_IN_USE - 1, s->from_us));
	if (p->free_us[1] <= s->from_us)
		return lane;
	lane = lowest_free(p, p->free_us[1]);
	return p->n == p->most || within_slack(&p->lane[lane].last, s) ? lane : p->n;
}

int lane_pack_put(struct lane_pack *p, const struct stretch *s, uint32_t wanted, uint32_t *lane)
{
	struct stretch taken = *s;

	if (taken.until_us <= taken.from_us)
		taken.until_us = sat_add(taken.from_us, 1);
	*lane = wanted != NO_LANE && is_free(p, wanted, &taken) ? wanted : choose(p, &taken);
	if (*lane >= p->n && open_lanes(p, *lane))
		return -ENOMEM;
	if (taken.until_us >= p->lane[*lane].last.until_us)
		p->lane[*lane].last = taken;
	set_free(p, *lane, MIN(p->lane[*lane].last.until_us, NOT_IN_USE - 1));
	return 0;
}
