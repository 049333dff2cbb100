/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BASE_ARRAY_H
#define BUILDBEAT_BASE_ARRAY_H

#include <stddef.h>
#include <stdint.h>

/* The number of items of an array; not for pointers. */
#define ARRAY_SIZE(array) (sizeof(array) / sizeof *(array))

/* For comparison functions of qsort(): -1, 0 or 1 if a is less than, equal to or more than b. */
static inline int array_order(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/* Room for n items, without values or all zero; at least one byte. To be freed. NULL if out of
 * memory, also if no memory could be that large. */
void *array_new(size_t n, size_t item_size);
void *array_new_zero(size_t n, size_t item_size);

/*
 * Make room for one more item in an array of n items that only ever grew through this. Returns
 * the array, possibly moved, or NULL if out of memory: then the old one is unchanged. It doubles;
 * its capacity follows from n.
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
 * Add an item to such an array: `array` is the address of the pointer to it, which may change, and
 * *n its length, which grows by one. Returns the new item, which has no value yet, or NULL if out
 * of memory: then nothing has changed.
 */
void *array_add(void *array, size_t *n, size_t item_size);

/*
 * An array whose final length is known before it is full: growing step by step wastes
 * memory. Such an array keeps its capacity in *cap, which begins as 0, and grows through
 * array_make_room() instead of array_grow().
 */
void *array_more_room(void *array, size_t *cap, size_t n, size_t item_size);

static inline void *array_make_room(void *array, size_t *cap, size_t n, size_t item_size)
{
	return n < *cap ? array : array_more_room(array, cap, n, item_size);
}

/* Make room for n items in all. Untouched pages are not committed. On failure array and *cap are
 * unchanged, which is no error. Returns the array. */
void *array_expect(void *array, size_t *cap, size_t n, size_t item_size);

/* Free arrays, or other memory, of any types: free_all(w.row, w.cell, w.link). */
#define free_all(...) array_free_each((void *const []){ __VA_ARGS__ }, \
				      sizeof((void *const []){ __VA_ARGS__ }) / sizeof(void *))
void array_free_each(void *const *array, size_t n);

/* Release the unused memory after the n items. The array must not grow any more. */
void *array_trim(void *array, size_t n, size_t item_size);

#endif
