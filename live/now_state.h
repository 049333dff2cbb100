/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LIVE_NOW_STATE_H
#define BUILDBEAT_LIVE_NOW_STATE_H

#include "live/now.h"
#include "recording/follow.h"
#include "recording/suspended.h"

/* The inside of now.h, private to now*.c. */

enum { NOW_DISK, NOW_MEMORY, NOW_TASKS, NOW_SOURCES };

/* What one file has at one time. */
struct now_part {
	int64_t time_ms;
	int64_t value[2];
};

struct now_parts {
	bool seen;
	size_t n, first;	/* the first is the next to be taken */
	struct now_part *part;
};

struct now_private {
	struct follow follow;
	struct recording rec;	/* of follow */
	uint32_t ended;		/* is forgotten with the next line, or NO_INDEX */
	struct buf text;
	struct suspended suspended;
	struct now_parts parts[NOW_SOURCES];
	struct now_parts cpu;	/* permille, load */
	int64_t load_centi;
	struct now_sample newest;
};

/* From growing.h. 0 or -ENOMEM. */
int now_take_sample(struct now *n, const struct growing_sample *s);
int now_take_memory(struct now *n, int64_t time_ms, int64_t kb);
void now_move_samples(struct now *n, const struct suspended *s);
void now_release_samples(struct now *n);

#endif
