/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SAMPLER_ROSTER_H
#define BUILDBEAT_SAMPLER_ROSTER_H

#include "base/cursor.h"
#include "sampler/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The things that have a line each in a /proc file (disks, interfaces, cores): the group of the
 * table that each belongs to, and its last counters. Lines keep their order, so finding one is a
 * comparison; only a new name costs more.
 */

#define ROSTER_COLUMNS 5
#define ROSTER_NO_GROUP SIZE_MAX

struct roster_entry {
	char name[GROUP_NAME_MAX];
	size_t name_len;
	bool counted;
	bool seen;		/* last[] is set */
	size_t group;		/* ROSTER_NO_GROUP until it is written */
	uint64_t last[ROSTER_COLUMNS];
};

struct roster {
	struct roster_entry *entry;
	size_t n, max;
	bool (*counts)(void *ctx, struct slice name);	/* called once for each name */
	void *ctx;
};

/* 0 or -ENOMEM. */
int roster_init(struct roster *r, size_t max, bool (*counts)(void *, struct slice), void *ctx);
void roster_release(struct roster *r);

/* The entry of line number `line` (from 0) of the file. NULL if it is not counted, or there are
 * more than max. */
struct roster_entry *roster_find(struct roster *r, size_t line, struct slice name);

/* Is a name counted? For lines without a fixed order. */
bool roster_counts(struct roster *r, struct slice name);

/*
 * Read its n counters: their increase since the last time is added to its group of t. The first
 * time, and if t is NULL, they are only stored.
 */
void roster_count(struct roster_entry *e, struct table *t, const uint64_t *now, size_t n);

/* Make groups for all entries, those with the largest first counters first: columns that seldom
 * change belong at the end of a line. */
void roster_place(struct roster *r, struct table *t);

#endif
