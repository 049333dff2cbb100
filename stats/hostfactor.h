/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_STATS_HOSTFACTOR_H
#define BUILDBEAT_STATS_HOSTFACTOR_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The common factor of all tasks of a build: by how much they took longer than usual. The cause
 * is the host (or a compiler), not a task. It is the median, over the tasks, of the
 * logarithm of the value less that of the task's usual value. Tasks that did change
 * therefore do not affect it. Only the HOSTFACTOR_TASKS longest tasks count, as short ones are
 * mostly noise.
 */
#define HOSTFACTOR_TASKS 2000
#define HOSTFACTOR_FEWEST 10	/* tasks; with fewer the factor is unknown */

struct hostfactor {
	size_t n;
	double *ln;		/* of every build: logarithm of the factor; 0: unknown */
	bool *event;		/* deviates by more than 3.5 standard deviations and 2 % */
	double spread;		/* standard deviation of ln, estimated by its median */
};

#define HOSTFACTOR_INIT { 0 }

/* values[task * n + build] are times of n builds, NaN for a missing one. Tasks with a mean
 * below floor do not count. Returns 0 or -ENOMEM. Always release. */
int hostfactor_find(struct hostfactor *h, const float *values, size_t n_tasks, size_t n,
		    double floor);
void hostfactor_release(struct hostfactor *h);

#endif
