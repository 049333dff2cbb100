/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RECORDING_RECORDING_H
#define BUILDBEAT_RECORDING_RECORDING_H

#include "base/buf.h"
#include "base/error.h"
#include "recording/lost.h"
#include "recording/proof.h"
#include "recording/series.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * A recording in memory: everything hangs off one struct with one release, and
 * every text in it points into memory the recording owns. Indices, not
 * pointers, lead from one thing to another. -1 is "not known" in every number.
 *
 * What is damaged is left out and counted in `warnings`; what was written before
 * the damage is kept. Reading fails only when there is nothing to read.
 */

enum task_state {
	TASK_QUEUED,		/* never started */
	TASK_UNFINISHED,		/* started, and nobody saw it end: its host was killed or
				   gave it up; see recording_task_end_us(). With an end, how
				   that was is not known */
	TASK_DONE,		/* a status above 0 is an answer: see task_said_no() */
	TASK_FAILED,		/* status is the exit status, or -1 */
	TASK_KILLED,		/* status is the signal */
};

/* What a compiler cache (ccache, sccache) did for a task, where its log says so. A task that
 * called it several times has the worst of its results. */
enum task_cache {
	CACHE_UNKNOWN,
	CACHE_DIRECT,		/* found by the hashes of the source and its headers */
	CACHE_PREPROCESSED,	/* found by the preprocessed source */
	CACHE_HIT,		/* found, and how is not known */
	CACHE_MISS,
	CACHE_UNCACHEABLE,	/* the cache cannot do such a command, or it failed */
	TASK_CACHES
};

/* A file that a task made, as it was when the build had ended. */
struct recording_file {
	const char *path;	/* relative to the directory of the task's instance, or absolute */
	int64_t bytes;
};

/* A recording has many tasks, and most code visits all of them: the members that most code
 * reads come first, in one cache line. */
struct task {
	const char *name;	/* target, recipe task ...; "" when not known */
	const char *kind;	/* as recorded, or from the command (kind.h); never "".
				   Tasks of one kind have the same pointer */
	int64_t start_us, end_us;
	uint32_t instance;	/* index */
	enum task_state state;
	bool named;		/* later than at its start, which counts */
	bool hosts;		/* a build instance ran inside it: its values contain
				   those of that instance's tasks */
	bool nameless;		/* no name was recorded: it is called after its command */
	/* From proc_tasks.log: all 0 if it has no samples. */
	uint32_t first_usage, n_usage;	/* its samples in recording.usage */
	uint32_t peak_kb;	/* largest summed memory of its processes */
	int64_t peak_ms;	/* when that memory was */
	uint32_t cpu_ms, read_kb, written_kb;	/* at its last sample */
	int32_t status;
	const char *key;
	int64_t user_us, system_us;
	int64_t max_rss_kb;
	int64_t max_rss_at_most_kb;	/* if that is not known: the memory of its host, which
					   the kernel counts as the task's own, too */
	int64_t in_blocks, out_blocks;
	int64_t rchar, wchar;
	int64_t instructions;	/* in user mode */
	int32_t minor_faults, major_faults;	/* INT32_MAX: that or more, as the switches */
	int32_t voluntary_switches, involuntary_switches;
	uint64_t seq;		/* within the instance */
	uint64_t command;	/* where it is: recording_command() */
	int64_t queued_us;
	int32_t pid, slot;
	uint32_t first_after, n_after;	/* in recording.after: what it waited for */
	uint32_t first_out, n_out;	/* in recording.out: what it made besides its name */
	uint32_t pool;		/* index, NO_INDEX: none */
	int32_t line;		/* of its rule in `file`, -1: not known */
	const char *file;	/* the makefile, as make names it; build.ninja; "" */
	const char *program;	/* that does its work, "gcc", as the command shows (kind.h); "" */
	/* What its process did before the start, INT32_MAX: that or more; 0: nothing, or unknown.
	 * No other value contains it. */
	int32_t setup_us, setup_user_us, setup_system_us;
	bool end_at_most;	/* it ended at end_us at the latest */
	uint32_t first_file, n_files;	/* in recording.file */
	int64_t files_bytes;	/* of all of them; -1: no file of it is known */
	uint8_t cache;		/* enum task_cache */
	bool delay_at_least;	/* samples saw a part of it, or some processes are not known */
	int64_t delay_us;	/* how long threads of its processes, without those of the tasks inside
				   it, were ready to run and waited for a processor: a sum, as of CPU
				   time */
	uint32_t still_ms;	/* with samples: since then its processes used no disk, and no CPU
				   time worth counting (reader_usage.c) */
};

