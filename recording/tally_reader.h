/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RECORDING_TALLY_READER_H
#define BUILDBEAT_RECORDING_TALLY_READER_H

#include "base/cursor.h"
#include "base/index.h"
#include "base/name_table.h"
#include "recording/tally.h"
#include "recording/tally_image.h"

/* The inside of tally_read(), private to recording/tally*.c and their tests. tally_table.c makes the
 * rows of a table from values that only grow, in whatever order they come. */

/* What a row had at some moment. */
struct tally_values {
	uint32_t location, birth, death;	/* numbers of the process; birth and death 0: of
						   all threads */
	uint32_t balance;	/* see struct tally_cell */
	uint64_t count;
	uint64_t run_total, self_total, run_max, run_sample;
	uint64_t queue_total, queue_max, queue_sample;
	uint64_t amount_total, amount_max;
	bool has_run, has_queue;	/* histograms, by buckets of struct tally_times */
	uint64_t run[TALLY_BUCKETS], queue[TALLY_BUCKETS];
};

/* Of each process of the table. */
struct tally_host {
	uint32_t phase, epoch;
	uint32_t everyone;	/* index of thread "*", NO_INDEX: none yet */
	int fd;			/* in the process; -1: none */
	uint64_t inode;
	bool in_memory;		/* no file has its memory */
	bool closed;
	bool image;		/* its memory was added */
	uint64_t n_lost;	/* as it was seen last */
};

struct tally_reader {
	struct tally_table *t;
	struct arena *arena;
	int64_t from_us, to_us;
	bool applies;		/* the lines that follow are about a moment up to to_us */
	bool counts;		/* and after from_us */
	uint32_t process;	/* that they are about; NO_INDEX: unknown */
	struct name_table processes, phases;
	struct name_table names;	/* of merged threads */
	struct index numbers;	/* (process, kind and number of the process): index */
	struct index entries;	/* (location, numbers of birth and death): index */
	struct index living;	/* (location, birth): index of row */
	struct index rows;	/* (location and phase, birth and death): index */
	struct index links;
	size_t n_entries;
	struct tally_entry *entry;
	size_t n_histograms;
	struct tally_histograms *histograms;	/* of entries */
	uint64_t dice;
	size_t n_hosts, n_epochs;
	struct tally_host *host;	/* of each process */
	uint32_t *row_epoch;	/* of each row: that of the host when it was used last */
	struct tally_values scratch;
};

/* These return 0 or -ENOMEM. */
int tally_reader_new(struct tally_reader **out, struct tally_table *t, int64_t from_us,
		     int64_t to_us);
void tally_reader_free(struct tally_reader *r);

/* What follows is about a moment of a process. */
int tally_table_at(struct tally_reader *r, int64_t time_us, struct slice inst, uint64_t n_lost);
int tally_table_location(struct tally_reader *r, uint32_t number, int32_t line,
			 struct slice function, struct slice file);
int tally_table_thread(struct tally_reader *r, uint32_t number, struct slice name);
int tally_table_phase(struct tally_reader *r, struct slice name);
void tally_table_reset(struct tally_reader *r);

/* 1: its location or a thread is unknown. */
int tally_table_values(struct tally_reader *r, const struct tally_values *v);
int tally_table_link(struct tally_reader *r, uint32_t parent, uint32_t child);

/* All was added: the table is complete. */
int tally_table_finish(struct tally_reader *r);

/* Read the lines of a file. -EINVAL: it is no such file, or of a future version. */
int tally_lines_read(struct tally_reader *r, const char *text, size_t len, struct error *err);

/* The same from a descriptor, in pieces. continued: its first line was in another file. */
int tally_lines_read_fd(struct tally_reader *r, int fd, bool continued, struct error *err);

/* Add an image of the current process. size bytes can be read at image, which may change. */
int tally_live_add(struct tally_reader *r, const void *image, size_t size);

/* Add the image in a file of the recording, if it is that of the instance and in use. */
int tally_live_add_file(struct tally_reader *r, int dir_fd, const char *name, const char *inst);

/* Add the images of all processes that run, and were not added from a file. */
int tally_live_add_all(struct tally_reader *r);

/* Count the processes that are not over, and those that did not end. */
void tally_live_count(struct tally_reader *r, size_t *n_live);

#endif
