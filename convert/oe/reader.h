/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_OE_READER_H
#define BUILDBEAT_CONVERT_OE_READER_H

#include "base/feed.h"
#include "base/name_table.h"
#include "convert/oe/oe.h"
#include "recording/reader.h"

/*
 * The inside of reading OpenEmbedded's directories, private to oe_*.c, recording.c
 * and their tests. build_stats comes first, then the tasks, oe_finish_tasks(), the
 * logs, oe_join_pressure(), oe_finish_build().
 *
 * Times are of the wall clock in microseconds where they are called so, otherwise since
 * the start of the recording.
 */

#define OE_TASK_FILE_MAX 65535	/* longer ones are cut: dozens of runs of a task */
#define OE_PRESSURES 3
#define OE_PRESSURE_DIR "reduced_proc_pressure"

/* The names of tasks are few. */
struct oe_name {
	const char *text, *kind;
};

/* Things left out or damaged, for one warning. */
struct oe_count {
	unsigned n;
	char first[192];
};

struct oe {
	struct reader *r;
	/* build_stats */
	int64_t started_wall_us;	/* first "Build Started", -1: none */
	int64_t elapsed_us;		/* the longest, -1: not ended in order */
	bool failed;
	bool exact;			/* our own export */
	int status;			/* of the build in our own export, otherwise -1 */
	const char *host, *kernel, *machine;	/* or NULL */
	/* what all times count from, -1: nothing that has a time was seen */
	int64_t zero_wall_us;
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
	char *window;			/* FEED_MEMORY bytes, for logs in files */
};

void oe_init(struct oe *o, struct reader *r);
void oe_release(struct oe *o);

/* The parts. 0 or -ENOMEM. */

int oe_build_stats(struct oe *o, const char *text, size_t len);

/* text[len] is 0. recipe is kept, name is not. */
int oe_task_file(struct oe *o, const char *recipe, const char *name,
		 const char *text, size_t len);

/* After those of a recipe, which came by name: first is the number of tasks there were
 * before. */
void oe_finish_recipe(struct oe *o, size_t first);
int oe_finish_tasks(struct oe *o);

/* All logs of the directory; or one, that is in memory or, with text NULL, what can be
 * read from fd, which is lent. What is no log's name is passed over. */
int oe_logs(struct oe *o, int dir_fd);
int oe_log(struct oe *o, const char *name, const char *text, size_t len, int fd);

int oe_join_pressure(struct oe *o);

/* After all; what `build` would say. */
int oe_finish_build(struct oe *o, bool build_only);

/* Helpers */

/* The build's end, -1: not ended in order. */
int64_t oe_end_us(const struct oe *o);

/* A decimal number, also as 5e-05, in millionths, rounded. */
bool oe_millionths(struct cursor *c, int64_t *n);

/* Since the start for now. False: it is nowhere near the build. */
bool oe_time(struct oe *o, int64_t wall_us, int64_t *time_us);

void oe_count(struct oe_count *c, const char *dir, const char *name);

/* Logs */

/* Blocks of a line with the time, lines, an empty line. */
struct oe_blocks {
	struct oe *o;
	struct series s;	/* what becomes of them */
	struct slice text;	/* in memory, or */
	int fd;			/* -1 */
	struct feed feed;
	struct slice line;
	struct damage damage;
	bool pending;		/* line is the time of the next block already */
	bool whole;		/* the block's end was seen */
	bool lost;		/* something was left out since the last row */
	bool full;
	int64_t time_ms;	/* of the block */
	unsigned backwards;	/* blocks that are earlier than those before */
};

/* From the start, again. */
void oe_rewind(struct oe_blocks *b);

/* The next block; false: there is none. Then its lines. */
bool oe_block(struct oe_blocks *b);
bool oe_block_line(struct oe_blocks *b, struct slice *line);

/* The one line of a block: n decimal numbers, in millionths, none negative. False:
 * damaged, which is counted. */
bool oe_block_numbers(struct oe_blocks *b, int64_t *number, size_t n);

/* The block was looked at. False: its time is not behind the last row's, pass it. */
bool oe_block_is_next(struct oe_blocks *b);

struct oe_column {
	const char *name, *unit;
	bool counter;
};

int oe_columns(struct oe_blocks *b, const struct oe_column *column, size_t n);

/* A row for a time, NULL when out of memory. */
int64_t *oe_add_row(struct oe_blocks *b, int64_t time_ms);

/* The row of zeros that counters of what was since the sample before begin with:
 * when that was. 0 or -ENOMEM. */
int oe_begin_rows(struct oe_blocks *b);

/* When the sample behind the last was. */
int64_t oe_next_ms(const struct oe_blocks *b);

/* s into the recording, if it has rows; it is empty then. 0 or -ENOMEM. */
int oe_series_keep(struct oe *o, struct series *s, const char *name);
void oe_series_release(struct series *s);

/* The parsers of one log each: oe_samples.c, oe_devices.c and, of unreduced ones,
 * oe_raw.c. 0 or -ENOMEM. */
int oe_stat(struct oe_blocks *b);
int oe_meminfo(struct oe_blocks *b);
int oe_diskstats(struct oe_blocks *b);
int oe_net(struct oe_blocks *b);
int oe_pressure(struct oe_blocks *b);
int oe_raw_stat(struct oe_blocks *b);
int oe_raw_meminfo(struct oe_blocks *b);
int oe_raw_diskstats(struct oe_blocks *b);

#endif
