/* SPDX-License-Identifier: MIT */
#include "base/arena.h"
#include "base/array.h"
#include "base/cursor.h"
#include "base/name_table.h"
#include "convert/builder.h"
#include "convert/converters.h"
#include "convert/infile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * The profiles that `remake --profile` writes, one file for each make, in the format of callgrind.
 * They have the duration of each target's recipe and its prerequisites, but no time at which it
 * ran. Therefore the recipes are placed one after the other; or, if their sum is longer than the
 * whole make, each one as soon as its prerequisites have ended.
 */

#define TARGETS_MAX 50000000

/* One profile of remake: its targets and the prerequisites of each. */

enum state { NEW, OPEN, PLACED };

struct target {
	const char *name;
	int64_t recipe_us;	/* 0: it has no recipe */
	size_t first_need, n_needs;	/* in need */
	enum state state;
	size_t n_seen;
	int64_t start_us, end_us;
	uint32_t task;
	bool hosts;
};

struct profile {
	struct arena *arena;
	const char *version, *command;
	const char *directory;	/* the last part of its makefile's directory, "" if not known */
	int64_t summary_us;
	size_t n_targets;
	struct target *target;
	size_t n_needs;
	uint32_t *need;		/* indices of targets */
	bool parallel, added;
	int64_t from_us;
};

bool callgrind_recognise(const struct convert_file *file)
{
	static const char mark[] = "\ncreator: remake";

	return !file->is_dir && file->len && memmem(file->head, file->len, mark, strlen(mark));
}

/* Parsing */

struct parse {
	struct profile *c;
	const char *path;
	struct error *err;
	struct cursor in;
	struct name_table names;	/* of targets */
	uint32_t current;	/* target the lines are about */
	struct slice makefile;
	bool has_current, is_call;	/* the next line of values is about a call */
	bool has_creator, has_events;
};

static int bad(const struct parse *p, const char *what)
{
	return error_set(p->err, -EINVAL, p->path, p->in.line, 0, "%s", what);
}

static int no_memory(const struct parse *p)
{
	return error_sys(p->err, -ENOMEM, p->path, NULL);
}

static int target_named(struct parse *p, struct slice name, uint32_t *at)
{
	struct profile *c = p->c;
	struct target *t;

	if (name_table_add(&p->names, name, at))
		return no_memory(p);
	if (*at < c->n_targets)
		return 0;
	if (c->n_targets >= TARGETS_MAX)
		return bad(p, "too many targets");
	t = array_add(&c->target, &c->n_targets, sizeof *t);
	if (!t)
		return no_memory(p);
	*t = (struct target){ .name = p->names.name[*at].p };
	return 0;
}

/* All calls of a target follow its first line; in a damaged file a target may come again. */
static int begin_target(struct parse *p, struct slice name)
{
	struct target *t;
	int r;

	if (!name.len)
		return bad(p, "a target without name");
	r = target_named(p, name, &p->current);
	if (r)
		return r;
	t = &p->c->target[p->current];
	if (t->n_needs)
		return bad(p, "duplicate target");
	t->first_need = p->c->n_needs;
	p->has_current = true;
	p->is_call = false;
	return 0;
}

static int add_need(struct parse *p, struct slice name)
{
	struct profile *c = p->c;
	uint32_t *need, other;
	int r;

	if (!p->has_current)
		return bad(p, "a call outside of a target");
	if (!name.len)
		return bad(p, "a call without a target");
	r = target_named(p, name, &other);
	if (r)
		return r;
	if (other == p->current)
		return 0;
	need = array_add(&c->need, &c->n_needs, sizeof *need);
	if (!need)
		return no_memory(p);
	*need = other;
	c->target[p->current].n_needs++;
	return 0;
}

/* "LINE WALL RECIPE", in microseconds: of the target, or of the call in the line before. */
static int add_times(struct parse *p, struct slice line)
{
	struct cursor c;
	uint64_t number[3];
	int n = 0;

	cursor_init(&c, line.p, line.len);
	while (n < 3 && cursor_u64(&c, &number[n])) {
		cursor_blanks(&c);
		n++;
	}
	if (n < 3 || !cursor_at_end(&c) || number[2] > INT64_MAX / 4)
		return bad(p, "expected a line number and two times");
	if (!p->has_current)
		return bad(p, "costs outside of a target");
	if (!p->is_call)
		p->c->target[p->current].recipe_us = (int64_t)number[2];
	p->is_call = false;
	return 0;
}

static bool value_of(struct slice line, const char *key, struct slice *value)
{
	struct cursor c;

	cursor_init(&c, line.p, line.len);
	if (!cursor_literal(&c, key))
		return false;
	while (cursor_byte(&c, ' '))
		;
	*value = (struct slice){ c.p, (size_t)(c.end - c.p) };
	return true;
}

