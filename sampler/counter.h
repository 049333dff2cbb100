/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SAMPLER_COUNTER_H
#define BUILDBEAT_SAMPLER_COUNTER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Counts the user instructions of a process and of all processes that it starts, with the
 * performance counters of the processor. Few machines that are virtual have such counters. Page
 * faults in user mode, which the kernel counts itself, can take their place to try all of it: each
 * counts as COUNTER_FAULT instructions, so that tasks have usual values.
 */
#define COUNTER_FAULT 1000

enum counter_event { COUNTER_OFF, COUNTER_INSTRUCTIONS, COUNTER_PAGE_FAULTS, COUNTER_EVENTS };

/* "instructions", "page-faults"; NULL for COUNTER_OFF. */
extern const char *const counter_word[COUNTER_EVENTS];

/* The event that these STORE_ flags select, and the flags of an event. */
enum counter_event counter_event_of(unsigned store_flags);
unsigned counter_flags(enum counter_event event);

struct counter {
	int fd;			/* -1: closed */
	uint32_t id;		/* low half of the event's: the process may have closed the descriptor,
				   and opened another file under its number */
};

#define COUNTER_CLOSED { -1, 0 }

/*
 * Opens the counter of a process (0: of the calling thread), which counts from its next exec on. A
 * process of several threads has one in each. 0, or a negative errno: -EMFILE also if this process
 * would have few descriptors left.
 */
int counter_open(struct counter *c, enum counter_event event, pid_t pid);

/* The counter whose descriptor this process got from another one, which opened it. */
int counter_adopt(struct counter *c, int fd);

/*
 * Returns the count, which is complete once the process was waited for, and closes the counter. Otherwise
 * a negative errno. -EBUSY: it did not count all the time, because the processor had too few counters.
 * -ENODATA: the process executed nothing. -EBADF: it is not open.
 */
int64_t counter_take(struct counter *c, enum counter_event event);

/* Closes it without reading it. */
void counter_close(struct counter *c);

/* Why there is no count, in words, for an error of counter_open() or counter_take(). */
const char *counter_reason(int error);

/* Can this process count? 0 or a negative errno. */
int counter_try(enum counter_event event);

/* What to say to people if it cannot. */
struct counter_why {
	char text[160];
	const char *remedy;
};

/* paranoid: the value of kernel.perf_event_paranoid, or a negative errno. */
void counter_explain(struct counter_why *why, int error, int paranoid);

/* The value of kernel.perf_event_paranoid; a negative number allows everything, as 0 does. -ENOENT:
 * the kernel has no performance events. */
int counter_paranoid(void);

#endif
