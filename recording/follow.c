/* SPDX-License-Identifier: MIT */
#include "recording/follow.h"

#include "base/array.h"
#include "base/field.h"
#include "base/minmax.h"
#include "base/str.h"
#include "command/kind.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum follow_text { TEXT_ANCESTORS, TEXT_TOOL, TEXT_VERSION, TEXT_CWD, TEXT_COMMAND, TEXT_OTHER };

static const char *lent_text(struct follow *f, enum follow_text at, struct slice field)
{
	struct buf *b = &f->text[at];

	buf_clear(b);
	buf_add(b, field.p, field.len);
	if (buf_error(b)) {
		f->no_memory = true;
		return "";
	}
	buf_cut(b, field_decode(b->data, b->len, NULL));
	return buf_str(b);
}

/* An unescaped copy of a text. */
static const char *text_field(struct follow *f, enum follow_text at, struct event *e)
{
	struct slice field = event_field(e);
	char *copy;

	if (!field.len)
		return "";
	if (f->forgets)
		return lent_text(f, at, field);
	copy = arena_text(f->rec->arena, field.p, field.len);
	if (!copy) {
		f->no_memory = true;
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

static int32_t small_count(int64_t n)
{
	return (int32_t)MIN(MAX(n, -1), INT32_MAX);
}

/* Instances. Each function returns 0, -EBADMSG if the line must be left out, or another error. */

bool follow_is_script(const char *tool)
{
	size_t len = strlen(EVENT_SPAN_TOOL);

	return str_starts(tool, EVENT_SPAN_TOOL) && (!tool[len] || tool[len] == ' ');
}

static const char *kept_text(struct follow *f, const char *lent)
{
	const char *text = arena_text(f->rec->arena, lent, strlen(lent));

	if (!text)
		f->no_memory = true;
	return text ? text : "";
}

/* What is lent is kept, or forgotten when the caller has seen it. */
static int open_growing(struct follow *f, uint32_t instance)
{
	struct instance *i = &f->rec->instance[instance];
	int r;

	i->only_spans = follow_is_script(i->tool);
	i->tool = follow_common(f, slice_of(i->tool));
	i->cwd = kept_text(f, i->cwd);	/* names of tasks have it */
	i->ancestors = kept_text(f, i->ancestors);
	if (!*i->ancestors || f->no_memory)
		return f->no_memory ? -ENOMEM : 0;
	r = follow_new_orphan(f, instance);
	return r ? r : follow_find_hosts(f);
}

static int read_open(struct follow *f, uint32_t instance, struct event *e)
{
	struct instance *i = &f->rec->instance[instance];
	int r = 0;

	i->pid = small_number(e);
	i->level = small_number(e);
	i->ancestors = text_field(f, TEXT_ANCESTORS, e);
	i->tool = text_field(f, TEXT_TOOL, e);
	i->version = text_field(f, TEXT_VERSION, e);
	i->cwd = text_field(f, TEXT_CWD, e);
	i->command = text_field(f, TEXT_COMMAND, e);
	f->instance[instance].is_oe = !strcmp(i->tool, "bitbake");
	if (f->forgets)
		r = open_growing(f, instance);
	if (!r && f->to->opened)
		r = f->to->opened(f->context, instance);
	if (f->forgets)
		i->version = i->command = "";
	return r;
}

/* If there are several, the last one counts. */
static int read_close(struct follow *f, uint32_t instance, struct event *e)
{
	struct instance *i = &f->rec->instance[instance];
	int64_t n[4];

	event_numbers(e, n, ARRAY_SIZE(n));
	i->close_us = e->time_us;
	i->children_user_us = MAX(n[1], -1);
	i->children_system_us = MAX(n[2], -1);
	i->reaped = MAX(n[3], -1);
	return f->to->closed ? f->to->closed(f->context, instance, n[0]) : 0;
}

/* An instance closes before it calls exec(), which may fail. */
static int go_on(struct follow *f, uint32_t instance, int64_t time_us)
{
	struct instance *i = &f->rec->instance[instance];

	if (i->close_us < 0 || time_us <= i->close_us)
		return 0;
	i->close_us = -1;
	return f->to->reopened ? f->to->reopened(f->context, instance) : 0;
}

/* Tasks */

static int changed(struct follow *f, uint32_t task, enum follow_change what, struct slice command)
{
	return f->to->changed ? f->to->changed(f->context, task, what, command) : 0;
}

static void set_text(struct follow *f, const char **to, const char *text)
{
	if (!*text)
		return;
	if (f->forgets) {
		text = strdup(text);
		if (!text) {
			f->no_memory = true;
			return;
		}
		if (**to)
			free((char *)(uintptr_t)*to);
	}
	*to = text;
}

/* A name line has priority, although the start line may be read after it. */
static void set_unless_named(struct follow *f, const struct task *t, const char **to,
			     const char *text)
{
	if (!t->named || !**to)
		set_text(f, to, text);
}

static void set_kind(struct follow *f, struct task *t, bool always, struct event *e)
{
	const char *kind = follow_common(f, event_field(e));

	if (*kind && (always || !t->named || !*t->kind))
		t->kind = kind;
}

/* Queue and start lines may be in two files, which are read in any order. */
static enum follow_change fill_names(struct follow *f, struct task *t, struct event *e)
{
	const char *text;
	bool filled = false;

	event_field(e);		/* kind: from its start */
	text = text_field(f, TEXT_OTHER, e);
	if (*text && (!*t->name || t->nameless)) {
		set_text(f, &t->name, text);
		t->nameless = false;
		filled = true;
	}
	text = text_field(f, TEXT_OTHER, e);
	if (*text && !*t->key) {
		set_text(f, &t->key, text);
		filled = true;
	}
	return filled ? FOLLOW_NAMED : FOLLOW_QUEUED;
}

static int read_queue(struct follow *f, uint32_t task, struct event *e)
{
	struct task *t = &f->rec->task[task];
	enum follow_change what = FOLLOW_QUEUED;

	if (t->queued_us >= 0)
		return -EBADMSG;
	t->queued_us = e->time_us;
	if (t->start_us >= 0) {
		what = fill_names(f, t, e);
	} else {
		set_kind(f, t, false, e);
		set_unless_named(f, t, &t->name, text_field(f, TEXT_OTHER, e));
		set_unless_named(f, t, &t->key, text_field(f, TEXT_OTHER, e));
	}
	return changed(f, task, what, (struct slice){ "", 0 });
}

/* The kind of a task without a recorded one: bitbake's tasks are known by name. */
static void read_command(struct follow *f, struct task *t, struct slice command)
{
	const char *kind;

	if (f->instance[t->instance].is_oe)
		kind = follow_common(f, slice_of(kind_of_oe_task(t->name, strlen(t->name))));
	else
		kind = follow_kind_of_command(f, command, &t->program);
	if (!*t->kind)
		t->kind = kind;
}

static int start_growing(struct follow *f, uint32_t task, struct slice command)
{
	struct task *t = &f->rec->task[task];
	int r;

	if (!*t->name && command.len) {
		const char *text = lent_text(f, TEXT_COMMAND, command);

		follow_name_by_command(f, t, text, strlen(text));
	}
	r = follow_put_pid(f, task);
	if (!r)
		r = changed(f, task, FOLLOW_STARTED, command);
	return r ? r : follow_find_hosts(f);
}

static int read_start(struct follow *f, uint32_t task, struct event *e)
{
	struct task *t = &f->rec->task[task];
	struct slice command;
	int32_t pid;
	int r;

	if (t->start_us >= 0)
		return -EBADMSG;
	r = go_on(f, t->instance, e->time_us);
	t->start_us = e->time_us;
	pid = small_number(e);
	if (pid >= 0)
		t->pid = pid;
	t->slot = small_number(e);
	set_kind(f, t, false, e);
	set_unless_named(f, t, &t->name, text_field(f, TEXT_OTHER, e));
	set_unless_named(f, t, &t->key, text_field(f, TEXT_OTHER, e));
	command = event_field(e);
	t->command = command.len ? f->place : 0;
	if (!f->no_kinds && (command.len || !*t->kind))
		read_command(f, t, command);
	if (t->state == TASK_QUEUED)
		t->state = TASK_UNFINISHED;
	return r || !f->forgets ? r : start_growing(f, task, command);
}

static void read_values(struct task *t, struct event *e)
{
	int64_t n[18];

	event_numbers(e, n, ARRAY_SIZE(n));
	t->status = small(n[0]);
	t->user_us = MAX(n[1], -1);
	t->system_us = MAX(n[2], -1);
	t->max_rss_kb = MAX(n[3], -1);
	t->minor_faults = small_count(n[4]);
	t->major_faults = small_count(n[5]);
	t->in_blocks = MAX(n[6], -1);
	t->out_blocks = MAX(n[7], -1);
	t->voluntary_switches = small_count(n[8]);
	t->involuntary_switches = small_count(n[9]);
	t->rchar = MAX(n[10], -1);
	t->wchar = MAX(n[11], -1);
	t->max_rss_at_most_kb = t->max_rss_kb < 0 ? MAX(n[12], -1) : -1;
	t->setup_us = n[13] > 0 ? small_count(n[13]) : 0;
	t->setup_user_us = n[14] > 0 ? small_count(n[14]) : 0;
	t->setup_system_us = n[15] > 0 ? small_count(n[15]) : 0;
	t->end_at_most = n[16] > 0;
	t->instructions = MAX(n[17], -1);
}

/* The first one counts: a task may report its own end before the process that waits for it. */
static int read_end(struct follow *f, uint32_t task, struct event *e, enum task_state state)
{
	struct task *t = &f->rec->task[task];

	if (t->end_us >= 0)
		return 0;
	t->state = state == TASK_FAILED && task_is_shell(t) ? TASK_DONE : state;
	t->end_us = e->time_us;
	if (!f->no_values)
		read_values(t, e);
	return changed(f, task, FOLLOW_ENDED, (struct slice){ "", 0 });
}

static int read_pid(struct follow *f, uint32_t task, struct event *e)
{
	bool inner;
	int32_t pid = event_pid(e, &inner);
	int r;

	if (pid < 0)
		return -EBADMSG;
	if (inner)
		return 0;
	f->rec->task[task].pid = pid;
	if (!f->forgets || f->rec->task[task].start_us < 0)
		return 0;
	r = follow_put_pid(f, task);
	return r ? r : follow_find_hosts(f);
}

static int read_name(struct follow *f, uint32_t task, struct event *e)
{
	struct task *t = &f->rec->task[task];
	const char *name = text_field(f, TEXT_OTHER, e);

	t->named = true;
	t->nameless &= !*name;
	set_text(f, &t->name, name);
	set_text(f, &t->key, text_field(f, TEXT_OTHER, e));
	set_kind(f, t, true, e);
	return changed(f, task, FOLLOW_NAMED, (struct slice){ "", 0 });
}

/* Spans and notes */

static int read_begin(struct follow *f, uint32_t instance, uint32_t task, struct event *e)
{
	struct span s = { .instance = instance, .task = task, .begin_us = e->time_us,
		.end_us = -1, .seq = e->seq, .parent = NO_INDEX };
	int64_t number = event_number(e), parent;

	if (number < 0)
		return -EBADMSG;
	if (!f->to->span)
		return 0;
	s.number = (uint64_t)number;
	s.name = text_field(f, TEXT_OTHER, e);
	parent = event_number(e);
	s.thread = small_number(e);
	s.copy = (uint32_t)small_number(e);
	if (s.copy > INT32_MAX)
		s.copy = parent >= 0;	/* the first one if the others are known */
	s.place = text_field(f, TEXT_COMMAND, e);
	return f->to->span(f->context, &s, parent);
}

static int read_span_end(struct follow *f, uint32_t instance, uint32_t task, struct event *e)
{
	struct span_end end = { .instance = instance, .task = task, .seq = e->seq,
		.time_us = e->time_us };
	struct slice number = event_field(e);

	if (number.len && (!cursor_slice_i64(number, &end.number) || end.number < 0))
		return -EBADMSG;
	if (!f->to->span_end)
		return 0;
	end.thread = small_number(e);
	if (!number.len) {
		end.number = -1;
		end.name = text_field(f, TEXT_OTHER, e);
	}
	return f->to->span_end(f->context, &end);
}

static bool read_progress(struct instance *i, const char *text)
{
	uint64_t done, total;
	struct cursor c;

	cursor_init(&c, text, strlen(text));
	if (!cursor_literal(&c, EVENT_NOTE_PROGRESS) || !cursor_u64(&c, &done) || !cursor_literal(&c, " of ") ||
	    !cursor_u64(&c, &total) || !cursor_at_end(&c) || done > total || total > FOLLOW_NUMBER_MAX)
		return false;
	i->said_done = (uint32_t)done;
	i->said_total = (uint32_t)total;
	return true;
}

static int read_note(struct follow *f, uint32_t instance, uint32_t task, struct event *e)
{
	struct note n = { e->time_us, instance, task, text_field(f, TEXT_OTHER, e) };

	if (task == NO_INDEX && read_progress(&f->rec->instance[instance], n.text))
		return 0;
	if (task == NO_INDEX && !strcmp(n.text, EVENT_NOTE_SERIAL))
		f->rec->instance[instance].serial = true;
	return f->to->note ? f->to->note(f->context, &n) : 0;
}

/* Lines */

static int read_other(struct follow *f, uint32_t instance, uint32_t task, struct event *e)
{
	return f->to->other ? f->to->other(f->context, instance, task, e) : 0;
}

static int read_task_line(struct follow *f, uint32_t instance, uint32_t task, struct event *e)
{
	switch (e->kind) {
	case EVENT_QUEUE: return read_queue(f, task, e);
	case EVENT_START: return read_start(f, task, e);
	case EVENT_PID: return read_pid(f, task, e);
	case EVENT_DONE: return read_end(f, task, e, TASK_DONE);
	case EVENT_FAIL: return read_end(f, task, e, TASK_FAILED);
	case EVENT_KILL: return read_end(f, task, e, TASK_KILLED);
	case EVENT_GONE: return read_end(f, task, e, TASK_UNFINISHED);
	case EVENT_NAME: return read_name(f, task, e);
	case EVENT_BEGIN: return read_begin(f, instance, task, e);
	case EVENT_END: return read_span_end(f, instance, task, e);
	case EVENT_NOTE: return read_note(f, instance, task, e);
	case EVENT_AFTER:
	case EVENT_OUT:
	case EVENT_PLACE: return read_other(f, instance, task, e);
	default: return -EBADMSG;
	}
}

static int read_instance_line(struct follow *f, uint32_t instance, struct event *e)
{
	switch (e->kind) {
	case EVENT_OPEN: return read_open(f, instance, e);
	case EVENT_CLOSE: return read_close(f, instance, e);
	case EVENT_BEGIN: return read_begin(f, instance, NO_INDEX, e);
	case EVENT_END: return read_span_end(f, instance, NO_INDEX, e);
	case EVENT_NOTE: return read_note(f, instance, NO_INDEX, e);
	case EVENT_USED:
	case EVENT_GROUP: return read_other(f, instance, NO_INDEX, e);
	default: return -EBADMSG;
	}
}

/* A second start is damage, also of a task that was forgotten. Its spans and notes are those of its
 * instance, as nobody shows the task any more. */
static int read_forgotten(struct follow *f, uint32_t instance, struct event *e)
{
	if (e->kind == EVENT_BEGIN || e->kind == EVENT_END || e->kind == EVENT_NOTE)
		return read_instance_line(f, instance, e);
	return e->kind == EVENT_START ? -EBADMSG : 0;
}

int follow_line(struct follow *f, struct event *e)
{
	uint32_t instance, task;
	int r;

	if ((uint64_t)e->time_us > EVENT_TIME_MAX_US)
		return -EBADMSG;
	if (e->time_us > f->rec->last_us)
		f->rec->last_us = e->time_us;
	if (e->seq && (e->kind == EVENT_OPEN || e->kind == EVENT_CLOSE))
		return -EBADMSG;
	r = follow_instance_of(f, e, &instance);
	if (r)
		return r;
	if (!e->seq) {
		r = read_instance_line(f, instance, e);
	} else {
		r = follow_task_of(f, instance, e->seq, &task);
		if (r)
			return r;
		r = task == FOLLOW_FORGOTTEN ? read_forgotten(f, instance, e) :
		    read_task_line(f, instance, task, e);
	}
	return f->no_memory ? -ENOMEM : r;
}
