/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RECORDING_READER_H
#define BUILDBEAT_RECORDING_READER_H

#include "base/cursor.h"
#include "base/feed.h"
#include "base/index.h"
#include "base/name_table.h"
#include "base/texts.h"
#include "recording/follow.h"
#include "recording/recording.h"
#include "recording/usage_log.h"

/*
 * The inside of recording_read(), private to recording.c, reader*.c, growing*.c and their tests: a
 * parser for each kind of file. Short files are in memory as a whole. The
 * parsers may write to that memory, to unescape and end texts in place, and to one byte
 * after it. Tasks and their samples are read line by line.
 */

struct reader {
	struct recording *rec;
	struct error *err;
	bool sums_only;		/* leave out rec->after, rec->out, rec->usage */
	bool waits;		/* but the first two and all names */
	bool tasks_only, proof;	/* see struct recording_options */
	const struct recording_foreign *foreign;	/* may be NULL */
	unsigned n_understood;	/* files whose first line is a recording's */
	/* of arrays of rec */
	size_t after_cap, out_cap, in_cap, usage_cap, usage_task_cap, memory_cap;
	/* tasks */
	struct follow follow;	/* of rec */
	struct index spans;
	int64_t *span_parent;	/* of each of rec->span: as in event.h */
	struct span_end *span_end;	/* of spans that were not read yet */
	size_t n_span_ends;
	struct reported_lost *reported_lost;	/* by lost.log */
	size_t n_reported_lost;
	uint64_t *last_task;	/* of each instance, from its close line; 0: unknown */
	size_t n_last_task;
	struct index pools;	/* instance, address of the name -> rec->pool */
	struct name_table programs;	/* of rec->program, escaped */
	size_t n_processes;
	struct process *process;
	struct task_usage *newest;	/* sample of each task; time_ms -1: none */
	struct usage_still *still;	/* of each task with samples; see reader_usage.c */
	uint32_t *usage_task;	/* of each of rec->usage: unless sums_only */
	uint32_t *after_task;	/* of each of rec->after, once they are out of order */
	uint32_t *out_task;	/* and of rec->out */
};

/* What a reader does with the lines of its follow. */
extern const struct follow_to reader_to;

void reader_init(struct reader *r, struct recording *rec, struct error *err);
void reader_release(struct reader *r);

/*
 * A file of the recording cannot be read: err says which and why, and code is returned,
 * because the data in it would be missing. If the file was removed meanwhile (-ENOENT), that
 * is only a warning.
 */
