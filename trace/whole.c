/* SPDX-License-Identifier: MIT */
#include "trace/whole.h"

#include "analyse/chain.h"
#include "convert/trace.h"
#include "recording/identity.h"
#include "trace/counters.h"
#include "trace/flows.h"
#include "trace/trace_parts.h"
#include "trace/tracks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ARGS_MAX (PARTS_RESULT_ARGS + 5)
#define BUILD_ARGS_MAX 1000

struct writing {
	struct whole *whole;
	const struct recording *rec;
	struct sink *sink;
	struct summary summary;
	struct chain chain;
	struct tracks tracks;
	struct flows flows;
	struct identity identity;
	struct buf text;
};

/* Arguments */

static size_t task_args(struct sink_arg *arg, const struct recording *rec, const struct task *t,
			const struct cost_cpu *cpu)
{
	const char *command = recording_command(rec, t);
	size_t n = 0;

	if (*t->key)
		arg[n++] = trace_arg_text("key", t->key);
	n = trace_arg_result(arg, n, t, cpu);
	if (t->peak_kb)
		arg[n++] = sink_number("peak_kb", t->peak_kb);
	n = trace_arg_known(arg, n, "pid", t->pid);
	if (*command)
		arg[n++] = trace_arg_text("command", command);
	return n;
}

/* Names of processes and tracks */

static const char *process_name(struct writing *w, const char *name)
{
	buf_clear(&w->text);
	if (w->whole->machine)
		buf_addf(&w->text, "%s ", w->whole->machine);
	buf_adds(&w->text, name);
	return buf_str(&w->text);
}

static void add_track(struct writing *w, const struct tracks_row *t)
{
	char name[PARTS_NAME_MAX];

	trace_track_name(name, t->worker, t->row);
	w->sink->ops->track(w->sink, t->pid, t->tid, t->pid == SINK_MACHINE ? "spans" : name,
			    trace_track_order(t->worker, t->row));
}

static void add_names(struct writing *w)
{
	const struct recording *rec = w->rec;
	const char *host = recording_build(rec, "host");

	w->sink->ops->process(w->sink, SINK_MACHINE, process_name(w, "machine"), host, 0);
	w->sink->ops->track(w->sink, SINK_MACHINE, SINK_PATH_TID, "what the end of the build waited for", 0);
	for (uint32_t i = 0; i < rec->n_instances; i++) {
		const struct instance *in = &rec->instance[i];

		if (!in->only_spans)
			w->sink->ops->process(w->sink, i + 1,
					      process_name(w, *in->tool ? in->tool : "build"),
					      in->cwd, (int)i + 1);
	}
	for (size_t i = 0; i < w->tracks.n_tracks; i++)
		add_track(w, &w->tracks.track[i]);
}

/* The lines of the file `build`: of several with one key, the first. */
static void add_build(struct writing *w)
{
	const struct recording *rec = w->rec;
	struct sink_arg *arg = calloc(rec->n_build + 1, sizeof *arg);
	size_t n = 0;

	if (!arg) {
		w->sink->out.error = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < rec->n_build && n < BUILD_ARGS_MAX; i++) {
		if (!trace_arg_has(arg, n, rec->build[i].key))
			arg[n++] = trace_arg_text(rec->build[i].key, rec->build[i].value);
	}
	w->sink->ops->instant(w->sink, SINK_MACHINE, SINK_PATH_TID, 0, "build", arg, n);
	free(arg);
}

/* Slices */

/* Where arrows begin: at the end, unless a span inside ends with it. Then it would be the span
 * where they begin. */
static int64_t leave_us(const struct writing *w, const struct sink_slice *slice, uint32_t first,
			uint32_t n)
{
	for (uint32_t i = first; i < first + n; i++) {
		const struct tracks_span *p = &w->tracks.span[i];

		if (p->tid == slice->tid && p->end_us >= slice->end_us)
			return slice->begin_us;
	}
	return slice->end_us > slice->begin_us ? slice->end_us - 1 : slice->begin_us;
}

/* at: the number of the slice in flows.h. Its spans are those from `first` on. */
static void add_arrows(struct writing *w, struct sink_slice *slice, size_t at, uint32_t first,
		       uint32_t n)
{
	struct flows *f = &w->flows;
	struct sink_flow *from = f->from + f->first_from[at];
	int64_t us;

	slice->from = from;
	slice->to = f->to + f->first_to[at];
	slice->n_from = f->first_from[at + 1] - f->first_from[at];
	slice->n_to = f->first_to[at + 1] - f->first_to[at];
	if (!slice->n_from)
		return;
	us = leave_us(w, slice, first, n);
	for (size_t i = 0; i < slice->n_from; i++)
		from[i].us = us < from[i].us ? us : from[i].us;
}

static void add_instance(struct writing *w, uint32_t i)
{
	const struct recording *rec = w->rec;
	const struct instance *in = &rec->instance[i];
	const struct trace_run run = {
		.id = identity_instance(&w->identity, rec, i), .pid = in->pid, .level = in->level,
		.version = in->version, .command = in->command,
	};
	struct sink_arg arg[PARTS_RUN_ARGS];
	struct sink_slice slice = {
		.pid = i + 1, .begin_us = tracks_instance_begin_us(rec, i),
		.end_us = tracks_instance_end_us(rec, i), .name = *in->tool ? in->tool : "build",
		.category = TRACE_INSTANCE, .arg = arg, .n_args = trace_run(arg, &run),
	};

	add_arrows(w, &slice, rec->n_tasks + i, 0, w->tracks.first[0]);
	w->sink->ops->slice(w->sink, &slice);
}

