/* SPDX-License-Identifier: MIT */
#include "analyse/first_error.h"

#include "analyse/output_excerpt.h"
#include "analyse/output_says.h"
#include "base/array.h"
#include "base/minmax.h"
#include "base/sort.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LAST_LINES 8		/* of a task whose message no rule knows */
#define FOLLOWING 3		/* lines behind a short message */
#define FREE_MAX 200		/* messages of no task that are kept */
#define NEAR_US 1000000		/* before a task's end */

/* A message of no task. */
struct free_message {
	struct first_error e;
	int64_t from_us, to_us;
};

/* The message that the next lines of a task can go on with. */
struct block {
	struct slice tool;	/* empty: none */
	uint64_t first;		/* its first line */
	bool said;		/* its message was there, not only what is before it */
	bool kept;		/* it is the one of its task */
	struct buf file;	/* that the lines before it name */
	uint64_t line, column;
};

struct failed {
	uint64_t last[LAST_LINES];	/* lines, a ring */
	uint64_t n;
};

struct finding {
	struct first_errors *to;
	const struct message_rules *rules;
	const struct recording *rec;
	uint32_t *failed_of;	/* of each task: its index in to->of plus 1 */
	struct failed *failed;
	struct block *block;	/* of each task, the last of no task */
	struct free_message *free;
	size_t n_free;
	struct buf text;
	struct output_line line;
	uint32_t task;
};

/* A line without colours and what was overwritten by "\r". */
static struct slice plain(struct buf *text, struct slice line)
{
	const char *end = line.p + line.len, *from;

	while (end > line.p && end[-1] == '\r')
		end--;
	from = end > line.p ? memrchr(line.p, '\r', (size_t)(end - line.p)) : NULL;
	from = from ? from + 1 : line.p;
	if (end == from || !memchr(from, '\033', (size_t)(end - from)))
		return (struct slice){ from, (size_t)(end - from) };
	buf_clear(text);
	while (from < end) {
		const char *escape = memchr(from, '\033', (size_t)(end - from));

		buf_add(text, from, (size_t)((escape ? escape : end) - from));
		from = escape ? output_after_escape(escape, end) : end;
	}
	return (struct slice){ buf_str(text), text->len };
}

/* BitBake prints the log of a failed task with a bar before each line. */
static struct slice without_bar(struct slice s)
{
	if (s.len > 2 && s.p[0] == '|' && s.p[1] == ' ')
		return (struct slice){ s.p + 2, s.len - 2 };
	return s;
}

bool first_error_line(struct slice line, struct buf *text, struct message *found)
{
	const struct message_rules *rules = message_rules_used();

	return rules && message_find(rules, without_bar(plain(text, line)), found);
}

/* Is the line the command of its task, as make prints it? It may contain anything. */
static bool is_command(const struct finding *f, struct slice line)
{
	const char *command = f->task == NO_INDEX ? "" :
		recording_command(f->rec, &f->rec->task[f->task]);
	const char *p = line.p, *end = line.p + line.len;

	while (*command && *command != '\n') {
		while (p < end && output_is_skipped(*p))
			p++;
		if (output_is_skipped(*command)) {
			command++;
			continue;
		}
		if (p == end || *p++ != *command++)
			return false;
	}
	return p == end && line.len;
}

static void set_place(struct first_error *e, struct slice file, uint64_t line, uint64_t column)
{
	buf_clear(&e->file);
	buf_add(&e->file, file.p, file.len);
	e->file_line = line;
	e->file_column = column;
}

static void set_message(struct first_error *e, struct slice text)
{
	buf_clear(&e->message);
	buf_add(&e->message, text.p, text.len);
}

static int keep_message(struct first_error *e, struct finding *f, const struct message *m, struct block *b)
{
	e->how = m->is == MESSAGE_ERROR ? FIRST_ERROR_FOUND : FIRST_ERROR_REPORT;
	e->tool = m->tool;
	e->line = e->last = f->line.number;
	e->first = b->tool.len && !b->said && slice_equal(b->tool, m->tool) ? b->first : f->line.number;
	set_message(e, m->text);
	if (m->file.len || e->first == e->line)
		set_place(e, m->file, m->line, m->column);
	else
		set_place(e, (struct slice){ buf_str(&b->file), b->file.len }, b->line, b->column);
	return buf_error(&e->message) ? buf_error(&e->message) : buf_error(&e->file);
}

