#ifndef BUILDBEAT_CHART_CHAIN_H
#define BUILDBEAT_CHART_CHAIN_H

#include "summary.h"

#include <stddef.h>
#include <stdint.h>

/*
 * What each task waited for last. Known of a task: the targets its host says it
 * waited for (`after`), the line before it in its recipe, the task that hosts it.
 * Where the host told of no targets at all, the task of its instance that ended last
 * before it started, at most CHAIN_SLACK_US before: the worker was busy with it.
 */
#define CHAIN_SLACK_US 100000

enum wait { WAIT_NONE, WAIT_TARGET, WAIT_LINE, WAIT_HOST, WAIT_WORKER };

struct chain {
	uint32_t *before;	/* of every task of the recording, or NO_INDEX; following
				   these ends */
	uint8_t *why;		/* enum wait */
	size_t n_path;
	uint32_t *path;		/* the critical path: from the task that ended last back
				   through before, then turned round: in time's order */
	int64_t path_us;	/* time in its tasks */
};

/* 0 or -ENOMEM. Always release. rec->after must have been read. */
int chain_make(struct chain *c, const struct summary *s);
void chain_release(struct chain *c);

#endif
