/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_MADE_INSPECTION_H
#define BUILDBEAT_TESTS_MADE_INSPECTION_H

#include "inspect/inspection.h"

/*
 * Generated inspections, with all their snapshots in memory. Begin with made_inspection_init(),
 * random() or compile(); the functions that add to one can follow. Out of memory aborts.
 */
struct made_inspection {
	struct inspection inspection;
	size_t n;
	struct snapshot *snapshot;
};

/* Of a process cc1plus, without modules, stacks and snapshots. */
void made_inspection_init(struct made_inspection *m);
void made_inspection_release(struct made_inspection *m);

/*
 * Sizes obey the rules of the kernel (shared and private pages add up to the RSS ...), and
 * values that count from the start of the process only grow. The values at the peak are those of
 * the snapshot in which most was live.
 */
struct made_inspection_wish {
	size_t mappings, stacks, snapshots;	/* stacks 0: no heap */
	unsigned depth;		/* longest stack, 0: 20 */
	bool hostile;		/* names with markup, control characters, bytes that are not UTF-8 */
	uint64_t seed;
};
void made_inspection_random(struct made_inspection *m, const struct made_inspection_wish *wish);

/* A compilation in six snapshots with known values: see the table in made_inspection.c. */
void made_inspection_compile(struct made_inspection *m);

/* The number of a text in names. */
uint32_t made_inspection_name(struct made_inspection *m, const char *text);

/*
 * The number of a call stack, from the outermost function: "main;parse;xmalloc". "outer<inner" is
 * inner inlined into outer at one address. Equal functions have equal addresses.
 */
uint32_t made_inspection_stack(struct made_inspection *m, const char *functions);

/* A new last snapshot, with a heap and without mappings. The pointer is valid until the next. */
struct snapshot *made_inspection_snapshot(struct made_inspection *m, int64_t time_us);

/* A private mapping behind the last one, all of it resident and dirty. */
struct mapping *made_inspection_map(struct made_inspection *m, struct snapshot *s,
				    const char *permissions, const char *file, uint64_t kb);

/* Live allocations of a stack that was not in the snapshot; the order of the sites is kept. */
struct site *made_inspection_site(struct snapshot *s, uint32_t stack, bool mapped, uint64_t live,
				  uint64_t live_bytes);

#endif
