/* SPDX-License-Identifier: MIT */
#include "convert/ninja/edge.h"
#include "convert/ninja/expand.h"

#include "base/arena.h"
#include "base/array.h"

#include <errno.h>
#include <string.h>

#define FILES_NESTED_MAX 16
#define FILES_MAX 20000

/* Variables usually expand a build.ninja to some ten times its bytes. Variables that double each
 * other would expand to any size without this limit. */
#define WORK_MIN 65536
#define WORK_PER_BYTE 1000

#define RULE_PHONY 0

/* A new item of an array; sets no_memory and returns NULL if there is no room. */
static void *add_item(struct ninja_graph *g, void *array, size_t *n, size_t item_size)
{
	void *item = *n < UINT32_MAX - 1 ? array_add(array, n, item_size) : NULL;

	g->no_memory |= !item;
	return item;
}

static uint32_t name_number(struct ninja_graph *g, struct slice name)
{
	uint32_t number = NAME_TABLE_NONE;

	g->no_memory |= name_table_add(&g->name, name, &number);
	return number;
}

static void add_binding(struct ninja_graph *g, struct slice name, struct slice value)
{
	struct ninja_binding *b = add_item(g, &g->binding, &g->n_bindings, sizeof *b);

	if (b)
		*b = (struct ninja_binding){ name_number(g, name), (uint32_t)value.len, value.p };
}

/* Scanner */

struct parser {
	struct ninja_graph *g;
	const struct parser *outer;	/* of the file that includes this one */
	const char *path;
	unsigned nested;
	uint32_t scope;
	const char *start;
	uint32_t file, line;	/* the line of `counted` */
	const char *counted;
	struct cursor c;
};

/* Of a place behind those that were asked for before. */
static uint32_t line_number(struct parser *p, const char *at)
{
	while ((p->counted = memchr(p->counted, '\n', (size_t)(at - p->counted)))) {
		p->counted++;
		p->line++;
	}
	p->counted = at;
	return p->line;
}

/* The next line with those that continue it: a line that ends with an odd number of $ does not
 * end there. */
static struct cursor next_line(struct cursor *c)
{
	const char *start = c->p;
	struct cursor line;

	for (;;) {
		const char *newline = memchr(c->p, '\n', (size_t)(c->end - c->p));
		const char *end = newline ? newline : c->end, *p;

		if (end > start && end[-1] == '\r')
			end--;
		c->p = newline ? newline + 1 : c->end;
		for (p = end; p > start && p[-1] == '$';)
			p--;
		if (!newline || (end - p) % 2 == 0) {
			cursor_init(&line, start, (size_t)(end - start));
			return line;
		}
	}
}

