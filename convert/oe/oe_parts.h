/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_OE_OE_PARTS_H
#define BUILDBEAT_CONVERT_OE_OE_PARTS_H

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
	struct buf *kept;		/* the files, packed; NULL: not wanted */
};

void oe_init(struct oe *o, struct reader *r);
void oe_release(struct oe *o);

/* All return 0 or -ENOMEM. */

int oe_build_stats(struct oe *o, const char *text, size_t len);

/* One file of a task. recipe must outlive the recording. */
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

/* The lines of a task file (form.c) */

/* In their usual order; but the start comes first. */
enum oe_field {
	OE_ELAPSED, OE_UTIME, OE_STIME, OE_CUTIME, OE_CSTIME,
	OE_IO_RCHAR, OE_IO_WCHAR, OE_IO_SYSCR, OE_IO_SYSCW, OE_IO_READ, OE_IO_WRITTEN,
	OE_IO_CANCELLED,
	OE_SELF_UTIME, OE_SELF_STIME, OE_SELF_MAXRSS, OE_SELF_MINFLT, OE_SELF_MAJFLT,
	OE_SELF_INBLOCK, OE_SELF_OUBLOCK, OE_SELF_NVCSW, OE_SELF_NIVCSW,
	OE_CHILD_UTIME, OE_CHILD_STIME, OE_CHILD_MAXRSS, OE_CHILD_MINFLT, OE_CHILD_MAJFLT,
	OE_CHILD_INBLOCK, OE_CHILD_OUBLOCK, OE_CHILD_NVCSW, OE_CHILD_NIVCSW,
	OE_STATUS, OE_ENDED, OE_STATE, OE_SETUP, OE_EVENT, OE_STARTED, OE_FIELDS,
};

#define OE_LARGEST (INT64_MAX / 4)	/* value of a line */
enum { OE_PASSED, OE_FAILED };		/* values of OE_STATUS */

struct oe_line {
	const char *key;	/* with its colon and blank */
	unsigned char len;	/* of key */
	bool decimal;		/* the value is in millionths */
	const char *tail;	/* what usually comes after the value */
};

extern const struct oe_line oe_lines[OE_FIELDS];

/* A file in the usual form: the values of its lines, -1 for those that are missing, and the same as
 * text, empty then. */
struct oe_form {
	int64_t value[OE_FIELDS];
	struct slice text[OE_FIELDS];
};

/* The fields of a form in the order of its lines. */
#define OE_FORM_FIELDS ((size_t)OE_ENDED + 2)
static inline enum oe_field oe_form_field(size_t i)
{
	return i ? (enum oe_field)(i - 1) : OE_STARTED;
}

/* False if the text has another form, even if it is only a blank that differs. */
bool oe_form_parse(struct oe_form *f, struct slice recipe, struct slice name,
		   const char *text, size_t len);
void oe_form_write(struct buf *b, const struct oe_form *f, struct slice recipe,
		   struct slice name);

/* The original files (original.c) */

/* Add to the packed files: the directory of the following ones ("": the build's), a file, and a file
 * of a task in the usual form. Secrets in free text are replaced. */
void oe_keep_dir(struct buf *kept, const char *name);
void oe_keep_file(struct buf *kept, const char *name, const char *text, size_t len);
void oe_keep_free_text(struct buf *kept, const char *name, const char *text, size_t len);
void oe_keep_task(struct buf *kept, const char *name, const struct oe_form *f);

/* Find the packed files of a recording that was imported from OpenEmbedded or read from its
 * directory. None (kept is empty) of another one. 0 or a negative errno with err. Always release
 * kept. */
int oe_find_kept(struct buf *kept, const struct recording *rec, struct error *err);

/* Write the packed files into the directory. path is that of the packed file, for err. 0 or a
 * negative errno with err. */
int oe_write_kept(int dir_fd, const struct buf *kept, const char *path, struct error *err);

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
