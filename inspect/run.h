/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_INSPECT_RUN_H
#define BUILDBEAT_INSPECT_RUN_H

#include "base/error.h"
#include "inspect/budget.h"
#include "inspect/rule.h"
#include "inspect/symbolize.h"
#include "recording/store_create.h"

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One inspection: snapshots of a process, written into an archive, until there are enough of them,
 * the process ends or the caller stops it. Every way to end is reported as progress of 100 %.
 */

/* Called for each line of progress. */
typedef void run_told(void *context, unsigned percent, const char *message);

struct run_settings {
	const struct inspect_rule *rule;	/* how; the names and rss_kb of it do not matter */
	const char *base, *path;	/* of the archive: inspect_archive_create() */
	enum store_access access;
	const char *task;	/* its id, or "" */
	const char *why;	/* what started the inspection */
	int heap_dir;		/* descriptor of the directory with images of heaps, -1: none */
	const struct symbolize_settings *symbols;	/* NULL: frames are named later */
	struct budget *budget;	/* shared with other inspections; NULL: its own 1 %, which does
				   not delay snapshots at an interval that a user chose */
	int stop_fd;		/* readable or closed: end now; -1: never */
	run_told *told;		/* may be NULL */
	void *context;
};

enum run_end {
	RUN_COMPLETE,		/* as many snapshots as wanted, or until the process ended */
	RUN_DIED,		/* the process ended before */
	RUN_STOPPED,		/* by the caller */
};

struct run_result {
	char path[PATH_MAX];	/* of the archive, "": there is none */
	size_t n_snapshots;
	enum run_end end;
};

/*
 * Inspect the process pid that started at start_ticks (0: any). 0, or a negative errno with err;
 * what was taken before is kept: result has the archive. No signal of the process and no error
 * leaves the process stopped or the progress below 100.
 */
int run_inspection(struct run_result *result, int32_t pid, uint64_t start_ticks,
		   const struct run_settings *settings, struct error *err);

/*
 * The same of a process that ended before anybody looked: what its heap had at the end, from the
 * image `name` in heap_dir. -ENODATA: it never had more than the rule's rss_kb.
 */
int run_from_image(struct run_result *result, const char *name,
		   const struct run_settings *settings, struct error *err);

#endif
