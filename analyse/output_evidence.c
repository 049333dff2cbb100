/* SPDX-License-Identifier: MIT */
#include "analyse/output_evidence.h"

#include "analyse/output_named.h"
#include "analyse/output_says.h"
#include "base/array.h"
#include "base/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * gcc and rustc write a message and its piece of source at once, so the piece belongs to the message
 * above it. Others write in pieces, between which another task can write: a piece of source has no
 * task while a message of another one may lack its own.
 */

#define COMMANDS 1024		/* that are kept */
#define ANSWERS 256
#define TEXT_MAX 4096		/* of a line that are read */
#define LAST_MAX 200
#define NEAR 3			/* lines of source between a message and its piece */
#define FAR 10			/* lines between it and the other messages */
#define SKELETON_LEAST 4	/* a shorter announcement shows nothing */

struct evidence_answer {
	uint64_t generation, key;
	uint32_t task;
	bool named;		/* any command may name the file */
};

/* Which command names a file */

static struct output_named *command_of(struct output_evidence *e, uint32_t task)
{
	struct output_named *c = &e->command[task % COMMANDS];

	if (c->filled && c->task == task)
		return c;
	output_named_fill(c, e->rec, task);
	return c;
}

/* Python prints the whole path of a file in the directory of the task. */
static bool is_below(const struct output_evidence *e, uint32_t task, struct slice path, struct slice *below)
{
	const char *cwd = e->rec->instance[e->rec->task[task].instance].cwd;
	size_t len = cwd ? strlen(cwd) : 0;

	if (!len || path.len < len + 2 || memcmp(path.p, cwd, len) || path.p[len] != '/')
		return false;
	*below = (struct slice){ path.p + len + 1, path.len - len - 1 };
	return true;
}

static bool contains(struct output_named *c, const struct buf *text)
{
	const struct buf *b = output_named_skeleton(c);

	return c->unsure || (b->len && memmem(b->data, b->len, text->data, text->len));
}

/* The task that alone names the file, or NO_INDEX. said: if several do, the one whose command has this
 * text, too. named: any may name it. */
static uint32_t find_task(struct output_evidence *e, struct slice path, enum says what, bool linker,
			  const struct buf *said, bool *named)
{
	uint32_t found = NO_INDEX, saying = NO_INDEX;
	size_t n = 0, n_saying = 0;

	for (size_t i = 0; i < e->n; i++) {
		struct output_named *c = command_of(e, e->candidate[i]);
		enum naming naming;
		struct slice below;

		if (linker && c->compiles)
			continue;
		naming = output_naming(c, path);
		if (what == SAYS_FRAME && naming != NAMED && is_below(e, c->task, path, &below))
			naming = output_naming(c, below);
		if (naming == NOT_NAMED)
			continue;
		n++;
		found = naming == NAMED ? c->task : NO_INDEX;
		if (said && said->len >= SKELETON_LEAST &&
		    contains(c, said)) {
			n_saying++;
			saying = c->unsure ? NO_INDEX : c->task;
		}
	}
	*named = n;
	if (n_saying == 1)
		return saying;
	return n == 1 ? found : NO_INDEX;
}

static uint32_t task_of_file(struct output_evidence *e, const struct output_saying *s, bool *named)
{
	struct slice path = output_named_path(s->path);
	struct evidence_answer *a;
	uint64_t key;

	key = hash_bytes(s->linker + 2 * (s->what == SAYS_FRAME), path.p, path.len);
	a = &e->answer[key % ANSWERS];
	if (a->generation != e->generation || a->key != key) {
		*a = (struct evidence_answer){ .generation = e->generation, .key = key };
		a->task = find_task(e, path, s->what, s->linker, NULL, &a->named);
	}
	*named = a->named;
	return a->task;
}

/* Whose piece of source it is */

static bool is_candidate(const struct output_evidence *e, uint32_t task)
{
	for (size_t i = 0; i < e->n; i++) {
		if (e->candidate[i] == task)
			return true;
	}
	return false;
}

/* A message that begins replaces the one before of its task, whose source has been written or never comes. */
static void open_message(struct output_evidence *e, const struct output_line *line,
			 const struct output_saying *s, uint32_t task)
{
	struct evidence_open *o = e->open, *end = o + e->n_open;

	while (o < end && (task == NO_INDEX || o->task != task))
		o++;
	if (o == end && e->n_open == EVIDENCE_OPEN) {
		e->crowded_us = line->to_us;
		return;
	}
	e->n_open += o == end;
	*o = (struct evidence_open){ .task = task, .says = (uint8_t)s->what, .line = s->line,
				     .column = s->column, .us = line->to_us };
}

