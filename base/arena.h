/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BASE_ARENA_H
#define BUILDBEAT_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

/* Memory that is released all at once: what hangs off one recording. */
struct arena;

/* NULL when out of memory. */
struct arena *arena_new(void);

/* NULL is fine. */
void arena_free(struct arena *a);

/* size bytes, aligned for anything, zero; NULL when out of memory. */
void *arena_alloc(struct arena *a, size_t size);

/* A copy of len bytes with a NUL behind it. */
char *arena_text(struct arena *a, const char *p, size_t len);

/* Take over a block from malloc(). 0 or -ENOMEM (then it is freed). */
int arena_keep(struct arena *a, void *block);

/*
 * Room for one more item in an array of n items that only ever grew through
 * this: the array, moved perhaps, or NULL when out of memory (the old one is
 * untouched). It doubles; its capacity follows from n.
 */
void *array_double(void *array, size_t n, size_t item_size);

#define ARRAY_FIRST 16

static inline void *array_grow(void *array, size_t n, size_t item_size)
{
	if (n && (n < ARRAY_FIRST || (n & (n - 1))))
		return array;
	return array_double(array, n, item_size);
}

/*
 * Room for n items in all, as far as one can tell: growing step by step leaves behind
 * what the array outgrew. Memory not touched costs nothing; out of it nothing
 * happens.
 */
void *array_expect(void *array, size_t n, size_t item_size);

/* What is behind the n items is given back. The array must not grow any more. */
void *array_trim(void *array, size_t n, size_t item_size);

#endif
