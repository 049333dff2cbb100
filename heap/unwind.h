/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_HEAP_UNWIND_H
#define BUILDBEAT_HEAP_UNWIND_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The call stack of this thread, from the tables for exceptions (.eh_frame): Debian's programs
 * have no frame pointers. Code without tables, such as that of a JIT compiler, is followed by its
 * frame pointers.
 *
 * All functions are safe in signal handlers and inside malloc(): they take no lock, allocate
 * nothing, and keep errno. What is on the stack is not trusted: nothing outside the thread's
 * stack is read, and the walk ends at the first frame that makes no sense. In a sandbox, it ends at
 * the first memory outside the known part of the thread's own stack and the page of its innermost
 * frame.
 */

/*
 * Ask the kernel now for what later calls in this thread need: a program may enter a sandbox that
 * ends it at the first system call it does not expect, or that has no descriptor left. Call it in
 * the thread that main() will run in.
 */
void unwind_begin(void);

/*
 * Fill address[] with the calls of this thread, the innermost first, and return their number, at
 * most max. Each is an address inside the call instruction, one less than the return address, so
 * that the function and the line are those of the call also if the call does not return.
 *
 * from: the return address of the function whose caller is the first one wanted, as
 * __builtin_return_address(0) has it there; calls made after it are left out. 0: begin with the
 * caller of this function. If the walk does not find it, the result is its address alone.
 */
size_t unwind_stack(uintptr_t from, uintptr_t *address, size_t max);

/*
 * Forget all rules: code was unmapped, other code may come to the same addresses. Call it after
 * dlclose(). Takes nanoseconds, whatever is known.
 */
void unwind_flush(void);

#define UNWIND_BUILD_ID_MAX 20

/* A file that is mapped as code. */
struct unwind_module {
	uintptr_t start, end;	/* addresses */
	uintptr_t bias;		/* address minus the address in the file's symbol table */
	unsigned char build_id[UNWIND_BUILD_ID_MAX];
	size_t build_id_len;	/* 0: it has none */
	char path[PATH_MAX];	/* absolute if that can be known; "[vdso]" */
};

/* Find the module of a code address; 0 or -ENOENT. It may read /proc/self/maps: call it once a
 * module. */
int unwind_find_module(struct unwind_module *m, uintptr_t address);

/* The range of the module alone, which is quick. 0 or -ENOENT. */
int unwind_find_range(uintptr_t *start, uintptr_t *end, uintptr_t address);

#endif
