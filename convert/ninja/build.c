/* SPDX-License-Identifier: MIT */
#include "convert/ninja/build.h"

#include "base/arena.h"
#include "base/array.h"
#include "convert/ninja/build_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Variables */

uint32_t ninja_scope(struct ninja_build *n, uint32_t parent)
{
	uint32_t *grown = array_grow(n->parent, n->n_scopes, sizeof *grown);

	if (!grown) {
		n->no_memory = true;
		return 0;
	}
	n->parent = grown;
	grown[n->n_scopes] = parent;
	return (uint32_t)n->n_scopes++;
}

struct slice ninja_lookup(const struct ninja_build *n, uint32_t scope, uint32_t name)
{
	uint32_t at;

	for (; scope != NO_SCOPE; scope = n->parent[scope]) {
		if (index_find(&n->variables, scope, name, &at))
			return n->value[at];
	}
	return (struct slice){ "", 0 };
}

void ninja_assign(struct ninja_build *n, uint32_t scope, uint32_t name, struct slice value)
{
	struct slice *grown;
	uint32_t at;

	if (index_find(&n->variables, scope, name, &at)) {
		n->value[at] = value;
		return;
	}
	grown = array_grow(n->value, n->n_values, sizeof *grown);
	if (grown)
		n->value = grown;
	if (!grown || index_put(&n->variables, scope, name, (uint32_t)n->n_values)) {
		n->no_memory = true;
		return;
	}
	grown[n->n_values++] = value;
}

static bool is_name(char c, bool braced)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '-' || (braced && c == '.');
}

/* Behind a $: up to which byte is it a variable's name? */
static const char *variable_end(const struct cursor *c, bool braced)
{
	const char *p = c->p;

	while (p < c->end && is_name(*p, braced))
		p++;
	return braced && (p == c->end || *p != '}') ? c->p : p;
}

/* Behind a $. */
static void read_special(struct cursor *c, struct slice *text, bool *variable)
{
	bool braced = cursor_byte(c, '{');
	const char *end = variable_end(c, braced);

	*variable = end > c->p;
	if (*variable) {
		*text = (struct slice){ c->p, (size_t)(end - c->p) };
		c->p = end + braced;
	} else if (c->p < c->end && *c->p == '^') {
		*text = (struct slice){ "\n", 1 };
		c->p++;
	} else if (c->p < c->end && *c->p != '\n' && *c->p != '\r') {
		*text = (struct slice){ c->p++, 1 };
	} else {
		*text = (struct slice){ c->p, 0 };
		cursor_byte(c, '\r');
		if (cursor_byte(c, '\n'))
			while (cursor_byte(c, ' '))
				;
	}
}

bool ninja_next_part(struct cursor *c, struct slice *text, bool *variable)
{
	const char *dollar;

	if (cursor_at_end(c))
		return false;
	if (cursor_byte(c, '$')) {
		read_special(c, text, variable);
		return true;
	}
	dollar = memchr(c->p, '$', (size_t)(c->end - c->p));
	if (!dollar)
		dollar = c->end;
	*text = (struct slice){ c->p, (size_t)(dollar - c->p) };
	*variable = false;
	c->p = dollar;
	return true;
}

static struct slice variable(const struct ninja_build *n, struct slice name, uint32_t scope,
			     const struct ninja_binding *binding, size_t n_bindings)
{
	uint32_t id = text_table_find(&n->name, name);

	if (id == NO_TEXT)
		return (struct slice){ "", 0 };
	for (size_t i = n_bindings; i > 0; i--) {
		if (binding[i - 1].name == id)
			return (struct slice){ binding[i - 1].value, binding[i - 1].n };
	}
	return ninja_lookup(n, scope, id);
}

