/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SYMBOLS_SEGMENTS_H
#define BUILDBEAT_SYMBOLS_SEGMENTS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Ranges of addresses that may contain one another become a list of segments without overlaps:
 * one binary search then finds the innermost range of an address.
 */

#define SEGMENT_NONE UINT32_MAX

struct code_range {
	uint64_t start, end;
	uint32_t what;
};

/* From start to the start of the next segment; the last one has no end. */
struct segment {
	uint64_t start;
	uint32_t what;		/* of the innermost interval, SEGMENT_NONE: in no interval */
};

struct segments {
	size_t n;
	struct segment *segment;	/* by start */
};

void segments_release(struct segments *s);

/*
 * Intervals are sorted by start; with the same start the outer comes first. Empty ones are
 * ignored; of two that overlap otherwise, the later start wins where both are. 0 or -ENOMEM; s was
 * empty.
 */
int segments_flatten(struct segments *s, const struct code_range *interval, size_t n);

/* Those of `above`, and those of `below` where it has none. 0 or -ENOMEM; s was empty. */
int segments_merge(struct segments *s, const struct segments *above, const struct segments *below);

uint32_t segments_find(const struct segments *s, uint64_t address);

#endif
