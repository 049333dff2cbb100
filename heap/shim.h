/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_HEAP_SHIM_H
#define BUILDBEAT_HEAP_SHIM_H

#include <stdbool.h>
#include <stdint.h>

/* Is this an address of a malloc() that is not libc's? What that maps, it gives to callers of
 * malloc(), where it is counted. */
__attribute__((visibility("hidden"))) bool shim_is_other_malloc(uintptr_t caller);

/* Find the functions that enter a sandbox, of the next object: libc's, or another preload's. */
__attribute__((visibility("hidden"))) void shim_find_sandboxes(void);

#endif