static void skip_blanks(struct cursor *c)
{
	while (c->p < c->end) {
		if (*c->p == ' ' || *c->p == '\t')
			c->p++;
		else if (*c->p != '$' || !(cursor_literal(c, "$\n") || cursor_literal(c, "$\r\n")))
			return;
	}
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

	c->p = ninja_pass(start, c->end, NINJA_WORD | NINJA_DOT);
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
		if (!(ninja_class[(unsigned char)*c->p] & NINJA_PATH_END))
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

/* Read the variables of a block. Those of an edge are expanded now, those of a rule for each
 * edge. */
static uint32_t parse_bindings(struct parser *p, bool expanded)
{
	size_t first = p->g->n_bindings;
	struct slice name, value;

	while (next_variable(&p->c, &name, &value))
		add_binding(p->g, name,
			    expanded ? ninja_expand(p->g, value, p->scope, NULL) : value);
	return (uint32_t)(p->g->n_bindings - first);
}

static void parse_rule(struct parser *p, struct cursor *line)
{
	struct ninja_graph *g = p->g;
	struct slice name = read_word(line);
	struct ninja_rule rule = { .name = name_number(g, name),
		.first_binding = (uint32_t)g->n_bindings, .kind = ninja_rule_kind(name) };
	struct ninja_rule *added;

	rule.n_bindings = parse_bindings(p, false);
	added = name.len ? add_item(g, &g->rule, &g->n_rules, sizeof *added) : NULL;
	if (!added)
		return;
	*added = rule;
	g->no_memory |= !!index_put(&g->rules, p->scope, rule.name, (uint32_t)g->n_rules - 1);
}

/* An unknown rule has no command: it is treated as phony. */
static uint32_t find_rule(const struct ninja_graph *g, uint32_t scope, struct slice name)
{
	uint32_t id = name_table_find(&g->name, name), rule;

	for (; id != NAME_TABLE_NONE && scope != NO_SCOPE; scope = g->outer_scope[scope]) {
		if (index_find(&g->rules, scope, id, &rule))
			return rule;
	}
	return RULE_PHONY;
}

/* Add the paths up to the next colon or bar to the edge. Returns how many paths it has after
 * `first`. */
static uint32_t parse_paths(struct parser *p, const struct ninja_edge *e, struct cursor *line,
			    uint32_t first)
{
	struct ninja_graph *g = p->g;
	struct slice path;
	uint32_t *number;

	while ((path = read_path(line)).len) {
		path = ninja_expand(g, path, p->scope, e);
		number = path.len ? add_item(g, &g->edge_path, &g->n_edge_paths,
					     sizeof *number) : NULL;
		if (number)
			*number = ninja_path_number(g, path);
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
		.first_path = (uint32_t)g->n_edge_paths, .file = p->file,
		.line = line_number(p, line->p) };
	struct ninja_edge *added;
	uint32_t first_in;

	e.n_bindings = parse_bindings(p, true);
	e.n_out = e.all_out = parse_paths(p, &e, line, e.first_path);
	if (single_bar(line))
		e.all_out = parse_paths(p, &e, line, e.first_path);
	if (!e.n_out)
		e.n_out = e.all_out;
	added = e.n_out && cursor_byte(line, ':') ?
		add_item(g, &g->edge, &g->n_edges, sizeof *added) : NULL;
	if (!added) {
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
	*added = e;
}

static void parse_variable(struct parser *p, struct cursor *line)
{
	struct ninja_graph *g = p->g;
	struct slice name, value;

	if (!read_variable(line, &name, &value))
		return;
	add_binding(g, name, ninja_expand(g, value, p->scope, NULL));
	if (!g->no_memory && index_put(&g->variables, p->scope, name_number(g, name),
				       (uint32_t)g->n_bindings - 1))
		g->no_memory = true;
}

/* Files */

static uint32_t new_scope(struct ninja_graph *g, uint32_t outer)
{
	uint32_t *scope = add_item(g, &g->outer_scope, &g->n_scopes, sizeof *scope);

	if (!scope)
		return 0;
	*scope = outer;
	return (uint32_t)g->n_scopes - 1;
}

static int parse_file(struct ninja_graph *g, const struct parser *outer, struct slice file,
		      uint32_t scope, struct error *err);

/* A file that cannot be read is skipped; the caller of ninja_graph_read() can report the first. */
static void parse_include(struct parser *p, struct cursor *line, bool subninja)
{
	struct ninja_graph *g = p->g;
	const char *at = line->p;
	struct slice path = ninja_expand(g, read_path(line), p->scope, NULL);
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

static void parse_pool(struct parser *p, struct cursor *line)
{
	struct ninja_pool pool = { .name = read_word(line), .depth = 0 }, *added;
	struct slice name, value;
	struct cursor depth;
	uint64_t n;

	while (next_variable(&p->c, &name, &value)) {
		value = ninja_expand(p->g, value, p->scope, NULL);
		cursor_init(&depth, value.p, value.len);
		if (slice_is(name, "depth") && cursor_u64(&depth, &n) && n <= INT32_MAX)
			pool.depth = (int64_t)n;
	}
	added = pool.name.len ? add_item(p->g, &p->g->pool, &p->g->n_pools, sizeof *added) : NULL;
	if (added)
		*added = pool;
}

static void parse_line(struct parser *p)
{
	struct cursor line = next_line(&p->c), whole = line;
	struct slice first = read_word(&line);

	if (slice_is(first, "build"))
		parse_build(p, &line);
	else if (slice_is(first, "rule"))
		parse_rule(p, &line);
	else if (slice_is(first, "include") || slice_is(first, "subninja"))
		parse_include(p, &line, *first.p == 's');
	else if (slice_is(first, "pool"))
		parse_pool(p, &line);
	else if (first.len && !slice_is(first, "default"))
		parse_variable(p, &whole);
}

static uint32_t add_file(struct ninja_graph *g, struct slice file)
{
	const char *name = arena_text(g->arena, file.p, file.len);
	const char **added = name ? add_item(g, &g->file, &g->n_files, sizeof *added) : NULL;

	g->no_memory |= !name;
	if (added)
		*added = name;
	return (uint32_t)g->n_files - 1;
}

static int parse_file(struct ninja_graph *g, const struct parser *outer, struct slice file,
		      uint32_t scope, struct error *err)
{
	struct parser p = { .g = g, .outer = outer, .nested = outer ? outer->nested + 1 : 0,
		.scope = scope };
	struct buf path = BUF_INIT, text = BUF_INIT;
	int r;

	if (*file.p != '/')
		buf_addf(&path, "%s/", g->dir);
	buf_add(&path, file.p, file.len);
	p.path = buf_str(&path);
	r = buf_error(&path);
	for (; !r && outer; outer = outer->outer) {
		if (!strcmp(outer->path, p.path))
			r = error_set(err, -ELOOP, p.path, 0, 0, "it includes itself");
	}
	if (!r && (p.nested > FILES_NESTED_MAX || g->n_files > FILES_MAX ||
		   g->n_bytes > NINJA_BYTES_MAX))
		r = error_set(err, -E2BIG, p.path, 0, 0, "too many or too large files");
	if (!r)
		r = g->read(&text, p.path, err);
	if (!r)
		r = buf_reserve(&text, 1);
	if (r) {
		buf_release(&text);
		goto out;
	}
	g->n_bytes += text.len;
	g->work += text.len * WORK_PER_BYTE;
	p.start = p.counted = text.data;
	p.line = 1;
	p.file = add_file(g, file);
	cursor_init(&p.c, text.data, text.len);
	r = arena_keep(g->arena, text.data);
	while (!r && !cursor_at_end(&p.c) && !g->no_memory) {
		if (!skip_comment(&p.c))
			parse_line(&p);
	}
out:
	buf_release(&path);
	return r;
}

static int find_producers(struct ninja_graph *g)
{
	g->producer = array_new(g->path.n, sizeof *g->producer);
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
		"in", "in_newline", "out", "command", "rspfile_content", "phony",
		"pool"
	};
	struct ninja_rule *phony;
	int r = -ENOMEM;

	*g = (struct ninja_graph){ .dir = dir, .read = read, .arena = arena_new(),
		.work = WORK_MIN };
	for (size_t i = 0; i < N_NAMES; i++)
		name_number(g, slice_of(names[i]));
	new_scope(g, NO_SCOPE);
	phony = add_item(g, &g->rule, &g->n_rules, sizeof *phony);
	if (g->arena && !g->no_memory && !index_put(&g->rules, 0, NAME_PHONY, RULE_PHONY)) {
		*phony = (struct ninja_rule){ .name = NAME_PHONY };
		r = parse_file(g, NULL, slice_of(file), 0, err);
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
	name_table_release(&g->path);
	name_table_release(&g->name);
	index_release(&g->variables);
	index_release(&g->rules);
	free_all(g->edge, g->edge_path, g->file, g->pool, g->producer, g->outer_scope, g->rule,
		 g->binding);
	buf_release(&g->scratch);
	arena_free(g->arena);
	*g = (struct ninja_graph){ .dir = NULL };
}

struct slice ninja_graph_variable(const struct ninja_graph *g, const char *name)
{
	return ninja_variable(g, 0, name_table_find(&g->name,
						   slice_of(name)));
}

uint32_t ninja_graph_producer(const struct ninja_graph *g, struct slice path)
{
	uint32_t number = name_table_find(&g->path, path);
	uint32_t edge = number == NAME_TABLE_NONE ? NINJA_NO_EDGE : g->producer[number];

	return edge == NINJA_NO_EDGE || ninja_edge_is_phony(&g->edge[edge]) ? NINJA_NO_EDGE : edge;
}

bool ninja_edge_is_phony(const struct ninja_edge *e)
{
	return e->rule == RULE_PHONY;
}

struct slice ninja_edge_rule(const struct ninja_graph *g, const struct ninja_edge *e)
{
	return g->name.name[g->rule[e->rule].name];
}

const char *ninja_edge_kind(const struct ninja_graph *g, const struct ninja_edge *e)
{
	return g->rule[e->rule].kind;
}
