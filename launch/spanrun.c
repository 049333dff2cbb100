/* SPDX-License-Identifier: MIT */
#include "launch/spanrun.h"

#include "command/shell.h"
#include "launch/taskrun.h"

#define NUMBER 1		/* of the only span of an instance */

static void add_begin(struct buf *b, const struct store *store, const char *name)
{
	const struct event_span e = {
		.number = NUMBER, .name = name, .parent = -1, .thread = store->pid,
	};

	event_add_span(b, store_now_us(store), store->inst, 0, &e);
}

int spanrun(struct store *store, const char *name, struct launch *l)
{
	char traceparent[IDENTITY_TRACEPARENT_SIZE];
	struct buf line = BUF_INIT, command = BUF_INIT;
	int r;

	shell_quote_words(&command, l->argv);
	taskrun_add_open(&line, store, EVENT_SPAN_TOOL, buf_str(&command));
	add_begin(&line, store, name);
	store_append(store, &line);
	taskrun_set_traceparent(l, traceparent, store, 0, NUMBER);
	r = launch_run(l);
	l->traceparent = NULL;
	event_add_span_end(&line, store_now_us(store), store->inst, 0, NUMBER);
	event_add_close(&line, store_now_us(store), store->inst, 0, NULL);
	store_append(store, &line);
	buf_release(&line);
	buf_release(&command);
	return r;
}

void spanrun_begin(struct store *store, const char *name)
{
	struct buf line = BUF_INIT;

	taskrun_add_open(&line, store, EVENT_SPAN_BEGIN_TOOL, "");
	add_begin(&line, store, name);
	store_append(store, &line);
	buf_release(&line);
}

void spanrun_end(struct store *store, const char *handle, const char *name)
{
	struct buf line = BUF_INIT;

	if (handle) {
		event_add_span_end(&line, store_now_us(store), handle, 0, NUMBER);
	} else {
		taskrun_add_open(&line, store, EVENT_SPAN_END_TOOL, "");
		event_add_span_end_named(&line, store_now_us(store), store->inst, name);
	}
	store_append(store, &line);
	buf_release(&line);
}
