/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_NEEDS_NAMES_H
#define BUILDBEAT_ANALYSE_NEEDS_NAMES_H

#include "analyse/summary.h"
#include "base/arena.h"
#include "base/array.h"

#include <stdlib.h>

/*
 * The names that tasks waited for, and the tasks that make what they name: a name is
 * relative to the directory of its instance, so one instance may wait for what
 * another makes. Paths are compared by hashes of 64 bits.
 */
struct needs_names {
	uint32_t *of_after;	/* path of each recording.after, NO_INDEX: no task makes it */
	uint32_t *of_target;	/* of summary.target */
	uint32_t *of_out;	/* of each recording.out */
	uint32_t *of_group, *of_in;	/* of each recording.group and recording.in */
	struct named_path *path;
	size_t n_paths;
};

/* Zeros for n + 1 items, in the memory of the arena. calloc() need not write them. */
static inline void *needs_zeros(struct arena *memory, size_t n, size_t size)
{
	void *p = array_new_zero(n + 1, size);

	return p && !arena_keep(memory, p) ? p : NULL;
}

/* What x has is in the memory of the arena. 0 or -ENOMEM. */
int needs_names_make(struct needs_names *x, const struct summary *s, struct arena *memory);

/* Where the last task that made a path is kept, NO_INDEX until one did. */
uint32_t *needs_names_last(const struct needs_names *x, uint32_t path);

#endif
