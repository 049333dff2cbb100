/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RECORDING_PROOF_H
#define BUILDBEAT_RECORDING_PROOF_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct recording;

/*
 * Does a recording have everything that its build tools ran? Each line "close" has the number and
 * the CPU time of the processes that the tool waited for. Both must be those of its tasks: with
 * those of a make below a make within those of its task, level by level.
 *
 * Both are exact, as the kernel adds them up, except that each task lacks a part of two
 * microseconds. So what no task has is reported from PROOF_SHARE on. Of a build that ran for less
 * than a second, PROOF_LEAST_US count: less is a program that does next to nothing.
 */
#define PROOF_SHARE 0.02
#define PROOF_LEAST_US 10000

struct proof {
	bool ended;		/* the build ended, and not by a signal, in which case the last
				   instructions of a tool may be missing */
	bool known;		/* these four: */
	int64_t cpu_us;		/* of processes that no task has */
	int64_t of_us;		/* CPU time of the build or, without a launcher, of the processes of
				   its first tools */
	int64_t processes;	/* that no task has */
	int64_t of_processes;	/* that the tools waited for */
	uint64_t n_unended;	/* tasks of these tools without an end */
	uint64_t n_unclosed;	/* tools of a successful build whose part of the recording has no
				   end, although nothing shows that they were killed */
	const char *unclosed;	/* name of the first of them */
};

/* 0 or -ENOMEM. Of a recording whose instances are linked. */
int proof_make(struct proof *p, const struct recording *rec);

/* Is so much missing that people should know? */
bool proof_lacks_processes(const struct proof *p);

/* What is missing and the likely reason: "3.1 s of CPU time (12 %) in 2 processes that no task
 * has: ...". Nothing if it is too little, or if the build has not ended by itself. */
void proof_add_processes(struct buf *b, const struct proof *p, const struct recording *rec);
void proof_add_unclosed(struct buf *b, const struct proof *p);

#endif
