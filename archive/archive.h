/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_ARCHIVE_H
#define BUILDBEAT_ARCHIVE_ARCHIVE_H

#include "analyse/values.h"
#include "base/buf.h"
#include "base/error.h"
#include "compare/known.h"
#include "compare/builds.h"

#include <stdbool.h>

struct recording;

/*
 * Builds in a git repository: a branch HOST/BRANCH/MACHINE for each series of builds, and a commit
 * for each build, whose parent is the build before. buildbeat-archive(5) describes the tree
 * of a commit; in short
 *	build		circumstances, "key: value" lines
 *	totals		the build's totals, in the same format
 *	tasks		the dictionary, a line "name<TAB>kind" for each task. New tasks are added
 *			at the end; without any it is the same blob as in the build before
 *	packages	"name<TAB>version" lines
 *	columns/NAME	a value for each task in the dictionary's order (columns.h)
 *	spread/NAME	of a set: the standard deviation of its runs for each task
 *	sys/NAME	samples of the machine, thinned out, in the format of proc_*.log
 * The message has the trailers Build-Start, Build-Rev (one for each tree), Commit-Count, Run-Id.
 *
 * A repository is a path or a URL. A URL has a copy in the user's cache directory: reading
 * fetches first, and writing pushes afterwards.
 */
struct archive;

enum archive_use {
	ARCHIVE_READ,		/* must exist */
	ARCHIVE_FSCK,		/* the same, but may be damaged: only for archive_fsck() */
	ARCHIVE_WRITE,		/* created if missing, as a bare repository */
	ARCHIVE_WRITE_FAST,	/* the same, but need not survive a power failure */
};

/* Returns 0 or a negative errno with err: -ENOENT, -EINVAL (not a repository). Closing NULL is
 * allowed. */
int archive_open(struct archive **a, const char *repo, enum archive_use use, struct error *err);
void archive_close(struct archive *a);

/* The URL of the server for messages, or NULL. */
const char *archive_server(const struct archive *a);

/* Whether this is the last copy of a server that cannot be reached now; *why is the error. */
bool archive_is_stale(const struct archive *a, struct error *why);

/* "host/branch/machine". Characters that git does not allow are written as %XX; a part that is
 * NULL or empty is "unknown". */
void archive_ref(struct buf *ref, const char *host, const char *branch, const char *machine);

/* Names of all series, sorted; texts belong to the arena. A branch whose name is not valid, in a
 * damaged or hostile repository, is skipped: archive_has_skipped() then is true and *why says it. */
bool archive_has_skipped(const struct archive *a, struct error *why);
int archive_refs(struct archive *a, struct arena *texts, const char ***ref, size_t *n,
		 struct error *err);

/* Whether `what` is one or two whole parts of the name of a series, or all of it. */
bool archive_ref_fits(const char *ref, const char *what);

/* Chooses a series: `what`, or the only one if `what` is NULL, or the only one that has `what` as
 * a part (such as a host). Otherwise returns -EINVAL, and err lists the series. */
int archive_choose(struct archive *a, const char *what, struct buf *ref, struct error *err);

#define ARCHIVE_ID_SIZE 41

/* A build to archive: its values, and its recording for the samples (or NULL). */
struct archive_build {
	const struct values *values;
	const struct recording *rec;
	const char *run;	/* Run-Id; NULL: computed from host, start and path */
};

/*
 * Adds a build on top of ref. Other writers may do the same at the same time, and what a killed
 * writer left is harmless. If the run is archived already, *added is false and id is its
 * build. For a URL, -ENOTCONN with err means that the push failed. The build is kept and
 * pushed with the next one.
 */
int archive_add(struct archive *a, const char *ref, const struct archive_build *build,
		char id[ARCHIVE_ID_SIZE], bool *added, struct error *err);

/* Reads the newest builds of a series (0: all); commits that are not builds are skipped. Call
 * builds_release() before the archive is closed. */
int archive_builds(struct archive *a, const char *ref, size_t newest, struct builds *builds,
		   struct error *err);

/* Reads one build by its name in git ("host/branch/machine~3", or the first digits of an id), as
 * values or as a recording. */
int archive_values(struct archive *a, const char *name, struct values *f, struct error *err);
int archive_recording(struct archive *a, const char *name, struct recording *rec,
		      struct error *err);

/* The id of a build by its name. */
int archive_build_id(struct archive *a, const char *name, char id[ARCHIVE_ID_SIZE],
		     struct error *err);

/* The name of the user: git's user.name, otherwise USER, otherwise "unknown". */
int archive_user(struct archive *a, struct buf *name, struct error *err);

/* Reads the notes on builds, and those of other series about every series. Texts belong to
 * builds->texts; free list->known. Returns the number of lines that were not understood, with err
 * about the first one, or a negative errno. */
int archive_known(struct archive *a, struct builds *builds, struct known_list *list,
		  struct error *err);

/* Adds a note on a build (index into builds, or what->home), or removes the notes of the same kind, pattern and
 * metrics; *found is false if there is none. Return -ENOTCONN with err as archive_add(). */
int archive_say(struct archive *a, const struct builds *builds, const struct known *what,
		struct error *err);
int archive_unsay(struct archive *a, const struct builds *builds, const struct known *what,
		  bool *found, struct error *err);

/* Which builds of ref to delete: those older than before_s (-1: all), except the newest `keep`. */
struct archive_prune {
	int64_t before_s;	/* start of the build, since 1970 */
	size_t keep;
	bool pretend;		/* change nothing */
};

struct archive_pruned {
	size_t gone, kept;
};

/* Deletes builds. The remaining ones after the first deleted build are rewritten with their notes,
 * so their ids change. git gc frees the disk space. The same is done at a server; -ENOTCONN if
 * that fails. */
int archive_prune(struct archive *a, const char *ref, const struct archive_prune *what,
		  struct archive_pruned *done, struct error *err);

struct archive_fsck {
	bool repair;		/* of a local archive only */
	void (*found)(void *context, const char *what);	/* a problem, as a line */
	void *context;
	size_t n;		/* result: the number of problems */
	size_t left;		/* and of locks that remain, because they may be in use */
};

/*
 * Checks all objects of all series and the notes, and what killed writers left. Repairing removes
 * damaged builds from their series; what can be read of them is kept in a commit below
 * refs/buildbeat/lost/. The ids of newer builds change. Returns 0 or a negative errno with err.
 */
int archive_fsck(struct archive *a, struct archive_fsck *f, struct error *err);

#endif
