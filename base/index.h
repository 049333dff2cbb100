/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BASE_INDEX_H
#define BUILDBEAT_BASE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A hash table from two numbers to an index. */
struct index {
	struct index_slot *slot;
	size_t mask;		/* number of slots - 1, 0 while there are none */
	size_t n;
};

struct index_slot {
	uint64_t a, b;
	uint32_t value;
	uint32_t used;
};

#define INDEX_INIT { 0 }

bool index_find(const struct index *x, uint64_t a, uint64_t b, uint32_t *value);

/* Set the value of (a, b). 0 or -ENOMEM. */
int index_put(struct index *x, uint64_t a, uint64_t b, uint32_t value);

/* Remove (a, b) if it is there. */
void index_remove(struct index *x, uint64_t a, uint64_t b);

void index_release(struct index *x);

#endif
