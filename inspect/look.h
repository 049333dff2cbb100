/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_INSPECT_LOOK_H
#define BUILDBEAT_INSPECT_LOOK_H

#include "base/error.h"
#include "base/name_table.h"
#include "inspect/inspection.h"
#include "inspect/snapshot.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Reads what one process has in memory from /proc, again and again. It changes nothing in the
 * process and does not stop it.
 *
 * A process that has ended is -ESRCH everywhere, also if another one got its number since; so is a
 * zombie, which has no memory any more. -EACCES: no permission. -EINVAL: a kernel thread, which
 * has no memory of its own. err then has a message that names the process.
 */
struct look {
	int32_t pid;
	uint64_t start_ticks;	/* of the process, since the machine started */
	char name[16];		/* of its program, at the last reading */
	int pid_fd;		/* poll() reports that it ended; -1: the kernel has no pidfds */
	/* private */
	int dir_fd;		/* /proc/PID of this very process */
	int memory_fd;		/* /proc/PID/mem, -1 without permission or not opened yet */
	struct name_table *names;
	char *text;		/* memory of one reading */
	size_t n_modules;
	struct module *module;
	size_t n_known;		/* mapped files that were checked for modules */
	struct look_known {
		uint64_t start;
		uint32_t file;
	} *known;
};

/* Open a process. The names of files are added to names, which must outlive the look.
 * expected_ticks: its start as known from elsewhere, 0: any. */
int look_open(struct look *l, int32_t pid, uint64_t expected_ticks, struct name_table *names,
	      struct error *err);

/* Also after look_open() failed. */
void look_close(struct look *l);

/* Has it ended? A zombie has. */
bool look_ended(struct look *l);

/*
 * Read the mappings and the process' values into s, which is cleared first; s->time_us is the
 * caller's. pages: also which pages are resident. If the process ends or starts another program
 * while it is read, this reading is dropped: the result is -ESRCH, or it is read again.
 */
int look_read(struct look *l, struct snapshot *s, bool pages, struct error *err);

/* Only the values of the process (statm, stat, io): 4,000 times cheaper for 1 GB. */
int look_read_values(struct look *l, struct process_values *v, struct error *err);

/*
 * The files that are mapped as code in s, with their build-ids: *modules has all that were found
 * since look_open(), in the order in which they were found, and belongs to the look. Only those
 * that are new in s are read. 0 or -ENOMEM.
 */
int look_modules(struct look *l, const struct snapshot *s, const struct module **modules,
		 size_t *n);

#endif
