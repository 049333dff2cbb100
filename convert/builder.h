/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_BUILDER_H
#define BUILDBEAT_CONVERT_BUILDER_H

#include "recording/recording.h"

#include <stdarg.h>

/*
 * Builds a recording in memory from the data of another tool. An error is sticky: builder_finish()
 * returns it, and no call before needs to be checked, but an index may be NO_INDEX then. All times
 * are microseconds since the build's start, or since any zero of the format: unless
 * builder_start_wall() was called, builder_finish() moves the earliest to 0.
 */
struct builder {
	struct recording *rec;
	int error;			/* sticky */
	bool lent;			/* the caller may set it: texts of tasks, spans and notes
					   are not copied, as they live as long as the recording */
	bool in_parts;			/* private, as the next */
	uint64_t tasks_before, spans_before;
	struct builder_part *part;
};

void builder_init(struct builder *b, struct recording *rec, const char *path);

/* A copy that lives as long as the recording. NULL stays NULL. */
const char *builder_text(struct builder *b, const char *text, size_t len);

/* Memory from malloc() becomes the recording's own. */
void builder_take(struct builder *b, void *memory);

/* A key of `build`: tool, version, command, cwd, host, cores, memory_kb ... */
void builder_build(struct builder *b, const char *key, const char *value);
void builder_build_number(struct builder *b, const char *key, int64_t value);

/* The wall clock at the build's time 0. */
void builder_start_wall(struct builder *b, int64_t wall_ns);

/* Add a run of a build tool. parent_task: the task that ran it, or NO_INDEX. Returns its index. */
uint32_t builder_instance(struct builder *b, const char *tool, const char *version,
			  const char *command, uint32_t parent_task);

/* The values of the build already contain what servers used: of the instances added so far. */
void builder_servers_included(struct builder *b);

/* Add a task to an instance. builder_task_init() makes each field unknown (-1, NULL). Texts are
 * copied. kind NULL: derived from the command. Returns its index. */
struct builder_task {
	const char *name, *kind, *key, *command;
	int64_t queued_us, start_us, end_us;
	int64_t user_us, system_us, max_rss_kb;
	int64_t in_blocks, out_blocks, rchar, wchar;
	int32_t pid, slot;
	int32_t status;			/* wait(2) status, -1 not known */
	enum task_state state;
};
void builder_task_init(struct builder_task *task);
uint32_t builder_task(struct builder *b, uint32_t instance, const struct builder_task *task);

/* A task that a task waited for, and an output besides the one that is its name. */
void builder_after(struct builder *b, uint32_t task, const char *name);
void builder_out(struct builder *b, uint32_t task, const char *name);

/* A target that is no task, and then the targets behind it (recording.h). */
void builder_group(struct builder *b, uint32_t instance, const char *name);
void builder_in(struct builder *b, const char *name);

/* Where the rule of a task is, and its pool (event.h). */
struct event_place;
void builder_place(struct builder *b, uint32_t task, const struct event_place *place);

/* A phase or note of a task, or of an instance if task is NO_INDEX. */
void builder_span(struct builder *b, uint32_t instance, uint32_t task, int64_t begin_us,
		  int64_t end_us, const char *name);
void builder_note(struct builder *b, uint32_t instance, uint32_t task, int64_t time_us,
		  const char *text);
void builder_warn(struct builder *b, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * A new series, such as proc_stat, with columns as in series.h; and a sample of the series that was
 * added last. Times are those of the finished recording. A sample that is not later than the one
 * before it, or that is too late for a recording, is left out.
 */
void builder_series(struct builder *b, const char *name, int64_t interval_ms,
		    const struct series_column *column, size_t n_columns);
void builder_sample(struct builder *b, int64_t time_us, const int64_t *level);

/*
 * For a recording that is written in parts (recording_write.h). The caller has added the instances
 * with their times, and set rec->last_us. After builder_parts() it adds tasks by their start, each
 * with its spans and notes; builder_next_part() removes those of the part before. 0 or the error.
 * builder_finish() releases the recording.
 */
int builder_parts(struct builder *b);
void builder_next_part(struct builder *b);

/* Sort the tasks by their start. 0, or the error and the recording is released. */
int builder_finish(struct builder *b);

/* The same after reading the input returned r. If r is negative, err is filled already and r is
 * returned; otherwise err is filled here. */
int builder_end(struct builder *b, int r, const char *path, struct error *err);

#endif
