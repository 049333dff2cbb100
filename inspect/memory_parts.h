/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_INSPECT_MEMORY_PARTS_H
#define BUILDBEAT_INSPECT_MEMORY_PARTS_H

#include "inspect/inspection.h"

/*
 * The memory of a process in parts of which each has a file and, if that is known, the call stack
 * that mapped or allocated it. The values of all parts add up to those of all mappings.
 *
 * - A mapping of the program's own anonymous memory is divided among the stacks that mapped it, by
 *   the length of their ranges.
 * - The memory of malloc() is "[heap]" and, if the heap was counted, other anonymous memory that
 *   the process did not map itself. It is divided among the live allocations. What they do not
 *   fill has no stack: free memory, and that of the allocator.
 * - Anonymous memory directly behind a mapped file is the file's: its variables (.bss).
 * - The stack of a thread is anonymous memory behind a guard of one or a few pages.
 */

/* Files of parts that are no numbers in names. */
#define PART_HEAP (UINT32_MAX - 1)
#define PART_THREAD_STACK (UINT32_MAX - 2)

struct memory_part {
	uint32_t file;			/* number in names, or one of the above */
	char permissions[5];
	uint32_t stack;			/* INSPECTION_NONE: not known */
	bool allocated;			/* by malloc() */
	int64_t kb[MAPPING_VALUES];
};

/* Begins as all zero. */
struct memory_parts {
	size_t n;
	struct memory_part *part;
};

/* Replaces what p had. 0 or -ENOMEM. */
int memory_parts_read(struct memory_parts *p, const struct inspection *in,
		      const struct snapshot *s);
void memory_parts_release(struct memory_parts *p);

/* "[heap]", "[thread stack]", or the text in names. */
const char *memory_part_file(const struct inspection *in, uint32_t file);

#endif
