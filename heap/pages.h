/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_HEAP_PAGES_H
#define BUILDBEAT_HEAP_PAGES_H

#include "heap/sandbox.h"

#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Memory for the tables of the shim, which must not come from malloc() or from the functions that
 * it replaces. Zero, NULL without memory.
 */
static inline void *pages_new(size_t size)
{
	long p = sandbox_is(SANDBOX_STRICT) ? -1 :
		 syscall(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0L);

	return p == -1 ? NULL : (void *)p;
}

static inline void pages_free(void *p, size_t size)
{
	if (p && !sandbox_is(SANDBOX_STRICT))
		syscall(SYS_munmap, p, size);
}

#endif
