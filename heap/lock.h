/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_HEAP_LOCK_H
#define BUILDBEAT_HEAP_LOCK_H

#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * A mutex of its own, because a program can replace those of libc, and because the child of a
 * fork sets it back. 0: free, 1: held, 2: held, and some thread waits.
 */
static inline void lock_take(uint32_t *lock)
{
	uint32_t seen = 0;

	if (__atomic_compare_exchange_n(lock, &seen, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	while (__atomic_exchange_n(lock, 2, __ATOMIC_ACQUIRE))
		syscall(SYS_futex, lock, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

static inline void lock_give(uint32_t *lock)
{
	if (__atomic_exchange_n(lock, 0, __ATOMIC_RELEASE) == 2)
		syscall(SYS_futex, lock, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

#endif
