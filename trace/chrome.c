/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/json.h"
#include "base/outfile.h"
#include "trace/formats.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOST_PID 0		/* the machine; instances are 1, 2 ... */
#define COMMAND_MAX 1000

/*
 * A recording as a trace for Perfetto and chrome://tracing. An instance is a process. Its tasks,
 * with their spans, are on threads: the worker that the host recorded, otherwise the lowest free
 * thread. A span that does not nest has an id. Samples are counters of a process of their own.
 */

struct writer {
	const struct recording *rec;
	struct json j;
	uint32_t *lane;		/* of each task, from 1; 0: it never started */
	uint32_t *n_lanes;	/* of each instance */
};

/* Lanes */

struct started {
	uint32_t task;
	int64_t start_us;
};

static int by_start(const void *a, const void *b)
{
	const struct started *x = a, *y = b;
	int order = array_order(x->start_us, y->start_us);

	return order ? order : array_order(x->task, y->task);
}

/* When each lane of an instance becomes free. */
struct lanes {
	size_t n;
	int64_t *free_us;
};

static int add_lane(struct lanes *l)
{
	int64_t *added = array_add(&l->free_us, &l->n, sizeof *added);

	if (!added)
		return -ENOMEM;
	*added = INT64_MIN;
	return 0;
}

/* The lane of the task's worker if it is free, otherwise the lowest free lane. */
static int take_lane(struct lanes *l, const struct task *t, int64_t end_us, uint32_t *lane)
{
	size_t at = 0;

	if (t->slot >= 0 && (size_t)t->slot < l->n && l->free_us[t->slot] <= t->start_us)
		at = (size_t)t->slot;
	else
		while (at < l->n && l->free_us[at] > t->start_us)
			at++;
	if (at == l->n && add_lane(l))
		return -ENOMEM;
	l->free_us[at] = end_us;
	*lane = (uint32_t)at + 1;
	return 0;
}

/* Each worker has a lane, unless its number is very large. */
static int begin_lanes(const struct recording *rec, struct lanes *lanes)
{
	for (size_t i = 0; i < rec->n_tasks; i++) {
		const struct task *t = &rec->task[i];
		struct lanes *l = &lanes[t->instance];

		while (t->slot >= 0 && t->slot < 1024 && l->n <= (size_t)t->slot) {
			if (add_lane(l))
				return -ENOMEM;
		}
	}
	return 0;
}

static int place_tasks(struct writer *w, struct lanes *lanes)
{
	const struct recording *rec = w->rec;
	struct started *order = malloc((rec->n_tasks + 1) * sizeof *order);
	int r = order ? begin_lanes(rec, lanes) : -ENOMEM;
	size_t n = 0;

	for (size_t i = 0; i < rec->n_tasks && order; i++) {
		if (rec->task[i].start_us >= 0)
			order[n++] = (struct started){ (uint32_t)i, rec->task[i].start_us };
	}
	if (!r && n)
		qsort(order, n, sizeof *order, by_start);
	for (size_t i = 0; i < n && !r; i++) {
		const struct task *t = &rec->task[order[i].task];

		r = take_lane(&lanes[t->instance], t, recording_task_end_us(rec, t),
				  &w->lane[order[i].task]);
	}
	free(order);
	return r;
}

static int find_lanes(struct writer *w)
{
	const struct recording *rec = w->rec;
	struct lanes *lanes = calloc(rec->n_instances + 1, sizeof *lanes);
	int r;

	w->lane = calloc(rec->n_tasks + 1, sizeof *w->lane);
	w->n_lanes = calloc(rec->n_instances + 1, sizeof *w->n_lanes);
	r = lanes && w->lane && w->n_lanes ? place_tasks(w, lanes) : -ENOMEM;
	for (size_t i = 0; lanes && i < rec->n_instances; i++) {
		if (w->n_lanes)
			w->n_lanes[i] = (uint32_t)lanes[i].n;
		free(lanes[i].free_us);
	}
	free(lanes);
	return r;
}

