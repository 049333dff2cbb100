/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_HEAP_RANGES_H
#define BUILDBEAT_HEAP_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The anonymous mappings of the process and the sites that they belong to. A mapping that is
 * unmapped in parts is several ranges, one of which counts as the mapping. Those that have a site
 * are in the image. The caller has the lock. Ranges are of whole pages.
 */
struct range {
	uintptr_t start, end;
	uint32_t site;		/* HEAP_NONE: reserved, nothing can be stored there */
	bool counts;
	uint32_t slot;		/* private: its number in the image */
};

/* Add a range that overlaps no other one. false: no memory. */
bool ranges_add(struct range r);

/*
 * Remove the addresses from start to end from one range, and return what was removed. false: no
 * range has any of them. If there is no memory for the rest of a range, it is removed too.
 */
bool ranges_take(struct range *taken, uintptr_t start, uintptr_t end);

/* Find a range that overlaps these addresses; NULL if there is none. */
const struct range *ranges_find(uintptr_t start, uintptr_t end);

void ranges_reset(void);

#endif
