/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/field.h"
#include "command/kind.h"
#include "recording/event.h"
#include "recording/reader.h"

#include <errno.h>
#include <string.h>

/* Lines. Each function returns 0, -ENOMEM, or -EBADMSG if the line must be left out. */

/* An unescaped copy of a text. */
static const char *text_field(struct reader *r, struct event *e)
{
	struct slice field = event_field(e);
	char *copy;

	if (!field.len)
		return "";
	copy = arena_text(r->rec->arena, field.p, field.len);
	if (!copy) {
		r->no_memory = true;
		return "";
	}
	copy[field_decode(copy, field.len, NULL)] = '\0';
	return copy;
}

/* A pid, a slot or a status, -1 if it is out of range. */
static int32_t small(int64_t n)
{
	return n >= 0 && n <= INT32_MAX ? (int32_t)n : -1;
}

static int32_t small_number(struct event *e)
{
	return small(event_number(e));
}

static int64_t count(int64_t n)
{
	return n >= 0 ? n : -1;
}

static int32_t small_count(int64_t n)
{
	return n <= INT32_MAX ? (int32_t)count(n) : INT32_MAX;
}

static int read_open(struct reader *r, struct event *e)
{
	struct instance *i;
	uint32_t at;
	int error = reader_open_instance(r, e->inst, e->time_us, &at);

	if (error)
		return error;
	i = &r->rec->instance[at];
	i->pid = small_number(e);
	i->level = small_number(e);
	i->ancestors = text_field(r, e);
	i->tool = text_field(r, e);
	i->version = text_field(r, e);
	i->cwd = text_field(r, e);
	i->command = text_field(r, e);
	return 0;
}

static void set_text(const char **to, const char *text)
{
	if (*text)
		*to = text;
}

/* A name line has priority, although the start line may be read after it. */
static void set_unless_named(const struct task *t, const char **to, const char *text)
{
	if (!t->named || !**to)
		set_text(to, text);
}

/* Queue and start lines may be in two files, which are read in any order. */
static int fill_names(struct reader *r, struct task *t, struct event *e)
{
	event_field(e);		/* kind: from its start */
	if (!*t->name)
		t->name = text_field(r, e);
	else
		event_field(e);
	if (!*t->key)
		t->key = text_field(r, e);
	return 0;
}

static int read_queue(struct reader *r, struct task *t, struct event *e)
{
	if (t->queued_us >= 0)
		return -EBADMSG;
	t->queued_us = e->time_us;
	if (t->start_us >= 0)
		return fill_names(r, t, e);
	set_unless_named(t, &t->kind, reader_kind(r, event_field(e)));
	set_unless_named(t, &t->name, text_field(r, e));
	set_unless_named(t, &t->key, text_field(r, e));
	return 0;
}

/* The kind of a task without a recorded one: bitbake's tasks are known by name. */
static void read_command(struct reader *r, struct task *t, struct slice command)
{
	const char *kind;

	if (strcmp(r->rec->instance[t->instance].tool, "bitbake"))
		kind = reader_kind_of_command(r, command, &t->program);
	else
		kind = reader_kind(r, slice_of(kind_of_oe_task(t->name, strlen(t->name))));
	if (!*t->kind)
		t->kind = kind;
}

/* An instance closes before it calls exec(), which may fail. */
static void go_on(struct instance *i, int64_t time_us)
{
	if (i->close_us >= 0 && time_us > i->close_us)
		i->close_us = -1;
}

static int read_start(struct reader *r, struct task *t, struct event *e)
{
	struct slice command;
	int32_t pid;

	if (t->start_us >= 0)
		return -EBADMSG;
	t->start_us = e->time_us;
	go_on(&r->rec->instance[t->instance], e->time_us);
	pid = small_number(e);
	if (pid >= 0)
		t->pid = pid;
	t->slot = small_number(e);
	set_unless_named(t, &t->kind, reader_kind(r, event_field(e)));
	set_unless_named(t, &t->name, text_field(r, e));
	set_unless_named(t, &t->key, text_field(r, e));
	command = event_field(e);
	t->command = command.len ? r->place : 0;
	if (!r->tasks_only && (command.len || !*t->kind))
		read_command(r, t, command);
	if (t->state == TASK_QUEUED)
		t->state = TASK_UNFINISHED;
	return 0;
}

