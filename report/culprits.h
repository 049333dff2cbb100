/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_CULPRITS_H
#define BUILDBEAT_REPORT_CULPRITS_H

#include "compare/history.h"
#include "report/source_log.h"

/*
 * Possible causes of an event: the commits of each source tree between the last build before the
 * event and the first build that has it. Those that touched files with names like those of
 * the changed tasks come first.
 */
#define CULPRIT_FILES 6
#define CULPRIT_COMMITS 200	/* examined, the newest ones */

struct culprit_file {
	const char *path;
	const char *task;	/* a task with a similar name, or NULL */
	double likely;		/* share of the event in tasks with similar names */
};

struct culprit {
	const char *id, *subject, *author;
	int64_t time_s;
	bool merge;
	double likely;		/* 0 to 1 */
	size_t n_touched;
	size_t n_files;
	struct culprit_file file[CULPRIT_FILES];	/* likeliest first */
};

struct culprit_range {
	const char *source;	/* the tree, as named by the builds */
	const char *from, *to;	/* revisions; NULL: unknown */
	bool from_dirty, to_dirty;	/* with uncommitted changes */
	const char *trouble;	/* why the list is missing or incomplete, or NULL */
	size_t n_commits;	/* of which n_culprits are in the list */
	size_t n_culprits;
	struct culprit *culprit;	/* likeliest, then newest first */
};

struct culprits {
	struct arena *texts;
	size_t n;
	struct culprit_range *range;	/* of each tree */
};

/*
 * Finds the possible causes of one event. Without logs (n_logs 0) the ranges have no commits. A
 * missing commit, a shallow clone or a different tree is the trouble of a range. Returns 0 or
 * -ENOMEM. Always release.
 */
int culprits_find(struct culprits *c, const struct builds *builds,
		  const struct history *history, const struct history_event *event,
		  struct source_log *const *log, size_t n_logs);
void culprits_release(struct culprits *c);

#endif
