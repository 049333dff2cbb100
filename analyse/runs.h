/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_RUNS_H
#define BUILDBEAT_ANALYSE_RUNS_H

#include "base/buf.h"
#include "base/error.h"
#include "recording/recording.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A set: the recordings of one build that was run several times, by record --repeat. It is a
 * directory with the file `set` and a recording for each run, named 1, 2 ... A run that failed
 * or has not ended counts for nothing.
 */
struct runs_run {
	unsigned number;	/* its name */
	bool good;		/* it ended, with the status 0 or none */
	bool running;
	int64_t wall_us;	/* -1: unknown */
};

struct runs {
	int64_t asked;		/* -1: unknown */
	char *prepare;		/* the command before each run; NULL: none */
	size_t n;		/* with a recording, by number */
	struct runs_run *run;
	size_t n_good;
	/* The run that stands for all: the good one with the median wall time, of two the shorter;
	 * otherwise the last one. It is also the last one while that is running. n: none. */
	size_t shown;
	/* Of the wall times of good runs, -1: none. */
	int64_t least_us, median_us, most_us;
	int64_t deviation_us;	/* standard deviation; -1: fewer than two */
	/* The first run was an outlier: so much larger than all others; 0: not. */
	double first_slower;
};

#define RUNS_INIT { .asked = -1 }

/* Whether path is a set. */
bool runs_are_here(const char *path);

/* Whether path is a recording in a set, such as SET/3. */
bool runs_have(const char *path);

/* Reads `set`, and the file `build` of each run. 0 or a negative errno with err. Always
 * release. */
int runs_read(struct runs *r, const char *path, const struct recording_formats *formats,
	      struct error *err);
void runs_release(struct runs *r);

/* If path is a set, reads it, and path becomes that of the run that stands for all; otherwise r->n is
 * 0. 0 or a negative errno with err. Always release. */
int runs_choose(struct runs *r, struct buf *path, const struct recording_formats *formats,
		struct error *err);

/* The path of a run. */
void runs_add_path(struct buf *out, const char *path, const struct runs_run *run);

/* Adds "3 runs", or "2 good of 3 runs" of an incomplete set. */
void runs_add_count(struct buf *out, const struct runs *r);

#endif