struct slice ninja_evaluate(struct ninja_build *n, struct slice text, uint32_t scope,
			    const struct ninja_binding *binding, size_t n_bindings)
{
	struct slice part;
	struct cursor c;
	bool special;
	char *copy;

	if (!memchr(text.p, '$', text.len))
		return text;
	buf_clear(&n->scratch);
	cursor_init(&c, text.p, text.len);
	while (ninja_next_part(&c, &part, &special)) {
		if (special)
			part = variable(n, part, scope, binding, n_bindings);
		if (part.len > NINJA_VALUE_MAX - n->scratch.len ||
		    n->n_bytes + n->scratch.len > NINJA_BYTES_MAX)
			break;
		buf_add(&n->scratch, part.p, part.len);
	}
	n->n_bytes += n->scratch.len;
	copy = arena_text(n->arena, n->scratch.data, n->scratch.len);
	if (buf_error(&n->scratch) || !copy) {
		n->no_memory = true;
		return text;
	}
	return (struct slice){ copy, n->scratch.len };
}

/* Reading */

static int find_producers(struct ninja_build *n)
{
	n->producer = malloc((n->path.n + 1) * sizeof *n->producer);
	if (!n->producer)
		return -ENOMEM;
	memset(n->producer, 0xff, n->path.n * sizeof *n->producer);
	for (size_t i = 0; i < n->n_edges; i++) {
		const struct ninja_edge *e = &n->edge[i];

		for (size_t k = 0; k < (size_t)e->n_out + e->n_implicit_out; k++) {
			uint32_t *of = &n->producer[n->paths[e->first_path + k]];

			if (*of == NO_EDGE)
				*of = (uint32_t)i;
		}
	}
	return 0;
}

static int begin(struct ninja_build *n, const char *dir)
{
	static const char *const names[N_NAMES] = {
		"in", "in_newline", "out", "command", "rspfile_content", "phony"
	};

	*n = (struct ninja_build){ .dir = dir, .arena = arena_new() };
	for (size_t i = 0; i < N_NAMES; i++) {
		if (text_table_add(&n->name, (struct slice){ names[i], strlen(names[i]) }) != i)
			return -ENOMEM;
	}
	n->rule = array_grow(NULL, 0, sizeof *n->rule);
	if (!n->arena || !n->rule || index_put(&n->rules, 0, NAME_PHONY, RULE_PHONY))
		return -ENOMEM;
	n->rule[n->n_rules++] = (struct ninja_rule){ .name = NAME_PHONY };
	ninja_scope(n, NO_SCOPE);
	return n->no_memory ? -ENOMEM : 0;
}

int ninja_build_read(struct ninja_build *n, const char *dir, const char *file,
		     infile_reader *read, struct error *err)
{
	int r = begin(n, dir);

	n->read = read;
	if (!r)
		r = ninja_parse_file(n, (struct slice){ file, strlen(file) }, err);
	if (!r)
		r = n->no_memory ? -ENOMEM : find_producers(n);
	if (r == -ENOMEM)
		error_sys(err, r, file, NULL);
	if (r)
		ninja_build_release(n);
	return r;
}

void ninja_build_release(struct ninja_build *n)
{
	text_table_release(&n->path);
	text_table_release(&n->name);
	index_release(&n->variables);
	index_release(&n->rules);
	free(n->edge);
	free(n->paths);
	free(n->producer);
	free(n->value);
	free(n->parent);
	free(n->rule);
	free(n->binding);
	free(n->part);
	buf_release(&n->scratch);
	arena_free(n->arena);
	*n = (struct ninja_build){ .dir = NULL };
}

/* Asking */

struct slice ninja_build_variable(const struct ninja_build *n, const char *name)
{
	return variable(n, (struct slice){ name, strlen(name) }, 0, NULL, 0);
}

struct slice ninja_build_rule(const struct ninja_build *n, const struct ninja_edge *e)
{
	return n->name.text[n->rule[e->rule].name];
}

bool ninja_edge_is_phony(const struct ninja_edge *e)
{
	return e->rule == RULE_PHONY;
}