/* The message of the task, or of none, that this line is. NULL: it is none that is kept. */
static struct first_error *wanted(struct finding *f, const struct message *m)
{
	const struct task *t = f->task == NO_INDEX ? NULL : &f->rec->task[f->task];
	uint32_t i = t ? f->failed_of[f->task] : 0;
	struct free_message *free;

	if (m->is != MESSAGE_ERROR && m->is != MESSAGE_REPORT)
		return NULL;
	if (i) {
		struct first_error *e = &f->to->of[i - 1];

		return e->how == FIRST_ERROR_NONE || (e->how != FIRST_ERROR_FOUND && m->is == MESSAGE_ERROR) ?
			e : NULL;
	}
	if ((t && !t->hosts) || f->n_free == FREE_MAX)
		return NULL;
	free = array_add(&f->free, &f->n_free, sizeof *free);
	if (!free)
		return NULL;
	*free = (struct free_message){ { .task = NO_INDEX }, f->line.from_us, f->line.to_us };
	return &free->e;
}

/* The message that the block of the line's task has, if it is kept. */
static struct first_error *of_block(struct finding *f)
{
	uint32_t i = f->task == NO_INDEX ? 0 : f->failed_of[f->task];

	return i ? &f->to->of[i - 1] : f->n_free ? &f->free[f->n_free - 1].e : NULL;
}

static int begin_message(struct finding *f, const struct message *m, struct block *b)
{
	struct first_error *e;
	int r = 0;

	if (m->is == MESSAGE_ERROR || m->is == MESSAGE_WARNING) {
		uint32_t *n = m->is == MESSAGE_ERROR ? f->to->n_errors : f->to->n_warnings;

		++*(m->is == MESSAGE_ERROR ? &f->to->all_errors : &f->to->all_warnings);
		if (f->task != NO_INDEX)
			n[f->task]++;
	}
	e = wanted(f, m);
	if (e)
		r = keep_message(e, f, m, b);
	*b = (struct block){ .tool = m->tool, .said = true, .kept = e, .file = b->file };
	return r;
}

/* A line behind the one with the message may have its place or its text. */
static int add_to_message(struct finding *f, const struct message *m)
{
	struct first_error *e = of_block(f);

	if (!e)
		return 0;
	if (!e->file.len && m->file.len)
		set_place(e, m->file, m->line, m->column);
	if (e->last == e->line && !m->whole && m->text.len)
		set_message(e, m->text);
	e->last = f->line.number;
	return buf_error(&e->message) ? buf_error(&e->message) : buf_error(&e->file);
}

static void begin_block(struct finding *f, const struct message *m, struct block *b)
{
	if (!b->tool.len || b->said || !slice_equal(b->tool, m->tool))
		*b = (struct block){ .tool = m->tool, .first = f->line.number, .file = b->file };
	if (!m->file.len)
		return;
	buf_clear(&b->file);
	buf_add(&b->file, m->file.p, m->file.len);
	b->line = m->line;
	b->column = m->column;
}

static int read_line(struct finding *f)
{
	struct slice text = without_bar(plain(&f->text, f->line.text));
	struct block *b = &f->block[f->task == NO_INDEX ? f->rec->n_tasks : f->task];
	uint32_t i = f->task == NO_INDEX ? 0 : f->failed_of[f->task];
	struct message m = { 0 };
	bool goes_on;

	if (message_find(f->rules, text, &m) && m.is < MESSAGE_BEFORE && !is_command(f, text))
		return begin_message(f, &m, b);
	if (i && !output_is_of_tool(text) && !is_command(f, text) &&
	    output_says(text).what != SAYS_ANNOUNCEMENT)
		f->failed[i - 1].last[f->failed[i - 1].n++ % LAST_LINES] = f->line.number;
	goes_on = b->tool.len && output_says(text).what != SAYS_ANNOUNCEMENT &&
		message_goes_on(f->rules, b->tool, text, &m);
	if (goes_on && b->said)
		return b->kept ? add_to_message(f, &m) : 0;
	if (goes_on || m.is == MESSAGE_BEFORE)
		begin_block(f, &m, b);
	else
		b->tool.len = 0;
	return 0;
}