/* Of the tasks of an instance that are in this pool, at most `depth` run at once. */
struct pool {
	uint32_t instance;
	const char *name;
	int64_t depth;
};

/* A target of an instance for which it ran no task, and some of the targets that it waits for.
 * Several may have the same name: they add up. */
struct target_group {
	uint32_t instance;
	uint32_t first_in, n_in;	/* in recording.in */
	const char *name;
};

struct instance {
	const char *id;
	int64_t open_us, close_us;	/* close -1: it died or still runs */
	int32_t pid, level;
	uint32_t parent_task;	/* index of the task it ran inside, NO_INDEX if none;
				   following these ends: a parent opened earlier */
	uint32_t parent_span;	/* and of the span, NO_INDEX if none; it may have no task */
	bool only_spans;	/* a process that ran no tasks and only wrote spans */
	bool serial;		/* it runs one task at a time: .NOTPARALLEL */
	uint32_t said_done, said_total;	/* of all its tasks, as it counts them; total 0: it said nothing */
	/* What its processes used that are no children of the launcher, such as those of a
	 * server; -1: unknown, or they are. */
	int64_t used_user_us, used_system_us, used_in_blocks, used_out_blocks;
	/* The processes that it waited for: their CPU time and their number; -1: unknown. */
	int64_t children_user_us, children_system_us, reaped;
	const char *ancestors;	/* pids: own, parent's, ...; comma separated */
	const char *tool, *version, *cwd, *command;
};

#define NO_INDEX UINT32_MAX

/*
 * What was wrong with a span as it was recorded. The reader repairs it: a span that was read lies
 * within its parent and its task, a child after its parent.
 */
enum span_fault {
	SPAN_TWICE,		/* it was ended more than once: the first counts */
	SPAN_NO_BEGIN,		/* an end of a span that was not begun: ignored */
	SPAN_OTHER_THREAD,	/* another thread ended it: accepted */
	SPAN_OUTLIVED,		/* its parent or task ended first: it ended with them */
	SPAN_UNENDED,		/* nobody ended it: likewise */
	SPAN_OUTSIDE,		/* its task was not running when it began: the instance's own */
	SPAN_FAULTS
};

/* Words for them, such as "never_ended"; and the sum of the counts. */
extern const char *const recording_span_faults[SPAN_FAULTS];
struct recording;
uint64_t recording_trace_errors(const struct recording *rec);

struct span {
	uint32_t instance;	/* that wrote it; its task may be one of another instance */
	uint32_t task;		/* NO_INDEX: the instance's own */
	int64_t begin_us, end_us;	/* end -1: unfinished, and its task, too */
	const char *name;
	uint64_t seq;		/* the number of its task as it was written, 0: none */
	uint64_t number;	/* its own, unique with instance and seq */
	uint32_t parent;	/* index of the span around it, NO_INDEX: none */
	int32_t thread;		/* that began it, -1: unknown; spans of one thread nest */
	uint32_t copy;		/* among simultaneous spans of this name, from 1; 0: unknown */
	uint32_t faults;	/* bits 1 << enum span_fault */
	const char *place;	/* where it was begun, "" if that was not recorded */
};

/* Hosts number their spans from 1, and imported ones begin at 2^32; those of processes begin here. */
#define SPAN_OF_PROCESS (UINT64_C(1) << 40)

struct note {
	int64_t time_us;
	uint32_t instance;
	uint32_t task;		/* or NO_INDEX */
	const char *text;
};

/* One task at one sample. A large build has many: hence the small numbers, which
 * hold 4 TiB and 49 days. */
struct task_usage {
	int64_t time_ms;
	uint32_t rss_kb;	/* summed over its processes */
	uint32_t pss_kb;	/* 0: not measured at this sample */
	uint32_t cpu_ms;	/* since the task's start, living and reaped processes */
	uint32_t read_kb, written_kb;
	uint32_t processes;
};

/* From a time on a task has this memory: the best that was measured at a sample.
 * After its end, at the latest, it has none. */
