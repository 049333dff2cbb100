/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_HEAP_UNWIND_RULE_H
#define BUILDBEAT_HEAP_UNWIND_RULE_H

#include "heap/unwind_machine.h"

#include <stdint.h>

/*
 * How to get from a frame to its caller's, in one number that is read and written at once: which
 * registers say where the frame ends (its CFA), and where the caller's frame pointer and, on
 * processors with a link register, the return address were saved. Without a link register, the
 * return address is the word below the CFA. The caller's stack pointer is the CFA.
 */
enum unwind_kind {
	UNWIND_UNKNOWN,		/* 0: an empty slot */
	UNWIND_END,		/* the outermost frame, or a rule that is too strange */
	UNWIND_SP,		/* CFA = stack pointer + a; frame pointer at CFA + b, return
				   address at CFA + c */
	UNWIND_FP,		/* CFA = frame pointer + a; as above */
	UNWIND_REALIGNED,	/* CFA = word at frame pointer + a; frame pointer at frame pointer
				   + b */
	UNWIND_SIGNAL,		/* stack pointer at stack pointer + a, return address after it,
				   frame pointer at stack pointer + b: of what was interrupted */
	UNWIND_CHAIN,		/* no table: return address and frame pointer are where the frame
				   pointer is */
};

#define UNWIND_WORD 8
#if UNWIND_HAS_LINK
#define UNWIND_BITS 20		/* of each number, which counts words */
#else
#define UNWIND_BITS 30
#endif

#define UNWIND_KEPT 0		/* b, c: the register has the caller's value */
#define UNWIND_LOST (-(INT64_C(1) << (UNWIND_BITS - 1)) * UNWIND_WORD)	/* b, c: nowhere */

static inline uint64_t unwind_field(int64_t n, unsigned at)
{
	return ((uint64_t)n / UNWIND_WORD & ((UINT64_C(1) << UNWIND_BITS) - 1)) << (4 + at * UNWIND_BITS);
}

/* Multiples of the word. c: only where there is a link register. */
static inline uint64_t unwind_rule(enum unwind_kind kind, int64_t a, int64_t b, int64_t c)
{
	return (uint64_t)kind | unwind_field(a, 0) | unwind_field(b, 1) |
	       (UNWIND_HAS_LINK ? unwind_field(c, 2) : 0);
}

static inline enum unwind_kind unwind_rule_kind(uint64_t rule)
{
	return (enum unwind_kind)(rule & 15);
}

static inline int64_t unwind_number(uint64_t rule, unsigned at)
{
	return ((int64_t)(rule << (60 - (at + 1) * UNWIND_BITS)) >> (64 - UNWIND_BITS)) * UNWIND_WORD;
}

static inline int64_t unwind_rule_a(uint64_t rule)
{
	return unwind_number(rule, 0);
}

static inline int64_t unwind_rule_b(uint64_t rule)
{
	return unwind_number(rule, 1);
}

static inline int64_t unwind_rule_c(uint64_t rule)
{
	return UNWIND_HAS_LINK ? unwind_number(rule, 2) : -UNWIND_WORD;
}

/* Where the tables of a module are: .eh_frame_hdr, inside the mapping from start to end. */
struct unwind_table {
	uintptr_t header, start, end;
};

/* The rule for an address inside an instruction, from the table. A function that is not in it has
 * the rule UNWIND_END, or UNWIND_CHAIN if the module has no table at all. */
uint64_t unwind_rule_find(const struct unwind_table *t, uintptr_t address);

#endif