/* Failed tasks, by their ends. Tasks that run build tools fail because of others. */
static int find_failed(struct finding *f, const struct summary *s, uint32_t first)
{
	struct keyed *key = array_new(f->rec->n_tasks, sizeof *key);
	size_t n = 0;
	int r = key ? 0 : -ENOMEM;

	for (uint32_t i = 0; !r && i < f->rec->n_tasks; i++) {
		const struct task *t = &f->rec->task[i];

		if ((task_has_failed(t) && !t->hosts) || i == first)
			key[n++] = (struct keyed){ (uint64_t)MAX(recording_task_end_us(s->rec, t), 0), i };
	}
	if (!r)
		r = sort_keyed(key, n);
	for (size_t i = 0; !r && i < n && f->to->n < FIRST_ERROR_TASKS; i++) {
		struct first_error *e = array_add(&f->to->of, &f->to->n, sizeof *e);

		if (!e) {
			r = -ENOMEM;
			break;
		}
		*e = (struct first_error){ .task = (uint32_t)key[i].value };
		f->failed_of[e->task] = (uint32_t)f->to->n;
	}
	free(key);
	return r;
}

static void copy_message(struct first_error *to, const struct first_error *from)
{
	uint32_t task = to->task;

	buf_release(&to->file);
	buf_release(&to->message);
	*to = *from;
	to->task = task;
	to->file = (struct buf)BUF_INIT;
	to->message = (struct buf)BUF_INIT;
	buf_add(&to->file, from->file.data, from->file.len);
	buf_add(&to->message, from->message.data, from->message.len);
}

/* The first error of no task that was written in the last second of the task. */
static const struct first_error *find_near(const struct finding *f, const struct task *t)
{
	int64_t end_us = recording_task_end_us(f->rec, t);
	int64_t from_us = MAX(t->start_us, end_us - NEAR_US);

	for (size_t i = 0; i < f->n_free; i++) {
		const struct free_message *m = &f->free[i];

		if (m->e.how == FIRST_ERROR_FOUND && m->from_us >= 0 && m->from_us <= end_us &&
		    m->to_us >= from_us)
			return &m->e;
	}
	return NULL;
}

/* For tasks whose lines have no error that a rule knows. */
static void find_others(struct finding *f)
{
	for (size_t i = 0; i < f->to->n; i++) {
		struct first_error *e = &f->to->of[i];
		const struct failed *l = &f->failed[i];
		const struct first_error *near;

		if (e->how == FIRST_ERROR_FOUND)
			continue;
		near = find_near(f, &f->rec->task[e->task]);
		if (near) {
			copy_message(e, near);
			e->while_ran = true;
		} else if (l->n) {
			e->how = FIRST_ERROR_LAST;
			e->first = l->last[l->n > LAST_LINES ? l->n % LAST_LINES : 0];
			e->line = e->last = l->last[(l->n - 1) % LAST_LINES];
			e->tool.len = 0;
			buf_clear(&e->message);
			set_place(e, (struct slice){ "", 0 }, 0, 0);
		}
	}
}

/* What the build tool itself failed of: the first error of no task, or else its last report. */
static int add_own(struct finding *f)
{
	const struct first_error *found = NULL;
	struct first_error *e;

	for (size_t i = 0; i < f->n_free && (!found || found->how != FIRST_ERROR_FOUND); i++)
		found = &f->free[i].e;
	if (!found)
		return 0;
	e = array_add(&f->to->of, &f->to->n, sizeof *e);
	if (!e)
		return -ENOMEM;
	*e = (struct first_error){ .task = NO_INDEX };
	copy_message(e, found);
	return 0;
}

/* Is the line of the same task as the message? */
static bool is_of(const struct finding *f, const struct first_error *e)
{
	bool free = f->task == NO_INDEX || f->rec->task[f->task].hosts;

	return e->while_ran || e->task == NO_INDEX ? free : e->task == f->task;
}

