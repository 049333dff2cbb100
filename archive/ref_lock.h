/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_REF_LOCK_H
#define BUILDBEAT_ARCHIVE_REF_LOCK_H

#include "archive/repo.h"

/*
 * libgit2 and git lock a reference by creating a file NAME.lock, which does not say who made it:
 * that of a killed process stays for ever. So what changes references here holds a lock of flock(2)
 * on a file of the repository, which the kernel releases, and notes in that file which locks it may
 * create. It notes the boot of the kernel too. The next process that gets the flock and finds a
 * note removes the locks of a killed one. Not every file system shares flocks among machines: the
 * note of another boot proves nothing, and only age decides about its locks.
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

/* What the file of the flock says: who changes references, or was killed meanwhile. */
struct ref_lock_note {
	struct buf names;	/* of the references, one a line */
	enum ref_lock_owner {
		REF_LOCK_UNKNOWN,	/* none, or on another machine: nobody shows its death */
		REF_LOCK_ALIVE,
		REF_LOCK_DEAD
	} owner;
};

void ref_lock_read_note(struct ref_lock_note *n, const struct archive *a);
void ref_lock_note_release(struct ref_lock_note *n);

/*
 * Whether NAME.lock is in use or was left by a killed process; this is the only place that decides:
 *	the note names it, and its owner is alive	in use
 *	the note names it, and its owner is dead	left
 *	of a reference, unchanged for ten seconds	left: git has one for milliseconds
 *	older than ten minutes				left, also locks of git's maintenance
 *	otherwise					in use
 * The ten seconds are counted from the first look, because clocks of machines differ. note: NULL for
 * who has the flock, since no lock is another one's then.
 */
enum ref_lock_state { REF_LOCK_NONE, REF_LOCK_IN_USE, REF_LOCK_LEFT };

struct ref_lock_watch {
	int64_t since_ns;	/* when this lock was seen first; 0: never */
	int64_t age_s;		/* by the clocks */
	int64_t made_ns;
	ino_t inode;
};

enum ref_lock_state ref_lock_look(struct ref_lock_watch *w, const struct archive *a,
				  const char *name, struct ref_lock_note *note);
#define REF_LOCK_LOOK_S 10	/* looks for this long decide about the lock of a reference */

/* Removes NAME.lock. Returns 0 or a negative errno. */
int ref_lock_remove(const struct archive *a, const char *name);

/* Waits until the next look. */
void ref_lock_nap(void);

#endif
