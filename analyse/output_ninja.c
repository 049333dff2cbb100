/* SPDX-License-Identifier: MIT */
#include "analyse/output_marks.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/sort.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * ninja's status lines, "[3/17] description". On a terminal they begin with a carriage return,
 * replace one another, and are printed when a task starts, too. A task of the console pool has one
 * when it starts and none when it ends, so that a number that is new need not be that of an end:
 * the description decides then. samurai prints the line when a task starts, and is not read.
 */

#define TEXT_END 16		/* bytes of a description: ninja shortens it in its middle */

bool output_ninja_status(struct slice s, uint64_t *count, uint64_t *of, struct slice *text)
{
	struct cursor c;

	cursor_init(&c, s.p, s.len);
	if (!cursor_byte(&c, '[') || !cursor_u64(&c, count) || !cursor_byte(&c, '/') ||
	    !cursor_u64(&c, of) || !cursor_byte(&c, ']') || !cursor_byte(&c, ' '))
		return false;
	*text = (struct slice){ c.p, (size_t)(c.end - c.p) };
	if (slice_ends(*text, "\033[K"))
		text->len -= 3;
	return *count <= *of && *of < UINT32_MAX;
}

/* The only ninja that was open in this time; NO_INDEX: none, or several. */
static uint32_t find_instance(const struct output_marks *m, const struct output_line *line)
{
	uint32_t found = NO_INDEX;

	for (uint32_t i = 0; i < m->rec->n_instances; i++) {
		const struct instance *in = &m->rec->instance[i];

		if (!output_is(in, BUILD_TOOL_STATUS) || m->buried[i] || in->open_us > line->to_us ||
		    (in->close_us >= 0 && in->close_us < line->from_us))
			continue;
		if (found != NO_INDEX)
			return NO_INDEX;
		found = i;
	}
	return found;
}

static int add_status_line(struct output_marks *m, const struct output_line *line, uint32_t pipe,
			   struct slice s, bool mixed)
{
	struct output_mark *mark;
	struct slice text;
	uint64_t count, of;

	if (!output_ninja_status(s, &count, &of, &text) ||
	    (mixed && (count != m->last_count + 1 || of != m->last_of)))
		return 0;
	m->last_count = count;
	m->last_of = of;
	mark = array_add(&m->mark, &m->n, sizeof *m->mark);
	if (!mark)
		return -ENOMEM;
	if (text.len > TEXT_END)
		text = (struct slice){ text.p + text.len - TEXT_END, TEXT_END };
	*mark = (struct output_mark){
		.line = line->number, .n_lines = 1, .from_us = line->from_us, .to_us = line->to_us,
		.pipe = pipe, .group = find_instance(m, line), .task = NO_INDEX, .count = (uint32_t)count,
		.text = hash_fnv32(text.p, text.len), .ninja = true, .mixed = mixed,
		.on_terminal = s.p > line->text.p && s.p[-1] == '\r',
	};
	return 0;
}

/* Each status in the line; the last one counts for its output. If the output before did not end
 * with a newline, the status is behind it. */
int output_ninja_add(struct output_marks *m, const struct output_line *line, uint32_t pipe)
{
	struct slice s = line->text;
	const char *end = s.p + s.len;
	struct cursor c;
	int r = 0;

	if (!m->has_ninja || !s.len || !line->begins)
		return 0;
	cursor_init(&c, s.p, s.len);
	if (memchr(s.p, '\r', s.len)) {
		while (!r && cursor_until(&c, '\r', &s))
			r = add_status_line(m, line, pipe, s, false);
		return r;
	}
	if (*s.p == '[')
		return add_status_line(m, line, pipe, s, false);
	if (r)
		return r;
	for (const char *p = s.p; (p = memchr(p, '[', (size_t)(end - p))) != NULL; p++) {
		r = add_status_line(m, line, pipe, (struct slice){ p, (size_t)(end - p) }, true);
		if (r)
			return r;
	}
	return 0;
}

/* The tasks of an instance that have ended, in that order. */
struct ended {
	uint32_t *task;
	size_t n;
};

static int find_ended(struct ended *e, const struct recording *rec, uint32_t instance)
{
	struct keyed *key = NULL;
	size_t n = 0;
	int r;

	*e = (struct ended){ 0 };
	for (uint32_t i = 0; i < rec->n_tasks; i++) {
		const struct task *t = &rec->task[i];
		struct keyed *k;

		if (t->instance != instance || t->end_us < 0)
			continue;
		k = array_add(&key, &n, sizeof *key);
		if (!k) {
			free(key);
			return -ENOMEM;
		}
		*k = (struct keyed){ (uint64_t)t->end_us, i };
	}
	r = sort_keyed(key, n);
	e->task = calloc(n ? n : 1, sizeof *e->task);
	if (!e->task)
		r = -ENOMEM;
	for (size_t i = 0; !r && i < n; i++)
		e->task[e->n++] = (uint32_t)key[i].value;
	free(key);
	return r;
}

/* Descriptions of tasks that have started and not ended. */
struct started {
	uint32_t *text;
	size_t n;
};

static bool take_started(struct started *s, uint32_t text)
{
	for (size_t i = s->n; i; i--) {
		if (s->text[i - 1] == text) {
			s->text[i - 1] = s->text[--s->n];
			return true;
		}
	}
	return false;
}

static int put_started(struct started *s, uint32_t text)
{
	uint32_t *new = array_add(&s->text, &s->n, sizeof *s->text);

	if (new)
		*new = text;
	return new ? 0 : -ENOMEM;
}

/* Without a terminal, a status that does not count a further task is that of a start, which only
 * tasks of the console have. */
static bool has_console(const struct output_marks *m, uint32_t instance)
{
	uint32_t last = 0;

	for (size_t i = 0; i < m->n; i++) {
		const struct output_mark *mark = &m->mark[i];

		if (!mark->ninja || mark->group != instance)
			continue;
		if (!mark->on_terminal && (!mark->count || mark->count == last))
			return true;
		last = mark->count;
	}
	return false;
}

static int resolve_instance(struct output_marks *m, uint32_t instance)
{
	bool console = has_console(m, instance);
	struct started started = { 0 };
	uint32_t last = 0;
	size_t before = 0;
	struct ended e;
	int r = find_ended(&e, m->rec, instance);

	for (size_t i = 0; !r && i < m->n; i++) {
		struct output_mark *mark = &m->mark[i];
		bool terminal = mark->on_terminal, ends;

		if (!mark->ninja || mark->group != instance)
			continue;
		/* ninja has written build.ninja anew and begins again */
		if (mark->count < last) {
			before += last;
			last = 0;
		}
		ends = mark->count > last;
		if (terminal)
			ends = ends && take_started(&started, mark->text);
		else
			ends = ends && !console;
		if (terminal && !ends)
			r = put_started(&started, mark->text);
		/* the task that ended is only known once its end was written */
		if (ends && before + mark->count <= e.n &&
		    m->rec->task[e.task[before + mark->count - 1]].end_us <= mark->to_us)
			mark->task = e.task[before + mark->count - 1];
		last = mark->count;
	}
	free(e.task);
	free(started.text);
	return r;
}

int output_ninja_resolve(struct output_marks *m)
{
	int r = 0;

	if (!m->has_ninja)
		return 0;
	for (uint32_t i = 0; i < m->rec->n_instances; i++) {
		if (output_is(&m->rec->instance[i], BUILD_TOOL_STATUS))
			r = resolve_instance(m, i);
		if (r)
			return r;
	}
	return 0;
}
