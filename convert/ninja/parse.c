/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "convert/ninja/build.h"

#include "base/arena.h"
#include "convert/ninja/build_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 16		/* of files in one another */
#define FILES_MAX 20000

struct parser {
	struct ninja_build *n;
	const struct parser *outer;	/* of the file that includes this one, NULL: none does */
	uint32_t file;			/* number of its path */
	const char *start;
	struct cursor c;
	uint32_t scope;
	unsigned depth;
};

/* Paths */

/* Nothing in it that could make it another. */
static bool is_plain(struct slice s)
{
	const char *end = s.p + s.len, *p = s.p;

	if (!s.len || *p == '.' || end[-1] == '/')
		return false;
	while ((p = memchr(p, '/', (size_t)(end - p)))) {
		p++;
		if (*p == '/' || *p == '.')
			return false;
	}
	return true;
}

/* As ninja, removes "./", "a/../" and "//" from a path in place. The new length. */
static size_t plain_path(char *p, size_t len)
{
	size_t root = len && *p == '/', to = root, names = 0;

	for (size_t at = root, next; at < len; at = next + 1) {
		const char *slash = memchr(p + at, '/', len - at);
		size_t n;

		next = slash ? (size_t)(slash - p) : len;
		n = next - at;
		if (!n || (n == 1 && p[at] == '.'))
			continue;
		if (n == 2 && p[at] == '.' && p[at + 1] == '.' && names) {
			names--;
			for (to--; to > root && p[to - 1] != '/'; to--)
				;
			continue;
		}
		names += !(n == 2 && p[at] == '.' && p[at + 1] == '.');
		memmove(p + to, p + at, n);
		to += n;
		if (to < len)
			p[to] = '/';
		to++;
	}
	if (to > root)
		to--;
	if (!to)
		p[to++] = '.';
	return to;
}

static uint32_t path_number(struct ninja_build *n, struct slice path)
{
	char *copy;

	if (!is_plain(path)) {
		copy = arena_text(n->arena, path.p, path.len);
		if (!copy)
			return NO_TEXT;
		path = (struct slice){ copy, plain_path(copy, path.len) };
	}
	return text_table_add(&n->path, path);
}

static void add_path(struct ninja_build *n, struct slice path)
{
	uint32_t *grown = array_grow(n->paths, n->n_paths, sizeof *grown);
	uint32_t number = grown ? path_number(n, path) : NO_TEXT;

	if (grown)
		n->paths = grown;
	if (number == NO_TEXT || n->n_paths == UINT32_MAX - 1)
		n->no_memory = true;
	else
		grown[n->n_paths++] = number;
}

/* Lines */

/* Of lines that end with a $ the next is a part. */
static bool goes_on(const char *start, const char *end)
{
	size_t n = 0;

	while (end - n > start && end[-1 - (ptrdiff_t)n] == '$')
		n++;
	return n % 2;
}

/* All of it, without the end of the last. */
static struct slice whole_line(struct cursor *c)
{
	const char *start = c->p;

	for (const char *p = start;;) {
		const char *newline = memchr(p, '\n', (size_t)(c->end - p));
		const char *end = newline ? newline : c->end;

		if (end > start && end[-1] == '\r')
			end--;
		c->p = newline ? newline + 1 : c->end;
		if (!newline || !goes_on(start, end))
			return (struct slice){ start, (size_t)(end - start) };
		p = c->p;
	}
}

/* Blanks, and ends of lines that go on. */
static void skip(struct cursor *c)
{
	while (c->p < c->end) {
		size_t left = (size_t)(c->end - c->p);

		if (*c->p == ' ' || *c->p == '\t')
			c->p++;
		else if (left > 1 && !memcmp(c->p, "$\n", 2))
			c->p += 2;
		else if (left > 2 && !memcmp(c->p, "$\r\n", 3))
			c->p += 3;
		else
			return;
	}
}

/* A line that says nothing, passed: a comment never goes on. */
static bool skip_comment(struct cursor *c)
{
	const char *p = c->p;
	const char *newline;

	while (p < c->end && *p == ' ')
		p++;
	if (p == c->end || *p != '#')
		return false;
	newline = memchr(p, '\n', (size_t)(c->end - p));
	c->p = newline ? newline + 1 : c->end;
	return true;
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '-' || c == '.';
}

