/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_CHAIN_H
#define BUILDBEAT_ANALYSE_CHAIN_H

#include "analyse/free_cores.h"
#include "analyse/wait.h"
#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of a link between two tasks: did the second one need what the first one made, or could it have
 * run at once if there had been a worker, or a place in its pool? LINK_NONE: there is no
 * link, or nobody knows. */
enum chain_link { LINK_NONE, LINK_DEPENDENCY, LINK_WORKER, LINK_POOL, LINK_LOAD, LINK_ORDER, LINKS };

/* "none", "dependency", "no free worker", "full pool", "load limit", "host's order". */
extern const char *const chain_link_word[LINKS];

static inline enum chain_link chain_link(enum wait why)
{
	switch (why) {
	case WAIT_NONE: case WAIT_UNKNOWN: case WAITS: return LINK_NONE;
	case WAIT_WORKER: return LINK_WORKER;
	case WAIT_POOL: return LINK_POOL;
	case WAIT_LOAD: return LINK_LOAD;
	case WAIT_ORDER: return LINK_ORDER;
	default: return LINK_DEPENDENCY;
	}
}

/* How many links of each kind the path has: "3 waited for a dependency, 2 for a free worker";
 * nothing if there are none. */
struct chain;
void chain_add_links(struct buf *b, const struct chain *c);

/*
 * Two paths. What the end of the build waited for, `path`, goes back from the task that ended last.
 * It has no tasks that host, because
 * the tasks inside them are in it. If the end of such a task was waited for, the path has the
 * last task to end inside it. If its start was waited for, the path has the task that it waited
 * for itself.
 *
 * The longest chain of dependencies, `dependency`, ignores which tasks had to wait for a worker:
 * dependency_us is how long the build takes at least with any number of workers on free cores, if every
 * task takes what it needs (chain_bound.h, free_cores.h). It is never more than the wall time, and more
 * than the sum of its tasks by what hosts and the tasks that host did alone.
 */
struct chain {
	struct waits waits;
	size_t n_path;
	uint32_t *path;		/* what the end waited for, in time's order; none hosts */
	uint8_t *path_why;	/* enum wait of each of them: why it, or the task that hosts it,
				   waited for the one before it in the path; WAIT_NONE of the first */
	uint8_t *path_link;	/* enum chain_link of each; that of the first line of a recipe is
				   that of its further ones: they run as one */
	int64_t path_us;	/* time in its tasks */
	size_t n_link[LINKS];	/* links of the path of each kind */
	size_t n_unknown;	/* of those of LINK_NONE: WAIT_UNKNOWN, and further lines of these */
	/* Not known unless waits.has_dependencies: */
	size_t n_dependency;
	uint32_t *dependency;	/* in time's order; none hosts */
	int64_t dependency_us;	/* -1: not known */
	struct free_cores free;
};

/* Where it takes dependency_us at least: "on free cores", or "with unlimited workers" if each task
 * takes as long as it did, because it is not known what it needs. */
const char *chain_bound_words(const struct chain *c);

/* 0 or -ENOMEM. Always release. rec->after must have been read. */
int chain_make(struct chain *c, const struct summary *s);
void chain_release(struct chain *c);

#endif