/* The first end counts: a task may report its own end before the process that waits for it. */
static int read_end(const struct reader *r, struct task *t, struct event *e,
		    enum task_state state)
{
	int64_t n[17];

	if (t->end_us >= 0)
		return 0;
	t->state = state;
	t->end_us = e->time_us;
	if (r->tasks_only && !r->proof)
		return 0;
	event_numbers(e, n, ARRAY_SIZE(n));
	t->status = small(n[0]);
	t->user_us = count(n[1]);
	t->system_us = count(n[2]);
	t->max_rss_kb = count(n[3]);
	t->minor_faults = small_count(n[4]);
	t->major_faults = small_count(n[5]);
	t->in_blocks = count(n[6]);
	t->out_blocks = count(n[7]);
	t->voluntary_switches = small_count(n[8]);
	t->involuntary_switches = small_count(n[9]);
	t->rchar = count(n[10]);
	t->wchar = count(n[11]);
	t->max_rss_at_most_kb = t->max_rss_kb < 0 ? count(n[12]) : -1;
	t->setup_us = n[13] > 0 ? small_count(n[13]) : 0;
	t->setup_user_us = n[14] > 0 ? small_count(n[14]) : 0;
	t->setup_system_us = n[15] > 0 ? small_count(n[15]) : 0;
	t->end_at_most = n[16] > 0;
	return 0;
}

/* The last one counts. */
static int read_used(struct instance *i, struct event *e)
{
	int64_t n[7];

	event_numbers(e, n, ARRAY_SIZE(n));
	i->used_user_us = count(n[0]);
	i->used_system_us = count(n[1]);
	i->used_in_blocks = count(n[5]);
	i->used_out_blocks = count(n[6]);
	return 0;
}

/* If there are several, the last one counts. */
static int read_close(struct reader *r, uint32_t instance, struct event *e)
{
	struct instance *i = &r->rec->instance[instance];
	int64_t n[4];

	event_numbers(e, n, ARRAY_SIZE(n));
	i->close_us = e->time_us;
	i->children_user_us = count(n[1]);
	i->children_system_us = count(n[2]);
	i->reaped = count(n[3]);
	return reader_last_task(r, instance, n[0]);
}

static int read_pid(struct task *t, struct event *e)
{
	bool inner;
	int32_t pid = event_pid(e, &inner);

	if (pid < 0)
		return -EBADMSG;
	if (!inner)
		t->pid = pid;
	return 0;
}

static int read_name(struct reader *r, struct task *t, struct event *e)
{
	t->named = true;
	set_text(&t->name, text_field(r, e));
	set_text(&t->key, text_field(r, e));
	set_text(&t->kind, reader_kind(r, event_field(e)));
	return 0;
}

/* A pool that many tasks name, with the depth that the first of them has. */
static int read_pool(struct reader *r, struct task *t, struct event *e)
{
	const char *name = reader_kind(r, event_field(e));
	int64_t depth = event_number(e);
	struct recording *rec = r->rec;
	struct pool *pool;

	if (!*name || depth <= 0 || t->pool != NO_INDEX ||
	    index_find(&r->pools, t->instance, (uintptr_t)name, &t->pool))
		return 0;
	pool = array_add(&rec->pool, &rec->n_pools, sizeof *pool);
	if (!pool)
		return -ENOMEM;
	*pool = (struct pool){ t->instance, name, depth };
	t->pool = (uint32_t)rec->n_pools - 1;
	return index_put(&r->pools, t->instance, (uintptr_t)name, t->pool);
}

static int read_place(struct reader *r, struct task *t, struct event *e)
{
	const char *file = reader_kind(r, event_field(e));
	int32_t line = small_number(e);

	if (!*t->file && *file) {
		t->file = file;
		t->line = line;
	}
	return read_pool(r, t, e);
}

