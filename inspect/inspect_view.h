/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_INSPECT_INSPECT_VIEW_H
#define BUILDBEAT_INSPECT_INSPECT_VIEW_H

#include "inspect/call_sites.h"
#include "inspect/classify.h"

/* What `inspect show` prints of an inspection. */

/* Where snapshots come from. Read snapshot i into s. 0 or a negative errno with err. */
typedef int inspect_view_read(void *from, size_t i, struct snapshot *s, struct error *err);

struct inspect_view_wish {
	const struct class_rule_file *rules;
	const char *rules_name;
	const char *file, *permissions, *stack;	/* regular expressions, NULL: all */
	size_t shown, base;	/* snapshots, from 0; INSPECT_VIEW_CHOOSE: the one with the largest
				   RSS, and the first one */
};

#define INSPECT_VIEW_CHOOSE SIZE_MAX

/* A snapshot in one line. */
struct inspect_view_line {
	int64_t time_us, took_us;
	bool frozen, ended, has_heap;
	struct process_values process;
	size_t mappings;
	int64_t kb[MAPPING_VALUES];	/* of all mappings */
	int64_t heap[HEAP_VALUES];	/* of all sites */
};

/* Columns of the call sites. */
enum { VIEW_SHOWN, VIEW_BASE, VIEW_LAST };

struct inspect_view {
	const struct inspection *in;
	struct inspect_view_wish wish;
	size_t n;
	struct inspect_view_line *line;
	size_t shown, base;		/* less than n, if n is not 0 */
	struct classes memory, heap;	/* of all snapshots */
	bool has_heap;			/* in any snapshot */
	struct snapshot snapshot;	/* the shown one */
	struct call_sites sites;
	struct heap_tree top_down, bottom_up;	/* of the shown snapshot */
	struct pattern file, permissions, stack;
	struct class_nodes nodes;	/* knows the allocators only */
	struct calls calls;
};

/* 0, or a negative errno with err: -EINVAL if an expression is wrong or there is no such snapshot.
 * Always release. */
int inspect_view_make(struct inspect_view *v, const struct inspection *in, inspect_view_read *read,
		      void *from, const struct inspect_view_wish *wish, struct error *err);
void inspect_view_release(struct inspect_view *v);

#endif
