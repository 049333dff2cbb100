/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_HEAP_UNWIND_MACHINE_H
#define BUILDBEAT_HEAP_UNWIND_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What differs between processors when a stack is followed: the numbers of registers in the
 * tables, where a call leaves its return address, and the frame of a signal. On another processor
 * (UNWIND_HAS_TABLES 0), only the chain of frame pointers is followed.
 */

#if defined __x86_64__

#define UNWIND_HAS_TABLES 1
#define UNWIND_FRAME_POINTER 6
#define UNWIND_STACK_POINTER 7
#define UNWIND_PC 16
/* The return address is always the word below the CFA. */
#define UNWIND_HAS_LINK 0

#elif defined __aarch64__

#include <signal.h>
#include <stddef.h>
#include <ucontext.h>

#define UNWIND_HAS_TABLES 1
#define UNWIND_FRAME_POINTER 29
#define UNWIND_STACK_POINTER 31
#define UNWIND_PC 32
/* A call leaves it in the link register, which functions that call save somewhere. */
#define UNWIND_HAS_LINK 1

#else

#define UNWIND_HAS_TABLES 0
#define UNWIND_HAS_LINK 0

#endif

/* One thread's registers. link: 0 if it is not known. */
struct unwind_registers {
	uintptr_t pc, sp, fp, link;
};

#if UNWIND_HAS_LINK

/* Of the function that this becomes part of. */
static inline __attribute__((always_inline)) struct unwind_registers unwind_registers_here(void)
{
	struct unwind_registers r;

	__asm__ volatile("adr %0, .\n\tmov %1, sp\n\tmov %2, x29\n\tmov %3, x30"
			 : "=&r"(r.pc), "=&r"(r.sp), "=&r"(r.fp), "=&r"(r.link));
	return r;
}

/* Without the signature that a function puts into its return address (xpaclri: nothing on
 * processors that have no signatures). */
static inline uintptr_t unwind_plain_address(uintptr_t address)
{
	register uintptr_t link __asm__("x30") = address;

	__asm__("hint 7" : "+r"(link));
	return link;
}

/* What a signal's handler returns to: mov x8, #__NR_rt_sigreturn; svc #0. No table describes it
 * in recent kernels. The instructions must be readable. */
static inline bool unwind_is_sigreturn(const uint32_t *instruction)
{
	return instruction[0] == 0xd2801168 && instruction[1] == 0xd4000001;
}

/* What the kernel leaves on the stack for it. */
struct unwind_signal_frame {
	siginfo_t info;
	ucontext_t context;
};
#define UNWIND_SIGNAL_AT(field) offsetof(struct unwind_signal_frame, context.uc_mcontext.field)

#endif

#endif
