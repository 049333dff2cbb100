/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RECORDING_GROWING_H
#define BUILDBEAT_RECORDING_GROWING_H

#include "base/error.h"
#include "recording/event.h"
#include "recording/process_log.h"
#include "recording/recording.h"

/*
 * A recording, read while it grows. Any number of processes can do that at the same time. They
 * only read files, so the processes of the build do not notice them.
 *
 * Every file is delivered line by line from its beginning, in the order of its lines. A line
 * waits for its newline. `build` is delivered first, then proc_tasks.log, then tasks. Memory is needed for
 * the open files and instances only, not for what was delivered.
 *
 * Times in which the build was suspended are left out, as by the reader of a whole recording. When one
 * ends, `build` gets a line about it. What was delivered before with later times, has to be
 * moved by who got it (LAYOUT_SUSPENDED, suspended.h).
 */

/* One sample of a proc_*.log, with the values that the reader of a whole recording has for it. */
struct growing_sample {
	const char *series;	/* proc_stat, ... */
	int64_t time_ms;
	int64_t before_ms;	/* of the sample before, -1: there is none, or some are missing */
	bool again;		/* instead of the sample before, whose time it has */
	size_t n_columns;
	const struct series_column *column;
	unsigned section;	/* grows when the columns change */
	/* Levels, counted from the first line of the columns. before: SERIES_ABSENT if the
	 * column is new. */
	const int64_t *level, *before;
};

/* The value of a gauge, or the rate of a counter per second. False: not known. */
bool growing_value(const struct growing_sample *s, size_t column, double *value);

/* Who gets what was read. Each function may be NULL. A result other than 0, which is a negative
 * errno, ends the reading. Texts are valid during the call, and escaped as in the file. */
struct growing_to {
	bool as_recorded;	/* times contain those in which the build was suspended */
	int (*build)(void *context, struct slice key, struct slice value);
	int (*event)(void *context, struct event *e);
	int (*process)(void *context, const struct process_line *l);
	int (*sample)(void *context, const struct growing_sample *s);
	int (*lost)(void *context, uint64_t tasks);	/* a line of lost.log */
	/* proc_tasks.log: the summed memory of all running tasks changed */
	int (*memory)(void *context, int64_t time_ms, int64_t kb);
	/* proc_tasks.log, before the lines of tasks that were written later: a task has samples. Returns the
	 * number under which `usage` gets each of them, or NO_INDEX for none. */
	uint32_t (*sampled)(void *context, struct slice inst, uint64_t seq);
	void (*usage)(void *context, uint32_t number, const struct task_usage *u);
};

struct growing_damage {
	uint64_t lines;		/* damaged, left out */
	uint64_t unknown;	/* with words of a later version */
	bool torn;		/* at the end: some last line is truncated */
};

/* codec may be NULL: no compressed files. 0 or a negative errno with err: -EINVAL if it is not
 * one of our recordings. */
struct growing;
int growing_open(struct growing **out, const char *path, const struct recording_codec *codec,
	      const struct growing_to *to, void *context, struct error *err);
void growing_close(struct growing *t);

/*
 * Deliver what was appended since the last call. Returns 1 if more may come, 0 if the recording
 * has ended and everything was delivered, or a negative errno with err.
 *
 * A recording that is being made is waited for until the process that makes it is dead.
 * A recording has ended when its launcher wrote the end and exited. If the launcher was killed, it
 * ends with the last process that has an open instance. Processes of other machines cannot be
 * seen: their recording ends with its end, or when its files were unchanged for minutes.
 */
int growing_read(struct growing *t, struct error *err);

/* The same, but stop after about so many bytes, for a loop that has other work; growing_is_behind()
 * then says whether there may be more already. A compressed file counts as nothing. */
int growing_read_some(struct growing *t, uint64_t most, struct error *err);
bool growing_is_behind(const struct growing *t);

/* Is its launcher stopped, by ^Z or SIGSTOP, so that nothing grows? */
bool growing_is_stopped(const struct growing *t);

/* The directory is no more. */
bool growing_is_removed(const struct growing *t);

/*
 * Does something still write to a recording, by its `build` (recording_read_build()) and the times of
 * its files? That is less exact than growing_read(): if the launcher was killed, the build runs
 * as long as its files change.
 */
bool growing_runs(const struct recording *rec);

/* What was left out so far. */
const struct growing_damage *growing_damage(const struct growing *t);

#endif