/* A word, and the blanks behind it. */
static struct slice word(struct cursor *c)
{
	const char *start = c->p;
	struct slice w;

	while (c->p < c->end && is_word(*c->p))
		c->p++;
	w = (struct slice){ start, (size_t)(c->p - start) };
	skip(c);
	return w;
}

static struct cursor inside(struct slice text)
{
	struct cursor c;

	cursor_init(&c, text.p, text.len);
	return c;
}

/* "name = value" */
static bool read_let(struct cursor *line, struct slice *name, struct slice *value)
{
	skip(line);
	*name = word(line);
	if (!name->len || !cursor_byte(line, '='))
		return false;
	skip(line);
	*value = (struct slice){ line->p, (size_t)(line->end - line->p) };
	return true;
}

/* The next indented line of a block; one that is not understood is passed. */
static bool next_let(struct parser *p, struct slice *name, struct slice *value)
{
	while (!cursor_at_end(&p->c)) {
		struct slice text;
		struct cursor line;

		if (skip_comment(&p->c))
			continue;
		if (*p->c.p != ' ' && *p->c.p != '\t')
			return false;
		text = whole_line(&p->c);
		line = inside(text);
		if (read_let(&line, name, value))
			return true;
		if (cursor_at_end(&line))
			return false;	/* blank */
	}
	return false;
}

static uint32_t name_number(struct ninja_build *n, struct slice name)
{
	uint32_t number = text_table_add(&n->name, name);

	if (number == NO_TEXT)
		n->no_memory = true;
	return number;
}

static struct ninja_binding *add_binding(struct ninja_build *n, struct slice name)
{
	struct ninja_binding *grown = array_grow(n->binding, n->n_bindings, sizeof *grown);

	if (!grown || n->n_bindings == UINT32_MAX - 1) {
		n->no_memory = true;
		return NULL;
	}
	n->binding = grown;
	grown[n->n_bindings] = (struct ninja_binding){ .name = name_number(n, name) };
	return &grown[n->n_bindings++];
}

/* Rules */

static void add_part(struct ninja_build *n, struct slice text, bool variable)
{
	struct ninja_part *grown = array_grow(n->part, n->n_parts, sizeof *grown);

	if (!grown || n->n_parts == UINT32_MAX - 1) {
		n->no_memory = true;
		return;
	}
	n->part = grown;
	grown[n->n_parts++] = (struct ninja_part){ text,
		variable ? name_number(n, text) : NO_TEXT };
}

static void add_parts(struct ninja_build *n, struct ninja_binding *b, struct slice value)
{
	struct cursor c = inside(value);
	struct slice text;
	bool variable;

	b->first_part = n->n_parts;
	while (ninja_next_part(&c, &text, &variable))
		add_part(n, text, variable);
	b->n = (uint32_t)(n->n_parts - b->first_part);
}

static void parse_rule(struct parser *p, struct cursor *line)
{
	struct ninja_build *n = p->n;
	struct ninja_rule rule = { .first_binding = (uint32_t)n->n_bindings };
	struct slice name = word(line), key, value;
	struct ninja_binding *b;
	struct ninja_rule *grown;

	while (next_let(p, &key, &value)) {
		b = add_binding(n, key);
		if (b)
			add_parts(n, b, value);
	}
	rule.n_bindings = (uint32_t)n->n_bindings - rule.first_binding;
	rule.name = name_number(n, name);
	grown = array_grow(n->rule, n->n_rules, sizeof *grown);
	if (grown)
		n->rule = grown;
	if (!name.len || !grown ||
	    index_put(&n->rules, p->scope, rule.name, (uint32_t)n->n_rules)) {
		n->no_memory |= name.len > 0;
		return;
	}
	grown[n->n_rules++] = rule;
}

