/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LIVE_NOW_H
#define BUILDBEAT_LIVE_NOW_H

#include "base/json.h"
#include "recording/growing.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The present state of a recording that grows, for overviews: the web page, `buildbeat top` and
 * /metrics. It gets what growing.h delivers. Memory is needed for tasks that are queued or run, for
 * the newest NOW_FAILED_MAX failures, and four bytes for each other task.
 */
#define NOW_FAILED_MAX 100
#define NOW_HISTORY 120

/* The machine at one sample; -1: not known. */
struct now_sample {
	int64_t time_ms;	/* since the recording's start */
	int64_t cpu_permille;	/* of all CPUs together */
	int64_t memory_kb, available_kb, tasks_kb;	/* total, available, of running tasks */
	int64_t read_kb_s, written_kb_s;
	int64_t load_centi;
};

struct now {
	char *title, *tool, *cwd;	/* command of the build, outermost build tool, directory;
					   never NULL */
	int64_t start_wall_ns, start_mono_ns;
	int64_t last_us;	/* of the newest line */
	int64_t cores;		/* -1: not known */
	bool ended;		/* with the end that `build` has; or as the caller says */
	bool stopped;		/* growing_is_stopped(), as the caller says */
	int64_t end_us;
	int32_t exit_status, signal;	/* of the build, -1: not known */
	/* As those of `show --json`: all tasks. Unfinished are those that run, and those whose build
	 * tool ended before them. */
	uint64_t n_queued, n_done, n_failed, n_killed, n_unfinished, n_hosting;
	uint64_t n_running;	/* without tasks that host a build tool */
	uint64_t n_events;	/* lines of tasks.log so far: the T of a stream's ids */
	size_t n_tasks;		/* that run, by start; with those that host a build tool */
	uint32_t *task;		/* in rec */
	size_t n_failures;	/* the newest first */
	uint32_t failure[NOW_FAILED_MAX];
	/* of the last line of tasks.log, NULL: no task's state changed; until the next one */
	const struct task *changed;
	const struct recording *rec;	/* these tasks and all instances; see follow.h */
	size_t n_samples, first_sample;	/* a ring: the oldest is sample[first_sample] */
	struct now_sample sample[NOW_HISTORY];
	struct now_private *private;
};

int now_new(struct now **n);
void now_free(struct now *n);

/* For growing_open(), with a struct now as the context. */
extern const struct growing_to now_growing;

/* After each growing_read(): the samples of several files become those of n, and tasks whose first
 * lines were lost are left out of its numbers. sampled (may be NULL) gets each sample, by time. */
void now_settle(struct now *n, void (*sampled)(void *context, const struct now_sample *s),
		void *context);

/* Replace a text of n by a copy. 0 or -ENOMEM, then it stays. */
int now_set_text(char **to, const char *text);

/* INSTANCE.NUMBER, as in tasks.log. */
#define NOW_ID_MAX 40
void now_id(char id[NOW_ID_MAX], const struct now *n, const struct task *t);

/* The newest sample, NULL: none. */
const struct now_sample *now_newest(const struct now *n);

/* Is the build suspended? */
bool now_is_suspended(const struct now *n);

/* The moment of CLOCK_MONOTONIC as a time of this recording, which does not grow while the build is
 * suspended; its end if it has ended. */
int64_t now_elapsed_us(const struct now *n, int64_t mono_ns);

/* As members of the open object; keys as in buildbeat-api(7). */
struct tool_count;
void now_json(struct json *j, const struct now *n, const struct tool_count *p, int64_t mono_ns);

/* How far the build is, as its build tool counts. path: of the recording. */
void now_tool_count(struct tool_count *p, const struct now *n, const char *path);

/* Also as members. */
void now_sample_json(struct json *j, const struct now_sample *s);

#endif
