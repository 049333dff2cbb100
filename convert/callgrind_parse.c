/* SPDX-License-Identifier: MIT */
#include "base/arena.h"
#include "base/array.h"
#include "base/cursor.h"
#include "base/name_table.h"
#include "convert/callgrind.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TARGETS_MAX 50000000

struct parse {
	struct callgrind *c;
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
	struct callgrind *c = p->c;
	struct callgrind_target *grown;

	if (name_table_add(&p->names, name, at))
		return no_memory(p);
	if (*at < c->n_targets)
		return 0;
	if (c->n_targets >= TARGETS_MAX)
		return bad(p, "too many targets");
	grown = array_grow(c->target, c->n_targets, sizeof *grown);
	if (!grown)
		return no_memory(p);
	c->target = grown;
	grown[c->n_targets++] = (struct callgrind_target){ .name = p->names.name[*at].p };
	return 0;
}

/* All calls of a target follow its first line; in a damaged file a target may come again. */
static int begin_target(struct parse *p, struct slice name)
{
	struct callgrind_target *t;
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
	struct callgrind *c = p->c;
	uint32_t *grown, other;
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
	grown = array_grow(c->need, c->n_needs, sizeof *grown);
	if (!grown)
		return no_memory(p);
	c->need = grown;
	grown[c->n_needs++] = other;
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

	while (!r && cursor_line(&p->in, &line, &complete)) {
		if (!complete)
			return bad(p, "the file is truncated here");
		r = add_line(p, line);
	}
	if (r)
		return r;
	p->in.line = 0;
	if (!p->has_creator || !p->has_events)
		return bad(p, "not a profile of remake");
	p->c->directory = last_directory(p->c->arena, p->makefile);
	return p->c->directory ? 0 : no_memory(p);
}

int callgrind_parse(struct callgrind *c, const char *text, size_t len, const char *path,
		    struct error *err)
{
	struct parse p = { .c = c, .path = path, .err = err };
	int r;

	c->arena = arena_new();
	if (!c->arena)
		return no_memory(&p);
	p.names.arena = c->arena;
	cursor_init(&p.in, text, len);
	r = parse_lines(&p);
	name_table_release(&p.names);
	return r;
}

void callgrind_release(struct callgrind *c)
{
	arena_free(c->arena);
	free(c->target);
	free(c->need);
	*c = (struct callgrind){ 0 };
}
