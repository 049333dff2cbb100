/* SPDX-License-Identifier: MIT */
#include "analyse/first_error.h"

#include "analyse/output_excerpt.h"
#include "analyse/output_says.h"
#include "base/array.h"
#include "base/minmax.h"
#include "base/sort.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define LAST_LINES 8		/* of a task whose message no rule knows */
#define FOLLOWING 3		/* lines behind a short message */
#define FREE_MAX 200		/* messages of no task that are kept */
#define NEAR_US 1000000		/* before a task's end */
#define AROUND 4		/* lines before a report, or between the lines that begin a message and itself */
#define BEFORE_MAX 12		/* lines before a message that belong to it */
#define CHAIN_MAX 16		/* the same with the messages before it */
#define MESSAGE_ENOUGH 200	/* bytes of a message in several lines */

/* A message of no task. */
struct free_message {
	struct first_error e;
	int64_t from_us, to_us;
};

/* Where lines behind a message may have its text. */
enum text_state { TEXT_KNOWN, TEXT_NEXT, TEXT_MORE };

/* The message that the next lines of a task can go on with. */
struct block {
	struct slice tool;	/* empty: none */
	uint64_t first;		/* its first line */
	bool said;		/* its message was there, not only what is before it */
	size_t kept;		/* where it is kept, from 1: message_at() */
	struct slice chain;	/* a message of this tool takes the place `instead`; empty: none */
	size_t instead;
	unsigned lines;		/* behind the message; before it, in a row, those that are not known */
	enum text_state state;
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

/* BitBake prints the log of a failed task with a bar before each line. */
static struct slice without_bar(struct slice s)
{
	if (s.len > 2 && s.p[0] == '|' && s.p[1] == ' ')
		return (struct slice){ s.p + 2, s.len - 2 };
	return s;
}

/* Is the line the command of its task, as make prints it? It may contain anything. */
static bool is_command(const struct recording *rec, uint32_t task, struct slice line)
{
	const char *command = task == NO_INDEX ? "" : recording_command(rec, &rec->task[task]);
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

bool first_error_line(const struct recording *rec, uint32_t task, struct slice line, struct buf *text,
		      struct message_found *found)
{
	const struct message_rules *rules = message_rules_used();

	line = without_bar(output_plain(text, line));
	return rules && message_find(rules, (struct slice){ 0 }, line, found) && found->is < MESSAGE_BEFORE &&
		!is_command(rec, task, line);
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

/* A message of a failed task, by its index, or one of no task behind these. */
static struct first_error *message_at(struct finding *f, size_t i)
{
	return i < f->to->n ? &f->to->of[i] : &f->free[i - f->to->n].e;
}

static void set_message_place(struct first_error *e, const struct message_found *m, struct block *b)
{
	bool of_block = b->tool.len && slice_equal(b->tool, m->tool) && (!b->said || m->line);

	if (m->file.len || !of_block)
		set_place(e, m->file, m->line, m->column);
	else
		set_place(e, (struct slice){ buf_str(&b->file), b->file.len }, m->line ? m->line : b->line,
			  m->line ? m->column : b->column);
}

/* The line of the task that is AROUND lines before this one. */
static uint64_t line_before(const struct finding *f, size_t i)
{
	const struct failed *l = &f->failed[i];
	uint64_t back = MIN(l->n, (uint64_t)AROUND + 1);

	return back ? l->last[(l->n - back) % LAST_LINES] : f->line.number;
}

static void keep_message(struct finding *f, size_t i, const struct message_found *m, struct block *b)
{
	struct first_error *e = message_at(f, i);
	uint64_t number = f->line.number;

	e->vague = m->is == MESSAGE_REPORT && m->whole;
	e->how = m->is == MESSAGE_ERROR ? FIRST_ERROR_FOUND : FIRST_ERROR_REPORT;
	e->tool = m->tool;
	e->line = e->first = e->last = number;
	if (m->is == MESSAGE_REPORT && i < f->to->n)
		e->first = line_before(f, i);
	else if (b->tool.len && !b->said && slice_equal(b->tool, m->tool))
		e->first = MAX(b->first, number - MIN(number, BEFORE_MAX));
	set_message(e, m->text);
	set_message_place(e, m, b);
}

/* What a task wrote says more than that it failed, but not than what killed it, except that an abort()
 * comes after words. */
static bool was_killed(const struct task *t)
{
	return t->state == TASK_KILLED && t->status != SIGABRT;
}

/* Does this report name what failed, and the earlier one of the tool does not? Standard error may have been read before
 * standard output. */
static bool names_more(const struct message_found *m, const struct first_error *earlier)
{
	return earlier->vague && m->is == MESSAGE_REPORT && !m->whole && slice_equal(m->tool, earlier->tool);
}

/* The place for the message of this line, from 1; 0: it is not kept; or a negative errno. */
static ssize_t wanted(struct finding *f, const struct message_found *m, bool own)
{
	const struct task *t = f->task == NO_INDEX ? NULL : &f->rec->task[f->task];
	uint32_t i = t ? f->failed_of[f->task] : 0;
	struct free_message *free;

	if (m->is != MESSAGE_ERROR && m->is != MESSAGE_REPORT)
		return 0;
	if (i) {
		enum first_error_how how = f->to->of[i - 1].how;

		if (names_more(m, &f->to->of[i - 1]))
			return (ssize_t)i;
		return how == FIRST_ERROR_FOUND ||
			(m->is == MESSAGE_REPORT && (how || (own && f->failed[i - 1].n && !was_killed(t)))) ?
			0 : (ssize_t)i;
	}
	if (t && !t->hosts)
		return 0;
	if (f->n_free && names_more(m, &f->free[f->n_free - 1].e))
		return (ssize_t)(f->to->n + f->n_free);
	if (f->n_free == FREE_MAX)
		return 0;
	free = array_add(&f->free, &f->n_free, sizeof *free);
	if (!free)
		return -ENOMEM;
	*free = (struct free_message){ .e = { .task = NO_INDEX }, .from_us = f->line.from_us, .to_us = f->line.to_us };
	return (ssize_t)(f->to->n + f->n_free);
}

static void count(struct finding *f, const struct message_found *m)
{
	bool error = m->is == MESSAGE_ERROR;

	if (!error && m->is != MESSAGE_WARNING)
		return;
	++*(error ? &f->to->all_errors : &f->to->all_warnings);
	if (f->task != NO_INDEX)
		(error ? f->to->n_errors : f->to->n_warnings)[f->task]++;
}

/* The message comes behind another one, which is a part of it then. */
static void keep_instead(struct finding *f, const struct message_found *m, struct block *b)
{
	struct first_error *e = message_at(f, b->instead - 1);
	uint64_t first = e->first, number = f->line.number;

	keep_message(f, b->instead - 1, m, b);
	e->first = MAX(first, number - MIN(number, CHAIN_MAX));
}

static int begin_message(struct finding *f, const struct message_found *m, struct block *b, bool own)
{
	bool same = b->tool.len && slice_equal(b->tool, m->tool);
	bool instead = m->is == MESSAGE_ERROR && b->instead && slice_equal(b->chain, m->tool);
	ssize_t kept = instead ? (ssize_t)b->instead : wanted(f, m, own);

	count(f, m);
	if (instead)
		keep_instead(f, m, b);
	else if (kept > 0)
		keep_message(f, (size_t)kept - 1, m, b);
	if (!same)
		buf_clear(&b->file);
	*b = (struct block){ .tool = m->tool, .said = true, .kept = (size_t)MAX(kept, 0), .file = b->file,
		.chain = m->tool, .state = m->whole ? TEXT_NEXT : TEXT_KNOWN };
	return (int)MIN(kept, 0);
}

/* A line behind the one with the message may have its place or its text. */
static void add_to_message(struct finding *f, const struct message_found *m, struct block *b)
{
	struct first_error *e = b->kept ? message_at(f, b->kept - 1) : NULL;

	b->lines++;
	if (!e)
		return;
	if (!e->file.len && m->file.len)
		set_place(e, m->file, m->line, m->column);
	if (b->state == TEXT_NEXT && !m->whole) {
		set_message(e, m->text);
		b->state = TEXT_MORE;
	} else if (b->state == TEXT_MORE && !m->whole && e->message.len < MESSAGE_ENOUGH) {
		buf_addc(&e->message, ' ');
		buf_add(&e->message, m->text.p, m->text.len);
	} else if (b->state == TEXT_MORE) {
		b->state = TEXT_KNOWN;
	}
	if (m->text.len)
		e->last = f->line.number;
}

/* A line that belongs to a message which comes. */
static void begin_block(struct finding *f, const struct message_found *m, struct block *b)
{
	if (!b->tool.len || b->said || !slice_equal(b->tool, m->tool)) {
		buf_clear(&b->file);
		*b = (struct block){ .tool = m->tool, .first = f->line.number, .file = b->file,
			.chain = b->chain, .instead = b->instead };
	}
	b->lines = 0;
	if (!m->file.len)
		return;
	buf_clear(&b->file);
	buf_add(&b->file, m->file.p, m->file.len);
	b->line = m->line;
	b->column = m->column;
}

/* A line that begins no message. */
static void read_other(struct finding *f, struct block *b, const struct message_found *m,
		      const struct message_found *more)
{
	if (more->tool.len && b->said)
		add_to_message(f, more, b);
	else if (more->tool.len || m->is == MESSAGE_BEFORE)
		begin_block(f, more->tool.len ? more : m, b);
	else if (b->said || ++b->lines > AROUND)
		b->tool.len = 0;
}

static int read_line(struct finding *f)
{
	struct slice text = without_bar(output_plain(&f->text, f->line.text));
	struct block *b = &f->block[f->task == NO_INDEX ? f->rec->n_tasks : f->task];
	uint32_t i = f->task == NO_INDEX ? 0 : f->failed_of[f->task];
	struct message_found m = { 0 }, more = { 0 };
	bool found = message_find(f->rules, b->said ? (struct slice){ 0 } : b->tool, text, &m), own, announcement;

	if (!found && !b->tool.len && !i)
		return 0;
	if (is_command(f->rec, f->task, text)) {
		b->tool.len = 0;
		return 0;
	}
	own = output_is_of_tool(text);
	announcement = output_says(text).what == SAYS_ANNOUNCEMENT;
	if (i && text.len && !own && !announcement)
		f->failed[i - 1].last[f->failed[i - 1].n++ % LAST_LINES] = f->line.number;
	if (b->tool.len && !announcement)
		message_goes_on(f->rules, b->tool, b->state == TEXT_NEXT && !b->lines && !found, text, &more);
	if (found && m.is == MESSAGE_CHAIN && slice_equal(b->chain, m.tool))
		b->instead = b->kept;
	/* a line of a message can look like the first one of another */
	if (found && m.is < MESSAGE_BEFORE && !(more.tool.len && b->said && slice_equal(b->tool, m.tool)))
		return begin_message(f, &m, b, own);
	read_other(f, b, &m, &more);
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

		if (e->how == FIRST_ERROR_FOUND || (e->how && was_killed(&f->rec->task[e->task])))
			continue;
		near = find_near(f, &f->rec->task[e->task]);
		if (near) {
			copy_message(e, near);
			e->while_ran = true;
		} else if (!e->how && l->n) {
			e->how = FIRST_ERROR_LAST;
			e->first = l->last[l->n > LAST_LINES ? l->n % LAST_LINES : 0];
			e->line = e->last = l->last[(l->n - 1) % LAST_LINES];
		}
	}
}

/* What the build tool itself failed of: the first error of no task, otherwise the first report. */
static int add_own(struct finding *f)
{
	const struct first_error *found = NULL;
	struct first_error *e;

	for (size_t i = 0; i < f->n_free && (!found || found->how != FIRST_ERROR_FOUND); i++) {
		if (!found || f->free[i].e.how == FIRST_ERROR_FOUND)
			found = &f->free[i].e;
	}
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

/* The number of the line that many before the next one, or 0. */
static uint64_t number_before(const struct first_error *e, size_t n)
{
	return e->n_lines > n ? e->number[e->n_lines - n] : 0;
}

static void add_text(struct finding *f, struct first_error *e)
{
	const struct output_line *line = &f->line;

	if (line->number < e->first || e->n_lines == FIRST_ERROR_LINES || !is_of(f, e))
		return;
	if (line->number > e->last && (e->how == FIRST_ERROR_LAST || e->last - e->line >= FOLLOWING ||
				       number_before(e, FOLLOWING) > e->last || output_is_of_tool(line->text)))
		return;
	if (e->how == FIRST_ERROR_LAST && (output_is_of_tool(line->text) || is_command(f->rec, f->task, line->text)))
		return;
	e->number[e->n_lines++] = line->number;
	output_excerpt_text(&e->text, line->text);
	if (e->how == FIRST_ERROR_LAST && line->number == e->last)
		set_message(e, without_bar(output_plain(&f->text, line->text)));
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
			if (f->to->of[i].how != FIRST_ERROR_NONE)
				add_text(f, &f->to->of[i]);
		}
	}
	return r;
}

/* Which of them the build failed of. */
static int find_whole(struct finding *f, bool failed, uint32_t first)
{
	uint32_t i = first == NO_INDEX ? 0 : f->failed_of[first];
	bool known = i && f->to->of[i - 1].how;

	f->to->whole = known ? i - 1 : f->to->n;
	return known || !failed ? 0 : add_own(f);
}

static int fault(const struct first_error *e)
{
	int r = buf_error(&e->file);

	if (!r)
		r = buf_error(&e->message);
	return r ? r : buf_error(&e->text);
}

/* Was there memory for all texts? 0 or -ENOMEM. */
static int find_fault(const struct finding *f)
{
	int r = buf_error(&f->text);

	for (size_t i = 0; i < f->rec->n_tasks + 1 && !r; i++)
		r = buf_error(&f->block[i].file);
	for (size_t i = 0; i < f->n_free && !r; i++)
		r = fault(&f->free[i].e);
	for (size_t i = 0; i < f->to->n && !r; i++)
		r = fault(&f->to->of[i]);
	return r;
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
		return -ENOMEM;
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
	if (!r)
		r = find_fault(&w);
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
