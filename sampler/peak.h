/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SAMPLER_PEAK_H
#define BUILDBEAT_SAMPLER_PEAK_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Is the maximum resident set of a child its own? Until a child executes its
 * program it has its parent's memory (vfork(), posix_spawn()) or a copy of it
 * (fork()), and the kernel counts that: what wait4() gives for a child is never
 * below what its parent had at most when it started it. A value above the largest
 * memory of this process up to now is the child's own; any other says only that the
 * child had no more.
 *
 * The largest memory of this process is read only when a value exceeds the known one, so
 * that the many small children of a tool cost nothing. It is that of the current program:
 * getrusage() alone would include what the process used before it executed the program.
 *
 * Any thread may call these functions. After a fork, initialize again with PEAK_INIT.
 */
struct peak {
	_Atomic int64_t known_kb;	/* memory that this process is known to have had; it only grows */
};

#define PEAK_INIT { 0 }

/*
 * The kernel counts pages in batches for each thread or processor, and a fork may
 * touch some of its own before it executes its program: a value that exceeds the
 * parent's by no more than this may still be the parent's.
 */
#define PEAK_SLACK_KB 512

/* Is max_rss_kb, what wait4() gave for a child of this process, the child's own.
 * errno is kept. */
bool peak_is_exceeded(struct peak *p, int64_t max_rss_kb);

struct event_end;

/* Of an end filled by event_end_rusage(): a value that may be this process's becomes
 * an upper bound. */
void peak_judge(struct peak *p, struct event_end *e);

#endif
