/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BASE_NAME_TABLE_H
#define BUILDBEAT_BASE_NAME_TABLE_H

#include "base/buf.h"
#include "base/cursor.h"

#include <stddef.h>
#include <stdint.h>

/* Texts numbered 0, 1 ... as they come, equal ones alike. It keeps copies. */
struct name_table {
	size_t n;
	struct name_entry *entry;
	struct buf bytes;
	uint32_t *slot;		/* 1 + number, 0 is free */
	size_t mask;		/* slots - 1, 0 before the first */
};

#define NAME_TABLE_INIT { 0 }

void name_table_release(struct name_table *t);

/* The number of a text, a new one if it has none. 0 or -ENOMEM. */
int name_table_add(struct name_table *t, struct slice text, uint32_t *number);

/* Valid until the next is added. */
struct slice name_table_text(const struct name_table *t, uint32_t number);

#endif
