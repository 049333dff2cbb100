/* SPDX-License-Identifier: MIT */
#include "launch/taskrun.h"

#include "command/shell.h"
#include "launch/recorder.h"
#include "sampler/ancestors.h"
#include "sampler/peak.h"

#include <unistd.h>

struct running {
	struct store *store;
	struct event_task task;
	int64_t start_us;
	struct buf line;
};

void taskrun_add_open(struct buf *b, struct store *store, const char *tool, const char *command)
{
	char ancestors[128], cwd[PATH_MAX];
	struct event_open e = {
		.pid = store->outer_pid,
		.level = -1,
		.ancestors = ancestors,
		.tool = tool,
		.version = PACKAGE_VERSION,
		.cwd = getcwd(cwd, sizeof cwd),
		.command = command,
	};

	ancestors_of(store, ancestors, sizeof ancestors);
	event_add_open(b, store_now_us(store), store->inst, &e);
}

static void append_start(void *context, pid_t pid)
{
	struct running *r = context;

	r->task.pid = pid;
	r->task.inner = r->store->inner;
	event_add_start(&r->line, r->start_us, r->store->inst, 1, &r->task);
	store_append(r->store, &r->line);
}

static void append_end(struct running *r, const struct launch *l)
{
	int64_t now_us = store_now_us(r->store);
	struct peak peak = PEAK_INIT;
	struct event_end end;

	event_end_init(&end, l->status);
	event_end_rusage(&end, &l->usage);
	peak_judge(&peak, &end);
	if (l->counted >= 0)
		end.instructions = l->counted;
	event_add_end(&r->line, now_us, r->store->inst, 1, &end);
	event_add_close(&r->line, now_us, r->store->inst, 1, NULL);
	store_append(r->store, &r->line);
}

void taskrun_set_traceparent(struct launch *l, char text[IDENTITY_TRACEPARENT_SIZE],
			     const struct store *store, uint64_t task, uint64_t span)
{
	struct identity id;

	if (!(store->flags & STORE_TRACEPARENT) || !identity_of_path(&id, store->path))
		return;
	identity_traceparent(text, &id, identity_hash(&id, store->inst, task, span));
	l->traceparent = text;
}

int taskrun(struct store *store, const struct event_task *task, struct launch *l)
{
	struct running r = { .store = store, .task = *task, .line = BUF_INIT };
	char traceparent[IDENTITY_TRACEPARENT_SIZE];
	struct buf command = BUF_INIT;
	int result;

	shell_quote_words(&command, l->argv);
	r.task.command = buf_str(&command);
	r.task.slot = -1;
	taskrun_add_open(&r.line, store, "buildbeat task", r.task.command);
	store_append(store, &r.line);
	r.start_us = store_now_us(store);
	taskrun_set_traceparent(l, traceparent, store, 1, 0);
	l->count = counter_event_of(store->flags);
	l->started = append_start;
	l->context = &r;
	result = launch_run(l);
	l->started = NULL;
	l->context = NULL;
	l->traceparent = NULL;
	if (!result)
		append_end(&r, l);
	buf_release(&r.line);
	buf_release(&command);
	return result;
}