int reader_unreadable(struct reader *r, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Add a warning to rec->warning; after a hundred they are dropped. */
int reader_warn(struct reader *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Note a time: the newest one is rec->last_us. */
void reader_saw(struct reader *r, int64_t time_us);

/*
 * Parse the first line (NULL: no complete one), "buildbeat NAME 1 ...": 1 and the rest of
 * the line in *rest. 0 with a warning if it is another line. Negative: a future version.
 */
int reader_header(struct reader *r, const struct slice *line, const char *file,
		  const char *name, struct slice *rest);

/* Is this a first line of version 1? */
bool reader_parse_header(struct slice line, const char *name, struct slice *rest);

/* Parse "NAME:UNIT:KIND"; the name may have colons. False if damaged. */
bool reader_parse_column(struct slice word, struct series_column *column);

/* The time of a line of a proc log (series.h). */
struct sample_time {
	int64_t grid, time_ms;
	bool absolute;		/* the line has the time */
	bool gap;
	bool even;		/* "~": the values at the skipped points are unknown */
	bool levels;		/* "=": values are levels, not changes */
	int64_t unchanged_ms;	/* of the last of the samples that were left out before it as
				   unchanged, -1: there is none; by reader_samples_line() */
};

#define READER_INTERVAL_MAX_MS 86400000

/* Parse the part before the values; grid is that of the previous line, -1 without one. False if
 * damaged. */
bool reader_parse_time(struct cursor *c, int64_t interval_ms, int64_t grid,
		       struct sample_time *out);

/* The decoder of a proc_*.log, from one first line to the next. */
struct reader_samples {
	int64_t interval_ms;
	size_t n_columns;
	struct series_column *column;
	int64_t *level;		/* after the last line */
	int64_t grid;		/* grid point of the last sample, -1 before the first */
	bool lost;		/* a line was damaged: wait for one with time and levels */
	bool blind;		/* a first line was damaged: wait for the next */
};

/* Parse the rest of a first line. Always release. 0, -EBADMSG if it is damaged, or -ENOMEM. */
int reader_samples_begin(struct reader_samples *d, struct slice rest);
void reader_samples_release(struct reader_samples *d);

/* Decode a sample; last_ms is the time of the newest one of the file, -1: there is none. 0;
 * -EBADMSG: damaged; -EAGAIN: left out after damage. */
int reader_samples_line(struct reader_samples *d, struct slice line, int64_t last_ms,
			struct sample_time *s);

/* The point of the grid to which a time belongs. */
int64_t reader_grid(int64_t time_ms, int64_t interval_ms);

/* a + b; with a damaged file it may wrap around. */
static inline int64_t reader_plus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* What was left out of one file, and the warnings about it. */
struct reader_damage {
	unsigned n, first_line;
	unsigned skipped;	/* undamaged samples after damaged ones */
	bool torn;
};

void reader_damaged(struct reader_damage *d, unsigned line);
int reader_report_damage(struct reader *r, const struct reader_damage *d, const char *file);

/* The next complete line that is not too long; the others are counted. */
bool reader_line(struct cursor *c, struct slice *line, struct reader_damage *d);
bool reader_feed_line(struct feed *f, struct slice *line, struct reader_damage *d);

/*
 * Read one file of the recording by its plain name (build, tasks.log, proc_stat.log ...). text may
 * be taken over and has room for one byte after it. A file that is read line by line continues in
 * fd. The reader takes over fd, which may be -1. The caller reads build and the tasks first. Then
 * it calls reader_finish_tasks() and reads the other files.
 */
int reader_file(struct reader *r, const char *name, struct buf *text, int fd);

/* A file of the recording under its plain name. It may be packed in whole or in part. */
struct reader_name {
	char name[256];
	bool packed, plain;
};

/* List those of a directory whose plain names are wanted, by name. The caller frees the list, also
 * after an error. 0 or a negative errno. */
int reader_list(int dir_fd, bool (*is_wanted)(const char *name), struct reader_name **list, size_t *n);

/* Is it tasks.log or one of tasks-ID.log; or any that is read line by line? */
bool reader_is_tasks(const char *name);
bool reader_is_streamed(const char *name);

/* file is the name for warnings. 0, -ENOMEM or -EINVAL (future version). */
int reader_build(struct reader *r, const char *file, char *text, size_t len);
int reader_lost(struct reader *r, const char *file, const char *text, size_t len);
int reader_tasks(struct reader *r, const char *file, struct feed *f);
int reader_more_tasks(struct reader *r, struct slice lines);
int reader_series(struct reader *r, const char *file, const char *name,
		  char *text, size_t len);
int reader_usage(struct reader *r, const char *file, struct feed *f);

#define USAGE_FILE_COLUMNS 64

/* The decoder of proc_tasks.log (usage_log.h). */
struct usage_decoder {
	struct reader *r;	/* NULL: only kb is wanted, and what these get, as in growing.h */
	uint32_t (*sampled)(void *context, struct slice inst, uint64_t seq);
	void (*usage)(void *context, uint32_t number, const struct task_usage *u);
	void *context;
	int64_t interval_ms, grid;
	size_t n_columns;
	bool has_delay;		/* is USAGE_DELAY one of them? */
	unsigned char column[USAGE_FILE_COLUMNS];	/* which of ours each is */
	int64_t factor[USAGE_COLUMNS];		/* to KiB, ms, 1 */
	struct usage_alias *alias;
	size_t n_alias;
	uint32_t era;		/* counts the lines with levels of all tasks */
	int64_t time_ms;	/* of the newest memory change */
	uint32_t *given;	/* the numbers given out in it */
	size_t n_given;
	int64_t kb;		/* memory of all tasks after the last line, without a reader */
	bool lost;		/* a line was damaged: wait for one with time and levels */
	unsigned strangers;	/* entries of tasks that tasks.log does not have */
	struct reader_damage damage;
};

/* The first line, a further one, or a sample: *time_ms, -1 for the others. 0; -EBADMSG: damaged;
 * -EAGAIN: left out after damage; -ENOMEM. */
int reader_usage_line(struct usage_decoder *d, struct slice line, int64_t *time_ms);
void reader_usage_release(struct usage_decoder *d);

int reader_processes(struct reader *r, const char *file, struct feed *f);
int reader_results(struct reader *r, const char *file, struct feed *f);

/* Add the names of an "after" or "out" line, still escaped, to the task. */
int reader_after(struct reader *r, uint32_t task, struct slice names);
int reader_out(struct reader *r, uint32_t task, struct slice names);

/* The same of a "group" line: its own name comes first. */
int reader_group(struct reader *r, uint32_t instance, struct slice names);

/* See follow.h. 0 or -ENOMEM. */
int reader_add_span(void *reader, const struct span *s, int64_t parent);
int reader_end_span(void *reader, const struct span_end *e);

/* The highest number of an instance's tasks, and the number of its tasks that were not written
 * according to lost.log. After all files, further missing tasks are added to rec->lost. */
int reader_last_task(void *reader, uint32_t instance, int64_t last);
int reader_count_missing(struct reader *r);

/* After the instances were linked: see proof.h. Adds warnings. */
int reader_prove(struct reader *r);

/* After all files: sort, and find parents. 0 or -ENOMEM. */
int reader_finish_tasks(struct reader *r);
int reader_finish_usage(struct reader *r);
int reader_link(struct reader *r);
int reader_finish_spans(struct reader *r);	/* reader_link() calls it, and it the next one */
int reader_link_spans(struct reader *r);
int reader_finish_processes(struct reader *r);
int reader_leave_out_suspended(struct reader *r);	/* the last */

/* Set instance.only_spans; then their tasks do not host them. */
void reader_mark_scripts(struct reader *r);

/* Unescape the text in place and end it with a NUL. */
const char *reader_string(struct slice text);

#endif
