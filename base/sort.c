/* SPDX-License-Identifier: MIT */
#include "base/sort.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define RADIX_BITS 11
#define RADIX (1u << RADIX_BITS)

static bool is_sorted(const struct keyed *k, size_t n, uint64_t *bits)
{
	bool sorted = true;

	*bits = 0;
	for (size_t i = 0; i < n; i++) {
		*bits |= k[i].key;
		if (i && k[i].key < k[i - 1].key)
			sorted = false;
	}
	return sorted;
}

static void scatter(struct keyed *to, const struct keyed *from, size_t n, unsigned shift)
{
	size_t at[RADIX] = { 0 };
	size_t sum = 0;

	for (size_t i = 0; i < n; i++)
		at[from[i].key >> shift & (RADIX - 1)]++;
	for (size_t d = 0; d < RADIX; d++) {
		size_t count = at[d];

		at[d] = sum;
		sum += count;
	}
	for (size_t i = 0; i < n; i++)
		to[at[from[i].key >> shift & (RADIX - 1)]++] = from[i];
}

/*
 * Insertion sort, as long as few items have to move: items that were recorded in the order of
 * time are nearly sorted. False if they are not; equal keys are then still in their order.
 */
static bool insert_few(struct keyed *k, size_t n)
{
	size_t moves = 4 * n;

	for (size_t i = 1; i < n; i++) {
		struct keyed next = k[i];
		size_t at = i;

		for (; at && k[at - 1].key > next.key && moves; at--, moves--)
			k[at] = k[at - 1];
		k[at] = next;
		if (!moves)
			return false;
	}
	return true;
}

int sort_keyed(struct keyed *k, size_t n)
{
	struct keyed *other, *from = k, *to;
	uint64_t bits;

	if (is_sorted(k, n, &bits) || insert_few(k, n))
		return 0;
	other = to = malloc(n * sizeof *other);
	if (!other)
		return -ENOMEM;
	for (unsigned shift = 0; shift < 64 && bits >> shift; shift += RADIX_BITS) {
		struct keyed *done = to;

		scatter(to, from, n, shift);
		to = from;
		from = done;
	}
	if (from != k)
		memcpy(k, from, n * sizeof *k);
	free(other);
	return 0;
}

static void swap(uint32_t *a, uint32_t *b)
{
	uint32_t t = *a;

	*a = *b;
	*b = t;
}

/* A heap whose root comes last in the order. */
static void sift(uint32_t *heap, size_t n, size_t i, sort_before *before, const void *ctx)
{
	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= n)
			return;
		if (child + 1 < n && before(ctx, heap[child], heap[child + 1]))
			child++;
		if (!before(ctx, heap[i], heap[child]))
			return;
		swap(&heap[i], &heap[child]);
		i = child;
	}
}

size_t sort_top(uint32_t *index, size_t n, size_t top, sort_before *before, const void *ctx)
{
	if (top > n)
		top = n;
	if (!top)
		return 0;
	for (size_t i = top / 2; i-- > 0; )
		sift(index, top, i, before, ctx);
	for (size_t i = top; i < n; i++) {
		if (!before(ctx, index[i], index[0]))
			continue;
		swap(&index[i], &index[0]);
		sift(index, top, 0, before, ctx);
	}
	for (size_t end = top; end-- > 1; ) {
		swap(&index[0], &index[end]);
		sift(index, end, 0, before, ctx);
	}
	return top;
}
