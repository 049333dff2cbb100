/* SPDX-License-Identifier: MIT */
#include "base/heap.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define HEAP_STEP (128 << 20)

static void advise(uintptr_t start, uintptr_t end, int advice)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	start = (start + page - 1) & ~(page - 1);
	end &= ~(page - 1);
	if (start < end)
		madvise((void *)start, end - start, advice);
}

void heap_forget(void *memory, size_t len)
{
	advise((uintptr_t)memory, (uintptr_t)memory + len, MADV_DONTNEED);
}

void *heap_map(void *old, size_t old_len, size_t len)
{
	void *new = old ? mremap(old, old_len, len, MREMAP_MAYMOVE) :
		mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return new == MAP_FAILED ? NULL : new;
}

void heap_unmap(void *old, size_t len)
{
	if (old)
		munmap(old, len);
}

void heap_expect_much(void)
{
	void *first;

#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, HEAP_STEP);
	mallopt(M_TRIM_THRESHOLD, INT32_MAX);
	mallopt(M_TOP_PAD, HEAP_STEP);
#endif
	/* more than is free in the heap, so that it grows */
	first = malloc(1 << 20);
	if (first)
		advise((uintptr_t)first, (uintptr_t)sbrk(0), MADV_HUGEPAGE);
	free(first);
}
