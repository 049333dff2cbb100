/* SPDX-License-Identifier: MIT */
#include "convert/ninja/build.h"

#include "convert/ninja/build_parts.h"

/* What a rule's text becomes for one of its edges. */

#define DEPTH_MAX 32	/* of variables of a rule in one another; ninja forbids circles */
#define PARTS_MAX 100000
#define COMMAND_MAX ((size_t)16 << 20)

struct expansion {
	const struct ninja_build *n;
	const struct ninja_edge *e;
	struct buf *out;
	size_t limit;		/* of out->len */
	unsigned depth, parts;
};

static bool is_bare(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '+' || c == '-' || c == '.' || c == '/';
}

/* As ninja quotes it for a shell. */
static void add_quoted(struct buf *b, struct slice path)
{
	size_t bare = 0;

	while (bare < path.len && is_bare(path.p[bare]))
		bare++;
	if (bare == path.len) {
		buf_add(b, path.p, path.len);
		return;
	}
	buf_addc(b, '\'');
	for (size_t i = 0; i < path.len; i++) {
		if (path.p[i] == '\'')
			buf_adds(b, "'\\'");
		buf_addc(b, path.p[i]);
	}
	buf_addc(b, '\'');
}

static void add_paths(struct expansion *x, size_t first, size_t n, char separator)
{
	for (size_t i = 0; i < n && x->out->len < x->limit; i++) {
		if (i)
			buf_addc(x->out, separator);
		add_quoted(x->out, x->n->path.text[x->n->paths[first + i]]);
	}
}

static void add_variable(struct expansion *x, uint32_t name);

static void add_binding(struct expansion *x, const struct ninja_binding *b)
{
	if (x->depth == DEPTH_MAX)
		return;
	x->depth++;
	for (size_t i = 0; i < b->n && x->out->len < x->limit; i++) {
		const struct ninja_part *part = &x->n->part[b->first_part + i];

		if (x->parts++ >= PARTS_MAX)
			break;
		if (part->variable == NO_TEXT)
			buf_add(x->out, part->text.p, part->text.len);
		else
			add_variable(x, part->variable);
	}
	x->depth--;
}

static const struct ninja_binding *find(const struct ninja_build *n, uint32_t first,
					uint32_t count, uint32_t name)
{
	for (size_t i = count; i > 0; i--) {
		const struct ninja_binding *b = &n->binding[first + i - 1];

		if (b->name == name)
			return b;
	}
	return NULL;
}

/* An edge's own variables, those of its rule, then those of the file; but for an edge
 * that has none, those of its own file come before its rule's. */
static void add_variable(struct expansion *x, uint32_t name)
{
	const struct ninja_build *n = x->n;
	const struct ninja_edge *e = x->e;
	const struct ninja_rule *rule = &n->rule[e->rule];
	const struct ninja_binding *b;
	size_t ins = (size_t)e->first_path + e->n_out + e->n_implicit_out;
	struct slice value;
	uint32_t at;

	if (name == NAME_IN || name == NAME_IN_NEWLINE) {
		add_paths(x, ins, e->n_in, name == NAME_IN ? ' ' : '\n');
	} else if (name == NAME_OUT) {
		add_paths(x, e->first_path, e->n_out, ' ');
	} else if ((b = find(n, e->first_binding, e->n_bindings, name))) {
		buf_add(x->out, b->value, b->n);
	} else if (!e->n_bindings && index_find(&n->variables, e->scope, name, &at)) {
		buf_add(x->out, n->value[at].p, n->value[at].len);
	} else if ((b = find(n, rule->first_binding, rule->n_bindings, name))) {
		add_binding(x, b);
	} else {
		value = ninja_lookup(n, e->scope, name);
		buf_add(x->out, value.p, value.len);
	}
}

static void expand(const struct ninja_build *n, const struct ninja_edge *e, uint32_t name,
		   struct buf *out)
{
	struct expansion x = { n, e, out, out->len + COMMAND_MAX, 0, 0 };

	add_variable(&x, name);
}

void ninja_build_command(const struct ninja_build *n, const struct ninja_edge *e,
			 struct buf *out)
{
	expand(n, e, NAME_COMMAND, out);
}

void ninja_build_rspfile(const struct ninja_build *n, const struct ninja_edge *e,
			 struct buf *out)
{
	expand(n, e, NAME_RSPFILE_CONTENT, out);
}