static int add_text(struct finding *f, struct first_error *e)
{
	const struct output_line *line = &f->line;

	if (line->number < e->first || e->n_lines == FIRST_ERROR_LINES || !is_of(f, e))
		return 0;
	if (line->number > e->last && (e->how == FIRST_ERROR_LAST || e->n_lines > FOLLOWING ||
				       e->last - e->first >= FOLLOWING || output_is_of_tool(line->text)))
		return 0;
	if (e->how == FIRST_ERROR_LAST && (output_is_of_tool(line->text) || is_command(f, line->text)))
		return 0;
	e->number[e->n_lines++] = line->number;
	output_excerpt_text(&e->text, line->text);
	if (e->how == FIRST_ERROR_LAST && line->number == e->last)
		set_message(e, without_bar(plain(&f->text, line->text)));
	return buf_error(&e->text);
}

/* The lines of each message. */
static int read_texts(struct finding *f, struct output *o, const struct output_tasks *t)
{
	size_t at = 0;
	int r;

	while ((r = output_next(o, &f->line, true)) > 0) {
		f->task = output_task_of(t, f->line.number, &at);
		if (!f->line.begins)
			continue;
		for (size_t i = 0; i < f->to->n; i++) {
			if (f->to->of[i].how != FIRST_ERROR_NONE && (r = add_text(f, &f->to->of[i])) < 0)
				return r;
		}
	}
	return r;
}

/* Which of them the build failed of. */
static int find_whole(struct finding *f, bool failed, uint32_t first)
{
	f->to->whole = f->to->n;
	if (first != NO_INDEX && f->failed_of[first])
		f->to->whole = f->failed_of[first] - 1;
	else if (failed)
		return add_own(f);
	return 0;
}

int first_errors_find(struct first_errors *f, struct output *o, const struct output_tasks *t,
		      const struct summary *s)
{
	const struct recording *rec = s->rec;
	bool failed = s->result == BUILD_FAILED || s->result == BUILD_KILLED;
	uint32_t first = failed ? summary_first_failure(s) : NO_INDEX;
	struct finding w = { .to = f, .rec = rec, .rules = message_rules_used() };
	size_t at = 0;
	int r;

	*f = (struct first_errors){ 0 };
	if (!w.rules)
		return 0;
	f->n_errors = array_new_zero(rec->n_tasks, sizeof *f->n_errors);
	f->n_warnings = array_new_zero(rec->n_tasks, sizeof *f->n_warnings);
	w.failed_of = array_new_zero(rec->n_tasks, sizeof *w.failed_of);
	w.block = array_new_zero(rec->n_tasks + 1, sizeof *w.block);
	w.failed = array_new_zero(FIRST_ERROR_TASKS, sizeof *w.failed);
	r = f->n_errors && f->n_warnings && w.failed_of && w.block && w.failed ? find_failed(&w, s, first) :
		-ENOMEM;
	while (!r && (r = output_next(o, &w.line, true)) > 0) {
		w.task = output_task_of(t, w.line.number, &at);
		r = w.line.begins ? read_line(&w) : 0;
	}
	output_rewind(o);
	if (!r)
		find_others(&w);
	if (!r)
		r = find_whole(&w, failed, first);
	if (!r && f->n)
		r = read_texts(&w, o, t);
	output_rewind(o);
	for (size_t i = 0; w.block && i <= rec->n_tasks; i++)
		buf_release(&w.block[i].file);
	for (size_t i = 0; i < w.n_free; i++) {
		buf_release(&w.free[i].e.file);
		buf_release(&w.free[i].e.message);
	}
	buf_release(&w.text);
	free_all(w.failed_of, w.block, w.failed, w.free);
	return r;
}

void first_errors_release(struct first_errors *f)
{
	for (size_t i = 0; i < f->n; i++) {
		buf_release(&f->of[i].file);
		buf_release(&f->of[i].message);
		buf_release(&f->of[i].text);
	}
	free_all(f->of, f->n_errors, f->n_warnings);
	*f = (struct first_errors){ 0 };
}

const struct first_error *first_error_of(const struct first_errors *f, uint32_t task)
{
	for (size_t i = 0; i < f->n; i++) {
		if (f->of[i].task == task && f->of[i].how != FIRST_ERROR_NONE)
			return &f->of[i];
	}
	return NULL;
}

const struct first_error *first_error_of_build(const struct first_errors *f)
{
	return f->whole < f->n && f->of[f->whole].how != FIRST_ERROR_NONE ? &f->of[f->whole] : NULL;
}
