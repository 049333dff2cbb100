/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_OE_INSIDE_H
#define BUILDBEAT_CONVERT_OE_INSIDE_H

#include "base/feed.h"
#include "base/name_table.h"
#include "convert/oe/oe.h"
#include "recording/reader.h"

/*
 * The inside of convert/oe: for its files and their tests. To read a directory, call
 * oe_build_stats(), oe_task_file() and oe_finish_recipe() for each recipe, oe_finish_tasks(),
 * oe_logs(), oe_join_pressure() and oe_finish_build().
 *
 * Names with "wall" are microseconds since 1970; all other times are microseconds since the start
 * of the recording.
 */

#define OE_TASK_FILE_MAX 65535	/* the rest of a longer file is not read */
#define OE_PRESSURES 3
#define OE_INCREMENTS_MAX 4	/* columns of oe_next_increments() */
#define OE_PRESSURE_DIR "reduced_proc_pressure"
#define OE_VOLUMES_LOG "monitor_disk.log"

/* A name of tasks, and their kind. */
struct oe_name {
	const char *text, *kind;
};

/* Files that are left out or damaged, for one warning. */
struct oe_count {
	unsigned n;
	char first[192];
};

struct oe {
	struct reader *r;
	/* build_stats */
	int64_t started_wall_us;	/* first "Build Started", -1: none */
	int64_t elapsed_us;		/* the longest, -1: the build did not end normally */
	bool failed;
	bool exact;			/* we wrote it: see OE_EXACT */
	int status;			/* of the build if we wrote it, otherwise -1 */
	const char *host, *kernel, *machine;	/* or NULL */
	int64_t zero_wall_us;		/* at time 0; -1: no time was read */
	int64_t earliest_us;		/* of a task, 0 at most */
	/* tasks */
	struct name_table names;
	struct oe_name *name;		/* of each number of names */
	struct oe_count foreign, damaged, backwards, unended;
	/* logs */
	int64_t first_ms, last_ms;	/* samples; -1: none */
	int64_t memory_kb;		/* of the machine, -1 */
	struct series pressure[OE_PRESSURES];	/* cpu, io, memory, one column each */
	bool has_pressure[OE_PRESSURES];
	char *window;			/* FEED_MEMORY bytes to read logs with */
};

void oe_init(struct oe *o, struct reader *r);
void oe_release(struct oe *o);

/* All return 0 or -ENOMEM. */

int oe_build_stats(struct oe *o, const char *text, size_t len);

/* One file of a task. text[len] is 0. recipe must outlive the recording. */
int oe_task_file(struct oe *o, const char *recipe, const char *name,
		 const char *text, size_t len);

/* After the files of a recipe, which were read in the order of their names. first is the number of
 * tasks before them. */
void oe_finish_recipe(struct oe *o, size_t first);
int oe_finish_tasks(struct oe *o);

/* Read all logs of the directory; or one log, from memory or, if text is NULL, from fd. Other names
 * are ignored. */
int oe_logs(struct oe *o, int dir_fd);
int oe_log(struct oe *o, const char *name, const char *text, size_t len, int fd);

int oe_join_pressure(struct oe *o);

/* At the end: the keys of `build`. */
int oe_finish_build(struct oe *o, bool build_only);

/* Helpers */

/* When the build ended, -1: it did not end normally. */
int64_t oe_end_us(const struct oe *o);

/* Parse a decimal number, or one such as 5e-05, as millionths, rounded. */
bool oe_millionths(struct cursor *c, int64_t *n);

/* Convert to time since the start as it is known so far. False: too far from the build. */
bool oe_time(struct oe *o, int64_t wall_us, int64_t *time_us);

void oe_count(struct oe_count *c, const char *dir, const char *name);

/* Logs */

/* A log has blocks: a line with the time, more lines, and an empty line. */
struct oe_blocks {
	struct oe *o;
	struct series s;	/* the result */
	struct slice text;	/* in memory, or */
	int fd;			/* -1 */
	struct feed feed;
	struct slice line;
	struct reader_damage damage;
	bool pending;		/* line has the time of the next block */
	bool whole;		/* the end of the block was read */
	bool lost;		/* something was left out since the last row */
	bool full;
	int64_t time_ms;	/* of the block */
	unsigned backwards;	/* blocks that are earlier than those before */
};

/* Read from the start. */
void oe_rewind(struct oe_blocks *b);

/* Find the next block, then its lines. False at the end. */
bool oe_block(struct oe_blocks *b);
bool oe_block_line(struct oe_blocks *b, struct slice *line);

/* Read a block of one line with n decimal numbers, in millionths, none negative. False: it is
 * damaged, and counted. */
bool oe_block_numbers(struct oe_blocks *b, int64_t *number, size_t n);

/* After the lines of a block. False: its time is not later than that of the last row: skip it. */
bool oe_block_is_next(struct oe_blocks *b);

struct oe_column {
	const char *name, *unit;
	bool counter;
};

int oe_columns(struct oe_blocks *b, const struct oe_column *column, size_t n);

/* Add a row: the levels of all columns. 0 or -ENOMEM. */
int oe_add_row(struct oe_blocks *b, int64_t time_ms, const int64_t *level);

/*
 * Read blocks as oe_block_numbers() until one is a new row, whose values are counted from the
 * sample before it. The first row is one of zeros at the time of the sample before the log. 1, 0 at
 * the end, or -ENOMEM.
 */
int oe_next_increments(struct oe_blocks *b, int64_t *number, size_t n);

/* When the sample after the last one was. */
int64_t oe_next_ms(const struct oe_blocks *b);

/* Move s into the recording if it has rows. 0 or -ENOMEM. */
int oe_series_keep(struct oe *o, struct series *s, const char *name);
void oe_series_release(struct series *s);

/* Each parses one log: samples.c, devices.c and, for logs that are copies of /proc, raw.c. 0 or
 * -ENOMEM. */
int oe_stat(struct oe_blocks *b);
int oe_meminfo(struct oe_blocks *b);
int oe_diskstats(struct oe_blocks *b);
int oe_net(struct oe_blocks *b);
int oe_volumes(struct oe_blocks *b);
int oe_pressure(struct oe_blocks *b);
int oe_raw_stat(struct oe_blocks *b);
int oe_raw_meminfo(struct oe_blocks *b);
int oe_raw_diskstats(struct oe_blocks *b);

/* Writing */

/* Create a file in the directory. 0 or a negative errno; an error of text comes first. */
int oe_write_file(int dir_fd, const char *name, const struct buf *text);

int oe_write_logs(int dir_fd, const struct recording *rec);

/* The wall clock at the start of the recording; an arbitrary day if it is not known. */
int64_t oe_wall_us(const struct recording *rec);

/* A task that is written. */
struct oe_entry {
	uint32_t task;
	char *dir, *file;	/* the recipe's directory, and the file in it: see names.c */
};

struct oe_entries {
	size_t n;
	struct oe_entry *entry;	/* by dir, then file, then start */
	struct buf text;	/* has their names */
	bool bitbake;		/* the tasks are BitBake's: a file has all runs of a task */
};

/* 0 or -ENOMEM. Always release. */
int oe_entries_make(struct oe_entries *e, const struct recording *rec);
void oe_entries_release(struct oe_entries *e);

#endif
