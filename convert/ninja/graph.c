/* SPDX-License-Identifier: MIT */
#include "convert/ninja/graph.h"

#include "base/arena.h"
#include "base/array.h"
#include "command/ninja_hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FILES_NESTED_MAX 16
#define FILES_MAX 20000
#define BYTES_MAX ((uint64_t)1 << 30)	/* of all files, with the values in them */
#define VALUE_MAX ((size_t)16 << 20)
#define RULE_NESTED_MAX 32	/* variables of a rule in each other; ninja forbids circles */

/* A build.ninja of this project's size expands to some ten times its bytes. Variables that double
 * each other would expand to any size: they end here. */
#define WORK_MIN 65536
#define WORK_PER_BYTE 1000
#define WORK_PER_PART 32

/* The first names. */
enum {
	NAME_IN, NAME_IN_NEWLINE, NAME_OUT, NAME_COMMAND, NAME_RSPFILE_CONTENT, NAME_PHONY,
	N_NAMES
};

#define RULE_PHONY 0
#define NO_SCOPE UINT32_MAX

/* A variable. Only the values of rules' variables are not expanded yet. */
struct ninja_binding {
	uint32_t name, len;
	const char *value;
};

struct ninja_rule {
	uint32_t name;
	uint32_t first_binding, n_bindings;
};

static struct cursor cursor_of(struct slice text)
{
	struct cursor c;

	cursor_init(&c, text.p, text.len);
	return c;
}

/* Room for one more item; sets no_memory and returns NULL if there is none. */
static void *grow(struct ninja_graph *g, void *array, size_t n, size_t item_size)
{
	void *grown = n < UINT32_MAX - 1 ? array_grow(array, n, item_size) : NULL;

	g->no_memory |= !grown;
	return grown;
}

static uint32_t name_number(struct ninja_graph *g, struct slice name)
{
	uint32_t number = text_table_add(&g->name, name);

	g->no_memory |= number == NO_TEXT;
	return number;
}

static void add_binding(struct ninja_graph *g, struct slice name, struct slice value)
{
	struct ninja_binding *grown = grow(g, g->binding, g->n_bindings, sizeof *grown);

	if (!grown)
		return;
	g->binding = grown;
	grown[g->n_bindings++] = (struct ninja_binding){ name_number(g, name),
		(uint32_t)value.len, value.p };
}

/* Characters */

enum { WORD = 1, DOT = 2, BARE = 4, PATH_END = 8 };

static const uint8_t class[256] = {
	['a' ... 'z'] = WORD | BARE, ['A' ... 'Z'] = WORD | BARE, ['0' ... '9'] = WORD | BARE,
	['_'] = WORD | BARE, ['-'] = WORD | BARE, ['.'] = DOT | BARE, ['+'] = BARE, ['/'] = BARE,
	[' '] = PATH_END, [':'] = PATH_END, ['|'] = PATH_END, ['$'] = PATH_END,
};

/* Where the characters of these classes end. */
static const char *pass(const char *p, const char *end, unsigned classes)
{
	while (p < end && class[(unsigned char)*p] & classes)
		p++;
	return p;
}

/* Expansion */

/* Where a text is: its variables are those of the edge, its rule, and the scope. */
struct place {
	struct ninja_graph *g;
	uint32_t scope;
	const struct ninja_edge *edge;	/* may be NULL */
	const struct ninja_rule *rule;	/* NULL: $in, $out and a rule's variables are not known */
	unsigned nested;
};

static void add_text(struct ninja_graph *g, struct buf *out, struct slice text)
{
	size_t cost = text.len + WORK_PER_PART;

	if (cost > g->work)
		cost = g->work;
	else if (out->len < VALUE_MAX)
		buf_add(out, text.p, text.len);
	g->work -= cost;
}

/* Paths as ninja quotes them for a shell. */
static void add_paths(struct ninja_graph *g, struct buf *out, size_t first, size_t n,
		      char separator)
{
	for (size_t i = 0; i < n && g->work; i++) {
		struct slice path = g->path.text[g->edge_path[first + i]];

		if (i)
			buf_addc(out, separator);
		if (pass(path.p, path.p + path.len, BARE) == path.p + path.len) {
			add_text(g, out, path);
			continue;
		}
		buf_addc(out, '\'');
		for (struct cursor c = cursor_of(path); cursor_until(&c, '\'', &path);) {
			add_text(g, out, path);
			if (!cursor_at_end(&c) || c.p[-1] == '\'')
				buf_adds(out, "'\\''");
		}
		buf_addc(out, '\'');
	}
}