struct memory_change {
	int64_t time_ms;
	uint32_t task;
	uint32_t kb;
};

/*
 * One proc_*.log: n samples of n_columns levels, row by row, times strictly
 * rising. A line may be drawn between two neighbours: of several equal samples
 * the first and the last are here. gap[i]: samples are missing before sample i.
 * If columns were added or removed in the middle, all of them are here. A column
 * that does not exist at a sample has SERIES_ABSENT, and a counter continues from
 * its last value.
 */
#define SERIES_ABSENT INT64_MIN

struct series {
	const char *name;	/* proc_stat, ... */
	int64_t interval_ms;
	size_t n_columns;
	struct series_column *column;
	size_t n;
	int64_t *time_ms;
	int64_t *level;		/* level[i * n_columns + column] */
	bool *gap;
};

/* `build`: as written, in order; a key may come several times. */
struct build_line {
	const char *key;
	const char *value;
};

/* The processes of one program, where processes were recorded (processes.log). */
struct program {
	const char *name;	/* "?": not known */
	uint64_t n;
	uint64_t n_measured;	/* of these the following is known: */
	int64_t cpu_us;
	int64_t max_rss_kb;	/* of the largest, -1: of none */
	int64_t wall_us;	/* of all */
};

struct warning {
	char text[256];
};

/* How a recording that another tool made, or that was imported from one, differs from ours. All
 * 0: it does not. */
struct recording_source {
	const char *system;	/* what was built, where its command is not known */
	const char *disk_note;	/* what people should know of its values of disks */
	bool one_core;		/* proc_stat has shares of all cores, as if there were only one */
	bool recipe_keys;	/* the key of a task is its recipe with its version, and the tasks
				   do not name those that they waited for (recipe.h) */
};

struct recording {
	char *path;
	struct recording_source source;
	size_t n_build;
	struct build_line *build;
	int64_t start_wall_ns, start_mono_ns;
	int64_t end_us;		/* of the build as recorded, -1: not ended in order */
	int64_t last_us;	/* newest time in any file: the end, for a build that was killed */
	int64_t interval_ms;
	size_t n_instances;
	struct instance *instance;
	size_t n_tasks;
	struct task *task;	/* in the order of their first line */
	size_t n_after;		/* 0: not read */
	const char **after;
	size_t n_out;		/* 0: not read */
	const char **out;
	bool has_files, has_cache;	/* for some task, files or the result of a cache are known */
	size_t n_files;		/* 0: not read, or not recorded */
	struct recording_file *file;
	size_t n_groups;	/* 0: not read */
	struct target_group *group;
	size_t n_in;
	const char **in;	/* names of targets in groups */
	size_t n_pools;
	struct pool *pool;
	size_t n_spans;
	struct span *span;	/* those of tasks.log, then one a process of processes.log that
				   is not a task's own, by their start */
	uint64_t span_faults[SPAN_FAULTS];	/* how often */
	uint32_t *task_span;	/* the span of its instance that each task started in, or
				   NO_INDEX; NULL: none in any */
	uint64_t n_processes;
	int64_t process_events_lost;
	size_t n_programs;
	struct program *program;
	size_t n_notes;
	struct note *note;
	size_t n_usage;
	struct task_usage *usage;	/* those of a task together, by time; NULL: not read */
	size_t n_memory;
	struct memory_change *memory;	/* by time */
	size_t n_series;
	struct series *series;
	struct lost lost;	/* what could not be written */
	struct proof proof;	/* what the tasks do not account for */
	struct buf original;	/* original.log of a recording that is being imported */
	size_t n_warnings;
	struct warning *warning;
	struct arena *arena;	/* private, as the next */
	struct texts *texts;
};

/* Unpack one compressed file into out (the reader knows no compression itself). */
struct recording_codec {
	int (*unpack)(struct buf *out, const void *packed, size_t len, struct error *err);
};

/* A directory of another tool that is read as if it were a recording. */
struct reader;
struct recording_foreign {
	const char *name;	/* of the format, as in the key `imported` of build */
	struct recording_source source;
	bool (*is_here)(int dir_fd);
	/* 0 or a negative errno; build_only as for recording_read_build() */
	int (*read)(struct reader *r, int dir_fd, bool build_only);
};

