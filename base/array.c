/* SPDX-License-Identifier: MIT */
#include "base/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void *resize(void *array, size_t cap, size_t item_size)
{
	if (!item_size)
		item_size = 1;	/* rows of no columns */
	return cap <= SIZE_MAX / 2 / item_size ? realloc(array, cap * item_size) : NULL;
}

void *array_new(size_t n, size_t item_size)
{
	return resize(NULL, n ? n : 1, item_size);
}

void *array_new_zero(size_t n, size_t item_size)
{
	return calloc(n ? n : 1, item_size ? item_size : 1);
}

void *array_double(void *array, size_t n, size_t item_size)
{
	return resize(array, n ? 2 * n : ARRAY_FIRST, item_size);
}

void *array_add(void *array, size_t *n, size_t item_size)
{
	void *items;

	memcpy(&items, array, sizeof items);
	items = array_grow(items, *n, item_size);
	if (!items)
		return NULL;
	memcpy(array, &items, sizeof items);
	return (char *)items + (*n)++ * item_size;
}

void *array_more_room(void *array, size_t *cap, size_t n, size_t item_size)
{
	size_t more = *cap ? 2 * *cap : ARRAY_FIRST;
	void *grown;

	if (n > SIZE_MAX / 4)
		return NULL;
	while (more <= n)
		more *= 2;
	grown = resize(array, more, item_size);
	if (grown)
		*cap = more;
	return grown;
}

void *array_expect(void *array, size_t *cap, size_t n, size_t item_size)
{
	void *grown = n > *cap ? resize(array, n, item_size) : NULL;

	if (!grown)
		return array;
	*cap = n;
	return grown;
}

void *array_trim(void *array, size_t n, size_t item_size)
{
	void *trimmed = array && n && item_size ? realloc(array, n * item_size) : NULL;

	return trimmed ? trimmed : array;
}

void array_free_each(void *const *array, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(array[i]);
}
