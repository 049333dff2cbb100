/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/minmax.h"
#include "convert/trace.h"
#include "trace/live_state.h"
#include "trace/trace_parts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define NO_SPAN SIZE_MAX

/*
 * The spans that have begun, in the order of their begins. The last one of a track is the innermost
 * one. A span that is not inside that one gets another row.
 */

static uint32_t pid_of(uint32_t owner)
{
	return owner == LIVE_NONE ? SINK_MACHINE : owner + 1;
}

/* Where a span is shown: the task that runs around it, otherwise the build tool. */
static void find_owner(struct live *l, struct live_span *s)
{
	uint32_t task;

	s->owner = s->writer;
	s->owner_seq = s->seq;
	if (l->rec.instance[s->writer].only_spans)
		s->owner = follow_host(&l->follow, s->writer, &s->owner_seq);
	s->tid = s->owner == LIVE_NONE ? SINK_SPANS_TID : 0;
	task = s->owner_seq ? follow_task(&l->follow, s->owner, s->owner_seq) : NO_INDEX;
	if (task != NO_INDEX && live_shows(l, task))
		s->tid = l->task[task].tid;
	else
		s->owner_seq = 0;
}

/* The innermost span of a track. */
static size_t innermost(const struct live *l, uint32_t owner, uint32_t tid)
{
	size_t at = l->n_spans;

	while (at > 0 && (l->span[at - 1].owner != owner || l->span[at - 1].tid != tid))
		at--;
	return at ? at - 1 : NO_SPAN;
}

static bool has_ancestor(const struct instance *i, int32_t pid)
{
	struct cursor c;
	int32_t n;

	cursor_init(&c, i->ancestors, strlen(i->ancestors));
	while (i->only_spans && pid >= 0 && follow_next_pid(&c, &n)) {
		if (n == pid)
			return true;
	}
	return false;
}

/* Does it begin a span which other processes end? */
static bool is_begin(const struct instance *i)
{
	return !strcmp(i->tool, EVENT_SPAN_BEGIN_TOOL);
}

/* parent: -1 if it is unknown. */
static bool is_inside(const struct live *l, const struct live_span *s, int64_t parent,
		      const struct live_span *outer)
{
	const struct instance *around = &l->rec.instance[outer->writer];

	if (s->writer != outer->writer || s->seq != outer->seq)
		return is_begin(around) || has_ancestor(&l->rec.instance[s->writer], around->pid);
	if (parent >= 0)
		return (uint64_t)parent == outer->number;
	return s->thread < 0 || outer->thread < 0 || s->thread == outer->thread;
}

/* May the span be on this row? */
static bool fits_in(const struct live *l, const struct live_span *s, int64_t parent, uint32_t tid)
{
	size_t at = innermost(l, s->owner, tid);

	return at == NO_SPAN || is_inside(l, s, parent, &l->span[at]);
}

/* Rows belong to a thread, so that they are shown below it. */
static int find_row(struct live *l, struct live_span *s, int64_t parent, int64_t us)
{
	struct live_instance *i = s->owner == LIVE_NONE ? NULL : &l->instance[s->owner];
	uint32_t number = 2, worker = 0;
	struct live_row *added;

	if (fits_in(l, s, parent, s->tid))
		return 0;
	for (size_t k = 0; i && k < i->n_rows; k++) {
		struct live_row *row = &i->row[k];

		if (row->thread != s->tid)
			continue;
		number++;
		if (row->newest_us <= us && fits_in(l, s, parent, row->tid)) {
			s->tid = row->tid;
			return 0;
		}
	}
	for (uint32_t k = 0; i && k < i->n_lanes; k++)
		worker = i->lane[k].tid == s->tid ? k + 1 : worker;
	added = i ? array_add(&i->row, &i->n_rows, sizeof *added) : NULL;
	if (!added)
		return i ? -ENOMEM : -EAGAIN;
	*added = (struct live_row){ live_add_track(l, s->owner, worker, number), s->tid, us };
	s->tid = added->tid;
	return 0;
}

