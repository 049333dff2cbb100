/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SAMPLER_CENSUS_H
#define BUILDBEAT_SAMPLER_CENSUS_H

#include "sampler/family.h"
#include "sampler/root.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A look at /proc: which members of a family live, which children they have that
 * it does not know, and what they used so far.
 */
struct census {
	int proc_fd;		/* borrowed */
	int list_fd;		/* -1: not needed yet */
	bool scans;		/* the kernel tells no children: all processes are looked at */
	uint32_t round;
	int64_t tick_us;
	int64_t page_kb;
	int64_t boot_us;	/* CLOCK_BOOTTIME at the recording's start */
	struct root_text text, names;
};

/* start_ns: the recording's. 0 or -ENOMEM. */
int census_init(struct census *c, int proc_fd, int64_t start_ns);
void census_release(struct census *c);

/*
 * Children are adopted. A member that is gone is dead, of a status not known, since it
 * was first found so; one that nobody has waited for yet too, if bury is set: the last
 * look. figures: take them from here.
 */
void census_take(struct census *c, struct family *f, int64_t t_us, bool bury, bool columns);

/* Does it live, and is no zombie. */
bool census_lives(struct census *c, int32_t pid);

/* The words of a process, into text as they are; none if they cannot be had. */
void census_words(struct census *c, int32_t pid);

#endif
