/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/minmax.h"
#include "recording/event.h"
#include "recording/reader.h"

#include <errno.h>
#include <string.h>

/* What a whole recording has besides that which follow.h knows. Each function returns 0, -ENOMEM, or
 * -EBADMSG if the line must be left out. */

/* The last one counts. */
static int read_used(struct instance *i, struct event *e)
{
	int64_t n[7];

	event_numbers(e, n, ARRAY_SIZE(n));
	i->used_user_us = MAX(n[0], -1);
	i->used_system_us = MAX(n[1], -1);
	i->used_in_blocks = MAX(n[5], -1);
	i->used_out_blocks = MAX(n[6], -1);
	return 0;
}

/* A pool that many tasks name, with the depth that the first of them has. */
static int read_pool(struct reader *r, struct task *t, struct event *e)
{
	const char *name = follow_common(&r->follow, event_field(e));
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
	const char *file = follow_common(&r->follow, event_field(e));
	int64_t line = event_number(e);

	if (!*t->file && *file) {
		t->file = file;
		t->line = line <= INT32_MAX ? (int32_t)line : -1;
	}
	return read_pool(r, t, e);
}

static int other(void *context, uint32_t instance, uint32_t task, struct event *e)
{
	struct slice names = { e->rest.p, (size_t)(e->rest.end - e->rest.p) };
	struct reader *r = context;
	bool lists = names.len && (!r->sums_only || r->waits);

	switch (e->kind) {
	case EVENT_USED: return read_used(&r->rec->instance[instance], e);
	case EVENT_PLACE: return read_place(r, &r->rec->task[task], e);
	case EVENT_AFTER: return lists ? reader_after(r, task, names) : 0;
	case EVENT_OUT: return lists ? reader_out(r, task, names) : 0;
	case EVENT_GROUP: return lists ? reader_group(r, instance, names) : 0;
	default: return -EBADMSG;
	}
}

static int take_note(void *context, const struct note *n)
{
	struct recording *rec = ((struct reader *)context)->rec;
	struct note *added = array_add(&rec->note, &rec->n_notes, sizeof *added);

	if (!added)
		return -ENOMEM;
	*added = *n;
	return 0;
}

const struct follow_to reader_to = {
	.closed = reader_last_task, .span = reader_add_span, .span_end = reader_end_span, .note = take_note,
	.other = other,
};

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
		error = follow_line(&r->follow, &e);
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

	rec->task = array_expect(rec->task, &r->follow.task_cap, feed_expect(f, rec->n_tasks),
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
		r->follow.place = texts_place(r->rec->texts, f->offset - line.len - 1);
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
