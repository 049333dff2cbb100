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

static bool is_of(const struct trace_piece *p, const char *category)
{
	return p->category && !strcmp(p->category, category);
}

static bool is_ours(const struct trace *t)
{
	for (size_t i = 0; i < t->n_pieces; i++) {
		if (is_of(&t->piece[i], TRACE_INSTANCE))
			return true;
	}
	return false;
}

/* In a trace of ours, not every top-level event is a task, and a task without a duration may seem
 * to be inside the one before it. */
static void add_tasks(struct trace *t, struct builder *b)
{
	bool ours = is_ours(t), span;
	uint32_t task = NO_INDEX;

	for (size_t i = 0; i < t->n_pieces; i++) {
		const struct trace_piece *p = &t->piece[i];

		if (!p->depth)
			task = NO_INDEX;
		if (ours && (is_of(p, TRACE_PATH) || is_of(p, TRACE_INSTANCE)))
			continue;
		span = ours ? is_of(p, TRACE_SPAN) : p->depth;
		if (span)
			builder_span(b, trace_instance(t, b, p->track, TOOL, NULL), task,
				     p->begin_us, trace_end_us(t, p), p->name);
		else
			task = add_task(t, b, p);
	}
}

/* The process of the first event that has a duration. */
static const char *tool_of(const struct trace *t)
{
	const struct trace_piece *first = NULL;
	const char *name;

	for (size_t i = 0; i < t->n_pieces; i++) {
		const struct trace_piece *p = &t->piece[i];

		if (!is_of(p, TRACE_PATH) && (!first || p->begin_us < first->begin_us))
			first = p;
	}
	name = first ? t->process[t->track[first->track].process].name : NULL;
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
