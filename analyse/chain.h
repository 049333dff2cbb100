/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_CHAIN_H
#define BUILDBEAT_ANALYSE_CHAIN_H

#include "analyse/summary.h"
#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What each task waited for last. A host waits only for tasks of its own instance. A target
 * that another instance made counts as the task of this instance in which it was made; a
 * target that was made before the instance began is ignored. Other files that a task made count
 * as its target. So a task was ready when its
 * instance had begun and its targets were made. The first of these that is known counts:
 *	WAIT_LINE	the line before it in its recipe, unless something ran between
 *			them; of an OpenEmbedded recipe the task before it, if that ended
 *			at most CHAIN_SLACK_OE_US before
 *	WAIT_POOL	the task of its pool that ended last, if the pool was full until then and
 *			that was after the task was ready, as below
 *	WAIT_WORKER	the task of its instance that ended last, if that was after the
 *			task was ready, and either it began after that too, or the task
 *			did not start within CHAIN_REACTION_US; it ended at most
 *			CHAIN_SLACK_US before, or nothing ran since
 *	WAIT_WORKER	the same of another make, where all workers of the jobserver were
 *			busy and the task started within CHAIN_REACTION_US of its end
 *	WAIT_TARGET	of the targets it waited for, the one that ended last
 *	WAIT_WORKER	without targets, the task of its instance that ended last
 *	What its instance waited for:
 *	WAIT_LINE	the last task of the instance that ended before its own began,
 *			in the same task ("make -C a; make -C b") or beside it
 *	WAIT_HOST	the task its instance runs in: it waited for that to start
 *	WAIT_SHELL	in place of WAIT_WORKER, a command of $(shell): make runs it itself, and
 *			nothing else meanwhile, with any number of workers
 * If no dependencies were recorded, it is not known whether a task needed the one that ended just
 * before, or its worker:
 *	WAIT_UNKNOWN	in place of WAIT_WORKER
 * A task waits only for tasks that ended before it started, give or take CHAIN_STAMP_US:
 * hosts record a start before they have seen the end it waited for.
 *
 * So the path of a build with one worker contains every task.
 */
#define CHAIN_SLACK_US 100000
#define CHAIN_SLACK_OE_US 200000	/* what bitbake may need between two tasks */
#define CHAIN_STAMP_US 2000
#define CHAIN_REACTION_US 20000	/* the time in which a host starts a task that is ready */

enum wait { WAIT_NONE, WAIT_TARGET, WAIT_LINE, WAIT_HOST, WAIT_WORKER, WAIT_UNKNOWN, WAIT_SHELL,
	    WAIT_POOL, WAITS };

/* "nothing", "target" ...: in JSON outputs and traces. */
extern const char *const chain_wait_word[WAITS];

/* Of a link between two tasks: did the second one need what the first one made, or could it have
 * run at once if there had been a worker, or a place in its pool? LINK_NONE: there is no
 * link, or nobody knows. */
enum chain_link { LINK_NONE, LINK_DEPENDENCY, LINK_WORKER, LINK_POOL, LINKS };

/* "none", "dependency", "no free worker", "full pool". */
extern const char *const chain_link_word[LINKS];

static inline enum chain_link chain_link(enum wait why)
{
	return why == WAIT_NONE || why == WAIT_UNKNOWN ? LINK_NONE :
	       why == WAIT_WORKER ? LINK_WORKER : why == WAIT_POOL ? LINK_POOL : LINK_DEPENDENCY;
}

/* How many links of each kind there are, n[LINKS]: "3 waited for a dependency, 2 for a free worker";
 * nothing if there are none. */
void chain_add_links(struct buf *b, const size_t *n);

/*
 * Two paths. What the end of the build waited for, `path`, goes back from the task that ended last.
 * It has no tasks that host, because
 * the tasks inside them are in it. If the end of such a task was waited for, the path has the
 * last task to end inside it. If its start was waited for, the path has the task that it waited
 * for itself.
 *
 * The longest chain of dependencies, `dependency`, ignores which tasks had to wait for a worker:
 * dependency_us is how long the build takes at least with any number of workers, if every task
 * takes as long as it did (chain_bound.h). It is never more than the wall time, and more than the
 * sum of its tasks by what hosts and the tasks that host did alone.
 */
struct chain {
	uint32_t *before;	/* of every task of the recording, or NO_INDEX; always one
				   earlier in summary.order, so following these ends */
	uint8_t *why;		/* enum wait */
	uint32_t *maker;	/* of each recording.after: the task that made it last before
				   the waiting task began, or NO_INDEX; of any instance */
	bool *other_file;	/* that is not the target of its maker */
	int64_t *ready_us;	/* when its instance had begun, its targets were made and the line
				   before it had ended; -1: it is not known what it waited for */
	size_t n_path;
	uint32_t *path;		/* what the end waited for, in time's order; none hosts */
	uint8_t *path_why;	/* enum wait of each of them: why it, or the task that hosts it,
				   waited for the one before it in the path; WAIT_NONE of the first */
	uint8_t *path_link;	/* enum chain_link of each; that of the first line of a recipe is
				   that of its further ones: they run as one */
	int64_t path_us;	/* time in its tasks */
	size_t n_link[LINKS];	/* links of the path of each kind */
	bool has_dependencies;	/* false: none were recorded, and the following are not known */
	size_t n_dependency;
	uint32_t *dependency;	/* in time's order; none hosts */
	int64_t dependency_us;	/* -1: not known */
};

/* 0 or -ENOMEM. Always release. rec->after must have been read. */
int chain_make(struct chain *c, const struct summary *s);
void chain_release(struct chain *c);

#endif
