/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_LISTING_H
#define BUILDBEAT_ANALYSE_LISTING_H

#include "analyse/runs.h"
#include "analyse/summary.h"
#include "base/error.h"
#include "base/buf.h"
#include "recording/recording.h"

/* The recordings in a directory of recordings: what their `build` files say. */
struct listing_entry {
	char *name;
	struct recording rec;	/* of `build` alone */
	bool damaged;		/* error says why; rec is empty then */
	struct error error;
	enum build_result result;
	int status;
	bool running;		/* and so not unfinished: see growing_runs() */
	bool set;		/* of several runs; rec is that of runs.shown */
	struct runs runs;
};

struct listing {
	char *path;
	size_t n;
	struct listing_entry *entry;	/* oldest first; damaged ones by name in front */
};

#define LISTING_INIT { 0 }

/*
 * All recordings below path; everything else is skipped. 0, or a negative errno
 * with err when the directory cannot be read. Always release.
 */
int listing_read(struct listing *l, const char *path, const struct recording_formats *formats,
		 struct error *err);
void listing_release(struct listing *l);

/* Remove the sets: for views of single recordings. */
void listing_drop_sets(struct listing *l);

/* Add a recording that was read, or whose `build` was, under a name; it is taken over, also if the
 * result is -ENOMEM. */
int listing_add(struct listing *l, const char *name, struct recording *rec);

/*
 * The recording that `what` names, into out: a directory that holds one; the newest
 * in a directory of recordings; a name in base, also if something else here has it; NULL: the
 * newest in base. Of a set it is the run that stands for all (runs.h); a name in base may also be
 * that of a run, "SET/3". base is a directory of recordings, or NULL: ./buildstats or, failing that,
 * the nearest one above; such a one is refused with -EPERM if others could have created it
 * (base/trust.h).
 * 0, or a negative errno with err.
 */
int listing_find(struct buf *out, const char *base, const char *what,
		 const struct recording_formats *formats, struct error *err);

/* The same, but a set is left as it is: out may be a set (runs_are_here()). */
int listing_find_set(struct buf *out, const char *base, const char *what,
		     const struct recording_formats *formats, struct error *err);

/* base or, if it is NULL, its default (see above), into out. */
int listing_base(struct buf *out, const char *base, struct error *err);

#endif
