/* SPDX-License-Identifier: MIT */
/*
 * The reader on any bytes. An input is the files of a recording, each after a
 * line "== NAME".
 */
#include "base/saturate.h"
#include "recording/identity.h"
#include "recording/layout.h"
#include "recording/reader.h"
#include "recording/results.h"
#include "tests/fuzz.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The promises of recording.h, for any input. */

static void check_tasks(const struct recording *rec)
{
	for (size_t i = 0; i < rec->n_tasks; i++) {
		const struct task *t = &rec->task[i];

		check(t->instance < rec->n_instances && t->seq && *t->kind);
		check(t->n_after <= rec->n_after && t->first_after <= rec->n_after - t->n_after);
		check(t->n_out <= rec->n_out && t->first_out <= rec->n_out - t->n_out);
		check(t->n_usage <= rec->n_usage && t->first_usage <= rec->n_usage - t->n_usage);
		check(t->end_us < 0 || t->end_us >= t->start_us);
		check(recording_task_end_us(rec, t) >= t->start_us);
		check(strlen(t->name) + strlen(recording_command(rec, t)) + strlen(t->key) < SIZE_MAX);
		for (size_t k = 0; k < t->n_usage; k++) {
			const struct task_usage *u = &rec->usage[t->first_usage + k];

			check(!k || u->time_ms > u[-1].time_ms);
		}
	}
	for (size_t i = 0; i < rec->n_after; i++)
		check(rec->after[i][0]);
	for (size_t i = 0; i < rec->n_out; i++)
		check(rec->out[i][0]);
}

/* The files of a task are together, and its sum is theirs. */
static void check_results(const struct recording *rec)
{
	for (size_t i = 0; i < rec->n_tasks; i++) {
		const struct task *t = &rec->task[i];
		int64_t bytes = 0;

		check(t->n_files <= rec->n_files && t->first_file <= rec->n_files - t->n_files);
		for (uint32_t k = 0; k < t->n_files; k++) {
			const struct recording_file *f = &rec->file[t->first_file + k];

			check(f->path && f->bytes >= 0);
			bytes = sat_add(bytes, f->bytes);
		}
		check(t->files_bytes == (t->n_files ? bytes : -1));
		check(!t->n_files || rec->has_files);
		check(t->cache < TASK_CACHES && (!t->cache || rec->has_cache));
		check(!t->cache == !*results_cache_word[t->cache]);
	}
}

static void check_instances(const struct recording *rec)
{
	for (size_t i = 0; i < rec->n_instances; i++) {
		const struct instance *inst = &rec->instance[i];

		check(inst->parent_span == NO_INDEX || inst->parent_span < rec->n_spans);
		if (inst->parent_task == NO_INDEX)
			continue;
		check(inst->parent_task < rec->n_tasks);
		check(inst->only_spans || rec->task[inst->parent_task].hosts);
		check(rec->instance[rec->task[inst->parent_task].instance].open_us <= inst->open_us);
	}
	for (size_t i = 0; i < rec->n_notes; i++)
		check(rec->note[i].instance < rec->n_instances && rec->note[i].text);
}

static void check_series(const struct recording *rec)
{
	for (size_t i = 0; i < rec->n_series; i++) {
		const struct series *s = &rec->series[i];

		check(s->interval_ms > 0 && *s->name);
		for (size_t k = 1; k < s->n; k++)
			check(s->time_ms[k] > s->time_ms[k - 1]);
		check(!s->n || (s->time_ms[s->n - 1] * 1000 <= rec->last_us && !s->gap[0]));
	}
}

/* A tree: a span lies within its parent, which began before it. */
static void check_parent(const struct recording *rec, const struct span *s)
{
	const struct span *p;
	size_t depth = 0;

	check(s->parent == NO_INDEX || s->parent < rec->n_spans);
	if (s->parent == NO_INDEX)
		return;
	p = &rec->span[s->parent];
	check(p->task == s->task && p->begin_us <= s->begin_us);
	check(p->end_us < 0 || (s->end_us >= 0 && s->end_us <= p->end_us));
	for (; p->parent != NO_INDEX; p = &rec->span[p->parent])
		check(depth++ < rec->n_spans);
}

static void check_spans(const struct recording *rec)
{
	struct identity id;
	uint64_t n = 0;

	identity_of(&id, rec);
	for (size_t i = 0; i < rec->n_spans; i++) {
		const struct span *s = &rec->span[i];

		check(s->instance < rec->n_instances && s->name && s->place);
		check(s->task == NO_INDEX || (s->task < rec->n_tasks &&
					      rec->task[s->task].instance == s->instance) ||
		      rec->instance[s->instance].only_spans);
		check(s->end_us < 0 || s->end_us >= s->begin_us);
		check_parent(rec, s);
		check(identity_span(&id, rec, (uint32_t)i) && identity_span_parent(&id, rec, (uint32_t)i));
	}
	for (size_t i = 0; i < rec->n_tasks; i++)
		check(!rec->task_span || rec->task_span[i] == NO_INDEX ||
		      rec->task_span[i] < rec->n_spans);
	for (size_t i = 0; i < rec->n_programs; i++)
		n += rec->program[i].n;
	check(n == rec->n_processes);
}

