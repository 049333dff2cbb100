/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "convert/converters.h"
#include "convert/trace.h"

#include "base/minmax.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PART 16384		/* tasks and spans in memory at a time */
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
	task.name = trace_said(t, p->name);
	task.kind = trace_said(t, p->category);
	if (!*task.name)
		task.name = task.kind;
	task.key = trace_said(t, track->name);
	task.start_us = p->begin_us;
	task.end_us = p->end_us;
	task.slot = track->slot;
	task.state = p->end_us < 0 ? TASK_UNFINISHED : TASK_DONE;
	at = builder_task(b, instance, &task);
	if (p->note)
		builder_note(b, instance, at, p->begin_us, trace_said(t, p->note));
	return at;
}

static bool is_of(const struct trace *t, const struct trace_piece *p, const char *category)
{
	return p->category && !strcmp(trace_said(t, p->category), category);
}

static bool is_ours(const struct trace *t)
{
	for (size_t i = 0; i < t->n_pieces; i++) {
		if (is_of(t, &t->piece[i], TRACE_INSTANCE))
			return true;
	}
	return false;
}

/* In a trace of ours, not every top-level event is a task, and a task without a duration may seem
 * to be inside the one before it. */
static void add_ours(struct trace *t, struct builder *b)
{
	uint32_t task = NO_INDEX;

	for (size_t i = 0; i < t->n_pieces; i++) {
		const struct trace_piece *p = &t->piece[i];

		if (!p->depth)
			task = NO_INDEX;
		if (is_of(t, p, TRACE_PATH) || is_of(t, p, TRACE_INSTANCE))
			continue;
		if (is_of(t, p, TRACE_SPAN))
			builder_span(b, trace_instance(t, b, p->track, TOOL, NULL), task,
				     p->begin_us, trace_end_us(t, p), trace_said(t, p->name));
		else
			task = add_task(t, b, p);
	}
}

/*
 * In other traces, a top-level event and those inside it are a group. The groups of a track
 * follow each other: merged over all tracks, they come by their start.
 */
struct groups {
	struct trace *trace;
	size_t *next, *end;	/* of each track: the pieces that are left */
	uint32_t *heap;		/* tracks with pieces left, that of the earliest at 0 */
	uint32_t n;
	struct builder b;
};

static bool is_before(const struct groups *g, uint32_t a, uint32_t b)
{
	int64_t a_us = g->trace->piece[g->next[a]].begin_us;
	int64_t b_us = g->trace->piece[g->next[b]].begin_us;

	return a_us != b_us ? a_us < b_us : a < b;
}

static void sink(struct groups *g, uint32_t at)
{
	uint32_t track = g->heap[at];

	for (uint32_t child; (child = 2 * at + 1) < g->n; at = child) {
		if (child + 1 < g->n && is_before(g, g->heap[child + 1], g->heap[child]))
			child++;
		if (!is_before(g, g->heap[child], track))
			break;
		g->heap[at] = g->heap[child];
	}
	g->heap[at] = track;
}

static int find_groups(struct groups *g)
{
	struct trace *t = g->trace;

	g->next = calloc(t->n_tracks, sizeof *g->next);
	g->end = calloc(t->n_tracks, sizeof *g->end);
	g->heap = calloc(t->n_tracks, sizeof *g->heap);
	if (!g->next || !g->end || !g->heap)
		return -ENOMEM;
	for (size_t i = 0; i < t->n_pieces; i++) {
		uint32_t track = t->piece[i].track;

		if (!i || track != t->piece[i - 1].track) {
			g->next[track] = i;
			g->heap[g->n++] = track;
		}
		g->end[track] = i + 1;
	}
	for (uint32_t i = g->n / 2; i-- > 0;)
		sink(g, i);
	return 0;
}

/* Add the earliest group that is left: a task and its spans. */
static void add_group(struct groups *g)
{
	struct trace *t = g->trace;
	uint32_t track = g->heap[0];
	uint32_t instance = trace_instance(t, &g->b, track, TOOL, NULL);
	uint32_t task = add_task(t, &g->b, &t->piece[g->next[track]++]);

	for (; g->next[track] < g->end[track] && t->piece[g->next[track]].depth; g->next[track]++) {
		const struct trace_piece *p = &t->piece[g->next[track]];

		builder_span(&g->b, instance, task, p->begin_us, trace_end_us(t, p),
			     trace_said(t, p->name));
	}
	if (g->next[track] == g->end[track])
		g->heap[0] = g->heap[--g->n];
	if (g->n)
		sink(g, 0);
}

