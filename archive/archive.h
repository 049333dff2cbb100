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
 * Builds in a git repository: a branch HOST/BRANCH/MACHINE each series of builds, a commit a
 * build, on top of the build before. buildbeat-archive(5) has what is in a commit's tree; in
 * short
 *	build		circumstances, "key: value" lines
 *	totals		the same of the build's totals
 *	tasks		the dictionary: "name<TAB>kind" a line, the same blob as the build before
 *			while no task is new; a new one goes to the end
 *	packages	"name<TAB>version" a line
 *	columns/NAME	a value a task in the dictionary's order (columns.h)
 *	sys/NAME	the machine's samples, thinned (proc_*.log's own format)
 * and in its message trailers Build-Start, Build-Rev (a line a tree), Commit-Count, Run-Id.
 *
 * A repository may be a path or a URL; of a URL there is a copy in the user's cache
 * directory: reading fetches first, writing pushes afterwards.
 */
struct archive;

enum archive_use {
	ARCHIVE_READ,		/* must be there */
	ARCHIVE_WRITE,		/* created, bare, when missing */
};

/* 0 or a negative errno with err: -ENOENT, -EINVAL (no repository). NULL is fine to close. */
int archive_open(struct archive **a, const char *repo, enum archive_use use, struct error *err);
void archive_close(struct archive *a);

/* Is what is read the copy of a server that could not be reached, as it was fetched last. Then
 * why tells. */
bool archive_is_stale(const struct archive *a, struct error *why);

/* "host/branch/machine" with what git allows in no name written as %XX; a part that is NULL
 * or empty is "unknown". */
void archive_ref(struct buf *ref, const char *host, const char *branch, const char *machine);

/* Names of all series, sorted; texts belong to the arena. */
int archive_refs(struct archive *a, struct arena *texts, const char ***ref, size_t *n,
		 struct error *err);

/* The one that is meant: what, or where that is NULL or a part of one only (a host ...), the
 * only one that fits; -EINVAL and err lists those there are. */
int archive_choose(struct archive *a, const char *what, struct buf *ref, struct error *err);

#define ARCHIVE_ID_SIZE 41

/* What becomes a build: figures, and the recording they are of for its samples (or NULL). */
struct archive_build {
	const struct values *figures;
	const struct recording *rec;
	const char *run;	/* Run-Id; NULL: made from host, start and path */
};

/*
 * On top of ref, whoever else adds to it at that time; what a killed writer left is
 * harmless. A run that is there already is not added again: *added false, id is the
 * one there is. To a URL: -ENOTCONN with err when it could not be pushed; it is kept and
 * goes with the next one.
 */
int archive_add(struct archive *a, const char *ref, const struct archive_build *build,
		char id[ARCHIVE_ID_SIZE], bool *added, struct error *err);

/* The newest of a series (0: all). Release by builds_release() before the archive is closed.
 * A commit that is no build is passed over. */
int archive_builds(struct archive *a, const char *ref, size_t newest, struct builds *builds,
		   struct error *err);

/* One build, named as git names commits ("host/branch/machine~3", an id's beginning); and
 * as a recording, for charts. */
int archive_values(struct archive *a, const char *name, struct values *f, struct error *err);
int archive_recording(struct archive *a, const char *name, struct recording *rec,
		      struct error *err);

/* The id of a build named so. */
int archive_build_id(struct archive *a, const char *name, char id[ARCHIVE_ID_SIZE],
		     struct error *err);

/* Who speaks: user.name as git has it configured, else USER, else "unknown". */
int archive_user(struct archive *a, struct buf *name, struct error *err);

/* What is said about those builds. Texts belong to builds->texts, list->known is the
 * caller's to free(). How many lines of notes were not understood, with err about the first of
 * them; or a negative errno. */
int archive_known(struct archive *a, struct builds *builds, struct known_list *list,
		  struct error *err);

/* Say something about a build (index into builds), kept with what was said before; and, false
 * in *found if there is none, take back what was said of that kind, pattern and metrics.
 * -ENOTCONN with err as archive_add(). */
int archive_say(struct archive *a, const struct builds *builds, const struct known *what,
		struct error *err);
int archive_unsay(struct archive *a, const struct builds *builds, const struct known *what,
		  bool *found, struct error *err);

/* Forget the builds of ref older than before_s (-1: any), but for the newest keep. */
struct archive_prune {
	int64_t before_s;	/* since 1970, by when the build began */
	size_t keep;
	bool pretend;		/* nothing is changed */
};

struct archive_pruned {
	size_t gone, kept;
};

/* What is kept is written anew behind the first that is forgotten, with what was said of it:
 * its commits have other ids. Disk space is given back by git gc. At a server the same is
 * done there; -ENOTCONN: it could not be. */
int archive_prune(struct archive *a, const char *ref, const struct archive_prune *what,
		  struct archive_pruned *done, struct error *err);

#endif