static int add_line(struct parse *p, struct slice line)
{
	struct slice value;

	if (value_of(line, "fn=", &value))
		return begin_target(p, value);
	if (value_of(line, "cfn=", &value))
		return add_need(p, value);
	if (value_of(line, "calls=", &value)) {
		p->is_call = true;
		return 0;
	}
	if (line.len && line.p[0] >= '0' && line.p[0] <= '9')
		return add_times(p, line);
	if (value_of(line, "fl=", &value)) {
		p->makefile = p->makefile.len ? p->makefile : value;
		return 0;
	}
	if (value_of(line, "version:", &value))
		return slice_is(value, "1") ? 0 : bad(p, "not version 1 of the format");
	if (value_of(line, "creator:", &value)) {
		p->has_creator = value_of(value, "remake", &value);
		if (!p->has_creator)
			return bad(p, "not a profile of remake");
		p->c->version = arena_text(p->c->arena, value.p, value.len);
		return p->c->version ? 0 : no_memory(p);
	}
	if (value_of(line, "events:", &value)) {
		p->has_events = slice_is(value, "Wt Rt");
		return p->has_events ? 0 : bad(p, "expected the events Wt and Rt");
	}
	if (value_of(line, "cmd:", &value)) {
		p->c->command = arena_text(p->c->arena, value.p, value.len);
		return p->c->command ? 0 : no_memory(p);
	}
	if (value_of(line, "summary:", &value)) {
		struct cursor c;
		uint64_t n;

		cursor_init(&c, value.p, value.len);
		if (!cursor_u64(&c, &n) || n > INT64_MAX / 4)
			return bad(p, "expected a time");
		p->c->summary_us = (int64_t)n;
	}
	return 0;
}

/* "lib" of "/src/lib/Makefile". */
static const char *last_directory(struct arena *arena, struct slice makefile)
{
	const char *end = makefile.len ? memrchr(makefile.p, '/', makefile.len) : NULL;
	const char *begin;

	if (!end || end == makefile.p)
		return "";
	begin = memrchr(makefile.p, '/', (size_t)(end - makefile.p));
	begin = begin ? begin + 1 : makefile.p;
	return arena_text(arena, begin, (size_t)(end - begin));
}

static int parse_lines(struct parse *p)
{
	struct slice line;
	bool complete;
	int r = 0;

	while (cursor_line(&p->in, &line, &complete)) {
		if (!complete)
			return bad(p, "the file is truncated here");
		r = add_line(p, line);
		if (r)
			return r;
	}
	if (r)
		return r;
	p->in.line = 0;
	if (!p->has_creator || !p->has_events)
		return bad(p, "not a profile of remake");
	p->c->directory = last_directory(p->c->arena, p->makefile);
	return p->c->directory ? 0 : no_memory(p);
}

/* *c is zero before. 0, or a negative errno with err. */
static int read_profile(struct profile *c, const char *path, struct error *err)
{
	struct parse p = { .c = c, .path = path, .err = err };
	struct buf text = BUF_INIT;
	int r = infile_read(&text, path, err);

	if (r)
		goto out;
	p.names.arena = c->arena = arena_new();
	if (c->arena) {
		cursor_init(&p.in, buf_str(&text), text.len);
		r = parse_lines(&p);
	} else {
		r = no_memory(&p);
	}
	name_table_release(&p.names);
out:
	buf_release(&text);
	return r;
}

/* Times of the recipes: prerequisites first. Chains may be long: no recursion. */

struct walk {
	struct target *target;
	uint32_t *stack;
	size_t depth;
	int64_t now_us;		/* of the last that ended */
	bool parallel;
};

static void place_target(struct walk *w, struct target *t, const uint32_t *need)
{
	int64_t start_us = w->parallel ? 0 : w->now_us;

	for (size_t i = 0; w->parallel && i < t->n_needs; i++) {
		const struct target *other = &w->target[need[t->first_need + i]];

		if (other->state == PLACED && other->end_us > start_us)
			start_us = other->end_us;
	}
	t->start_us = start_us;
	t->end_us = start_us + t->recipe_us;
	t->state = PLACED;
	if (t->end_us > w->now_us)
		w->now_us = t->end_us;
}

static void visit(struct walk *w, uint32_t from, const uint32_t *need)
{
	w->stack[w->depth++] = from;
	w->target[from].state = OPEN;
	while (w->depth) {
		struct target *t = &w->target[w->stack[w->depth - 1]];
		uint32_t next;

		if (t->n_seen == t->n_needs) {
			place_target(w, t, need);
			w->depth--;
			continue;
		}
		next = need[t->first_need + t->n_seen++];
		if (w->target[next].state == NEW) {
			w->target[next].state = OPEN;
			w->stack[w->depth++] = next;
		}
	}
}

