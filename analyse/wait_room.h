/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_WAIT_ROOM_H
#define BUILDBEAT_ANALYSE_WAIT_ROOM_H

#include "analyse/capacity.h"
#include "analyse/wait.h"
#include "base/arena.h"

/*
 * For how many tasks there was room at each time: workers, places in pools, the load. Private to
 * wait.c.
 */
struct wait_room {
	const struct summary *s;
	const struct recording *rec;
	struct arena *memory;		/* of all arrays but those of the capacities */
	int64_t *end_us;		/* of each of summary.by_end */
	uint32_t *scope;		/* of each instance: the one with its workers */
	struct capacity *workers;	/* of each scope */
	struct capacity *shell;		/* of each instance: when it ran a command of $(shell) */
	double *load;			/* from which on each instance starts nothing, NAN: none */
	int64_t *first_us;		/* start of the first task of each instance, -1: none */
	struct capacity *pool, *both;	/* of each pool; when it and the workers are full */
	uint32_t *place;		/* of each task in the order */
	uint32_t *group, *around;	/* of each task: the scope of its instance; the task around
					   it if that has the same workers, or NO_INDEX */
	uint32_t *inside;		/* running tasks to which each task lends its worker */
	bool *runs, *lends;		/* lends: the task around it does */
	const struct series *stat;	/* with the recorded load, or NULL */
	int load_column;
};

/* 0 or -ENOMEM. Always release. */
int wait_room_make(struct wait_room *w, const struct summary *s);
void wait_room_release(struct wait_room *w);

/*
 * Split the time from ready_us to the start of a task that has been waiting for an earlier one, by
 * the host's own order, until order_us, or -1. until_us[cause]: when it had ended, if there was any.
 */
void wait_room_split(struct wait_room *w, uint32_t task, int64_t ready_us, int64_t order_us,
		     int64_t us[QUEUE_CAUSES], int64_t until_us[QUEUE_CAUSES]);

#endif
