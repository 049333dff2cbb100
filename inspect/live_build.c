/* SPDX-License-Identifier: MIT */
#include "inspect/live_build.h"

#include "base/array.h"
#include "base/cursor.h"
#include "recording/alive.h"
#include "recording/follow.h"
#include "recording/growing.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH_MAX 256

struct live_build {
	struct growing *growing;
	int64_t start_ns;	/* CLOCK_MONOTONIC, 0: not known yet */
	int32_t launcher;
	struct follow follow;
	struct recording rec;	/* of follow */
	size_t n_tasks;
	struct build_task *task;	/* of each of rec.task, when it was asked for */
};

/* Events */

static int take_key(void *context, struct slice key, struct slice value)
{
	struct live_build *b = context;
	int64_t n;

	if (slice_is(key, "start_mono_ns") && cursor_slice_i64(value, &n))
		b->start_ns = n;
	else if (slice_is(key, "sampler_pid") && cursor_slice_i64(value, &n) && n > 0 &&
		 n <= INT32_MAX)
		b->launcher = (int32_t)n;
	return 0;
}

static int take_event(void *context, struct event *e)
{
	return follow_line(&((struct live_build *)context)->follow, e);
}

static int take_change(void *context, uint32_t task, enum follow_change what, struct slice command)
{
	struct live_build *b = context;
	const struct task *t = &b->rec.task[task];

	(void)command;
	if (what == FOLLOW_NEW && task == b->n_tasks)
		return array_add(&b->task, &b->n_tasks, sizeof *b->task) ? 0 : -ENOMEM;
	if ((what == FOLLOW_STARTED || what == FOLLOW_ENDED) && t->start_us >= 0 && t->end_us >= 0)
		follow_forget(&b->follow, task);
	return 0;
}

static const struct follow_to to_build = { .changed = take_change };

int live_build_open(struct live_build **out, const char *path, struct error *err)
{
	static const struct growing_to to = { .as_recorded = true, .build = take_key, .event = take_event };
	struct live_build *b = calloc(1, sizeof *b);
	int r;

	*out = NULL;
	if (!b)
		return error_sys(err, -ENOMEM, NULL, NULL);
	r = follow_growing(&b->follow, &b->rec, &to_build, b);
	r = r ? error_sys(err, r, NULL, NULL) : growing_open(&b->growing, path, NULL, &to, b, err);
	if (r)
		live_build_close(b);
	else
		*out = b;
	return r;
}

void live_build_close(struct live_build *b)
{
	if (!b)
		return;
	growing_close(b->growing);
	follow_release(&b->follow);
	free(b->task);
	free(b);
}

int live_build_read(struct live_build *b, struct error *err)
{
	int r = growing_read(b->growing, err);

	/* that it has ended is known when nothing more came */
	return r > 0 ? growing_read(b->growing, err) : r;
}

const char *live_build_tool(const struct live_build *b)
{
	for (size_t i = 0; i < b->rec.n_instances; i++) {
		if (*b->rec.instance[i].tool)
			return b->rec.instance[i].tool;
	}
	return "";
}

int32_t live_build_launcher(const struct live_build *b)
{
	return b->launcher;
}

/* Processes */

/* Not another process that got the number of one that was killed. */
static bool is_ours(const struct live_build *b, int32_t pid, int64_t time_us)
{
	return alive_since(pid, b->start_ns + time_us * 1000);
}

static bool exe_of(const struct process_list *l, int32_t pid, struct stat *st)
{
	char path[32];

	snprintf(path, sizeof path, "%d/exe", (int)pid);
	return !fstatat(l->proc_fd, path, st, 0);
}

/* The program is one of ours that the launcher executes: buildbeat-serve, buildbeat-send. */
static bool has_our_name(const struct process_list *l, int32_t pid)
{
	char path[32], target[PATH_MAX];
	ssize_t n;

	snprintf(path, sizeof path, "%d/exe", (int)pid);
	n = readlinkat(l->proc_fd, path, target, sizeof target);
	return n > 0 && slice_starts(slice_base((struct slice){ target, (size_t)n }), "buildbeat-");
}

/* The launcher's own children run its program, whatever their names are, or another one of ours. If the
 * command of the build is the launcher's program too, it is a build tool. One that has ended has no program. */
static bool is_helper(const struct process_list *l, const struct listed *p, int32_t launcher)
{
	struct stat ours, its;

	return p->state == 'Z' || has_our_name(l, p->pid) || (exe_of(l, launcher, &ours) && exe_of(l, p->pid, &its) &&
					   ours.st_dev == its.st_dev && ours.st_ino == its.st_ino);
}

/* Children come after their parents, unless numbers have wrapped: hence until nothing changes. */
static void select_descendants(struct process_list *l, int32_t launcher)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (size_t i = 0; i < l->n; i++) {
			struct listed *p = &l->process[i];
			const struct listed *parent = process_list_find(l, p->parent);

			if (p->selected || !parent || (!parent->selected &&
			    (parent->pid != launcher || is_helper(l, p, launcher))))
				continue;
			p->selected = changed = true;
		}
	}
}

/* Has it started, and did no host end it? Also if its host has closed. */
static bool is_running(const struct live_build *b, uint32_t task)
{
	const struct task *t = &b->rec.task[task];

	return follow_is_used(&b->follow, task) && t->start_us >= 0 && t->end_us < 0;
}

static void select_process(const struct live_build *b, struct process_list *l, int32_t pid,
			   int64_t time_us)
{
	struct listed *p = process_list_find(l, pid);

	if (p && is_ours(b, pid, time_us))
		p->selected = true;
}

void live_build_select(const struct live_build *b, struct process_list *l)
{
	int32_t launcher = b->launcher && is_ours(b, b->launcher, 0) ? b->launcher : 0;

	for (size_t i = 0; i < b->rec.n_instances; i++) {
		const struct instance *host = &b->rec.instance[i];

		if (host->close_us < 0)
			select_process(b, l, host->pid, host->open_us);
	}
	for (uint32_t i = 0; i < b->rec.n_tasks; i++) {
		if (is_running(b, i))
			select_process(b, l, b->rec.task[i].pid, b->rec.task[i].start_us);
	}
	select_descendants(l, launcher);
}

static const struct build_task *task_with(const struct live_build *b, int32_t pid)
{
	for (uint32_t i = 0; i < b->rec.n_tasks; i++) {
		const struct task *t = &b->rec.task[i];
		struct build_task *of = &b->task[i];

		if (!is_running(b, i) || t->pid != pid || !is_ours(b, pid, t->start_us))
			continue;
		snprintf(of->id, sizeof of->id, "%s.%llu", b->rec.instance[t->instance].id,
			 (unsigned long long)t->seq);
		of->name = follow_name(t);
		return of;
	}
	return NULL;
}

const struct build_task *live_build_task(const struct live_build *b, const struct process_list *l,
					const struct listed *p)
{
	const struct build_task *t = NULL;

	for (int depth = 0; p && !t && depth < DEPTH_MAX; depth++) {
		t = task_with(b, p->pid);
		p = p->parent ? process_list_find(l, p->parent) : NULL;
	}
	return t;
}
