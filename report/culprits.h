/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_CULPRITS_H
#define BUILDBEAT_REPORT_CULPRITS_H

#include "report/events.h"
#include "report/source_log.h"

/*
 * What may have made a change: the commits of each source tree between the last build
 * before an event and the first that has it, as far as its interval tells, those first
 * that touched what its tasks are named like.
 */
#define CULPRIT_FILES 6
#define CULPRIT_COMMITS 200	/* looked at, the newest ones */

struct culprit_file {
	const char *path;
	const char *task;	/* that is named like it; NULL: none */
	double likely;		/* of what the event costs, so much goes by that file's name */
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
	const char *source;	/* the tree, as the builds name it */
	const char *from, *to;	/* revisions; NULL: not known */
	bool from_dirty, to_dirty;	/* and what was not committed */
	const char *trouble;	/* why there is no list, or no whole one; NULL */
	size_t n_commits;	/* there are, of which n_culprits are in the list */
	size_t n_culprits;
	struct culprit *culprit;	/* likeliest, then newest first */
};

struct culprits {
	struct arena *texts;
	size_t n;
	struct culprit_range *range;	/* a tree each */
};

/*
 * Of one event. Without logs (n_logs 0) the ranges have no commits. That a commit is
 * missing, a clone shallow, a tree another one is told as the range's trouble. 0 or
 * -ENOMEM. Always release.
 */
int culprits_find(struct culprits *c, const struct builds *builds,
		  const struct report_events *events, const struct report_event *event,
		  struct source_log *const *log, size_t n_logs);
void culprits_release(struct culprits *c);


#endif