static void close_message(struct output_evidence *e, uint32_t task)
{
	size_t n = 0;

	for (size_t i = 0; i < e->n_open; i++) {
		if (e->open[i].task != task)
			e->open[n++] = e->open[i];
	}
	e->n_open = n;
}

static bool is_open(const struct output_evidence *e, int64_t us)
{
	for (size_t i = 0; i < e->n; i++) {
		if (e->rec->task[e->candidate[i]].start_us <= us)
			return true;
	}
	return false;
}

/* Those of tasks that have ended need no more. */
static void close_ended(struct output_evidence *e)
{
	size_t n = 0;

	for (size_t i = 0; i < e->n_open; i++) {
		const struct evidence_open *o = &e->open[i];

		if (o->task == NO_INDEX ? is_open(e, o->us) : is_candidate(e, o->task))
			e->open[n++] = *o;
	}
	e->n_open = n;
	if (!is_open(e, e->crowded_us))
		e->crowded_us = -1;
}

static struct evidence_open *open_of(struct output_evidence *e)
{
	for (size_t i = 0; i < e->n_open; i++) {
		if (e->open[i].task == e->owner)
			return &e->open[i];
	}
	return NULL;
}

enum lacks { LACKS_MESSAGE, LACKS_SOURCE, LACKS_FRAME, LACKS_SYMBOL };

static enum lacks lacks_of(const struct evidence_open *o)
{
	return o->says == SAYS_INCLUDE || o->says == SAYS_FUNCTION ? LACKS_MESSAGE :
		o->says == SAYS_FRAME ? LACKS_FRAME :
		o->says == SAYS_LINKER ? LACKS_SYMBOL : LACKS_SOURCE;
}

/* Can the line be of the owner, and does no other message lack such a line. */
static bool is_alone(const struct output_evidence *e, enum lacks what)
{
	if (e->crowded_us >= 0 || !is_candidate(e, e->owner))
		return false;
	for (size_t i = 0; i < e->n_open; i++) {
		if (e->open[i].task != e->owner && lacks_of(&e->open[i]) == what)
			return false;
	}
	return true;
}

static bool is_near(uint64_t a, uint64_t b, uint64_t distance)
{
	return a > b ? a - b <= distance : b - a <= distance;
}

/* A piece of source begins or goes on with this line. Others of which it could be are far from it. */
static bool is_source_of(const struct output_evidence *e, const struct evidence_open *own, uint64_t number)
{
	bool numbered = number != 0;

	if (is_alone(e, LACKS_SOURCE))
		return true;
	if (e->crowded_us >= 0 || !own || !is_candidate(e, e->owner) ||
	    (numbered ? !is_near(number, own->line, NEAR) : !own->half))
		return false;
	for (size_t i = 0; i < e->n_open; i++) {
		const struct evidence_open *o = &e->open[i];

		if (o != own && lacks_of(o) == LACKS_SOURCE &&
		    (numbered ? !o->line || is_near(number, o->line, FAR) : o->half || o->task == NO_INDEX))
			return false;
	}
	return true;
}

/* Is the "^" in the column of the owner's message alone. */
static bool is_caret_of(const struct output_evidence *e, const struct evidence_open *own, uint64_t column)
{
	if (!own || (own->column && own->column != column))
		return false;
	if (is_alone(e, LACKS_SOURCE))
		return true;
	if (e->crowded_us >= 0 || !is_candidate(e, e->owner) || !own->column)
		return false;
	for (size_t i = 0; i < e->n_open; i++) {
		const struct evidence_open *o = &e->open[i];

		if (o != own && lacks_of(o) == LACKS_SOURCE && (!o->column || o->column == column))
			return false;
	}
	return true;
}

static bool in_same_read(const struct output_evidence *e, const struct output_line *line)
{
	return line->from_us == e->from_us && line->to_us == e->to_us;
}

/* "   12 | int x;", "      |   ^", "  +++ |+int x;" */
static bool is_margin(struct slice text, uint64_t *number, bool *begins)
{
	struct cursor c;

	cursor_init(&c, text.p, text.len);
	cursor_blanks(&c);
	*number = 0;
	*begins = cursor_u64(&c, number) || cursor_literal(&c, "+++");
	cursor_blanks(&c);
	return cursor_byte(&c, '|');
}