static int read_after(struct reader *r, uint32_t task, struct event *e)
{
	struct slice names = { e->rest.p, (size_t)(e->rest.end - e->rest.p) };

	return (r->sums_only && !r->waits) || !names.len ? 0 : reader_after(r, task, names);
}

static int read_out(struct reader *r, uint32_t task, struct event *e)
{
	struct slice names = { e->rest.p, (size_t)(e->rest.end - e->rest.p) };

	return (r->sums_only && !r->waits) || !names.len ? 0 : reader_out(r, task, names);
}

static int read_group(struct reader *r, uint32_t instance, struct event *e)
{
	struct slice names = { e->rest.p, (size_t)(e->rest.end - e->rest.p) };

	return (r->sums_only && !r->waits) || !names.len ? 0 : reader_group(r, instance, names);
}

static int read_begin(struct reader *r, uint32_t instance, uint32_t task, struct event *e)
{
	struct span s = { .instance = instance, .task = task, .begin_us = e->time_us,
		.end_us = -1, .seq = e->seq, .parent = NO_INDEX };
	int64_t number = event_number(e), parent;

	if (number < 0)
		return -EBADMSG;
	s.number = (uint64_t)number;
	s.name = text_field(r, e);
	parent = event_number(e);
	s.thread = small_number(e);
	s.copy = (uint32_t)small_number(e);
	if (s.copy > INT32_MAX)
		s.copy = parent >= 0;	/* the first one if the others are known */
	s.place = text_field(r, e);
	return reader_add_span(r, &s, parent);
}

static int read_span_end(struct reader *r, uint32_t instance, uint32_t task, struct event *e)
{
	struct span_end end = { .instance = instance, .task = task, .time_us = e->time_us };
	struct slice number = event_field(e);

	if (number.len && (!cursor_slice_i64(number, &end.number) || end.number < 0))
		return -EBADMSG;
	end.thread = small_number(e);
	if (!number.len) {
		end.number = -1;
		end.name = text_field(r, e);
	}
	return reader_end_span(r, &end);
}

static int read_note(struct reader *r, uint32_t instance, uint32_t task, struct event *e)
{
	struct recording *rec = r->rec;
	struct note *added = array_add(&rec->note, &rec->n_notes, sizeof *added);

	if (!added)
		return -ENOMEM;
	*added = (struct note){ e->time_us, instance, task,
		text_field(r, e) };
	if (task == NO_INDEX && !strcmp(added->text, EVENT_NOTE_SERIAL))
		rec->instance[instance].serial = true;
	return 0;
}

static int read_task_line(struct reader *r, uint32_t instance, uint32_t task,
			  struct event *e)
{
	struct task *t = task == NO_INDEX ? NULL : &r->rec->task[task];

	switch (e->kind) {
	case EVENT_BEGIN: return read_begin(r, instance, task, e);
	case EVENT_END: return read_span_end(r, instance, task, e);
	case EVENT_NOTE: return read_note(r, instance, task, e);
	case EVENT_USED: return t ? -EBADMSG : read_used(&r->rec->instance[instance], e);
	case EVENT_GROUP: return t ? -EBADMSG : read_group(r, instance, e);
	default: break;
	}
	if (!t)
		return -EBADMSG;
	switch (e->kind) {
	case EVENT_QUEUE: return read_queue(r, t, e);
	case EVENT_START: return read_start(r, t, e);
	case EVENT_PID: return read_pid(t, e);
	case EVENT_DONE: return read_end(r, t, e, TASK_DONE);
	case EVENT_FAIL: return read_end(r, t, e, TASK_FAILED);
	case EVENT_KILL: return read_end(r, t, e, TASK_KILLED);
	case EVENT_GONE: return read_end(r, t, e, TASK_UNFINISHED);
	case EVENT_AFTER: return read_after(r, task, e);
	case EVENT_NAME: return read_name(r, t, e);
	case EVENT_OUT: return read_out(r, task, e);
	case EVENT_PLACE: return read_place(r, t, e);
	default: return -EBADMSG;
	}
}

