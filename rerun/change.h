/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RERUN_CHANGE_H
#define BUILDBEAT_RERUN_CHANGE_H

#include "analyse/summary.h"
#include "base/error.h"
#include "base/word_list.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What is to be different in a replayed build. A pattern names tasks: with * ? or [ it is a shell pattern
 * for the whole name or its last part ("test*", "*.c.o"), otherwise it is the name, or its last
 * part. "KIND:PATTERN" are the tasks of a kind among these, and "KIND:" is all of them ("link:").
 */
struct rerun_change {
	struct word_list speedup;	/* "PATTERN=2": half as long */
	struct word_list without;	/* "PATTERN": they take no time */
	struct word_list split;		/* "PATTERN=4": as four equal parts that can run side by side */
	struct word_list first;		/* "PATTERN": its host starts them, and what they wait for, as early as it
					   can */
	double cache_hit;	/* this share of the compiles takes as long as a hit of a compiler cache; -1: as
				   recorded */
	uint64_t seed;		/* which of them */
};

#define RERUN_CHANGE_INIT { .cache_hit = -1 }

/* A hit of a compiler cache: the time of a compile that only looks for its result. */
#define RERUN_HIT_CPU_US 8000

/* What a change does to each task. */
struct rerun_effect {
	float factor;		/* of its time; 0: none */
	uint16_t parts;		/* at least 1 */
	bool first;
	bool hit;
};

#define RERUN_PARTS_MAX 1000

/*
 * Of each task of the recording; *effect is to be freed. 0, -ENOMEM, or -EINVAL with err: a pattern that
 * names no task, or a number that is wrong.
 */
int rerun_change_effects(struct rerun_effect **effect, const struct rerun_change *change,
			  const struct summary *s, struct error *err);

#endif
