/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_INSPECT_WATCH_H
#define BUILDBEAT_INSPECT_WATCH_H

#include "base/error.h"
#include "inspect/rule.h"
#include "inspect/symbolize.h"
#include "recording/store_create.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Watches the processes of a build and inspects those that match a rule, several at once, each
 * from a process of its own. All together use at most 1 % of a CPU while the build runs: /proc is
 * read less often if that takes longer, and so is each process. Symbols are read after the build.
 */
struct watch_settings {
	const struct inspect_rule *rule;
	size_t n_rules;
	bool heaviest;		/* also inspect each process that is heavier than those before it */
	struct inspect_rule how;	/* those */
	pid_t launcher;		/* our parent: its end is ours; 0: there is none */
	pid_t root;		/* it and its descendants are watched; 0: all processes that the user may look at */
	const char *base;	/* directory of the archives */
	enum store_access access;
	const char *heap_dir;	/* directory with images of heaps, which is removed at the end;
				   NULL: none */
	struct symbolize_settings symbols;	/* program NULL: without symbols */
	int end_fd;		/* readable: finish; closed: the launcher is gone, end at once */
};

struct watch_result {
	unsigned n;		/* archives */
	char path[PATH_MAX];	/* of the newest, "": none */
	unsigned failed;
	struct error err;	/* of the first that failed */
};

/* Returns after the end, when no process of ours is left. result may be memory shared with
 * the caller's parent. 0 or a negative errno with result->err if nothing could be watched. */
int watch_run(struct watch_result *result, const struct watch_settings *s);

/* Remove the directory with images of heaps, for a process that was killed before it could. */
void watch_remove_images(const char *heap_dir);

#endif
