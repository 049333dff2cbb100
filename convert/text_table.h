/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_TEXT_TABLE_H
#define BUILDBEAT_CONVERT_TEXT_TABLE_H

#include "base/cursor.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Different texts numbered from 0 in the order they came. The table keeps where they
 * stand, not the texts: these must stay as they are.
 */
struct text_table {
	size_t n;
	struct slice *text;
	struct text_slot *slot;	/* private */
	size_t mask;
};

#define TEXT_TABLE_INIT { 0 }

/* Its number; NO_TEXT when it is not there (find), or when out of memory (add). */
#define NO_TEXT UINT32_MAX
uint32_t text_table_find(const struct text_table *t, struct slice text);
uint32_t text_table_add(struct text_table *t, struct slice text);

void text_table_release(struct text_table *t);

#endif
