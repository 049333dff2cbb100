/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BASE_NAME_TABLE_H
#define BUILDBEAT_BASE_NAME_TABLE_H

#include "base/arena.h"
#include "base/cursor.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Different texts, numbered from 0 in the order in which they are added. With an arena the table
 * copies each new text into it, with a NUL behind it; without one it keeps the place of the
 * text, which must stay unchanged.
 */
struct name_table {
	size_t n;
	struct slice *name;
	struct arena *arena;	/* NULL: no copies */
	struct name_slot *slot;	/* private */
	size_t mask;
};

#define NAME_TABLE_INIT { 0 }

/* The number of a text. A new text gets number n. 0 or -ENOMEM. */
int name_table_add(struct name_table *t, struct slice text, uint32_t *number);

/* Its number, NAME_TABLE_NONE if it was not added. */
#define NAME_TABLE_NONE UINT32_MAX
uint32_t name_table_find(const struct name_table *t, struct slice text);

/* The arena and the texts in it remain. */
void name_table_release(struct name_table *t);

#endif
