/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SAMPLER_ROSTER_H
#define BUILDBEAT_SAMPLER_ROSTER_H

#include "base/cursor.h"
#include "sampler/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The things a /proc file has a line for each (disks, interfaces, cores): which
 * group of the table each belongs to, and how far its counters were. Lines keep
 * their order, so finding one is a comparison; only a new name costs more.
 */

#define ROSTER_COLUMNS 5
#define ROSTER_NO_GROUP SIZE_MAX

struct roster_entry {
	char name[GROUP_NAME_MAX];
	size_t name_len;
	bool counted;
	bool seen;		/* last[] holds something */
	size_t group;		/* or ROSTER_NO_GROUP until it is written */
	uint64_t last[ROSTER_COLUMNS];
};

struct roster {
	struct roster_entry *entry;
	size_t n, max;
	bool (*counts)(void *ctx, struct slice name);	/* asked once a name */
	void *ctx;
};

/* 0 or -ENOMEM. */
int roster_init(struct roster *r, size_t max, bool (*counts)(void *, struct slice), void *ctx);
void roster_release(struct roster *r);

/* What line number `line` (from 0) of the file is about; NULL if that does not
 * count, or when there are more than max. */
struct roster_entry *roster_find(struct roster *r, size_t line, struct slice name);

/* Does a name count, where lines have no order to rely on. */
bool roster_counts(struct roster *r, struct slice name);

/*
 * Its n counters as they are now: how far each went since the last time is
 * added to its group of t. The first time, and with t NULL, they are only
 * remembered.
 */
void roster_count(struct roster_entry *e, struct table *t, const uint64_t *now, size_t n);

/* A group for everything remembered, those with the largest first counters
 * first: columns that change seldom belong at the end of a line. */
void roster_place(struct roster *r, struct table *t);

#endif
