/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_HEAP_SANDBOX_H
#define BUILDBEAT_HEAP_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Some thread of this process entered a sandbox (seccomp(2)), which may kill it at a system call that
 * the program itself does not make. From then on the shim makes none but those that malloc() makes
 * anyway, to map memory; in the strict mode, which allows only read() and write(), none at all. What
 * they would have found out is unknown: see unwind.c, image_write.c, count.c.
 */
enum sandbox { SANDBOX_NONE, SANDBOX_FILTER, SANDBOX_STRICT };

extern uint32_t sandbox __attribute__((visibility("hidden")));	/* only grows */

static inline bool sandbox_is(enum sandbox least)
{
	return __atomic_load_n(&sandbox, __ATOMIC_ACQUIRE) >= least;
}

#endif