/* Events */

static void begin_event(struct writer *w, const char *name, const char *phase, uint32_t pid,
			uint32_t tid)
{
	json_object(&w->j, NULL);
	json_str(&w->j, "name", name);
	json_str(&w->j, "ph", phase);
	json_int(&w->j, "pid", pid);
	json_int(&w->j, "tid", tid);
}

static void add_name(struct writer *w, const char *what, uint32_t pid, uint32_t tid,
		     const char *name)
{
	begin_event(w, what, "M", pid, tid);
	json_object(&w->j, "args");
	json_str(&w->j, "name", name);
	json_object_end(&w->j);
	json_object_end(&w->j);
}

static void add_stretch(struct writer *w, int64_t begin_us, int64_t end_us)
{
	json_int(&w->j, "ts", begin_us);
	json_int(&w->j, "dur", end_us > begin_us ? end_us - begin_us : 0);
}

static void add_names(struct writer *w)
{
	const struct recording *rec = w->rec;
	char text[32];

	add_name(w, "process_name", HOST_PID, 0, "machine");
	for (uint32_t i = 0; i < rec->n_instances; i++) {
		const struct instance *in = &rec->instance[i];

		add_name(w, "process_name", i + 1, 0, *in->tool ? in->tool : "build");
		if (*in->cwd) {
			begin_event(w, "process_labels", "M", i + 1, 0);
			json_object(&w->j, "args");
			json_str(&w->j, "labels", in->cwd);
			json_object_end(&w->j);
			json_object_end(&w->j);
		}
		add_name(w, "thread_name", i + 1, 0, "build");
		for (uint32_t k = 1; k <= w->n_lanes[i]; k++) {
			snprintf(text, sizeof text, "worker %u", k);
			add_name(w, "thread_name", i + 1, k, text);
		}
	}
}

static void add_known(struct json *j, const char *name, int64_t n)
{
	if (n >= 0)
		json_int(j, name, n);
}

static void add_args(struct writer *w, const struct task *t)
{
	static const char *const states[] = {
		[TASK_QUEUED] = "queued", [TASK_UNFINISHED] = "running", [TASK_DONE] = "done",
		[TASK_FAILED] = "failed", [TASK_KILLED] = "killed",
	};
	const char *command = recording_command(w->rec, t);
	struct json *j = &w->j;

	json_object(j, "args");
	if (*t->key)
		json_str(j, "key", t->key);
	json_str(j, "state", states[t->state]);
	if (t->state == TASK_FAILED || t->state == TASK_KILLED)
		add_known(j, "status", t->status);
	add_known(j, "user_us", t->user_us);
	add_known(j, "system_us", t->system_us);
	add_known(j, "max_rss_kb", t->max_rss_kb);
	add_known(j, "max_rss_at_most_kb", t->max_rss_at_most_kb);
	if (t->peak_kb)
		json_int(j, "peak_kb", t->peak_kb);
	add_known(j, "pid", t->pid);
	if (*command)
		json_strn(j, "command", command, strnlen(command, COMMAND_MAX));
	json_object_end(j);
}

static void add_tasks(struct writer *w)
{
	const struct recording *rec = w->rec;

	for (size_t i = 0; i < rec->n_tasks; i++) {
		const struct task *t = &rec->task[i];

		if (!w->lane[i])
			continue;
		begin_event(w, *t->name ? t->name : t->kind, "X", t->instance + 1, w->lane[i]);
		json_str(&w->j, "cat", t->kind);
		add_stretch(w, t->start_us, recording_task_end_us(rec, t));
		add_args(w, t);
		json_object_end(&w->j);
	}
}

/* Spans by their owner, the outer spans first. */

struct placed {
	uint32_t instance, task;
	uint32_t span;
	int64_t begin_us, end_us;
};