/*
 * The next part of a text: the name of a variable, or text that stands for itself. False at the
 * end.
 */
static bool next_part(struct cursor *c, struct slice *part, bool *variable)
{
	const char *start = c->p, *end;
	bool braced;

	*variable = false;
	if (cursor_at_end(c))
		return false;
	if (!cursor_byte(c, '$')) {
		c->p = memchr(start, '$', (size_t)(c->end - start));
		if (!c->p)
			c->p = c->end;
		*part = (struct slice){ start, (size_t)(c->p - start) };
		return true;
	}
	braced = cursor_byte(c, '{');
	end = pass(c->p, c->end, braced ? WORD | DOT : WORD);
	*part = (struct slice){ c->p, 0 };
	if (end > c->p && !(braced && (end == c->end || *end != '}'))) {
		*variable = true;
		part->len = (size_t)(end - c->p);
		c->p = end + braced;
	} else if (cursor_byte(c, '^')) {
		*part = (struct slice){ "\n", 1 };
	} else if (!cursor_at_end(c) && *c->p != '\n' && *c->p != '\r') {
		part->len = 1;
		c->p++;
	} else {
		cursor_byte(c, '\r');
		if (cursor_byte(c, '\n'))
			while (cursor_byte(c, ' '))
				;
	}
	return true;
}

static const struct ninja_binding *find_binding(const struct ninja_graph *g, uint32_t first,
						uint32_t n, uint32_t name)
{
	for (; n; n--) {
		const struct ninja_binding *b = &g->binding[first + n - 1];

		if (b->name == name)
			return b;
	}
	return NULL;
}

/* In this scope or those around it. */
static struct slice find_variable(const struct ninja_graph *g, uint32_t scope, uint32_t name)
{
	uint32_t at;

	for (; scope != NO_SCOPE; scope = g->outer_scope[scope]) {
		if (index_find(&g->variables, scope, name, &at))
			return (struct slice){ g->binding[at].value, g->binding[at].len };
	}
	return (struct slice){ "", 0 };
}

static void add_variable(struct place *p, struct buf *out, uint32_t name);

static void add_expanded(struct place *p, struct buf *out, struct slice text)
{
	struct cursor c = cursor_of(text);
	struct slice part;
	bool variable;

	while (p->g->work && next_part(&c, &part, &variable)) {
		if (!variable)
			add_text(p->g, out, part);
		else
			add_variable(p, out, text_table_find(&p->g->name, part));
	}
}

/* The variables of an edge hide those of its rule, which hide those of the file. An edge that has
 * none shares the scope of its file, whose variables therefore hide those of the rule. */
static void add_variable(struct place *p, struct buf *out, uint32_t name)
{
	struct ninja_graph *g = p->g;
	const struct ninja_edge *e = p->edge;
	const struct ninja_binding *b;
	uint32_t at;

	if (p->rule && (name == NAME_IN || name == NAME_IN_NEWLINE))
		add_paths(g, out, (size_t)e->first_path + e->all_out, e->n_in,
			  name == NAME_IN ? ' ' : '\n');
	else if (p->rule && name == NAME_OUT)
		add_paths(g, out, e->first_path, e->n_out, ' ');
	else if (e && (b = find_binding(g, e->first_binding, e->n_bindings, name)))
		add_text(g, out, (struct slice){ b->value, b->len });
	else if (p->rule && !e->n_bindings && index_find(&g->variables, e->scope, name, &at))
		add_text(g, out, (struct slice){ g->binding[at].value, g->binding[at].len });
	else if (p->rule && (b = find_binding(g, p->rule->first_binding, p->rule->n_bindings,
					      name))) {
		if (g->work && p->nested < RULE_NESTED_MAX) {
			g->work -= g->work < WORK_PER_PART ? g->work : WORK_PER_PART;
			p->nested++;
			add_expanded(p, out, (struct slice){ b->value, b->len });
			p->nested--;
		}
	} else {
		add_text(g, out, find_variable(g, p->scope, name));
	}
}

