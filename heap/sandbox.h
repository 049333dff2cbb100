/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_HEAP_SANDBOX_H
#define BUILDBEAT_HEAP_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Some thread of this process entered a sandbox (seccomp(2)), which may kill it at a system call that
 * the program itself does not make. From then on the shim makes none but those that malloc() makes
 * anyway, to map memory; in the strict mode, which allows only read() and write(), none at all. Their
 * results are then unknown: see unwind.c, image_write.c, count.c. A child of vfork() has the memory of
 * its parent, so its sandbox is that of both.
 */
enum sandbox { SANDBOX_NONE, SANDBOX_FILTER, SANDBOX_STRICT };

/* The calls that entered each kind, or are about to. */
extern uint32_t sandbox_entries[SANDBOX_STRICT + 1] __attribute__((visibility("hidden")));

static inline bool sandbox_is(enum sandbox least)
{
	return __atomic_load_n(&sandbox_entries[SANDBOX_STRICT], __ATOMIC_ACQUIRE) ||
	       (least == SANDBOX_FILTER &&
		__atomic_load_n(&sandbox_entries[SANDBOX_FILTER], __ATOMIC_ACQUIRE));
}

#endif