/* If the first line of an instance or task is lost, later lines make it up. */
static int read_event(struct reader *r, struct event *e)
{
	uint32_t task = NO_INDEX;
	uint32_t instance;

	if (e->kind == EVENT_OPEN)
		return e->seq ? -EBADMSG : read_open(r, e);
	instance = reader_find_instance(r, e->inst);
	if (instance == NO_INDEX) {
		if (reader_make_up_instance(r, e->inst, e->time_us))
			return -ENOMEM;
		instance = (uint32_t)r->rec->n_instances - 1;
	}
	if (e->kind == EVENT_CLOSE) {
		if (e->seq)
			return -EBADMSG;
		return read_close(r, instance, e);
	}
	if (e->seq && reader_task(r, instance, e->seq, &task))
		return -ENOMEM;
	return read_task_line(r, instance, task, e);
}

/* The header again, because files were joined. */
static bool is_header(struct slice line)
{
	return line.len == strlen(TASKS_HEADER) - 1 &&
	       !memcmp(line.p, TASKS_HEADER, line.len);
}

struct tasks_damage {
	struct reader_damage damaged, unknown;
	char word[32];		/* the first unknown */
};

static int read_line(struct reader *r, struct slice line, unsigned number,
		     struct tasks_damage *d)
{
	struct event e;
	int error = -EBADMSG;

	switch (event_parse(line, &e)) {
	case EVENT_PARSED:
		if (e.time_us >= 0 && e.time_us <= READER_TIME_MAX_US) {
			reader_saw(r, e.time_us);
			error = read_event(r, &e);
			error = r->no_memory ? -ENOMEM : error;
		}
		break;
	case EVENT_UNKNOWN:
		if (!d->unknown.n) {
			size_t n = strcspn(line.p, "\t");

			n = n < sizeof d->word ? n : sizeof d->word - 1;
			memcpy(d->word, line.p, n);
			d->word[n] = '\0';
		}
		reader_damaged(&d->unknown, number);
		return 0;
	case EVENT_DAMAGED:
		break;
	}
	if (error != -EBADMSG || is_header(line))
		return error == -ENOMEM ? error : 0;
	reader_damaged(&d->damaged, number);
	return 0;
}

/* After the first part of the file. */
static void expect(struct reader *r, const struct feed *f)
{
	struct recording *rec = r->rec;

	rec->task = array_expect(rec->task, &r->task_cap, feed_expect(f, rec->n_tasks),
				 sizeof *rec->task);
	rec->after = array_expect(rec->after, &r->after_cap, feed_expect(f, rec->n_after),
				  sizeof *rec->after);
	rec->out = array_expect(rec->out, &r->out_cap, feed_expect(f, rec->n_out),
				sizeof *rec->out);
}

int reader_tasks(struct reader *r, const char *file, struct feed *f)
{
	uint64_t soon = f->size / FEED_EXPECT;
	struct tasks_damage d = { 0 };
	struct slice line, rest;
	bool whole = feed_line(f, &line) == FEED_WHOLE;
	int error = reader_header(r, whole ? &line : NULL, file, "tasks", &rest);

	if (error <= 0)
		return error;
	error = 0;
	while (!error && reader_feed_line(f, &line, &d.damaged)) {
		r->place = texts_place(r->rec->texts, f->offset - line.len - 1);
		error = read_line(r, line, f->line, &d);
		if (f->offset > soon) {
			expect(r, f);
			soon = UINT64_MAX;
		}
	}
	if (!error && d.unknown.n)
		error = reader_warn(r, "%s:%u: %u lines of kinds this program does not "
				    "know left out, the first is \"%s\"", file,
				    d.unknown.first_line, d.unknown.n, d.word);
	return error ? error : reader_report_damage(r, &d.damaged, file);
}

/* Lines that are in no file, about tasks that are in one. They have no commands. */
int reader_more_tasks(struct reader *r, struct slice lines)
{
	struct tasks_damage d = { 0 };
	struct slice line;
	struct cursor c;
	int error = 0;

	cursor_init(&c, lines.p, lines.len);
	while (!error && reader_line(&c, &line, &d.damaged))
		error = read_line(r, line, c.line, &d);
	return error;
}
