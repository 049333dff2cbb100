/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LAUNCH_GITSTAMP_H
#define BUILDBEAT_LAUNCH_GITSTAMP_H

#include "base/word_list.h"

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

struct store;

/*
 * The revision of each source tree, as these lines of `build`:
 *	source: ROOT
 *	revision: HASH		not on an unborn branch
 *	branch: NAME		not with a detached HEAD
 *	describe: TEXT		the nearest tag and the distance from it; without a tag, and
 *				in a shallow clone, the abbreviated revision
 *	dirty: yes | no		tracked files differ from the revision
 *	git_error: TEXT		why the other lines are missing
 * A separate process appends them while the build begins: a huge tree, a server that does not
 * answer, or a damaged repository delays nothing. A directory outside of any repository has no
 * lines.
 */
struct gitstamp {
	pid_t pid;		/* 0: no process */
	int64_t begin_ns;
};

/* Begin with the trees (empty: the working directory). Errors are ignored. */
void gitstamp_begin(struct gitstamp *g, const struct store *s,
		    const struct word_list *trees);

/* Wait up to 50 ms from its beginning: the build has not changed files yet. */
void gitstamp_head_start(struct gitstamp *g);

/* Wait until it has ended, up to two seconds from its beginning. */
void gitstamp_end(struct gitstamp *g);

/* End it at once. */
void gitstamp_kill(struct gitstamp *g);

/*
 * The lines of one tree, as that process writes them: emit gets them in a few parts, cheap ones
 * first. stop, which a signal may set, ends the search for changed files.
 */
struct buf;
void gitstamp_tree(const char *tree, const volatile sig_atomic_t *stop,
		   void (*emit)(void *context, struct buf *lines), void *context);

#endif
