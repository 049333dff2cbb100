/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_OUTPUT_PIPES_H
#define BUILDBEAT_ANALYSE_OUTPUT_PIPES_H

#include "analyse/output.h"
#include "base/sort.h"

/*
 * For output*.c: tasks that wrote to a pipe of their own, so that their lines are known. A task that hosts
 * build tools shares its pipe with them: their lines in it are found as those of the
 * build's own output, among those that share it.
 */
struct output_pipes {
	const struct recording *rec;
	bool any;
	uint8_t *piped;		/* of each task: 1 << 1, 1 << 2: its standard output, error */
	bool *hosts;		/* of each task: a build tool ran in it */
	bool *shared[2];	/* of each task: tasks of such a build tool write to its pipe, too */
	/* of each instance, for standard output and error: the task to whose pipe it writes;
	 * NO_INDEX: to the build's own output */
	uint32_t *outer[2];
	uint32_t *by_id;	/* instances */
	struct keyed *number;	/* of tasks: instance and number within it; and index */
	/* the last one that was looked up */
	char inst[INSTANCE_ID_MAX];
	uint64_t seq;
	uint32_t found;
};

/* 0 or -ENOMEM. Always release. */
int output_pipes_init(struct output_pipes *p, const struct recording *rec);
void output_pipes_release(struct output_pipes *p);

/* The task to whose pipe the line was written, or NO_INDEX: to the build's own output. */
uint32_t output_pipes_of_line(struct output_pipes *p, const struct output_line *line);

/* Does the task alone write to its pipe, to which the line was written? */
static inline bool output_pipes_is_own(const struct output_pipes *p, uint32_t task)
{
	return task != NO_INDEX && !p->hosts[task];
}

/* The task to whose pipe this one writes, perhaps itself. */
uint32_t output_pipes_of_task(const struct output_pipes *p, uint32_t task, bool errors);

#endif