/* What a text in a file means: the text itself, or a copy in the arena. */
static struct slice expand(struct ninja_graph *g, struct slice text, uint32_t scope,
			   const struct ninja_edge *edge)
{
	struct place p = { .g = g, .scope = scope, .edge = edge };
	char *copy;

	if (!memchr(text.p, '$', text.len))
		return text;
	buf_clear(&g->scratch);
	if (g->n_bytes < BYTES_MAX)
		add_expanded(&p, &g->scratch, text);
	g->n_bytes += g->scratch.len;
	copy = arena_text(g->arena, g->scratch.data, g->scratch.len);
	if (buf_error(&g->scratch) || !copy) {
		g->no_memory = true;
		return text;
	}
	return (struct slice){ copy, g->scratch.len };
}

size_t ninja_edge_command(struct ninja_graph *g, const struct ninja_edge *e, struct buf *out)
{
	struct place p = { .g = g, .scope = e->scope, .edge = e, .rule = &g->rule[e->rule] };
	size_t command, response;

	buf_clear(out);
	add_variable(&p, out, NAME_COMMAND);
	command = out->len;
	buf_adds(out, NINJA_HASH_RSPFILE);
	response = out->len;
	add_variable(&p, out, NAME_RSPFILE_CONTENT);
	if (out->len == response)
		buf_cut(out, command);
	return command;
}

/* Paths */

/* Is this a path that needs no change? */
static bool is_plain(struct slice path)
{
	const char *end = path.p + path.len, *p = path.p;

	if (!path.len || *p == '.' || end[-1] == '/')
		return false;
	while ((p = memchr(p, '/', (size_t)(end - p)))) {
		p++;
		if (*p == '/' || *p == '.')
			return false;
	}
	return true;
}