/* What can be read beside our own files as they were written; NULL: nothing. */
struct recording_formats {
	const struct recording_codec *codec;
	const struct recording_foreign *foreign;
};

#define RECORDING_INIT { 0 }

/*
 * Read the recording in the directory path. formats may be NULL. 0, or a negative
 * errno with err filled: -ENOENT, -ENOTDIR, -EINVAL (not a recording, a future
 * version), -ENOMEM. Always release.
 */
int recording_read(struct recording *rec, const char *path,
		   const struct recording_formats *formats, struct error *err);
void recording_release(struct recording *rec);

/* The same without the lists `after`, `out`, `file` and `usage` and the spans of processes, which
 * are long: what sums need. */
int recording_read_sums(struct recording *rec, const char *path,
			const struct recording_formats *formats, struct error *err);

/*
 * How to read. add_lines is called when all of tasks.log has been read. It adds further lines in
 * the format of tasks.log about its tasks, which are read next: data that is in other files
 * than those of the recording. The recording itself does not change. It returns 0 or -ENOMEM,
 * and the reader releases lines in any case.
 */
struct recording_options {
	const struct recording_formats *formats;	/* may be NULL */
	bool sums_only;		/* see recording_read_sums() */
	bool waits;		/* the same with `after`, `out` and all names of tasks */
	bool tasks_only;	/* the same, and no samples, no processes, no values of a task's
				   end, and no kinds that only the commands show */
	bool proof;		/* the same with the values of the ends, and `proof` */
	int (*add_lines)(struct buf *lines, const struct recording *rec);	/* may be NULL */
};

int recording_read_as(struct recording *rec, const char *path,
		      const struct recording_options *options, struct error *err);

/* The same, of the file `build` alone: no tasks, no samples. */
int recording_read_build(struct recording *rec, const char *path,
			 const struct recording_formats *formats, struct error *err);

/* First value of a key of `build`, NULL if absent; and as a number or -1. */
const char *recording_build(const struct recording *rec, const char *key);
int64_t recording_build_number(const struct recording *rec, const char *key);

/* The build tool of the build, and its version: what `build` says, otherwise the first instance that
 * has tasks. Both can be NULL. */
const char *recording_tool(const struct recording *rec, const char **version);

/*
 * The command of a task, "" when not known, or when its file cannot be read any
 * more: few are ever asked for, so they are not in memory. Valid until the next
 * call.
 */
const char *recording_command(const struct recording *rec, const struct task *t);

/* -ENOMEM if any call of recording_command() ran out of memory and returned "". */
int recording_command_error(const struct recording *rec);

/* When a started task ended. For one nobody saw end: when its instance closed or,
 * failing that, the newest time of the recording. */
int64_t recording_unseen_end_us(const struct recording *rec, const struct task *t);

static inline int64_t recording_task_end_us(const struct recording *rec, const struct task *t)
{
	return t->end_us >= 0 && t->end_us >= t->start_us ? t->end_us :
	       recording_unseen_end_us(rec, t);
}

/* Is it a command of $(shell) of make. Most tasks have no key. */
static inline bool task_is_shell(const struct task *t)
{
	return *t->key && !strcmp(t->key, "$(shell)");
}

static inline bool task_has_failed(const struct task *t)
{
	return t->state == TASK_FAILED || t->state == TASK_KILLED;
}

/* A probe is done, whatever its exit status: an answer to the makefile, with which make goes on. */
static inline bool task_said_no(const struct task *t)
{
	return t->state == TASK_DONE && t->status > 0 && task_is_shell(t);
}

/* The instance whose tasks and spans a span is among, NO_INDEX: it is of the build itself. That of
 * its task or, without a task, the one that wrote it or that runs the process that wrote it. */
uint32_t recording_span_instance(const struct recording *rec, const struct span *s);

/* A series by name, NULL if absent; a column's index, -1 if absent. */
const struct series *recording_series(const struct recording *rec, const char *name);
int recording_series_column(const struct series *s, const char *name);

/* Does this directory contain a recording, ours or (formats, may be NULL) another tool's? */
bool recording_is_here(const char *path, const struct recording_formats *formats);

/* 0 if every task of the recording is there, -EINVAL with err if some were lost: then its
 * values cannot be compared, nor exported, as no other format can say so. */
int recording_whole(const struct recording *rec, struct error *err);

#endif
