/* SPDX-License-Identifier: MIT */
#include "inspect/live_build.h"

#include "base/array.h"
#include "base/field.h"
#include "recording/alive.h"
#include "recording/growing.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define TASKS_MAX 4096		/* those that no host ended stay; more are left out */
#define INSTANCES_MAX 1024
#define DEPTH_MAX 256

struct host {
	char id[INSTANCE_ID_MAX];
	int32_t pid;
	int64_t open_us;
};

struct live_build {
	struct growing *growing;
	int64_t start_ns;	/* CLOCK_MONOTONIC, 0: not known yet */
	int32_t launcher;
	char tool[32];
	size_t n_tasks;
	struct build_task *task;
	size_t n_hosts;		/* open instances */
	struct host *host;
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

static int32_t pid_of(int64_t n)
{
	return n > 0 && n <= INT32_MAX ? (int32_t)n : 0;
}

static void set_id(char id[INSTANCE_ID_MAX], struct slice inst)
{
	memcpy(id, inst.p, inst.len);	/* event_parse() has checked its length */
	id[inst.len] = '\0';
}

static int take_open(struct live_build *b, struct event *e)
{
	struct host *h;
	struct slice tool;

	if (b->n_hosts == INSTANCES_MAX)
		return 0;
	h = array_add(&b->host, &b->n_hosts, sizeof *h);
	if (!h)
		return -ENOMEM;
	*h = (struct host){ .pid = pid_of(event_number(e)), .open_us = e->time_us };
	set_id(h->id, e->inst);
	event_number(e);	/* level */
	event_field(e);		/* ancestors */
	tool = event_field(e);
	if (!b->tool[0] && tool.len < sizeof b->tool)
		snprintf(b->tool, sizeof b->tool, "%.*s", (int)tool.len, tool.p);
	return 0;
}

static void take_close(struct live_build *b, const struct event *e)
{
	for (size_t i = 0; i < b->n_hosts; i++) {
		if (slice_is(e->inst, b->host[i].id)) {
			b->host[i] = b->host[--b->n_hosts];
			return;
		}
	}
}

static void id_of(char id[40], const struct event *e)
{
	snprintf(id, 40, "%.*s.%llu", (int)e->inst.len, e->inst.p, (unsigned long long)e->seq);
}

static struct build_task *find_task(struct live_build *b, const struct event *e)
{
	char id[40];

	id_of(id, e);
	for (size_t i = b->n_tasks; i--;) {
		if (!strcmp(b->task[i].id, id))
			return &b->task[i];
	}
	return NULL;
}

static int set_name(struct build_task *t, struct slice escaped)
{
	char *name = strndup(escaped.len ? escaped.p : "", escaped.len);

	if (!name)
		return -ENOMEM;
	name[field_decode(name, escaped.len, NULL)] = '\0';
	free(t->name);
	t->name = name;
	return 0;
}

static int take_start(struct live_build *b, struct event *e)
{
	struct build_task *t = find_task(b, e);

	if (!t && b->n_tasks == TASKS_MAX)
		return 0;
	if (!t) {
		t = array_add(&b->task, &b->n_tasks, sizeof *t);
		if (!t)
			return -ENOMEM;
		*t = (struct build_task){ .pid = 0 };
		id_of(t->id, e);
	}
	t->start_us = e->time_us;
	t->pid = pid_of(event_number(e));
	event_field(e);		/* worker */
	event_field(e);		/* kind */
	return set_name(t, event_field(e));
}

static void take_end(struct live_build *b, const struct event *e)
{
	struct build_task *t = find_task(b, e);

	if (!t)
		return;
	free(t->name);
	*t = b->task[--b->n_tasks];
}

static int take_event(void *context, struct event *e)
{
	struct live_build *b = context;
	struct build_task *t;
	struct slice name;

	switch (e->kind) {
	case EVENT_OPEN:
		return take_open(b, e);
	case EVENT_CLOSE:
		take_close(b, e);
		return 0;
	case EVENT_START:
		return e->seq ? take_start(b, e) : 0;
	case EVENT_PID:
		t = find_task(b, e);
		if (t)
			t->pid = pid_of(event_number(e));
		return 0;
	case EVENT_NAME:
		t = find_task(b, e);
		name = event_field(e);
		return t && name.len ? set_name(t, name) : 0;
	case EVENT_DONE:
	case EVENT_FAIL:
	case EVENT_KILL:
	case EVENT_GONE:
		if (e->seq)
			take_end(b, e);
		return 0;
	default:
		return 0;
	}
}

int live_build_open(struct live_build **out, const char *path, struct error *err)
{
	static const struct growing_to to = { .build = take_key, .event = take_event };
	struct live_build *b = calloc(1, sizeof *b);
	int r;

	*out = NULL;
	if (!b)
		return error_sys(err, -ENOMEM, NULL, NULL);
	r = growing_open(&b->growing, path, NULL, &to, b, err);
	if (r) {
		free(b);
		return r;
	}
	*out = b;
	return 0;
}

void live_build_close(struct live_build *b)
{
	if (!b)
		return;
	growing_close(b->growing);
	for (size_t i = 0; i < b->n_tasks; i++)
		free(b->task[i].name);
	free(b->task);
	free(b->host);
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
	return b->tool;
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

/* The launcher's own children run its program, whatever their names are. If the command of the
 * build is that program too, it is a build tool. */
static bool is_helper(const struct process_list *l, const struct listed *p, int32_t launcher)
{
	struct stat ours, its;

	return exe_of(l, launcher, &ours) && exe_of(l, p->pid, &its) &&
	       ours.st_dev == its.st_dev && ours.st_ino == its.st_ino;
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

void live_build_select(const struct live_build *b, struct process_list *l)
{
	int32_t launcher = b->launcher && is_ours(b, b->launcher, 0) ? b->launcher : 0;

	for (size_t i = 0; i < b->n_hosts; i++) {
		struct listed *p = process_list_find(l, b->host[i].pid);

		if (p && is_ours(b, p->pid, b->host[i].open_us))
			p->selected = true;
	}
	for (size_t i = 0; i < b->n_tasks; i++) {
		struct listed *p = process_list_find(l, b->task[i].pid);

		if (p && is_ours(b, p->pid, b->task[i].start_us))
			p->selected = true;
	}
	select_descendants(l, launcher);
}

static const struct build_task *task_with(const struct live_build *b, int32_t pid)
{
	for (size_t i = 0; i < b->n_tasks; i++) {
		if (b->task[i].pid == pid && is_ours(b, pid, b->task[i].start_us))
			return &b->task[i];
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