static void add_span(struct writing *w, const struct tracks_span *p)
{
	const struct span *span = &w->rec->span[p->span];
	struct sink_arg arg[2] = { trace_arg_id(identity_span(&w->identity, w->rec, p->span)) };
	struct sink_slice slice = {
		.pid = p->pid, .tid = p->tid, .begin_us = p->begin_us, .end_us = p->end_us,
		.name = span->name, .category = TRACE_SPAN, .arg = arg, .n_args = 1,
	};

	if (*span->place)
		arg[slice.n_args++] = trace_arg_text("place", span->place);
	w->sink->ops->slice(w->sink, &slice);
}

static void add_task(struct writing *w, uint32_t at)
{
	const struct recording *rec = w->rec;
	const struct task *t = &rec->task[at];
	uint32_t first = w->tracks.first[at], n = w->tracks.first[at + 1] - first;
	struct sink_arg arg[ARGS_MAX + 1] = { trace_arg_id(identity_task(&w->identity, rec, at)) };
	struct sink_slice slice = {
		.pid = t->instance + 1, .tid = w->tracks.tid[at], .begin_us = t->start_us,
		.end_us = recording_task_end_us(rec, t), .name = *t->name ? t->name : t->kind,
		.category = t->kind, .arg = arg, .n_args = 1 + task_args(arg + 1, rec, t, &w->summary.nest[at].cpu),
	};

	add_arrows(w, &slice, at, first, n);
	w->sink->ops->slice(w->sink, &slice);
	for (uint32_t i = first; i < first + n; i++)
		add_span(w, &w->tracks.span[i]);
}

static int add_slices(struct writing *w)
{
	int r = 0;

	for (uint32_t i = 0; i < w->rec->n_instances; i++) {
		if (!w->rec->instance[i].only_spans)
			add_instance(w, i);
	}
	for (uint32_t i = 0; i < w->tracks.first[0] && !r; i++) {
		add_span(w, &w->tracks.span[i]);
		r = whole_flush(w->whole, w->sink);
	}
	for (size_t i = 0; i < w->summary.n_ran && !r; i++) {
		add_task(w, w->summary.order[i]);
		r = whole_flush(w->whole, w->sink);
	}
	return r ? r : recording_command_error(w->rec);
}

/* The tasks of the path. One may begin a little before the one before it has ended. */
static int add_path(struct writing *w)
{
	const struct recording *rec = w->rec;
	const struct chain *c = &w->chain;
	int r = 0;

	for (size_t i = 0; i < c->n_path && !r; i++) {
		const struct task *t = &rec->task[c->path[i]];
		struct sink_arg arg[] = {
			trace_arg_id(identity_task(&w->identity, rec, c->path[i])),
			trace_arg_text("waited_for", wait_word[c->path_why[i]]),
			trace_arg_text("link", chain_link_word[c->path_link[i]]),
		};
		struct sink_slice slice = {
			.pid = SINK_MACHINE, .tid = SINK_PATH_TID, .begin_us = t->start_us,
			.end_us = recording_task_end_us(rec, t), .arg = arg, .n_args = 3,
			.name = *t->name ? t->name : t->kind, .category = TRACE_PATH,
		};

		if (i + 1 < c->n_path && slice.end_us > rec->task[c->path[i + 1]].start_us)
			slice.end_us = rec->task[c->path[i + 1]].start_us;
		w->sink->ops->slice(w->sink, &slice);
		r = whole_flush(w->whole, w->sink);
	}
	return r;
}

static void add_note(struct writing *w, const struct note *n)
{
	const struct recording *rec = w->rec;
	uint32_t pid = rec->instance[n->instance].only_spans ? SINK_MACHINE : n->instance + 1;
	uint32_t tid = 0;

	if (n->task < rec->n_tasks && w->tracks.tid[n->task] != TRACKS_NONE) {
		pid = rec->task[n->task].instance + 1;
		tid = w->tracks.tid[n->task];
	}
	w->sink->ops->instant(w->sink, pid, tid, n->time_us > 0 ? n->time_us : 0, n->text, NULL, 0);
}

static int add_notes(struct writing *w)
{
	int r = 0;

	for (size_t i = 0; i < w->rec->n_notes && !r; i++) {
		add_note(w, &w->rec->note[i]);
		r = whole_flush(w->whole, w->sink);
	}
	return r;
}

static int prepare(struct writing *w)
{
	int r = summary_make(&w->summary, w->rec);

	if (!r)
		r = chain_make(&w->chain, &w->summary);
	if (!r)
		r = tracks_make(&w->tracks, &w->summary);
	if (!r)
		r = flows_make(&w->flows, &w->summary, &w->chain, w->whole->first_flow);
	identity_of(&w->identity, w->rec);
	w->whole->first_flow += w->flows.n;
	return r;
}

int whole_write(struct sink *s, struct whole *whole)
{
	struct writing w = { .whole = whole, .rec = whole->rec, .sink = s };
	int r = prepare(&w);

	if (!r) {
		add_names(&w);
		add_build(&w);
		r = add_slices(&w);
	}
	if (!r)
		r = add_path(&w);
	if (!r)
		r = add_notes(&w);
	if (!r)
		r = counters_write(s, &w.summary, whole);
	if (!r)
		r = buf_error(&w.text);
	flows_release(&w.flows);
	tracks_release(&w.tracks);
	chain_release(&w.chain);
	summary_release(&w.summary);
	buf_release(&w.text);
	return r;
}
