/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_PRESENCE_H
#define BUILDBEAT_COMPARE_PRESENCE_H

#include "compare/builds.h"

/*
 * Which tasks ran in which build, and when a task is gone.
 *
 * A build that failed is not good: tasks are missing because it stopped. A good build is whole if
 * it ran at least three quarters as many tasks as the largest of the 32 good builds before it;
 * an incremental build runs less. A task is gone from the first whole build without it if it is
 * regular: if it ran in at least nine of the ten whole builds before (if there are fewer since
 * its first: in all). Any other task that is missing did not run.
 */
struct presence {
	size_t n_builds, n_tasks, words;
	uint64_t **set;		/* of each build; consecutive equal ones are the same */
	size_t *count;		/* tasks of each build */
	size_t n_good, n_whole;
	uint32_t *good, *whole;	/* builds */
	uint32_t *first;	/* of each task: the first whole build, an index into whole */
};

/* Returns 0 or a negative errno with err. Always release. */
int presence_read(struct presence *p, const struct builds *builds, struct error *err);
void presence_release(struct presence *p);

/* Changes to the numbers of joined tasks: task t becomes to[t], less than n_tasks. Returns 0 or
 * -ENOMEM. */
int presence_join(struct presence *p, const uint32_t *to, size_t n_tasks);

static inline bool presence_ran(const struct presence *p, uint32_t build, uint32_t task)
{
	return p->set[build][task / 64] >> task % 64 & 1;
}

/* Whether a task is regular before p->whole[i], if it is there since p->whole[since]. */
bool presence_regular(const struct presence *p, size_t since, size_t i, uint32_t task);

#endif
