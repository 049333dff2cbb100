/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_GROUP_TABLE_H
#define BUILDBEAT_RENDER_GROUP_TABLE_H

#include "analyse/groups.h"

/* The columns of a table of groups: their number of tasks, values, and the share of the total. */
struct group_table {
	struct groups *g;
	enum value key;		/* the groups are sorted by it */
	enum value share;	/* of this value */
	struct value_columns columns;
};

enum group_role { GROUP_NAMED, GROUP_UNKNOWN, GROUP_MORE, GROUP_REST, GROUP_TOTAL };

struct group_row {
	enum group_role role;
	const char *name;	/* of GROUP_NAMED not yet safe to print */
	uint64_t n;		/* 0: GROUP_REST */
	const struct cost *cost;
};

/* key VALUE_SORTS: the usual one. */
void group_table_make(struct group_table *t, struct groups *g, enum value key);

/* "Time by directory" with groups_add_note(). */
void group_table_title(struct buf *b, const struct group_table *t);

/* Call add() for the first `top` groups, until it returns false; for all others in one row, the rest and the
 * total. */
void group_table_rows(struct group_table *t, size_t top,
		      bool (*add)(void *ctx, const struct group_row *row), void *ctx);

/* A cell: a value, the share. What the rest does not know is empty. */
void group_table_value(struct buf *b, enum value v, const struct group_row *row);
void group_table_share(struct buf *b, const struct group_table *t, const struct group_row *row);

#endif
