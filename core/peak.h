#ifndef BUILDBEAT_PEAK_H
#define BUILDBEAT_PEAK_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What the maximum resident set of a child is worth. Until a child executes its
 * program it has its parent's memory (vfork(), posix_spawn()) or a copy of it
 * (fork()), and the kernel counts that: what wait4() gives for a child is never
 * below what its parent had at most when it started it. A value above the largest
 * memory of this process up to now is the child's own; any other says only that the
 * child had no more.
 *
 * The largest memory is asked for when a value exceeds all that was known of it, so
 * that the many small children of a tool cost nothing. It is that of this program:
 * getrusage() alone would count what the process was before it executed it.
 *
 * Any thread may ask. In a fork, begin anew with PEAK_INIT.
 */
struct peak {
	_Atomic int64_t known_kb;	/* this process has had so much; it only grows */
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
