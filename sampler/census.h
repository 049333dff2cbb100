/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SAMPLER_CENSUS_H
#define BUILDBEAT_SAMPLER_CENSUS_H

#include "sampler/family.h"
#include "sampler/root.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Polls /proc: which members of a family are alive, which unknown children they have, and what
 * they have used so far.
 */
struct census {
	int proc_fd;		/* of the caller */
	int list_fd;		/* -1: not opened yet */
	bool scans;		/* the kernel does not list children: read all processes */
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
 * Children are adopted. A member that has gone gets an unknown status, and the time when this was
 * first seen. bury: the last poll, so zombies are dead, too. values: take the members' values from
 * /proc.
 */
void census_take(struct census *c, struct family *f, int64_t t_us, bool bury, bool columns);

/* Is it alive and not a zombie? */
bool census_lives(struct census *c, int32_t pid);

/* Read the words of a process into text; empty if they cannot be read. */
void census_words(struct census *c, int32_t pid);

#endif
