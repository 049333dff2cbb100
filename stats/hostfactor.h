/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_STATS_HOSTFACTOR_H
#define BUILDBEAT_STATS_HOSTFACTOR_H

#include <stdbool.h>
#include <stddef.h>

/*
 * What all tasks of a build have in common: how much longer they took than each of them
 * usually does, which is the host's doing (or a compiler's), not a task's. It is the
 * median over the tasks of the logarithm of a value less the task's own usual one, so that
 * those tasks that did change have no say. Only tasks that matter do, the longest
 * HOSTFACTOR_TASKS: short ones are mostly noise.
 */
#define HOSTFACTOR_TASKS 2000
#define HOSTFACTOR_FEWEST 10	/* tasks; of fewer nothing can be told apart */

struct hostfactor {
	size_t n;
	double *ln;		/* of every build: its logarithm; 0: as usual, or not known */
	bool *event;		/* it is more than 3.5 standard deviations off, and 2 % */
	double spread;		/* the standard deviation of ln, by its median */
};

#define HOSTFACTOR_INIT { 0 }

/* Of n builds' values of a time: values[task * n + build], NaN where there is none. A
 * task that usually takes less than floor has no say. 0 or -ENOMEM. Always release. */
int hostfactor_find(struct hostfactor *h, const float *values, size_t n_tasks, size_t n,
		    double floor);
void hostfactor_release(struct hostfactor *h);

#endif