/* The "^" below a source line: its index, or -1. */
static int64_t caret_of(struct slice text)
{
	const char *caret = memchr(text.p, '^', text.len);

	if (!caret)
		return -1;
	for (size_t i = 0; i < text.len; i++) {
		if (!strchr(" \t~^", text.p[i]) || !text.p[i])
			return -1;
	}
	return caret - text.p;
}

/* "NameError: name 'x' is not defined" */
static bool is_exception(struct slice text)
{
	static const char *const ends[] = { "Error", "Exception", "Exit", "Interrupt", "Warning" };
	const char *colon = memchr(text.p, ':', text.len);
	size_t len = colon ? (size_t)(colon - text.p) : text.len;

	if (memchr(text.p, ' ', len))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		size_t n = strlen(ends[i]);

		if (len >= n && !memcmp(text.p + len - n, ends[i], n))
			return true;
	}
	return false;
}

/* "error[E0425]: cannot find value" of rustc, above the place */
static bool is_title(struct slice text)
{
	struct cursor c;

	cursor_init(&c, text.p, text.len);
	return (cursor_literal(&c, "error") || cursor_literal(&c, "warning")) &&
		(cursor_byte(&c, '[') || cursor_byte(&c, ':'));
}

static uint32_t keep(struct output_evidence *e, enum evidence_state state)
{
	e->state = state;
	return e->owner;
}

static uint32_t continue_margin(struct output_evidence *e, uint64_t number, bool begins)
{
	bool fits = e->state == EVIDENCE_MARGIN || e->state == EVIDENCE_ARROW ||
		(e->state == EVIDENCE_MESSAGE && begins);
	struct evidence_open *own = open_of(e);

	/* a message of an unknown task has its source now */
	if (e->state == EVIDENCE_UNKNOWN && !begins && e->n_open && e->open[e->n_open - 1].task == NO_INDEX)
		e->n_open--;
	if (e->state == EVIDENCE_UNKNOWN && begins)
		return NO_INDEX;
	if (!fits || !is_source_of(e, own, number)) {
		e->state = EVIDENCE_NONE;
		return NO_INDEX;
	}
	if (begins && own)
		own->half = true;
	else if (!begins && own && own->half)
		close_message(e, e->owner);
	return keep(e, EVIDENCE_MARGIN);
}

static uint32_t continue_frame(struct output_evidence *e, struct slice text)
{
	if (!is_alone(e, LACKS_FRAME) || !text.len)
		return NO_INDEX;
	if (text.len > 4 && !memcmp(text.p, "    ", 4))
		return keep(e, EVIDENCE_FRAME);
	return is_exception(text) ? keep(e, EVIDENCE_NONE) : NO_INDEX;
}

/* A line that names no file. */
static uint32_t continue_message(struct output_evidence *e, const struct output_line *line,
				 struct slice text, bool *before)
{
	enum evidence_state state = e->state;
	uint32_t task = NO_INDEX;
	struct cursor c;
	uint64_t number;
	int64_t caret;
	bool begins;

	if (is_title(text)) {
		e->state = EVIDENCE_TITLE;
		return NO_INDEX;
	}
	if (state == EVIDENCE_NONE || state == EVIDENCE_TITLE) {
		e->state = EVIDENCE_NONE;
		return NO_INDEX;
	}
	if (is_margin(text, &number, &begins))
		return continue_margin(e, number, begins);
	e->state = EVIDENCE_NONE;
	cursor_init(&c, text.p, text.len);
	cursor_blanks(&c);
	if (state == EVIDENCE_MARGIN && (cursor_literal(&c, "= note: ") || cursor_literal(&c, "= help: ")))
		return is_alone(e, LACKS_SOURCE) ? keep(e, EVIDENCE_MARGIN) : NO_INDEX;
	if (state == EVIDENCE_INCLUDE && c.p > text.p && cursor_literal(&c, "from "))
		return is_alone(e, LACKS_MESSAGE) ? keep(e, EVIDENCE_INCLUDE) : NO_INDEX;
	if (!in_same_read(e, line))
		return NO_INDEX;
	if (state == EVIDENCE_FRAME)
		return continue_frame(e, text);
	if (state == EVIDENCE_MESSAGE) {
		e->state = EVIDENCE_SOURCE;
		e->source_len = text.len;
		return NO_INDEX;
	}
	if (state != EVIDENCE_SOURCE)
		return NO_INDEX;
	caret = caret_of(text);
	if (caret >= 0 && (size_t)caret <= e->source_len &&
	    is_caret_of(e, open_of(e), (uint64_t)caret + 1)) {
		*before = true;
		close_message(e, e->owner);
		task = keep(e, EVIDENCE_NONE);
	}
	return task;
}

