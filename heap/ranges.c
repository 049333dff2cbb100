/* SPDX-License-Identifier: MIT */
/* Sorted downwards, because the kernel gives a new mapping the address below the last one. */
#include "heap/ranges.h"

#include "base/search.h"
#include "heap/image_write.h"
#include "heap/pages.h"

#include <string.h>

#define FIRST 512

static struct range *ranges;
static size_t n_ranges, n_room;
static uint32_t free_slot;	/* of the image, plus 1; 0: none */

/* The range in the image; start 0: it is free. */
static void write_slot(uint32_t slot, uint64_t start, uint64_t end, uint32_t site)
{
	struct heap_range *r = image_range(slot);

	__atomic_store_n(&r->sequence, r->sequence + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	r->start = start;
	r->end = end;
	r->site = site;
	__atomic_store_n(&r->sequence, r->sequence + 1, __ATOMIC_RELEASE);
}

static uint32_t new_slot(void)
{
	uint32_t slot = free_slot;

	if (slot) {
		free_slot = (uint32_t)image_range(slot - 1)->start;
		return slot - 1;
	}
	if (!image_new_range())
		return HEAP_NONE;
	slot = image_head->n_ranges;
	__atomic_store_n(&image_head->n_ranges, slot + 1, __ATOMIC_RELEASE);
	return slot;
}

static void show(const struct range *r)
{
	if (r->slot != HEAP_NONE)
		write_slot(r->slot, r->start, r->end, r->site);
}

/* The first range, downwards, that begins before this address. */
static size_t below(uintptr_t address)
{
	struct search_range s = search_all(n_ranges);

	if (n_ranges && ranges[n_ranges - 1].start >= address)
		return n_ranges;
	while (search_next(&s))
		search_past(&s, ranges[s.at].start >= address);
	return s.at;
}

static bool double_room(void)
{
	size_t n_old = n_room, n = n_old ? 2 * n_old : FIRST;
	struct range *old = ranges, *fresh;

	if (n_ranges < n_room)
		return true;
	fresh = pages_new(n * sizeof *fresh);
	if (!fresh)
		return false;
	if (n_ranges)
		memcpy(fresh, ranges, n_ranges * sizeof *fresh);
	ranges = fresh;
	n_room = n;
	/* after that: another thread may fork meanwhile, and its child frees them */
	pages_free(old, n_old * sizeof *old);
	return true;
}

bool ranges_add(struct range r)
{
	size_t at;

	if (!double_room())
		return false;
	at = below(r.start);
	memmove(ranges + at + 1, ranges + at, (n_ranges - at) * sizeof *ranges);
	r.slot = r.site == HEAP_NONE ? HEAP_NONE : new_slot();
	show(&r);
	ranges[at] = r;
	n_ranges++;
	return true;
}

const struct range *ranges_find(uintptr_t start, uintptr_t end)
{
	size_t at = below(end);

	return at < n_ranges && ranges[at].end > start ? &ranges[at] : NULL;
}

static void drop_range(size_t at)
{
	uint32_t slot = ranges[at].slot;

	if (slot != HEAP_NONE) {
		write_slot(slot, free_slot, 0, HEAP_NONE);
		free_slot = slot + 1;
	}
	memmove(ranges + at, ranges + at + 1, (n_ranges - at - 1) * sizeof *ranges);
	n_ranges--;
}

bool ranges_take(struct range *taken, uintptr_t start, uintptr_t end)
{
	const struct range *found = ranges_find(start, end);
	struct range *r, upper;
	size_t at;

	if (!found)
		return false;
	at = (size_t)(found - ranges);
	r = ranges + at;
	*taken = upper = *r;
	if (start > r->start) {
		taken->start = start;
		r->end = start;
		show(r);
		taken->counts = false;
		if (end >= upper.end)
			return true;
		taken->end = end;
		upper.start = end;
		upper.counts = false;
		if (!ranges_add(upper))
			taken->end = upper.end;
		return true;
	}
	if (end < r->end) {
		taken->end = end;
		taken->counts = false;
		r->start = end;
		show(r);
		return true;
	}
	drop_range(at);
	return true;
}

void ranges_reset(void)
{
	pages_free(ranges, n_room * sizeof *ranges);
	ranges = NULL;
	n_ranges = n_room = 0;
	free_slot = 0;
}
