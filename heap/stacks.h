/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_HEAP_STACKS_H
#define BUILDBEAT_HEAP_STACKS_H

#include <stddef.h>
#include <stdint.h>

#define STACKS_DEPTH_MAX 256

/*
 * Call stacks of the image, each stored once. The caller has the lock.
 *
 * A stack begins as the one before it, mostly, at the outermost call: what was found for that is
 * not searched again. So each thread has the same work area again and again, if it can.
 */
struct stacks_work {
	uint32_t busy;
	uint32_t now;				/* of address[]: the other one is the last stack */
	size_t n_last;
	uint32_t incarnation;			/* of the tables, when the last stack was found */
	uintptr_t address[2][STACKS_DEPTH_MAX];	/* the innermost call first */
	uint32_t stack[STACKS_DEPTH_MAX];	/* of the last stack, the outermost first */
	uint64_t hash[STACKS_DEPTH_MAX];	/* of all addresses up to it */
};

/* The number of the stack in address[now], of n calls; HEAP_NONE: n is 0, or no room. */
uint32_t stacks_find(struct stacks_work *w, size_t n);

/* Code was unmapped. Modules that are gone end, and so do stacks: what is found from now on has
 * the next generation. */
void stacks_unloaded(void);

void stacks_reset(void);

#endif
