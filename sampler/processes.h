/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SAMPLER_PROCESSES_H
#define BUILDBEAT_SAMPLER_PROCESSES_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Records every process of a build in processes.log, with a thread of the launcher. The kernel's
 * proc connector reports them; where taskstats is permitted, it reports what they used. Without
 * the connector /proc is polled, which misses processes that live between two polls.
 */
struct processes;

struct processes_options {
	bool no_connector, no_taskstats;
	int receive_bytes;	/* of the sockets; 0: as large as allowed */
};

struct processes_result {
	uint64_t n;		/* processes seen */
	uint64_t n_lost;	/* events known to be missing */
	uint64_t n_unrecorded;	/* processes that were not recorded for lack of room */
	int64_t look_us;	/* mean time between two polls of /proc; 0: it used the connector */
	int64_t cpu_us;		/* used by the thread */
	int error;		/* the first failure to write, a negative errno */
};

/*
 * Prepare for the recording with this directory and start. options may be NULL. Nothing is written
 * before processes_start(). 0, or a negative errno with err.
 */
int processes_new(struct processes **out, int dir_fd, int64_t start_ns,
		  const struct processes_options *options, struct error *err);

/* The source: "proc connector, taskstats", "proc connector" or PROCESSES_LOOKS, and why it is
 * not a better one; NULL if there is no better one. */
#define PROCESSES_LOOKS "looks at /proc"
const char *processes_source(const struct processes *p);
const char *processes_why(const struct processes *p);

/* Start with the build's first process, a child of ours that was born after processes_new(). */
int processes_start(struct processes *p, pid_t pid);

/* Call this after waiting for that process. The ended processes are written, then those that
 * still run. */
void processes_stop(struct processes *p, struct processes_result *result);

/* May be NULL. */
void processes_free(struct processes *p);

#endif