/* The tasks again, as they are read while a recording grows: each is forgotten at its end. */
struct grown {
	struct follow follow;
	struct recording rec;
	size_t n[TASK_KILLED + 1];	/* in each state */
};

static int on_changed(void *context, uint32_t task, enum follow_change what, struct slice command)
{
	struct grown *g = context;
	const struct task *t = &g->rec.task[task];

	check(command.len < SIZE_MAX && follow_is_used(&g->follow, task) && follow_name(t));
	if (what == FOLLOW_NEW)
		g->n[TASK_QUEUED]++;
	if ((what == FOLLOW_STARTED && t->end_us < 0) || what == FOLLOW_ENDED) {
		check(g->n[what == FOLLOW_ENDED && t->start_us >= 0 ? TASK_UNFINISHED : TASK_QUEUED]-- > 0);
		g->n[t->state]++;
	}
	if (t->start_us >= 0 && t->end_us >= 0)
		follow_forget(&g->follow, task);
	return 0;
}

static int on_hosts(void *context, uint32_t task, uint32_t instance)
{
	const struct grown *g = context;

	check(task < g->rec.n_tasks && instance < g->rec.n_instances && g->rec.task[task].hosts);
	return 0;
}

static const struct follow_to to_grown = { .changed = on_changed, .hosts = on_hosts };

static void follow_file(struct grown *g, const uint8_t *p, size_t n)
{
	struct reader_damage damage = { 0 };
	struct slice line, rest;
	struct cursor c;
	struct event e;

	cursor_init(&c, (const char *)p, n);
	if (!reader_line(&c, &line, &damage) || damage.n ||
	    !reader_parse_header(line, LAYOUT_TASKS_PREFIX, &rest))
		return;
	while (reader_line(&c, &line, &damage)) {
		int error = event_parse(line, &e) == EVENT_PARSED ? follow_line(&g->follow, &e) : 0;

		check(!error || error == -EBADMSG);
	}
}

static void check_grown(const struct grown *g, const struct recording *rec)
{
	size_t n[TASK_KILLED + 1] = { 0 };

	for (size_t i = 0; i < rec->n_tasks; i++)
		n[rec->task[i].state]++;
	check(!memcmp(n, g->n, sizeof n) && g->rec.n_instances <= rec->n_instances);
}

static int give(struct reader *r, const char *name, const uint8_t *p, size_t n)
{
	struct buf text = BUF_INIT;
	int error;

	buf_add(&text, p, n);
	error = buf_error(&text) ? buf_error(&text) : reader_file(r, name, &text, -1);
	buf_release(&text);
	return error;
}

/* The files that the reader opens in a directory. */
static bool is_of_recording(const char *name)
{
	size_t n = strlen(name);

	return !strcmp(name, "build") || !strcmp(name, LAYOUT_PROCESSES) || !strcmp(name, LAYOUT_RESULTS) ||
	       (n >= 9 && !strcmp(name + n - 4, ".log") &&
		(!strncmp(name, "tasks", 5) || !strncmp(name, "proc_", 5)));
}

/* These are read when all tasks are known. */
static bool is_later(const char *name)
{
	return !strncmp(name, "proc_", 5) || !strcmp(name, LAYOUT_RESULTS);
}

/* The files of one pass: build and tasks, or those about known tasks. */
static int give_files(struct reader *r, struct grown *g, const uint8_t *p, const uint8_t *end, bool later)
{
	struct fuzz_part part;
	int error = 0;

	while (!error && fuzz_part(&part, &p, end)) {
		if (is_of_recording(part.name) && is_later(part.name) == later)
			error = give(r, part.name, part.p, part.len);
		if (reader_is_tasks(part.name) && !later)
			follow_file(g, part.p, part.len);
	}
	return error;
}

FUZZ_TARGET(recording)
{
	struct recording rec = RECORDING_INIT;
	struct error err = { 0 };
	struct grown g = { .n = { 0 } };
	struct reader r;
	int error;

	follow_growing(&g.follow, &g.rec, &to_grown, &g);
	reader_init(&r, &rec, &err);
	rec.arena = arena_new();
	rec.texts = texts_new(-1);
	error = give_files(&r, &g, data, data + size, false);
	if (!error)
		error = reader_finish_tasks(&r);
	if (!error)
		error = give_files(&r, &g, data, data + size, true);
	if (!error)
		error = reader_finish_usage(&r);
	if (!error)
		error = reader_link(&r);
	if (!error)
		error = reader_finish_processes(&r);
	if (error) {
		check(error == -EINVAL && err.message[0]);
	} else {
		check_tasks(&rec);
		check_results(&rec);
		check_instances(&rec);
		check_spans(&rec);
		check_series(&rec);
		check_grown(&g, &rec);
	}
	follow_release(&g.follow);
	reader_release(&r);
	recording_release(&rec);
	return 0;
}