/* Without a command if there is none of the name. */
static uint32_t find_rule(const struct ninja_build *n, uint32_t scope, struct slice name)
{
	uint32_t id = text_table_find(&n->name, name), rule;

	for (; id != NO_TEXT && scope != NO_SCOPE; scope = n->parent[scope]) {
		if (index_find(&n->rules, scope, id, &rule))
			return rule;
	}
	return RULE_PHONY;
}

/* Edges */

/* A path as it is written: up to a blank, a colon or a bar. */
static struct slice read_path(struct cursor *c)
{
	const char *start;

	skip(c);
	start = c->p;
	while (c->p < c->end && *c->p != ' ' && *c->p != ':' && *c->p != '|') {
		if (*c->p++ != '$' || c->p == c->end)
			continue;
		if (*c->p == '\r' && c->end - c->p > 1)
			c->p++;
		if (*c->p++ == '\n')
			while (c->p < c->end && *c->p == ' ')
				c->p++;
	}
	return (struct slice){ start, (size_t)(c->p - start) };
}

static uint32_t read_paths(struct parser *p, const struct ninja_edge *e, struct cursor *line)
{
	struct ninja_build *n = p->n;
	size_t before = n->n_paths;
	struct slice path;

	while ((path = read_path(line)).len) {
		path = ninja_evaluate(n, path, p->scope,
				      e->n_bindings ? n->binding + e->first_binding : NULL,
				      e->n_bindings);
		if (path.len)
			add_path(n, path);
	}
	return (uint32_t)(n->n_paths - before);
}

static void read_edge_lets(struct parser *p, struct ninja_edge *e)
{
	struct ninja_build *n = p->n;
	struct slice name, value;
	struct ninja_binding *b;

	e->first_binding = (uint32_t)n->n_bindings;
	while (next_let(p, &name, &value)) {
		b = add_binding(n, name);
		value = ninja_evaluate(n, value, p->scope, NULL, 0);
		if (b) {
			b->value = value.p;
			b->n = (uint32_t)value.len;
		}
	}
	e->n_bindings = (uint32_t)n->n_bindings - e->first_binding;
}

/* "|", but neither "||" nor "|@". */
static bool single_bar(struct cursor *c)
{
	if (c->end - c->p > 1 && (c->p[1] == '|' || c->p[1] == '@'))
		return false;
	return cursor_byte(c, '|');
}

static void parse_build(struct parser *p, struct cursor *line)
{
	struct ninja_build *n = p->n;
	struct ninja_edge e = { .scope = p->scope, .first_path = (uint32_t)n->n_paths };
	struct ninja_edge *grown;

	read_edge_lets(p, &e);
	e.n_out = read_paths(p, &e, line);
	if (single_bar(line))
		e.n_implicit_out = read_paths(p, &e, line);
	if (!e.n_out && e.n_implicit_out) {
		e.n_out = e.n_implicit_out;
		e.n_implicit_out = 0;
	}
	grown = array_grow(n->edge, n->n_edges, sizeof *grown);
	if (grown)
		n->edge = grown;
	else
		n->no_memory = true;
	if (!grown || !e.n_out || !cursor_byte(line, ':')) {
		n->n_paths = e.first_path;
		return;
	}
	skip(line);
	e.rule = find_rule(n, p->scope, word(line));
	e.n_in = read_paths(p, &e, line);
	if (single_bar(line))
		e.n_implicit_in = read_paths(p, &e, line);
	if (cursor_literal(line, "||"))
		e.n_order_only = read_paths(p, &e, line);
	grown[n->n_edges++] = e;
}

/* The rest of the file */

static int parse_file(struct ninja_build *n, const struct parser *outer, struct slice file,
		      uint32_t scope, struct error *err);

/* Keep the first error of an include: the caller of ninja_build_read() can report it. */
static void note_skipped(struct parser *p, struct slice path, const char *at,
			 const struct error *err)
{
	struct slice file = p->n->path.text[p->file];
	char name[sizeof err->path];
	unsigned line = 1;

	for (const char *c = p->start; (c = memchr(c, '\n', (size_t)(at - c))); c++)
		line++;
	snprintf(name, sizeof name, "%.*s", (int)file.len, file.p);
	if (!p->n->n_skipped++)
		error_set(&p->n->skipped, -EINVAL, name, line, 0, "cannot include %.*s: %s",
			  (int)path.len, path.p, err->message);
}

