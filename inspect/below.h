/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_INSPECT_BELOW_H
#define BUILDBEAT_INSPECT_BELOW_H

#include "inspect/process_list.h"
#include "sampler/root.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The processes below one, such as those of a build, found from parent to child: that costs 20 us
 * for each of them, however many processes the machine has.
 */
struct below_process {
	int32_t pid;
	uint64_t start_ticks;
	uint64_t rss_kb;
	char name[16];
};

struct below {
	size_t n;
	struct below_process *process;	/* by pid */
	/* private */
	uint64_t page_kb;
	bool lists;		/* the kernel does not list children, or all processes are wanted */
	struct process_list all;
	struct root_text text, names;
	bool no_memory;
};

/* all: below_read() finds all processes if its root is 0. 0 or a negative errno. */
int below_init(struct below *b, bool all);
void below_release(struct below *b);

/*
 * Find the processes below root, and root itself, but neither `except` nor what is below that.
 * Zombies and kernel threads do not count. 0 or a negative errno.
 */
int below_read(struct below *b, int32_t root, int32_t except);

#endif
