/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_BUILDER_H
#define BUILDBEAT_CONVERT_BUILDER_H

#include "recording/recording.h"

#include <stdarg.h>

/*
 * A recording in memory made piece by piece, for the formats of others. Running
 * out of memory is remembered and told once, by builder_finish(): no call before
 * it needs to be looked at, but that an index may be NO_INDEX then. All times
 * are microseconds since the build's start, or since whatever zero the format has:
 * builder_finish() moves the earliest to 0 where start_wall_ns is not set.
 */
struct builder {
	struct recording *rec;		/* being made; the builder owns nothing else of it */
	int error;			/* sticky */
	/* the rest is builder.c's */
	struct builder_part *part;
};

void builder_init(struct builder *b, struct recording *rec, const char *path);

/* A copy that lives as long as the recording. NULL stays NULL. */
const char *builder_text(struct builder *b, const char *text, size_t len);

/* A key of `build`: tool, version, command, cwd, host, cores, memory_kb ... */
void builder_build(struct builder *b, const char *key, const char *value);
void builder_build_number(struct builder *b, const char *key, int64_t value);

/* When the build's time 0 was. */
void builder_start_wall(struct builder *b, int64_t wall_ns);

/* One tool's run; parent_task: the task it ran inside, or NO_INDEX. Index. */
uint32_t builder_instance(struct builder *b, const char *tool, const char *version,
			  const char *command, uint32_t parent_task);

/* A task of an instance; every field of *task that is not known is as
 * builder_task_init() left it (-1, NULL). Texts are copied. kind NULL: found out from
 * the command. Returns the index. */
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

/* What a task waited for; what it made besides what it is named after. */
void builder_after(struct builder *b, uint32_t task, const char *name);
void builder_out(struct builder *b, uint32_t task, const char *name);

/* A phase of a task, or of an instance where task is NO_INDEX. */
void builder_span(struct builder *b, uint32_t instance, uint32_t task, int64_t begin_us,
		  int64_t end_us, const char *name);
void builder_note(struct builder *b, uint32_t instance, uint32_t task, int64_t time_us,
		  const char *text);
void builder_warn(struct builder *b, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Tasks in the order of their start; 0, or -ENOMEM and the recording is released. */
int builder_finish(struct builder *b);

/* The same after reading returned r, whose error takes precedence; err also gets a lack of
 * memory. */
int builder_end(struct builder *b, int r, const char *path, struct error *err);

#endif
