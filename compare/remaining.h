/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_REMAINING_H
#define BUILDBEAT_COMPARE_REMAINING_H

#include "base/buf.h"
#include "recording/recording.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The remaining time of a build, from earlier builds of the same thing.
 *
 * The work done so far is measured with the durations that the tasks had in each earlier build. The
 * place where that build had done as much gives the time that it still needed. It is scaled by the
 * pace of this build so far. Builds that ran the same tasks up to that place count more, as do newer
 * ones. Where this build skips tasks, as an incremental one does, it will skip as many of those to come.
 * It skips none that runs, and the tasks that have ended give its pace.
 *
 * Each earlier build is predicted from the others in the same way, at many places. The errors show
 * how much of the pace lasts, and they are the width of the interval: it has the true time in
 * REMAINING_CONFIDENCE of all cases. It is wider if no earlier build is like this one, as with the
 * first incremental build, and if the pace is unusual. tests/remaining_histories.py measures how often
 * that holds in builds of real projects.
 */
#define REMAINING_CONFIDENCE 0.8
#define REMAINING_BUILDS 20	/* the newest ones are enough */

struct remaining;
int remaining_new(struct remaining **r);
void remaining_free(struct remaining *r);

/* Learn from an earlier build, the oldest first. The recording may have been read with tasks_only;
 * wall_us: its duration, -1: as recorded. Builds that failed must not be added. 0 or -ENOMEM. */
int remaining_add(struct remaining *r, const struct recording *rec, int64_t wall_us);

/* Once, after the last build. 0 or -ENOMEM. */
int remaining_learn(struct remaining *r);

struct remaining_estimate {
	size_t builds;		/* that were learnt from; 0: nothing is known */
	bool late;		/* every earlier build has ended at this place */
	int64_t left_us, low_us, high_us;	/* -1: not known; low <= left <= high */
	double done_share;	/* of the time, 0 to 1; NaN: not known */
};

/* What remains `elapsed_us` after the start of a build whose tasks so far are in rec, which is still
 * growing or whose later part is ignored. 0 or -ENOMEM. */
int remaining_estimate(struct remaining_estimate *e, struct remaining *r,
		       const struct recording *rec, int64_t elapsed_us);

/* The same some time later, as long as nothing newer is known. */
struct remaining_estimate remaining_later(const struct remaining_estimate *e, int64_t later_us);

/* As a sentence without an end: "about 3 min left (2 to 5 min), from 12 earlier builds". */
void remaining_words(struct buf *out, const struct remaining_estimate *e);

#endif
