/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_INSPECT_BUDGET_H
#define BUILDBEAT_INSPECT_BUDGET_H

#include <stdatomic.h>
#include <stdint.h>

/*
 * The share of a CPU that inspections may use, also several processes together, which share the
 * memory of this. What costs CPU time is done only when all that was done before is paid for: with
 * a share of one in 100, 1 ms of CPU time is paid for after 100 ms. Nothing is saved up, so a look
 * at a process of 12 GB, which takes 120 ms, is followed by 12 s without one.
 */
struct budget {
	_Atomic int64_t paid_ns;	/* when all is paid for, CLOCK_MONOTONIC */
	int64_t one_in;
};

void budget_init(struct budget *b, int64_t one_in);

/* When something may be done: in the past, or later. */
int64_t budget_next_ns(const struct budget *b);

/* CPU time of the calling process until now, for what follows. */
int64_t budget_begin(void);

/* Pay for what the process used since budget_begin(), at now_ns. Returns that in nanoseconds. b
 * may be NULL. */
int64_t budget_pay(struct budget *b, int64_t begin, int64_t now_ns);

#endif