/* Remove "./", "a/../" and "//" in place. Return the new length. */
static size_t make_plain(char *p, size_t len)
{
	size_t root = len && *p == '/', to = root, names = 0;

	for (size_t at = root, next; at < len; at = next + 1) {
		const char *slash = memchr(p + at, '/', len - at);
		bool up;
		size_t n;

		next = slash ? (size_t)(slash - p) : len;
		n = next - at;
		up = n == 2 && p[at] == '.' && p[at + 1] == '.';
		if (!n || (n == 1 && p[at] == '.'))
			continue;
		if (up && names) {
			names--;
			for (to--; to > root && p[to - 1] != '/'; to--)
				;
			continue;
		}
		names += !up;
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

static uint32_t path_number(struct ninja_graph *g, struct slice path)
{
	uint32_t number;
	char *copy;

	if (!is_plain(path)) {
		copy = arena_text(g->arena, path.p, path.len);
		g->no_memory |= !copy;
		if (copy)
			path = (struct slice){ copy, make_plain(copy, path.len) };
	}
	number = text_table_add(&g->path, path);
	g->no_memory |= number == NO_TEXT;
	return number;
}

/* Scanner */

struct parser {
	struct ninja_graph *g;
	const struct parser *outer;	/* of the file that includes this one */
	const char *path;
	unsigned nested;
	uint32_t scope;
	const char *start;
	struct cursor c;
};

/* The next line with those that continue it: a line that ends with an odd number of $ does not
 * end there. */
static struct cursor next_line(struct cursor *c)
{
	const char *start = c->p;

	for (;;) {
		const char *newline = memchr(c->p, '\n', (size_t)(c->end - c->p));
		const char *end = newline ? newline : c->end, *p;

		if (end > start && end[-1] == '\r')
			end--;
		c->p = newline ? newline + 1 : c->end;
		for (p = end; p > start && p[-1] == '$';)
			p--;
		if (!newline || (end - p) % 2 == 0)
			return cursor_of((struct slice){ start, (size_t)(end - start) });
	}
}

static void skip_blanks(struct cursor *c)
{
	while (cursor_byte(c, ' ') || cursor_byte(c, '\t') ||
	       (c->p < c->end && *c->p == '$' && (cursor_literal(c, "$\n") ||
						  cursor_literal(c, "$\r\n"))))
		;
}

/* A $ at the end of a comment does not continue it. */
static bool skip_comment(struct cursor *c)
{
	struct cursor before = *c;
	struct slice rest;

	while (cursor_byte(c, ' '))
		;
	if (cursor_byte(c, '#')) {
		cursor_until(c, '\n', &rest);
		return true;
	}
	*c = before;
	return false;
}

static struct slice read_word(struct cursor *c)
{
	const char *start = c->p;
	struct slice word;

	c->p = pass(start, c->end, WORD | DOT);
	word = (struct slice){ start, (size_t)(c->p - start) };
	skip_blanks(c);
	return word;
}

/* A path as it is written: up to a blank, a colon or a bar. */
static struct slice read_path(struct cursor *c)
{
	const char *start;

	skip_blanks(c);
	for (start = c->p; c->p < c->end; c->p++) {
		if (!(class[(unsigned char)*c->p] & PATH_END))
			continue;
		if (*c->p != '$')
			break;
		if (++c->p == c->end)
			break;
		if (*c->p == '\r' && c->end - c->p > 1)
			c->p++;
		if (*c->p == '\n')
			while (c->p + 1 < c->end && c->p[1] == ' ')
				c->p++;
	}
	return (struct slice){ start, (size_t)(c->p - start) };
}

/* "name = value" */
static bool read_variable(struct cursor *line, struct slice *name, struct slice *value)
{
	skip_blanks(line);
	*name = read_word(line);
	if (!name->len || !cursor_byte(line, '='))
		return false;
	skip_blanks(line);
	*value = (struct slice){ line->p, (size_t)(line->end - line->p) };
	return true;
}

/* Read the next variable of the indented block at the cursor. False at the block's end. */
static bool next_variable(struct cursor *c, struct slice *name, struct slice *value)
{
	while (!cursor_at_end(c)) {
		struct cursor line;

		if (skip_comment(c))
			continue;
		if (*c->p != ' ' && *c->p != '\t')
			return false;
		line = next_line(c);
		if (read_variable(&line, name, value))
			return true;
		if (cursor_at_end(&line))
			return false;	/* blank */
	}
	return false;
}

/* Read a block's variables. Those of an edge are expanded here, those of a rule with its edges. */
static uint32_t parse_bindings(struct parser *p, bool expanded)
{
	size_t first = p->g->n_bindings;
	struct slice name, value;

	while (next_variable(&p->c, &name, &value))
		add_binding(p->g, name, expanded ? expand(p->g, value, p->scope, NULL) : value);
	return (uint32_t)(p->g->n_bindings - first);
}

static void parse_rule(struct parser *p, struct cursor *line)
{
	struct ninja_graph *g = p->g;
	struct slice name = read_word(line);
	struct ninja_rule rule = { .name = name_number(g, name),
		.first_binding = (uint32_t)g->n_bindings };
	struct ninja_rule *grown;

	rule.n_bindings = parse_bindings(p, false);
	grown = name.len ? grow(g, g->rule, g->n_rules, sizeof *grown) : NULL;
	if (!grown)
		return;
	g->rule = grown;
	g->no_memory |= !!index_put(&g->rules, p->scope, rule.name, (uint32_t)g->n_rules);
	grown[g->n_rules++] = rule;
}

/* An unknown rule has no command either. */
static uint32_t find_rule(const struct ninja_graph *g, uint32_t scope, struct slice name)
{
	uint32_t id = text_table_find(&g->name, name), rule;

	for (; id != NO_TEXT && scope != NO_SCOPE; scope = g->outer_scope[scope]) {
		if (index_find(&g->rules, scope, id, &rule))
			return rule;
	}
	return RULE_PHONY;
}

/* Add the paths up to the next colon or bar to the edge. Return how many the edge has now, from
 * first on. */
static uint32_t parse_paths(struct parser *p, const struct ninja_edge *e, struct cursor *line,
			    uint32_t first)
{
	struct ninja_graph *g = p->g;
	struct slice path;
	uint32_t *grown;

	while ((path = read_path(line)).len) {
		path = expand(g, path, p->scope, e);
		grown = path.len ? grow(g, g->edge_path, g->n_edge_paths, sizeof *grown) : NULL;
		if (!grown)
			continue;
		g->edge_path = grown;
		grown[g->n_edge_paths++] = path_number(g, path);
	}
	return (uint32_t)g->n_edge_paths - first;
}

/* A bar, but not the first character of "||" or "|@". */
static bool single_bar(struct cursor *c)
{
	if (c->end - c->p > 1 && (c->p[1] == '|' || c->p[1] == '@'))
		return false;
	return cursor_byte(c, '|');
}

static void parse_build(struct parser *p, struct cursor *line)
{
	struct ninja_graph *g = p->g;
	struct ninja_edge e = { .scope = p->scope, .first_binding = (uint32_t)g->n_bindings,
		.first_path = (uint32_t)g->n_edge_paths };
	struct ninja_edge *grown = grow(g, g->edge, g->n_edges, sizeof *grown);
	uint32_t first_in;

	if (grown)
		g->edge = grown;
	e.n_bindings = parse_bindings(p, true);
	e.n_out = e.all_out = parse_paths(p, &e, line, e.first_path);
	if (single_bar(line))
		e.all_out = parse_paths(p, &e, line, e.first_path);
	if (!e.n_out)
		e.n_out = e.all_out;
	if (!grown || !e.n_out || !cursor_byte(line, ':')) {
		g->n_edge_paths = e.first_path;
		return;
	}
	skip_blanks(line);
	e.rule = find_rule(g, p->scope, read_word(line));
	first_in = e.first_path + e.all_out;
	e.n_in = e.used_in = parse_paths(p, &e, line, first_in);
	if (single_bar(line))
		e.used_in = parse_paths(p, &e, line, first_in);
	e.all_in = e.used_in;
	if (cursor_literal(line, "||"))
		e.all_in = parse_paths(p, &e, line, first_in);
	grown[g->n_edges++] = e;
}

static void parse_variable(struct parser *p, struct cursor *line)
{
	struct ninja_graph *g = p->g;
	struct slice name, value;

	if (!read_variable(line, &name, &value))
		return;
	add_binding(g, name, expand(g, value, p->scope, NULL));
	if (!g->no_memory && index_put(&g->variables, p->scope, name_number(g, name),
				       (uint32_t)g->n_bindings - 1))
		g->no_memory = true;
}

/* Files */

static uint32_t new_scope(struct ninja_graph *g, uint32_t outer)
{
	uint32_t *grown = grow(g, g->outer_scope, g->n_scopes, sizeof *grown);

	if (!grown)
		return 0;
	g->outer_scope = grown;
	grown[g->n_scopes] = outer;
	return (uint32_t)g->n_scopes++;
}

static int parse_file(struct ninja_graph *g, const struct parser *outer, struct slice file,
		      uint32_t scope, struct error *err);

/* What cannot be read is skipped; the caller of ninja_graph_read() can report the first. */
static void parse_include(struct parser *p, struct cursor *line, bool subninja)
{
	struct ninja_graph *g = p->g;
	const char *at = line->p;
	struct slice path = expand(g, read_path(line), p->scope, NULL);
	uint32_t scope = subninja ? new_scope(g, p->scope) : p->scope;
	struct error err = { 0 };
	unsigned number = 1;
	int r = path.len ? parse_file(g, p, path, scope, &err) : 0;

	g->no_memory |= r == -ENOMEM;
	if (!r || g->n_skipped++)
		return;
	for (const char *c = p->start; (c = memchr(c, '\n', (size_t)(at - c))); c++)
		number++;
	error_set(&g->skipped, r, p->path, number, 0, "cannot include %.*s: %s", (int)path.len,
		  path.p, err.message);
}

static void parse_line(struct parser *p)
{
	struct cursor line = next_line(&p->c), whole = line;
	struct slice first = read_word(&line), name, value;

	if (slice_is(first, "build"))
		parse_build(p, &line);
	else if (slice_is(first, "rule"))
		parse_rule(p, &line);
	else if (slice_is(first, "include") || slice_is(first, "subninja"))
		parse_include(p, &line, *first.p == 's');
	else if (slice_is(first, "pool"))
		while (next_variable(&p->c, &name, &value))
			;
	else if (first.len && !slice_is(first, "default"))
		parse_variable(p, &whole);
}

static int parse_text(struct parser *p, struct error *err)
{
	struct ninja_graph *g = p->g;
	struct buf text = BUF_INIT;
	int r;

	for (const struct parser *outer = p->outer; outer; outer = outer->outer) {
		if (!strcmp(outer->path, p->path))
			return error_set(err, -ELOOP, p->path, 0, 0, "it includes itself");
	}
	if (p->nested > FILES_NESTED_MAX || g->n_files++ > FILES_MAX || g->n_bytes > BYTES_MAX)
		return error_set(err, -E2BIG, p->path, 0, 0, "too many files, or too large ones");
	r = g->read(&text, p->path, err);
	if (!r)
		r = buf_reserve(&text, 1);
	if (r) {
		buf_release(&text);
		return r;
	}
	g->n_bytes += text.len;
	g->work += text.len * WORK_PER_BYTE;
	if (arena_keep(g->arena, text.data))
		return -ENOMEM;
	p->start = text.data;
	p->c = cursor_of((struct slice){ text.data, text.len });
	while (!cursor_at_end(&p->c) && !g->no_memory) {
		if (!skip_comment(&p->c))
			parse_line(p);
	}
	return 0;
}

static int parse_file(struct ninja_graph *g, const struct parser *outer, struct slice file,
		      uint32_t scope, struct error *err)
{
	struct parser p = { .g = g, .outer = outer, .nested = outer ? outer->nested + 1 : 0,
		.scope = scope };
	struct buf path = BUF_INIT;
	int r;

	if (*file.p != '/')
		buf_addf(&path, "%s/", g->dir);
	buf_add(&path, file.p, file.len);
	p.path = buf_str(&path);
	r = buf_error(&path) ? -ENOMEM : parse_text(&p, err);
	buf_release(&path);
	return r;
}

static int find_producers(struct ninja_graph *g)
{
	g->producer = malloc((g->path.n + 1) * sizeof *g->producer);
	if (!g->producer)
		return -ENOMEM;
	memset(g->producer, 0xff, g->path.n * sizeof *g->producer);
	for (size_t i = g->n_edges; i > 0; i--) {
		const struct ninja_edge *e = &g->edge[i - 1];

		for (size_t k = 0; k < e->all_out; k++)
			g->producer[g->edge_path[e->first_path + k]] = (uint32_t)i - 1;
	}
	return 0;
}

int ninja_graph_read(struct ninja_graph *g, const char *dir, const char *file,
		     infile_reader *read, struct error *err)
{
	static const char *const names[N_NAMES] = {
		"in", "in_newline", "out", "command", "rspfile_content", "phony"
	};
	int r = -ENOMEM;

	*g = (struct ninja_graph){ .dir = dir, .read = read, .arena = arena_new(),
		.work = WORK_MIN };
	for (size_t i = 0; i < N_NAMES; i++)
		name_number(g, (struct slice){ names[i], strlen(names[i]) });
	g->rule = grow(g, NULL, 0, sizeof *g->rule);
	new_scope(g, NO_SCOPE);
	if (g->arena && !g->no_memory && !index_put(&g->rules, 0, NAME_PHONY, RULE_PHONY)) {
		g->rule[g->n_rules++] = (struct ninja_rule){ .name = NAME_PHONY };
		r = parse_file(g, NULL, (struct slice){ file, strlen(file) }, 0, err);
	}
	if (!r)
		r = g->no_memory ? -ENOMEM : find_producers(g);
	if (r == -ENOMEM)
		error_sys(err, r, file, NULL);
	if (r)
		ninja_graph_release(g);
	return r;
}

void ninja_graph_release(struct ninja_graph *g)
{
	text_table_release(&g->path);
	text_table_release(&g->name);
	index_release(&g->variables);
	index_release(&g->rules);
	free(g->edge);
	free(g->edge_path);
	free(g->producer);
	free(g->outer_scope);
	free(g->rule);
	free(g->binding);
	buf_release(&g->scratch);
	arena_free(g->arena);
	*g = (struct ninja_graph){ .dir = NULL };
}

struct slice ninja_graph_variable(const struct ninja_graph *g, const char *name)
{
	return find_variable(g, 0, text_table_find(&g->name,
						   (struct slice){ name, strlen(name) }));
}

uint32_t ninja_graph_producer(const struct ninja_graph *g, struct slice path)
{
	uint32_t number = text_table_find(&g->path, path);
	uint32_t edge = number == NO_TEXT ? NINJA_NO_EDGE : g->producer[number];

	return edge == NINJA_NO_EDGE || ninja_edge_is_phony(&g->edge[edge]) ? NINJA_NO_EDGE : edge;
}

bool ninja_edge_is_phony(const struct ninja_edge *e)
{
	return e->rule == RULE_PHONY;
}

struct slice ninja_edge_rule(const struct ninja_graph *g, const struct ninja_edge *e)
{
	return g->name.text[g->rule[e->rule].name];
}
