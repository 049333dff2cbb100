/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RERUN_FORECAST_H
#define BUILDBEAT_RERUN_FORECAST_H

#include "rerun/simulate.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A recording that can be replayed, and its replay without a change. */
struct rerun {
	const struct summary *s;
	const struct chain *chain;
	struct rerun_model model;
	int64_t base_us;	/* how long the replay without a change takes */
	double memory_scale;	/* the recorded memory over that of the replay without a change */
	int64_t jobs;		/* that most tasks shared */
};

/* 0, -ENOMEM, or -ENODATA with err: it cannot be replayed. s and c must live longer. Always release. */
int rerun_make(struct rerun *r, const struct summary *s, const struct chain *c, struct error *err);
void rerun_release(struct rerun *r);

/* Other conditions of a build. */
struct rerun_wish {
	struct rerun_change change;
	int64_t jobs;		/* -j of the build; 0: as recorded */
	int64_t cores;		/* of the machine; 0: as recorded */
	bool quiet;		/* no other process uses a core */
};

#define RERUN_WISH_INIT { .change = RERUN_CHANGE_INIT }

/* A task of the chain that the end of the replayed build waited for. */
struct forecast_link {
	uint32_t task;
	int64_t start_us, end_us;
	bool for_worker;	/* it was ready before, but there was no worker */
};

#define FORECAST_TASKS 5

/*
 * What a build would take under other conditions. The replay is compared with that of the build as it was:
 * what the model does not know of is in both. So the wall time and the memory without a change are the recorded ones.
 */
struct forecast {
	int64_t wall_us;
	int64_t low_us, high_us;	/* in four of five cases it is between these */
	int64_t jobs;
	double cores;		/* that the build can use; 0: unknown */
	double busy;		/* the share of these that it uses, 0 to 1; -1: unknown */
	int64_t running_most;
	double scale;		/* wall_us over the time of the replay */
	int64_t memory_kb;	/* of all tasks at once, at most; -1: unknown */
	int64_t memory_us;	/* when */
	size_t n_largest;	/* the tasks that run then with the most memory, the largest first */
	uint32_t largest[FORECAST_TASKS];
	size_t n_chain;
	struct forecast_link *chain;	/* by time */
	struct rerun_model model;	/* only with its own change: .n is 0 otherwise */
	struct rerun_run run;
};

/* With the chain and the tasks with the most memory, or without. 0, or a negative errno with err: -EINVAL if a
 * pattern names no task. Always release. */
int forecast_make(struct forecast *f, const struct rerun *r, const struct rerun_wish *w, bool details,
		  struct error *err);
void forecast_release(struct forecast *f);

#endif