static void release_groups(struct groups *g)
{
	free_all(g->next, g->end, g->heap);
}

/* The instances, with the times of their pieces. */
static void add_instances(struct trace *t, struct builder *b)
{
	struct recording *rec = b->rec;

	for (size_t i = 0; i < t->n_pieces; i++) {
		const struct trace_piece *p = &t->piece[i];
		uint32_t at = trace_instance(t, b, p->track, TOOL, NULL);
		struct instance *in = at == NO_INDEX ? NULL : &rec->instance[at];
		int64_t end_us = p->depth ? trace_end_us(t, p) : p->end_us;

		if (!in)
			return;
		in->open_us = MIN(p->begin_us, in->open_us);
		end_us = MAX(p->begin_us, end_us);
		in->close_us = MAX(end_us, in->close_us);
		rec->last_us = MAX(in->close_us, rec->last_us);
	}
}

static int next_part(void *context)
{
	struct groups *g = context;
	struct recording *rec = g->b.rec;

	builder_next_part(&g->b);
	while (g->n && !g->b.error && rec->n_tasks + rec->n_spans < PART)
		add_group(g);
	return g->b.error ? g->b.error : rec->n_tasks > 0;
}

/* The process of the first event that has a duration. */
static const char *tool_of(const struct trace *t)
{
	const struct trace_piece *first = NULL;
	uint32_t name;

	for (size_t i = 0; i < t->n_pieces; i++) {
		const struct trace_piece *p = &t->piece[i];

		if (!is_of(t, p, TRACE_PATH) && (!first || p->begin_us < first->begin_us))
			first = p;
	}
	name = first ? t->process[t->track[first->track].process].name : 0;
	return name ? trace_said(t, name) : TOOL;
}

/* Read the events; begin the recording. */
static int begin_groups(struct groups *g, struct recording *rec, struct trace *t, const char *path,
			struct error *err)
{
	struct json_parts parts = { "traceEvents", add_part, t };
	enum json_end end;
	unsigned line;
	int r = trace_init(t);

	if (!r)
		r = json_read_parts(path, &parts, &end, &line, err);
	if (!r)
		r = trace_finish(t);
	if (r)
		return r;
	if (!t->n_pieces)
		return error_set(err, -EINVAL, path, line, 0, "no event with a duration in it");
	*g = (struct groups){ .trace = t };
	r = is_ours(t) ? 0 : find_groups(g);
	if (r)
		return r;
	builder_init(&g->b, rec, path);
	builder_build(&g->b, "tool", tool_of(t));
	trace_warn(t, &g->b, path, end == JSON_CUT, line);
	g->b.lent = true;
	return 0;
}

/* The rest of the recording, all in memory. */
static int finish(struct groups *g)
{
	if (is_ours(g->trace))
		add_ours(g->trace, &g->b);
	else
		add_instances(g->trace, &g->b);
	while (g->n && !g->b.error)
		add_group(g);
	trace_give_texts(g->trace, &g->b);
	return builder_finish(&g->b);
}

int chrome_read(struct recording *rec, const char *path, struct error *err)
{
	struct groups g = { 0 };
	struct trace t;
	int r = begin_groups(&g, rec, &t, path, err);

	if (!r)
		r = finish(&g);
	release_groups(&g);
	trace_release(&t);
	return trace_error(r, path, err);
}

/* Write the tasks while they are added. */
static int pass(struct groups *g, converter_taker *take, void *context, struct error *err)
{
	struct recording_parts parts = { next_part, g };
	int r;

	add_instances(g->trace, &g->b);
	r = builder_parts(&g->b);
	if (!r)
		r = take(context, g->b.rec, &parts, err);
	builder_finish(&g->b);
	return r;
}

int chrome_pass(const char *path, converter_taker *take, void *context, struct error *err)
{
	struct recording rec = RECORDING_INIT;
	struct groups g = { 0 };
	struct trace t;
	int r = begin_groups(&g, &rec, &t, path, err);

	if (!r && !is_ours(&t)) {
		r = pass(&g, take, context, err);
	} else if (!r) {
		r = finish(&g);
		if (!r)
			r = take(context, &rec, NULL, err);
		recording_release(&rec);
	}
	release_groups(&g);
	trace_release(&t);
	return trace_error(r, path, err);
}
