/* SPDX-License-Identifier: MIT */
#include "convert/formats.h"
#include "convert/trace.h"

#include <errno.h>
#include <string.h>

#define TOOL "trace"		/* for a process without a name */

static int add_part(void *context, const struct json_value *value, unsigned line)
{
	(void)line;
	return value->name ? 0 : trace_add(context, value, NULL);
}

/* A top-level event of a thread is a task; the events inside it are its spans. */

static uint32_t add_task(struct trace *t, struct builder *b, const struct trace_piece *p)
{
	const struct trace_track *track = &t->track[p->track];
	uint32_t instance = trace_instance(t, b, p->track, TOOL, NULL);
	struct builder_task task;
	uint32_t at;

	builder_task_init(&task);
	task.name = p->name;
	task.kind = p->category;
	task.key = track->name;
	task.start_us = p->begin_us;
	task.end_us = p->end_us;
	task.slot = track->slot;
	task.state = p->end_us < 0 ? TASK_UNFINISHED : TASK_DONE;
	at = builder_task(b, instance, &task);
	if (p->note)
		builder_note(b, instance, at, p->begin_us, p->note);
	return at;
}

static void add_tasks(struct trace *t, struct builder *b)
{
	uint32_t task = NO_INDEX;

	for (size_t i = 0; i < t->n_pieces; i++) {
		const struct trace_piece *p = &t->piece[i];

		if (p->depth)
			builder_span(b, t->process[t->track[p->track].process].instance, task,
				     p->begin_us, trace_end_us(t, p), p->name);
		else
			task = add_task(t, b, p);
	}
}

/* The process of the first event that has a duration. */
static const char *tool_of(const struct trace *t)
{
	const struct trace_piece *first = t->piece;
	const char *name;

	for (size_t i = 1; i < t->n_pieces; i++) {
		if (t->piece[i].begin_us < first->begin_us)
			first = &t->piece[i];
	}
	name = t->process[t->track[first->track].process].name;
	return name ? name : TOOL;
}

static int read_trace(struct recording *rec, struct trace *t, const char *path, struct error *err)
{
	struct json_parts parts = { "traceEvents", add_part, t };
	enum json_end end;
	unsigned line;
	struct builder b;
	int r = trace_init(t);

	if (!r)
		r = json_read_parts(path, &parts, &end, &line, err);
	if (!r)
		r = trace_finish(t);
	if (r)
		return r;
	if (!t->n_pieces)
		return error_set(err, -EINVAL, path, line, 0, "no event with a duration in it");
	builder_init(&b, rec, path);
	builder_build(&b, "tool", tool_of(t));
	add_tasks(t, &b);
	trace_warn(t, &b, path, end == JSON_CUT, line);
	return builder_finish(&b);
}

int chrome_read(struct recording *rec, const char *path, struct error *err)
{
	struct trace t;
	int r = read_trace(rec, &t, path, err);

	trace_release(&t);
	return trace_error(r, path, err);
}
