/* SPDX-License-Identifier: MIT */
#include "base/heap.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define HEAP_STEP (128 << 20)

void heap_expect_much(void)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t start, end;
	void *first;

	mallopt(M_MMAP_THRESHOLD, HEAP_STEP);
	mallopt(M_TRIM_THRESHOLD, INT32_MAX);
	mallopt(M_TOP_PAD, HEAP_STEP);
	/* more than is free of the heap there is, so that it grows */
	first = malloc(1 << 20);
	start = ((uintptr_t)first + page - 1) & ~(page - 1);
	end = (uintptr_t)sbrk(0) & ~(page - 1);
	if (first && start < end)
		madvise((void *)start, end - start, MADV_HUGEPAGE);
	free(first);
}