/* Lines that name a file */

/* The line before whose task is known otherwise may have begun a message. */
static void open_last_known(struct output_evidence *e, const struct output_line *line)
{
	struct slice text = { e->last.data, e->last.len };
	struct output_saying s;

	if (e->last_known == NO_INDEX || !is_candidate(e, e->last_known))
		return;
	s = output_says(text);
	if (s.what != SAYS_NOTHING && s.what != SAYS_ANNOUNCEMENT)
		open_message(e, line, &s, e->last_known);
	e->last_known = NO_INDEX;
}

static uint32_t begin_message(struct output_evidence *e, const struct output_line *line,
			      const struct output_saying *s, uint32_t task, enum evidence_state state)
{
	e->owner = task;
	e->state = task == NO_INDEX ? EVIDENCE_UNKNOWN : state;
	open_last_known(e, line);
	if (state != EVIDENCE_FUNCTION && (state == EVIDENCE_LINKER || !s->linker))
		open_message(e, line, s, task);
	else if (task != NO_INDEX)
		close_message(e, task);
	return task;
}

static uint32_t task_of_saying(struct output_evidence *e, const struct output_line *line,
			       const struct output_saying *s, bool *before)
{
	static const enum evidence_state states[] = {
		[SAYS_MESSAGE] = EVIDENCE_MESSAGE, [SAYS_FUNCTION] = EVIDENCE_FUNCTION,
		[SAYS_INCLUDE] = EVIDENCE_INCLUDE, [SAYS_ARROW] = EVIDENCE_ARROW,
		[SAYS_LINKER] = EVIDENCE_LINKER, [SAYS_FRAME] = EVIDENCE_FRAME,
	};
	enum evidence_state was = e->state, state = states[s->what];
	bool named, same = in_same_read(e, line);
	uint32_t task = task_of_file(e, s, &named);

	/* no command names a header */
	if (!named && was == EVIDENCE_INCLUDE && (s->what == SAYS_MESSAGE || s->what == SAYS_FUNCTION) &&
	    is_alone(e, LACKS_MESSAGE))
		task = e->owner;
	if (!named && was == EVIDENCE_LINKER && s->linker && same && is_alone(e, LACKS_SYMBOL))
		task = e->owner;
	if (!named && was == EVIDENCE_FRAME && s->what == SAYS_FRAME && same && is_alone(e, LACKS_FRAME))
		task = e->owner;
	if (s->what == SAYS_FUNCTION && !named)
		state = EVIDENCE_INCLUDE;	/* its message is about the header, too */
	if (was == EVIDENCE_LINKER && s->linker)
		state = EVIDENCE_LINKER;
	*before = task != NO_INDEX && was == EVIDENCE_TITLE && s->what == SAYS_ARROW && same;
	return begin_message(e, line, s, task, state);
}

/* That of the target. If no candidate makes it, the one whose command names it. */
static uint32_t task_of_announcement(struct output_evidence *e, struct slice text, struct slice path)
{
	const char *percent = *text.p == '[' ? memchr(text.p, ']', text.len) : NULL;
	const char *from = percent ? percent + 1 : text.p;
	uint32_t found = NO_INDEX;
	size_t n = 0;
	bool named;

	e->state = EVIDENCE_NONE;
	for (size_t i = 0; i < e->n; i++) {
		if (slice_is(path, e->rec->task[e->candidate[i]].name)) {
			found = e->candidate[i];
			n++;
		}
	}
	if (n == 1)
		return found;
	buf_clear(&e->skeleton);
	output_add_skeleton(&e->skeleton, from, (size_t)(text.p + text.len - from));
	return buf_error(&e->skeleton) ? NO_INDEX :
		find_task(e, output_named_path(path), SAYS_ANNOUNCEMENT, false, &e->skeleton, &named);
}

static bool has_name(struct slice text, const char *name)
{
	size_t len = strlen(name);
	const char *end = text.p + text.len;

	for (const char *p = text.p; len && (p = memmem(p, (size_t)(end - p), name, len)); p++) {
		if ((p == text.p || p[-1] == ' ') && (p + len == end || strchr(" .:,", p[len])))
			return true;
	}
	return false;
}