static int place_all(struct profile *c)
{
	struct walk w = { .target = c->target };
	int64_t sum_us = 0;

	w.stack = array_new_zero(c->n_targets, sizeof *w.stack);
	if (!w.stack)
		return -ENOMEM;
	for (size_t i = 0; i < c->n_targets && sum_us < INT64_MAX / 4; i++)
		sum_us += c->target[i].recipe_us;
	c->parallel = w.parallel = sum_us > c->summary_us + c->summary_us / 20;
	for (size_t i = 0; i < c->n_targets; i++) {
		if (c->target[i].state == NEW)
			visit(&w, (uint32_t)i, c->need);
	}
	free(w.stack);
	return 0;
}

/* Into the recording */

static void add_target(struct builder *b, const struct profile *c, uint32_t instance,
		       struct target *t, int64_t from_us)
{
	struct builder_task task;

	builder_task_init(&task);
	task.name = t->name;
	task.start_us = from_us + t->start_us;
	task.end_us = from_us + t->end_us;
	task.state = TASK_DONE;
	t->task = builder_task(b, instance, &task);
	for (size_t i = 0; i < t->n_needs; i++)
		builder_after(b, t->task, c->target[c->need[t->first_need + i]].name);
}

static void add_make(struct builder *b, struct profile *c, int64_t from_us, uint32_t parent)
{
	uint32_t instance = builder_instance(b, "remake", c->version, c->command, parent);

	for (size_t i = 0; i < c->n_targets; i++) {
		if (c->target[i].recipe_us > 0)
			add_target(b, c, instance, &c->target[i], from_us);
	}
	builder_note(b, instance, NO_INDEX, from_us, c->parallel ?
		     "the times of recipes are not recorded: each is shown as early as possible" :
		     "the times of recipes are not recorded: they are shown one after the other");
	c->from_us = from_us;
	c->added = true;
}

/* The profile of a sub-make does not name the recipe that ran it. We assume the target with the
 * name of the sub-make's directory, if its recipe took at least as long as the sub-make. */
static struct target *find_parent(struct profile *make, size_t n, size_t child,
					    struct profile **in)
{
	struct profile *c = &make[child];

	for (size_t i = 0; i < n; i++) {
		if (i == child || !make[i].added)
			continue;
		for (size_t k = 0; k < make[i].n_targets; k++) {
			struct target *t = &make[i].target[k];

			if (t->recipe_us && t->recipe_us >= c->summary_us && !t->hosts &&
			    !strcmp(t->name, c->directory)) {
				*in = &make[i];
				return t;
			}
		}
	}
	return NULL;
}

/* Add sub-makes below the recipes that ran them. If none is found, they are on the top level. */
static void add_makes(struct builder *b, struct profile *make, size_t n)
{
	bool more = true;

	add_make(b, &make[0], 0, NO_INDEX);
	while (more) {
		more = false;
		for (size_t i = 1; i < n; i++) {
			struct profile *in = NULL;
			struct target *t;

			if (make[i].added)
				continue;
			t = find_parent(make, n, i, &in);
			if (!t)
				continue;
			t->hosts = true;
			add_make(b, &make[i], in->from_us + t->start_us, t->task);
			more = true;
		}
	}
	for (size_t i = 1; i < n; i++) {
		if (!make[i].added)
			add_make(b, &make[i], 0, NO_INDEX);
	}
}

static int build(struct recording *rec, struct profile *make, size_t n, const char *path,
		 struct error *err)
{
	struct builder b;
	int r = 0;

	/* The top-level make is the one that took longest. */
	for (size_t i = 1; i < n; i++) {
		if (make[i].summary_us > make[0].summary_us) {
			struct profile first = make[0];

			make[0] = make[i];
			make[i] = first;
		}
	}
	for (size_t i = 0; !r && i < n; i++)
		r = place_all(&make[i]);
	if (r)
		return error_sys(err, r, path, NULL);
	builder_init(&b, rec, path);
	builder_build(&b, "tool", "remake");
	builder_build(&b, "version", make[0].version);
	builder_build(&b, "command", make[0].command);
	add_makes(&b, make, n);
	return builder_end(&b, 0, path, err);
}

int callgrind_read(struct recording *rec, const char *const *path, size_t n, struct error *err)
{
	struct profile *make = calloc(n, sizeof *make);
	int r = 0;

	if (!make)
		return error_sys(err, -ENOMEM, path[0], NULL);
	for (size_t i = 0; !r && i < n; i++)
		r = read_profile(&make[i], path[i], err);
	if (!r)
		r = build(rec, make, n, path[0], err);
	for (size_t i = 0; i < n; i++) {
		arena_free(make[i].arena);
		free(make[i].target);
		free(make[i].need);
	}
	free(make);
	return r;
}
