/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_HEAP_COUNT_H
#define BUILDBEAT_HEAP_COUNT_H

#include "heap/live_blocks.h"
#include "heap/sample.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What the functions that replace malloc() and mmap() call. All of it keeps errno, may be called
 * before any constructor, by any thread, in a signal handler and after a fork.
 *
 * from: the return address of the replacing function, as __builtin_return_address(0) has it.
 */

struct count_thread {
	int64_t left;		/* bytes until an allocation is recorded; below 0: count_allocation() */
	int64_t next;		/* value of left after that, if it only waits for an allocation */
	struct sample_state sample;
	uintptr_t last;		/* the last allocation of the thread, if it was recorded */
	uint32_t work;		/* its work area, as long as no other thread takes it */
	bool started, waits;
	bool inside;		/* a signal handler interrupted us, or we allocate */
};

#define COUNT_HIDDEN __attribute__((visibility("hidden")))

extern COUNT_HIDDEN _Thread_local struct count_thread count_thread
	__attribute__((tls_model("initial-exec")));

/* The recorded allocations by a hash of their address: 0: none has it. */
#define COUNT_FILTER_BITS 13
extern COUNT_HIDDEN uint8_t count_filter[1 << COUNT_FILTER_BITS];

static inline size_t count_filter_slot(const void *p)
{
	return (size_t)(((uintptr_t)p >> 4) * 0x9e3779b97f4a7c15 >> (64 - COUNT_FILTER_BITS));
}

/* Is it known that the block at p was not recorded? Then its end needs no call. */
static inline bool count_ignores(const void *p)
{
	return !__atomic_load_n(&count_filter[count_filter_slot(p)], __ATOMIC_RELAXED);
}

/* Must count_allocation() be called for this one, which did not fail? */
static inline bool count_wants(size_t size)
{
	return __builtin_expect((count_thread.left -= (int64_t)size) < 0, 0);
}

/* p was allocated. */
void count_allocation(const void *p, size_t size, uintptr_t from);

/* p is about to be freed. */
void count_free(const void *p);

/* The same for realloc(), which may fail: then count_put_back(). False: it was not recorded. */
bool count_take(const void *p, struct live_block *block);
void count_put_back(const void *p, struct live_block block);

/* Mappings. reserved: nothing can be stored there, so it does not count. */
void count_map(uintptr_t start, size_t size, bool reserved, uintptr_t from);
void count_unmap(uintptr_t start, size_t size);
/* The protection of memory has changed. */
void count_protect(uintptr_t start, size_t size, bool reserved, uintptr_t from);
/* mremap() is about to move a mapping. If this is not COUNT_UNKNOWN, count_map() must follow. */
enum count_moved { COUNT_UNKNOWN, COUNT_MAPPED, COUNT_RESERVED };
enum count_moved count_move(uintptr_t start, size_t size);

/* Code may have been unmapped. */
void count_unloaded(void);

/* Do not count allocations, only mappings. */
void count_mappings_only(void);

/* Begin, if this process is armed. environ is then as it was without us. */
void count_begin(void);
void count_end(void);

#endif