static bool is_echo(const struct output_evidence *e, uint32_t task)
{
	return !strcmp(e->rec->task[task].program, "echo");
}

/* What exactly one `echo` prints, with the name of its target, and no other command contains. */
static uint32_t task_of_echo(struct output_evidence *e, struct slice text)
{
	uint32_t found = NO_INDEX;
	uint64_t hash;

	if (!e->echoes)
		return NO_INDEX;
	buf_clear(&e->skeleton);
	output_add_skeleton(&e->skeleton, text.p, text.len);
	if (buf_error(&e->skeleton) || e->skeleton.len < SKELETON_LEAST)
		return NO_INDEX;
	hash = hash_bytes(0, e->skeleton.data, e->skeleton.len);
	for (size_t i = 0; i < e->n && found == NO_INDEX; i++) {
		struct output_named *c = is_echo(e, e->candidate[i]) ? command_of(e, e->candidate[i]) : NULL;

		if (c && c->echo && output_named_echo(c) == hash && has_name(text, e->rec->task[c->task].name))
			found = c->task;
	}
	for (size_t i = 0; i < e->n && found != NO_INDEX; i++) {
		if (e->candidate[i] != found && contains(command_of(e, e->candidate[i]), &e->skeleton))
			found = NO_INDEX;
	}
	return found;
}

/* Without colours. One with a carriage return may be of several. */
static bool read_plain(struct output_evidence *e, struct slice *text)
{
	if (text->len && text->p[text->len - 1] == '\r')
		text->len--;
	text->len = text->len < TEXT_MAX ? text->len : TEXT_MAX;
	if (memchr(text->p, '\r', text->len))
		return false;
	*text = output_plain(&e->plain, *text);
	return !buf_error(&e->plain);
}

uint32_t output_evidence_task(struct output_evidence *e, const struct output_line *line, bool *before)
{
	struct slice text = line->text;
	struct output_saying s;
	uint32_t task;

	*before = false;
	if (!e->n || !line->ends || !read_plain(e, &text)) {
		e->state = EVIDENCE_NONE;
		return NO_INDEX;
	}
	s = output_says(text);
	if (s.what == SAYS_ANNOUNCEMENT)
		task = task_of_announcement(e, text, s.path);
	else if (s.what != SAYS_NOTHING)
		task = task_of_saying(e, line, &s, before);
	else
		task = continue_message(e, line, text, before);
	if (task == NO_INDEX && (s.what == SAYS_NOTHING || s.what == SAYS_ANNOUNCEMENT)) {
		task = task_of_echo(e, text);
		if (task != NO_INDEX)
			e->state = EVIDENCE_NONE;
	}
	e->from_us = line->from_us;
	e->to_us = line->to_us;
	return task;
}

void output_evidence_known(struct output_evidence *e, const struct output_line *line, uint32_t task)
{
	e->state = EVIDENCE_NONE;
	e->last_known = task;
	if (task == NO_INDEX)
		return;
	buf_clear(&e->last);
	buf_add(&e->last, line->text.p, line->text.len < LAST_MAX ? line->text.len : LAST_MAX);
}

void output_evidence_candidates(struct output_evidence *e, const uint32_t *task, size_t n)
{
	e->n = n <= EVIDENCE_CANDIDATES ? n : 0;
	if (e->n)
		memcpy(e->candidate, task, n * sizeof *task);
	e->generation++;
	e->echoes = false;
	for (size_t i = 0; i < e->n; i++)
		e->echoes |= is_echo(e, e->candidate[i]);
	close_ended(e);
}

int output_evidence_init(struct output_evidence *e, const struct recording *rec)
{
	*e = (struct output_evidence){ .rec = rec, .owner = NO_INDEX, .last_known = NO_INDEX,
				       .crowded_us = -1 };
	e->command = array_new_zero(COMMANDS, sizeof *e->command);
	e->answer = array_new_zero(ANSWERS, sizeof *e->answer);
	return e->command && e->answer ? 0 : -ENOMEM;
}

void output_evidence_release(struct output_evidence *e)
{
	for (size_t i = 0; e->command && i < COMMANDS; i++)
		output_named_release(&e->command[i]);
	free_all(e->command, e->answer);
	buf_release(&e->plain);
	buf_release(&e->last);
	buf_release(&e->skeleton);
}
