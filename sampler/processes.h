/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SAMPLER_PROCESSES_H
#define BUILDBEAT_SAMPLER_PROCESSES_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Every process of a build into processes.log, by a thread of whoever launches the
 * build: from the kernel's proc connector, with what taskstats tells where one
 * may listen to that; where the connector cannot be had, from looks at /proc, which miss
 * what lives shorter than from one look to the next.
 */
struct processes;

struct processes_options {
	bool no_connector, no_taskstats;
	int receive_bytes;	/* of the sockets, 0: as large as allowed */
};

struct processes_result {
	uint64_t n;		/* processes seen */
	uint64_t n_lost;	/* events known to be missing */
	uint64_t n_unrecorded;	/* processes there was no room for */
	int64_t look_us;	/* mean time between two looks at /proc, 0: it was the connector */
	int64_t cpu_us;		/* what the thread used */
	int error;		/* the first failure to write, a negative errno */
};

/*
 * The recording's directory and start, options NULL: none. Nothing is written
 * before processes_start(). 0, or a negative errno with err.
 */
int processes_new(struct processes **out, int dir_fd, int64_t start_ns,
		  const struct processes_options *options, struct error *err);

/* "proc connector, taskstats", "proc connector" or PROCESSES_LOOKS; and why it is no
 * better, NULL where nothing is. */
#define PROCESSES_LOOKS "looks at /proc"
const char *processes_source(const struct processes *p);
const char *processes_why(const struct processes *p);

/* The build's first process, a child of ours that was born after processes_new(). */
int processes_start(struct processes *p, pid_t pid);

/* After that has been waited for: what has ended is written, then what still runs. */
void processes_stop(struct processes *p, struct processes_result *result);

/* NULL is fine. */
void processes_free(struct processes *p);

#endif
