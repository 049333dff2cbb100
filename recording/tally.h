/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RECORDING_TALLY_H
#define BUILDBEAT_RECORDING_TALLY_H

#include "base/error.h"
#include "recording/recording.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Tallies: counts and times of the runs of one location, born in one thread and died in another.
 * Hosts tally through the C ABI (buildbeat_plugin.h). tally.log of a recording has them as text,
 * written every few seconds, at phases and at the end; see buildbeat-recording(5). A host also has
 * them in shared memory, which can be read while it tallies and while it hangs. Until it ends, that
 * memory is a file of the recording.
 *
 * A struct tally_table has a window of time of them. All that it points to belongs to it.
 */

#define TALLY_BUCKETS 64

/* Run or queue times of the runs of a row. */
struct tally_times {
	uint64_t total;
	uint64_t max;		/* of the whole phase, not only of the window; 0: unknown */
	uint64_t sample;	/* of one run, chosen at random with equal chance */
	/* TALLY_BUCKETS counts: bucket 0 of the zeros, bucket i of values from 2^(i-1) to 2^i - 1;
	 * NULL: all are 0. */
	const uint64_t *histogram;
};

/* The runs of one location, born and died in two threads, in one phase. */
struct tally_row {
	uint32_t location, birth, death;	/* indices; death also TALLY_STILL_ALIVE */
	uint32_t phase;		/* index; of living runs the last one */
	uint64_t count;		/* of deaths; of the living, if death is TALLY_STILL_ALIVE: then
				   the rest is 0 */
	struct tally_times run, queue;	/* in the unit of the process; queue always in ns */
	uint64_t self_total;	/* of run, without the runs nested in it */
	uint64_t amount_total, amount_max;	/* of the second clock */
};

/* Runs that have not died. */
#define TALLY_STILL_ALIVE UINT32_MAX

struct tally_location {
	const char *function, *file;	/* never NULL */
	int32_t line;		/* 0: unknown */
	uint32_t process;
};

/* The name "*" is of all threads of a process: rows of such threads have only amounts and
 * histograms, of runs that other rows count. */
struct tally_thread {
	const char *name;	/* WorkerThread-1, ... or as the host named it */
	uint32_t process;
};

/* A process of a host, by its instance. */
struct tally_process {
	const char *instance;
	int32_t pid;
	const char *clock, *unit;	/* of run times: "wall", "ns" */
	const char *amount, *amount_unit;	/* of the second clock, "" without one */
	uint64_t n_lost;	/* runs that found no room in its tallies */
	bool unfinished;	/* it did not end its tallies, and does not run */
	bool incomplete;	/* and what it tallied last was only in its memory */
};

/* A run of child was born while a run of parent ran in the same thread. */
struct tally_link {
	uint32_t parent, child;	/* indices of locations */
};

struct tally_table {
	size_t n_rows;
	struct tally_row *row;	/* in the order of their first line */
	size_t n_locations;
	struct tally_location *location;
	size_t n_threads;
	struct tally_thread *thread;
	size_t n_phases;
	const char **phase;	/* "" before the first phase */
	size_t n_processes;
	struct tally_process *process;
	size_t n_links;
	struct tally_link *link;
	size_t n_moments;
	int64_t *moment_us;	/* when tallies were written, rising; since the recording's start */
	int64_t from_us, to_us;	/* the moments between which the rows are; from -1: the start */
	size_t n_damaged;	/* lines left out */
	bool merge_threads;	/* set it before: threads with similar names of one process are one
				   thread. This takes less memory */
	struct tally_reader *reader;	/* private */
};

#define TALLY_TABLE_INIT { 0 }

/*
 * Read the tallies of the recording in the directory path between two moments: those after from_us
 * (-1: all) and up to to_us (INT64_MAX: the newest). A moment is rounded down to one of moment_us.
 * Rows with nothing new are left out. If the host reset its tallies, what was before counts only
 * for a to_us before. The memory of a host that has not ended is read, too, if it is a file of the
 * recording. formats is for compressed files and may be NULL. 0 or a negative errno with
 * err filled: -ENOENT: the recording has no tallies. Always release.
 */
int tally_read(struct tally_table *t, const char *path, int64_t from_us, int64_t to_us,
	       const struct recording_formats *formats, struct error *err);

/*
 * The same up to now: the memory of each host that still runs is read, too, wherever it is. Nothing
 * is asked of the host. *n_live gets the number of such processes; it may be NULL.
 */
int tally_read_live(struct tally_table *t, const char *path, int64_t from_us,
		    const struct recording_formats *formats, size_t *n_live, struct error *err);

void tally_release(struct tally_table *t);

/* Names of threads are similar that become equal when each run of digits is a "*": write the name
 * without its digits, of at most size bytes. Returns its length. */
size_t tally_similar_name(char *to, size_t size, const char *name);

/* Does this recording have tallies? */
bool tally_is_here(const char *path);

#endif
