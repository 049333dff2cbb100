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

struct now_counts {
	int64_t state[TASK_KILLED + 1];
	int64_t hosting;
};

/* The numbers of an instance's tasks, see now_lost.c. */
struct now_numbers {
	bool follows;		/* each is given, in order */
	uint64_t closed;	/* the last one, as its close line has it; 0: not known */
	uint64_t newest;	/* of a task that began or ended */
	uint64_t n;		/* of tasks that began, also of those above `closed` */
};

struct now_private {
	struct follow follow;
	struct recording rec;	/* of follow; of its file `build` the directory alone: */
	struct build_line build;
	uint32_t ended;		/* is forgotten with the next line, or NO_INDEX */
	struct buf text;
	struct suspended suspended;
	int64_t interval_ms;	/* of the samples */
	bool any_lost;		/* lost.log says it */
	size_t n_numbers;
	struct now_numbers *numbers;	/* of each instance */
	struct now_counts bare;	/* tasks that have not begun, as far as is known */
	struct now_counts left_out;	/* of the numbers of struct now */
	struct now_parts parts[NOW_SOURCES];
	struct now_parts cpu;	/* permille, load */
	int64_t load_centi;
	struct now_sample newest;
};

/* From growing.h. 0 or -ENOMEM. */
int now_take_sample(struct now *n, const struct growing_sample *s);
int now_take_memory(struct now *n, int64_t time_ms, int64_t kb);
void now_move_samples(struct now *n, const struct suspended *s);

/* Each line that changes a task. 0 or -ENOMEM. now_lost_settle() leaves lost tasks out of the numbers. */
int now_lost_opened(struct now *n, uint32_t instance);
int now_lost_closed(struct now *n, uint32_t instance, int64_t last);
int now_lost_changed(struct now *n, const struct task *t, enum follow_change what);
void now_lost_hosts(struct now *n, const struct task *t);
void now_lost_settle(struct now *n);
void now_release_samples(struct now *n);

#endif
