/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_SHOW_PARTS_H
#define BUILDBEAT_REPORT_SHOW_PARTS_H

#include "report/show_output.h"

/* Parts of the document of `show`, in its order. Those without anything to say are left out. */

#define SHOW_NAME_LEAST 6		/* columns of a name */

/* The value just begun is the name of a task. */
void show_task_name(struct doc *d, const struct recording *rec, const struct task *t);

/* What the end of the build waited for, and the longest chain of dependencies: of each the `top` longest
 * tasks, by time. */
void show_paths(struct doc *d, const struct summary *s, const struct chain *c, size_t top);

/* The first of these alone. Its rows are the last task that had to wait for a worker and the one that needed it,
 * then the longest ones. */
void show_brief_path(struct doc *d, const struct summary *s, const struct chain *c, size_t top);

/* How many tasks ran at once; those that ran when their memory was largest. */
void show_levels(struct doc *d, const struct summary *s);
void show_peak(struct doc *d, const struct summary *s);

/* The inspected processes of the selected tasks. */
void show_inspected(struct doc *d, const struct view *v, const struct inspected *x, size_t top);

void show_kinds(struct doc *d, struct groups *kinds);

/* Only if processes were recorded. */
void show_programs(struct doc *d, struct groups *programs, const struct summary *s, size_t top);

/* The first `top` files of the selected tasks, in the order of the tasks. */
void show_files(struct doc *d, const struct view *v, size_t top);

#endif
