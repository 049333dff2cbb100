/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_RACES_H
#define BUILDBEAT_ANALYSE_RACES_H

#include "analyse/summary.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Tasks that ran at the same time although one of them makes a file that the other one makes, too, or
 * waits for. One build tool orders such tasks; two makes of one build, each of which builds the
 * same directory, do not know of each other. Then the file may be read or linked half written, and
 * whether it is depends on luck.
 *
 * Only what was recorded is known: targets, further outputs, and prerequisites; and of these only files
 * for which a task waited. Tasks whose kind makes no file are left out, because targets such as "all"
 * are not files.
 */
enum race_what {
	RACE_BOTH_MAKE,		/* both made the file */
	RACE_READ,		/* the second one waited for the file, and the first one made it */
};

struct race {
	enum race_what what;
	uint32_t first, second;	/* tasks; the first one started before, or makes the file */
	int64_t overlap_us;
};

#define RACES_MAX 1000

struct races {
	size_t n, n_all;	/* in race[], and in all */
	struct race *race;	/* the longest overlap first, of those that were found first */
};

/* 0 or -ENOMEM. Always release. rec->after must have been read. */
int races_make(struct races *r, const struct summary *s);
void races_release(struct races *r);

#endif
