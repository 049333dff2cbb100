/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_HEAP_UNWIND_RULE_H
#define BUILDBEAT_HEAP_UNWIND_RULE_H

#include <stdint.h>

/*
 * How to get from a frame to its caller's, in one number that is read and written at once: which
 * registers say where the frame ends (its CFA), and where the caller's frame pointer was saved.
 * The return address is the word below the CFA, the caller's stack pointer is the CFA.
 */
enum unwind_kind {
	UNWIND_UNKNOWN,		/* 0: an empty slot */
	UNWIND_END,		/* the outermost frame, or a rule that is too strange */
	UNWIND_SP,		/* CFA = stack pointer + a; frame pointer at CFA + b */
	UNWIND_FP,		/* CFA = frame pointer + a; frame pointer at CFA + b */
	UNWIND_REALIGNED,	/* CFA = word at frame pointer + a; frame pointer at frame pointer
				   + b */
	UNWIND_SIGNAL,		/* stack pointer at stack pointer + a, return address after it,
				   frame pointer at stack pointer + b: of what was interrupted */
	UNWIND_CHAIN,		/* no table: return address and frame pointer are where the frame
				   pointer is */
};

#define UNWIND_KEPT 0		/* b: the frame pointer has the caller's value */
#define UNWIND_LOST -1		/* b: its value is nowhere */

static inline uint64_t unwind_rule(enum unwind_kind kind, int64_t a, int64_t b)
{
	return (uint64_t)kind | ((uint64_t)a & 0x3fffffff) << 4 | (uint64_t)b << 34;
}

static inline enum unwind_kind unwind_rule_kind(uint64_t rule)
{
	return (enum unwind_kind)(rule & 15);
}

static inline int64_t unwind_rule_a(uint64_t rule)
{
	return (int64_t)(rule << 30) >> 34;
}

static inline int64_t unwind_rule_b(uint64_t rule)
{
	return (int64_t)rule >> 34;
}

/* Where the tables of a module are: .eh_frame_hdr, inside the mapping from start to end. */
struct unwind_table {
	uintptr_t header, start, end;
};

/* The rule for an address inside an instruction, from the table. A function that is not in it has
 * the rule UNWIND_END, or UNWIND_CHAIN if the module has no table at all. */
uint64_t unwind_rule_find(const struct unwind_table *t, uintptr_t address);

#endif