static int by_place(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;
	int order = array_order(x->instance, y->instance);

	order = order ? order : array_order(x->task, y->task);
	order = order ? order : array_order(x->begin_us, y->begin_us);
	order = order ? order : array_order(y->end_us, x->end_us);
	return order ? order : array_order(x->span, y->span);
}

/* A span without an end ends with its task. */
static size_t place_spans(const struct writer *w, struct placed *out)
{
	const struct recording *rec = w->rec;
	size_t n = 0;

	for (size_t i = 0; i < rec->n_spans; i++) {
		const struct span *s = &rec->span[i];
		const struct task *t = s->task < rec->n_tasks ? &rec->task[s->task] : NULL;
		int64_t end_us = s->end_us;

		if (s->begin_us < 0 || (t && !w->lane[s->task]))
			continue;
		if (end_us < 0)
			end_us = t ? recording_task_end_us(rec, t) : rec->last_us;
		if (end_us < s->begin_us)
			end_us = s->begin_us;
		out[n++] = (struct placed){ s->instance, s->task, (uint32_t)i, s->begin_us,
					    end_us };
	}
	if (n)
		qsort(out, n, sizeof *out, by_place);
	return n;
}

/* A span that does not nest, as of parallel processes: a begin and an end event with an id. */
static void add_beside(struct writer *w, const struct placed *p, uint32_t tid)
{
	for (int end = 0; end < 2; end++) {
		begin_event(w, w->rec->span[p->span].name, end ? "e" : "b", p->instance + 1, tid);
		json_str(&w->j, "cat", "span");
		json_int(&w->j, "id", p->span);
		json_int(&w->j, "ts", end ? p->end_us : p->begin_us);
		json_object_end(&w->j);
	}
}

static void add_span(struct writer *w, const struct placed *p, bool nests)
{
	uint32_t tid = p->task < w->rec->n_tasks ? w->lane[p->task] : 0;

	if (!nests) {
		add_beside(w, p, tid);
		return;
	}
	begin_event(w, w->rec->span[p->span].name, "X", p->instance + 1, tid);
	add_stretch(w, p->begin_us, p->end_us);
	json_object_end(&w->j);
}

/* end: room for the ends of all open spans. */
static void add_placed(struct writer *w, const struct placed *p, size_t n, int64_t *end)
{
	const struct recording *rec = w->rec;
	size_t depth = 0;

	for (size_t i = 0; i < n; i++) {
		bool nests;

		if (!i || p[i].task != p[i - 1].task || p[i].instance != p[i - 1].instance) {
			end[0] = p[i].task < rec->n_tasks ?
				 recording_task_end_us(rec, &rec->task[p[i].task]) : INT64_MAX;
			depth = 1;
		}
		while (depth > 1 && end[depth - 1] <= p[i].begin_us)
			depth--;
		nests = p[i].end_us <= end[depth - 1];
		add_span(w, &p[i], nests);
		if (nests)
			end[depth++] = p[i].end_us;
	}
}

static void add_spans(struct writer *w)
{
	struct placed *place = malloc((w->rec->n_spans + 1) * sizeof *place);
	int64_t *end = malloc((w->rec->n_spans + 2) * sizeof *end);

	if (place && end)
		add_placed(w, place, place_spans(w, place), end);
	else
		w->j.out->error = -ENOMEM;
	free(place);
	free(end);
}

static void add_notes(struct writer *w)
{
	const struct recording *rec = w->rec;

	for (size_t i = 0; i < rec->n_notes; i++) {
		const struct note *n = &rec->note[i];

		begin_event(w, n->text, "i", n->instance + 1,
			    n->task < rec->n_tasks ? w->lane[n->task] : 0);
		json_int(&w->j, "ts", n->time_us > 0 ? n->time_us : 0);
		json_str(&w->j, "s", "t");
		json_object_end(&w->j);
	}
}

/* Counters */

