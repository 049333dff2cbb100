/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_TRACKER_PARTS_H
#define BUILDBEAT_ANALYSE_TRACKER_PARTS_H

#include "analyse/tracker.h"
#include "base/name_table.h"

/* For tracker*.c. A level from one time until another, of a task or NO_INDEX: of the hosts. */
struct tracker_piece {
	int64_t from_us, until_us;
	double level;
	uint32_t task;
};

struct tracker_pieces {
	size_t n;
	struct tracker_piece *piece;
	bool made, known;
};

/* The groups of one enum tracker_by. */
struct tracker_names {
	struct arena *memory;
	struct name_table table;
	const char **name;
	uint32_t *of_task, *n_tasks;
	bool made;
};

struct tracker {
	const struct summary *s;
	const struct waits *q;
	struct tracker_pieces pieces[TRACKER_METRICS], overhead[TRACKER_METRICS];
	struct tracker_names names[TRACKER_BYS];
};

/* 0 or -ENOMEM. What was made so far is released with the tracker. */
int tracker_need_pieces(struct tracker *t, enum tracker_metric metric);
int tracker_pieces_make(struct tracker_pieces *p, const struct tracker *t,
			enum tracker_metric metric);
int tracker_pieces_overhead(struct tracker_pieces *p, const struct tracker *t,
			    enum tracker_metric metric);
int tracker_names_make(struct tracker_names *x, const struct recording *rec, enum tracker_by by);
void tracker_names_release(struct tracker_names *x);

#endif
