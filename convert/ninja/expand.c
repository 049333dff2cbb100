/* SPDX-License-Identifier: MIT */
#include "convert/ninja/expand.h"

#include "base/arena.h"
#include "base/minmax.h"
#include "command/ninja_hash.h"

#include <string.h>

#define VALUE_MAX ((size_t)16 << 20)
#define RULE_NESTED_MAX 32	/* variables of a rule in each other; ninja forbids circles */
#define WORK_PER_PART 32

const uint8_t ninja_class[256] = {
	['a' ... 'z'] = NINJA_WORD | NINJA_BARE, ['A' ... 'Z'] = NINJA_WORD | NINJA_BARE,
	['0' ... '9'] = NINJA_WORD | NINJA_BARE, ['_'] = NINJA_WORD | NINJA_BARE,
	['-'] = NINJA_WORD | NINJA_BARE, ['.'] = NINJA_DOT | NINJA_BARE, ['+'] = NINJA_BARE,
	['/'] = NINJA_BARE, [' '] = NINJA_PATH_END, [':'] = NINJA_PATH_END,
	['|'] = NINJA_PATH_END, ['$'] = NINJA_PATH_END,
};

/* The variables of a text are those of the edge, its rule, and the scope. */
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

/* Add paths, quoted for a shell as by ninja. */
static void add_paths(struct ninja_graph *g, struct buf *out, size_t first, size_t n,
		      char separator)
{
	for (size_t i = 0; i < n && g->work; i++) {
		struct slice path = g->path.name[g->edge_path[first + i]];
		struct cursor c;

		if (i)
			buf_addc(out, separator);
		if (ninja_pass(path.p, path.p + path.len, NINJA_BARE) == path.p + path.len) {
			add_text(g, out, path);
			continue;
		}
		buf_addc(out, '\'');
		cursor_init(&c, path.p, path.len);
		while (cursor_until(&c, '\'', &path)) {
			add_text(g, out, path);
			if (!cursor_at_end(&c) || c.p[-1] == '\'')
				buf_adds(out, "'\\''");
		}
		buf_addc(out, '\'');
	}
}

/* The next part of a text: the name of a variable, or plain text. False at the end. */
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
	end = ninja_pass(c->p, c->end, braced ? NINJA_WORD | NINJA_DOT : NINJA_WORD);
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

struct slice ninja_variable(const struct ninja_graph *g, uint32_t scope, uint32_t name)
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
	struct ninja_graph *g = p->g;
	struct cursor c;
	struct slice part;
	bool variable;

	cursor_init(&c, text.p, text.len);
	while (g->work && next_part(&c, &part, &variable)) {
		struct ninja_seen *seen = &g->seen[(uintptr_t)part.p % NINJA_SEEN];

		if (!variable) {
			add_text(g, out, part);
			continue;
		}
		if (seen->at != part.p || seen->name == NAME_TABLE_NONE)
			*seen = (struct ninja_seen){ part.p, name_table_find(&g->name, part) };
		add_variable(p, out, seen->name);
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
			g->work -= MIN(g->work, WORK_PER_PART);
			p->nested++;
			add_expanded(p, out, (struct slice){ b->value, b->len });
			p->nested--;
		}
	} else {
		add_text(g, out, ninja_variable(g, p->scope, name));
	}
}

struct slice ninja_expand(struct ninja_graph *g, struct slice text, uint32_t scope,
			  const struct ninja_edge *edge)
{
	struct place p = { .g = g, .scope = scope, .edge = edge };
	char *copy;

	if (!memchr(text.p, '$', text.len))
		return text;
	buf_clear(&g->scratch);
	if (g->n_bytes < NINJA_BYTES_MAX)
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

bool ninja_edge_pool(struct ninja_graph *g, const struct ninja_edge *e, struct ninja_pool *pool)
{
	struct place p = { .g = g, .scope = e->scope, .edge = e, .rule = &g->rule[e->rule] };
	struct buf *b = &g->scratch;

	buf_clear(b);
	add_variable(&p, b, NAME_POOL);
	*pool = (struct ninja_pool){ slice_of("console"), 1 };
	for (size_t i = 0; b->len && i < g->n_pools; i++) {
		if (slice_is(g->pool[i].name, buf_str(b)))
			*pool = g->pool[i];
	}
	return b->len && slice_is(pool->name, buf_str(b)) && pool->depth > 0;
}

/* Paths */

/* Is the path normalised already? */
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

uint32_t ninja_path_number(struct ninja_graph *g, struct slice path)
{
	uint32_t number = NAME_TABLE_NONE;
	char *copy;

	if (!is_plain(path)) {
		copy = arena_text(g->arena, path.p, path.len);
		g->no_memory |= !copy;
		if (copy)
			path = (struct slice){ copy, make_plain(copy, path.len) };
	}
	g->no_memory |= name_table_add(&g->path, path, &number);
	return number;
}