/* The value of a gauge, or the rate of a counter per second. False: not known. */
static bool value_at(const struct series *s, size_t sample, size_t column, double *value)
{
	int64_t level = s->level[sample * s->n_columns + column], before;
	int64_t ms;

	if (level == SERIES_ABSENT)
		return false;
	*value = (double)level;
	if (!s->column[column].counter)
		return true;
	if (!sample || s->gap[sample])
		return false;
	before = s->level[(sample - 1) * s->n_columns + column];
	ms = s->time_ms[sample] - s->time_ms[sample - 1];
	*value = ((double)level - (double)before) * 1000 / (double)ms;
	return before != SERIES_ABSENT && ms > 0;
}

/* Viewers draw a value until the next one: therefore a rate has the time at which it begins. */
static void add_sample(struct writer *w, const struct series *s, const char *name, size_t column,
		       size_t sample)
{
	bool rate = s->column[column].counter;
	double value;

	if (!value_at(s, sample, column, &value))
		return;
	begin_event(w, name, "C", HOST_PID, 0);
	json_int(&w->j, "ts", s->time_ms[rate ? sample - 1 : sample] * 1000);
	json_object(&w->j, "args");
	json_real(&w->j, s->column[column].unit, value, rate ? 3 : 0);
	json_object_end(&w->j);
	json_object_end(&w->j);
}

static void add_series(struct writer *w, const struct series *s)
{
	struct buf name = BUF_PART_OF(w->j.out);

	for (size_t column = 0; column < s->n_columns; column++) {
		buf_clear(&name);
		buf_addf(&name, "%s %s%s", s->name, s->column[column].name,
			 s->column[column].counter ? " a second" : "");
		for (size_t i = 0; i < s->n; i++)
			add_sample(w, s, buf_str(&name), column, i);
	}
	buf_release(&name);
}

static void add_memory(struct writer *w)
{
	const struct recording *rec = w->rec;
	uint32_t *kb = calloc(rec->n_tasks + 1, sizeof *kb);
	int64_t sum_kb = 0;

	for (size_t i = 0; kb && i < rec->n_memory; i++) {
		const struct memory_change *m = &rec->memory[i];

		sum_kb += (int64_t)m->kb - kb[m->task];
		kb[m->task] = m->kb;
		if (i + 1 < rec->n_memory && m[1].time_ms == m->time_ms)
			continue;
		begin_event(w, "memory of the tasks", "C", HOST_PID, 0);
		json_int(&w->j, "ts", m->time_ms * 1000);
		json_object(&w->j, "args");
		json_int(&w->j, "kb", sum_kb);
		json_object_end(&w->j);
		json_object_end(&w->j);
	}
	if (!kb)
		w->j.out->error = -ENOMEM;
	free(kb);
}

/* otherData comes first: a trace that begins with its events could be one of clang. */
static void add_document(struct writer *w)
{
	const struct recording *rec = w->rec;

	json_object(&w->j, NULL);
	json_str(&w->j, "displayTimeUnit", "ms");
	json_object(&w->j, "otherData");
	for (size_t i = 0; i < rec->n_build; i++)
		json_str(&w->j, rec->build[i].key, rec->build[i].value);
	json_object_end(&w->j);
	json_array(&w->j, "traceEvents");
	add_names(w);
	add_tasks(w);
	add_spans(w);
	add_notes(w);
	for (size_t i = 0; i < rec->n_series; i++)
		add_series(w, &rec->series[i]);
	add_memory(w);
	json_array_end(&w->j);
	json_object_end(&w->j);
}

int chrome_write(const struct recording *rec, const char *path, struct error *err)
{
	struct buf out = BUF_INIT;
	struct writer w = { .rec = rec };
	int r = find_lanes(&w);

	json_init(&w.j, &out, true);
	if (!r)
		add_document(&w);
	if (!r)
		r = buf_error(&out);
	if (!r)
		r = recording_command_error(rec);
	r = r ? error_sys(err, r, path, "cannot write") : outfile_replace(path, &out, err);
	buf_release(&out);
	free(w.lane);
	free(w.n_lanes);
	return r;
}