static void parse_include(struct parser *p, struct cursor *line, bool own_scope)
{
	const char *at = line->p;
	struct slice path = read_path(line);
	uint32_t scope = p->scope;
	struct error err = { 0 };
	int r;

	path = ninja_evaluate(p->n, path, p->scope, NULL, 0);
	if (own_scope)
		scope = ninja_scope(p->n, p->scope);
	r = path.len ? parse_file(p->n, p, path, scope, &err) : 0;
	if (r == -ENOMEM)
		p->n->no_memory = true;
	else if (r)
		note_skipped(p, path, at, &err);
}

static void parse_let(struct parser *p, struct cursor *line)
{
	struct slice name, value;

	if (read_let(line, &name, &value))
		ninja_assign(p->n, p->scope, name_number(p->n, name),
			     ninja_evaluate(p->n, value, p->scope, NULL, 0));
}

static void parse_line(struct parser *p)
{
	struct slice text = whole_line(&p->c);
	struct cursor line = inside(text);
	struct slice first = word(&line), key, value;

	if (slice_is(first, "build"))
		parse_build(p, &line);
	else if (slice_is(first, "rule"))
		parse_rule(p, &line);
	else if (slice_is(first, "include") || slice_is(first, "subninja"))
		parse_include(p, &line, *first.p == 's');
	else if (slice_is(first, "pool"))
		while (next_let(p, &key, &value))
			;
	else if (first.len && !slice_is(first, "default")) {
		line = inside(text);
		parse_let(p, &line);
	}
}

static int read_text(struct ninja_build *n, const char *path, struct slice *text,
		     struct error *err)
{
	struct buf b = BUF_INIT;
	int r = n->read(&b, path, err);

	if (r) {
		buf_release(&b);
		return r;
	}
	*text = (struct slice){ b.data, b.len };
	n->n_bytes += b.len;
	if (b.len)
		return arena_keep(n->arena, b.data);
	buf_release(&b);
	*text = (struct slice){ "", 0 };
	return 0;
}

/* Is the file one of those that lead to it? */
static bool is_circle(const struct parser *outer, uint32_t file)
{
	for (; outer; outer = outer->outer) {
		if (outer->file == file)
			return true;
	}
	return false;
}

static int parse_text(struct parser *p, const char *path, struct error *err)
{
	struct ninja_build *n = p->n;
	struct slice text;
	int r;

	if (p->file == NO_TEXT)
		return error_sys(err, -ENOMEM, path, NULL);
	if (is_circle(p->outer, p->file))
		return error_set(err, -ELOOP, path, 0, 0, "it includes itself");
	if (p->depth > DEPTH_MAX || n->n_files++ > FILES_MAX || n->n_bytes > NINJA_BYTES_MAX)
		return error_set(err, -E2BIG, path, 0, 0, "too many files, or too large ones");
	r = read_text(n, path, &text, err);
	if (r)
		return r;
	p->start = text.p;
	p->c = inside(text);
	while (!cursor_at_end(&p->c) && !n->no_memory) {
		if (!skip_comment(&p->c))
			parse_line(p);
	}
	return 0;
}

static int parse_file(struct ninja_build *n, const struct parser *outer, struct slice file,
		      uint32_t scope, struct error *err)
{
	struct parser p = { .n = n, .outer = outer, .file = path_number(n, file),
		.scope = scope, .depth = outer ? outer->depth + 1 : 0 };
	struct buf path = BUF_INIT;
	int r;

	if (*file.p != '/') {
		buf_adds(&path, n->dir);
		buf_addc(&path, '/');
	}
	buf_add(&path, file.p, file.len);
	r = buf_error(&path) ? error_sys(err, buf_error(&path), n->dir, NULL) :
	    parse_text(&p, buf_str(&path), err);
	buf_release(&path);
	return r;
}

int ninja_parse_file(struct ninja_build *n, struct slice file, struct error *err)
{
	return parse_file(n, NULL, file, 0, err);
}
