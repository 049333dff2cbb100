/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_HEAP_LOCK_H
#define BUILDBEAT_HEAP_LOCK_H

#include "heap/sandbox.h"

#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Tell the processor that this thread spins. */
static inline void lock_pause(void)
{
#if defined __x86_64__ || defined __i386__
	__builtin_ia32_pause();
#elif defined __aarch64__
	__asm__ volatile("yield");
#endif
}

/*
 * A mutex of its own, because a program can replace those of libc, and because the child of a
 * fork sets it back. 0: free, 1: held, 2: held, and some thread waits. In a sandbox, threads that
 * wait spin. A thread that already slept when the sandbox was entered is not woken, so each sleep
 * ends after 20 ms.
 */
static inline void lock_take(uint32_t *lock)
{
	static const struct timespec most = { .tv_nsec = 20000000 };
	uint32_t seen = 0;

	if (__atomic_compare_exchange_n(lock, &seen, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	while (__atomic_exchange_n(lock, 2, __ATOMIC_ACQUIRE)) {
		if (sandbox_is(SANDBOX_FILTER))
			lock_pause();
		else
			syscall(SYS_futex, lock, FUTEX_WAIT_PRIVATE, 2, &most, NULL, 0);
	}
}

static inline void lock_give(uint32_t *lock)
{
	if (__atomic_exchange_n(lock, 0, __ATOMIC_RELEASE) == 2 && !sandbox_is(SANDBOX_FILTER))
		syscall(SYS_futex, lock, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

#endif