/* A span without room is not shown. */
int live_begin_span(void *context, const struct span *span, int64_t parent)
{
	struct live *l = context;
	struct live_span *added, s = { .writer = span->instance, .seq = span->seq,
				       .number = span->number, .begin_us = span->begin_us,
				       .thread = span->thread };
	struct sink_arg arg[2];
	struct sink_slice slice = { .begin_us = span->begin_us, .name = span->name,
				    .category = TRACE_SPAN, .arg = arg };
	int r;

	if (l->n_spans == LIVE_SPANS_MAX)
		return 0;
	snprintf(s.name, sizeof s.name, "%s", span->name);
	find_owner(l, &s);
	r = s.owner == LIVE_NONE ? 0 : live_describe(l, s.owner);
	if (!r)
		r = find_row(l, &s, parent, span->begin_us);
	if (r)
		return r == -EAGAIN ? 0 : r;
	added = array_add(&l->span, &l->n_spans, sizeof *added);
	if (!added)
		return -ENOMEM;
	*added = s;
	arg[slice.n_args++] = trace_arg_id(identity_hash(&l->identity, l->rec.instance[s.writer].id, s.seq,
						      s.number));
	if (*span->place)
		arg[slice.n_args++] = trace_arg_text("place", span->place);
	slice.pid = pid_of(s.owner);
	slice.tid = s.tid;
	l->sink->ops->slice_begin(l->sink, &slice);
	return 0;
}

/* Returns when it ended: not before its begin. */
static int64_t remove_span(struct live *l, size_t at, int64_t us)
{
	struct live_span s = l->span[at];

	us = MAX(us, s.begin_us);
	memmove(&l->span[at], &l->span[at + 1], (--l->n_spans - at) * sizeof s);
	l->sink->ops->slice_end(l->sink, pid_of(s.owner), s.tid, us, NULL, 0);
	for (size_t i = 0; s.owner != LIVE_NONE && i < l->instance[s.owner].n_rows; i++) {
		struct live_row *row = &l->instance[s.owner].row[i];

		if (row->tid == s.tid && row->newest_us < us)
			row->newest_us = us;
	}
	return us;
}

/* What is inside on the same track ends too: it outlived its parent. */
static void end_down_to(struct live *l, size_t at, int64_t us)
{
	struct live_span s = l->span[at];
	size_t inner;

	while ((inner = innermost(l, s.owner, s.tid)) != NO_SPAN && inner > at)
		us = remove_span(l, inner, us);
	remove_span(l, at, us);
}

/* A process of a script ends the newest span of that name among those of its task. */
static bool is_named(const struct live *l, const struct live_span *s, const struct span_end *e)
{
	uint64_t seq;
	uint32_t host = follow_host(&l->follow, e->instance, &seq);

	return is_begin(&l->rec.instance[s->writer]) && s->owner == host &&
	       (s->owner_seq == seq || !s->owner_seq) &&
	       (!*e->name || !strncmp(e->name, s->name, sizeof s->name - 1));
}

int live_end_span(void *context, const struct span_end *e)
{
	struct live *l = context;

	for (size_t at = l->n_spans; at-- > 0;) {
		const struct live_span *s = &l->span[at];

		if (e->name ? is_named(l, s, e) :
		    s->writer == e->instance && s->seq == e->seq && s->number == (uint64_t)e->number) {
			end_down_to(l, at, e->time_us);
			break;
		}
	}
	return 0;
}

int64_t live_end_spans(struct live *l, uint32_t owner, uint64_t seq, int64_t us)
{
	for (size_t at = l->n_spans; at-- > 0;) {
		if (l->span[at].owner == owner && l->span[at].owner_seq == seq)
			us = remove_span(l, at, us);
	}
	return us;
}
