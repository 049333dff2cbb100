/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_KNOWN_H
#define BUILDBEAT_COMPARE_KNOWN_H

#include "compare/builds.h"
#include "compare/shared.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Notes of people about changes, on builds of the archive (refs/notes/buildbeat). Accepted: this
 * build begins the new normal level, and nothing before it counts. Acknowledged: a known
 * regression that somebody handles. It is reported but does not fail the check until the
 * metric is back at the level before.
 */
enum known_kind {
	KNOWN_ACCEPTED,
	KNOWN_ACKNOWLEDGED,
};

struct known {
	enum known_kind kind;
	uint32_t build;		/* index into builds.build */
	const char *pattern;	/* of task names, as in rules.h; "" is the build */
	unsigned metrics;	/* METRIC_BIT()s */
	const char *reason;
	const char *by;		/* its author */
	int64_t time_s;

	/* What becomes of it; NULL: nothing was said. */
	const char *owner;	/* who handles it */
	const char *bug;	/* a URL, if nobody changed the note by hand */
	const char *fixed_by;	/* commit of the sources, or its first digits */
	bool invalid;		/* no regression */
	const char *everywhere;	/* it holds in every series: that of the build it is on; or NULL */
	const char *home;	/* the id of that build if it is of another series; or NULL */
	bool overdue;		/* builds have fixed_by, so it no longer holds (fixed_by.h), */
	uint32_t overdue_since;	/* from this build on */
};

struct known_list {
	size_t n;
	struct known *known;	/* by build, then by time */
};

/* What changed. */
struct known_subject {
	uint32_t task;		/* or TASK_TOTAL, TASK_HOST or TASK_SHARED */
	enum metric metric;
	const struct shared_group *group;	/* of TASK_SHARED */
	const uint32_t *moved;	/* of the latter two: the tasks that changed together, if known */
	size_t n_moved;
};

/* Whether a note is about it: about the task (as for builds_task_fits()); about all that moved; if those are
 * not known, about "*" or the pattern of the group. */
bool known_fits(const struct known *k, const struct builds *builds, const struct known_subject *of);

/*
 * The first build that has the revisions of one of another series, whose name is ref: it is of that
 * commit or, on the same branch, of no fewer commits. builds->n: none.
 */
size_t known_same_build(const struct builds *builds, const char *ref,
			const struct revision *revision, size_t n_revisions);

/* Whether it begins as a URL of the web and can be a part of a line: no controls, no blanks. */
bool known_is_url(const char *text);

/* The newest note of that kind, not overdue at `last`, about something on a build in [first, last], or
 * NULL. list may be NULL. */
const struct known *known_find(const struct known_list *list, enum known_kind kind,
			       const struct builds *builds, const struct known_subject *of,
			       uint32_t first, uint32_t last);

#endif
