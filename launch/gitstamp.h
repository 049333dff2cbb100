/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LAUNCH_GITSTAMP_H
#define BUILDBEAT_LAUNCH_GITSTAMP_H

#include "base/word_list.h"

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

struct store;

/*
 * What was built: for each source tree the lines
 *	source: ROOT
 *	revision: HASH		not on an unborn branch
 *	branch: NAME		not with a detached HEAD
 *	describe: TEXT		the nearest tag and the way from it; without one, and
 *				in a shallow clone, the revision in short
 *	dirty: yes | no		tracked files differ from the revision
 *	git_error: TEXT		why the rest is not known
 * in `build`, appended by a process of its own while the build begins: a huge
 * tree, a dead server or a damaged repository delays nothing. A directory that
 * is in no repository has no lines.
 */
struct gitstamp {
	pid_t pid;		/* 0: none */
	int64_t begin_ns;
};

/*
 * Begin stamping the trees (empty: the working directory). Not being able to is
 * no failure.
 */
void gitstamp_begin(struct gitstamp *g, const struct store *s,
		    const struct word_list *trees);

/* Before the build begins to change files: give it 50 ms from its beginning. */
void gitstamp_head_start(struct gitstamp *g);

/* Wait until it has ended, or has had two seconds from its beginning. */
void gitstamp_end(struct gitstamp *g);

/* End it at once. */
void gitstamp_kill(struct gitstamp *g);

/*
 * The lines of one tree, as that process makes them: emit gets them in a few
 * parts, cheap ones first. stop, which a signal may set, ends the search for
 * changed files.
 */
struct buf;
void gitstamp_tree(const char *tree, const volatile sig_atomic_t *stop,
		   void (*emit)(void *context, struct buf *lines), void *context);

#endif
