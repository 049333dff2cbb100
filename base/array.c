/* SPDX-License-Identifier: MIT */
#include "base/array.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>

void *array_double(void *array, size_t n, size_t item_size)
{
	size_t cap = n ? 2 * n : ARRAY_FIRST;

	if (!item_size)
		item_size = 1;	/* rows of no columns */
	if (cap > SIZE_MAX / 2 / item_size)
		return NULL;
	if (array && malloc_usable_size(array) >= cap * item_size)
		return array;	/* was expected */
	return realloc(array, cap * item_size);
}

void *array_expect(void *array, size_t n, size_t item_size)
{
	size_t cap = ARRAY_FIRST;
	void *grown = NULL;

	while (cap < n)
		cap *= 2;
	if (n && item_size && cap <= SIZE_MAX / 2 / item_size &&
	    (!array || malloc_usable_size(array) < cap * item_size))
		grown = realloc(array, cap * item_size);
	return grown ? grown : array;
}

void *array_trim(void *array, size_t n, size_t item_size)
{
	void *trimmed = array && n && item_size ? realloc(array, n * item_size) : NULL;

	return trimmed ? trimmed : array;
}
