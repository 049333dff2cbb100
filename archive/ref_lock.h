/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_REF_LOCK_H
#define BUILDBEAT_ARCHIVE_REF_LOCK_H

#include "archive/repo.h"

/*
 * libgit2 and git lock a reference by creating a file NAME.lock, which does not say who made it:
 * that of a killed process stays for ever. So what changes references here holds a lock of flock(2)
 * on a file of the repository, which the kernel releases, and notes in that file which locks it may
 * create. The next process that gets the flock and finds a note removes the locks of a killed one.
 */
#define REF_LOCK "buildbeat-refs"	/* held while references are changed */
#define REF_LOCK_COPY "buildbeat.lock"	/* of the copy of a server: also while it is fetched */

#define REF_LOCK_ALL "*"		/* all references */
#define REF_LOCK_PACKED "packed-refs"	/* git's file of references without a file of their own */

struct ref_lock {
	int fd;			/* -1: none */
};

/*
 * Takes the flock of that file and removes what a killed owner left. Waits for a living one up to
 * wait_s seconds. names: what is going to be locked, one a line. Returns 0, -EBUSY if another owner
 * keeps it, or another negative errno if this file system or user cannot take it.
 */
int ref_lock_take(struct ref_lock *l, const struct archive *a, const char *file,
		  const char *names, unsigned wait_s);
void ref_lock_release(struct ref_lock *l);

/* Removes NAME.lock if it is older than ten minutes: nobody keeps one for so long. Returns the age of
 * the lock in seconds, or 0 if there is none. */
int64_t ref_lock_remove_old(const struct archive *a, const char *name);

/* Adds the note of a killed owner: names, one a line. */
void ref_lock_note(struct buf *names, const struct archive *a);

#endif
