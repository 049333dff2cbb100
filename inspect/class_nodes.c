/* SPDX-License-Identifier: MIT */
#include "inspect/class_nodes.h"

#include "base/array.h"
#include "base/minmax.h"
#include "inspect/call_names.h"
#include "inspect/memory_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const class_split_words[] = { "none", "caller", "directory", NULL };

static int condition_init(struct class_condition *c, const char *text, struct error *err)
{
	if (!text)
		return 0;
	c->wanted = true;
	return pattern_init(&c->pattern, text, err);
}

static void condition_release(struct class_condition *c)
{
	pattern_release(&c->pattern);
	free(c->known);
}

/* Does it fit the text with this number in names, or that has none there? */
static int condition_fits(struct class_condition *c, const struct inspection *in, uint32_t number,
			  const char *text, bool *fits)
{
	if (number >= in->names.n) {
		*fits = pattern_fits(&c->pattern, text);
		return 0;
	}
	if (number >= c->n_known) {
		char *known = realloc(c->known, in->names.n);

		if (!known)
			return -ENOMEM;
		memset(known + c->n_known, 0, in->names.n - c->n_known);
		c->known = known;
		c->n_known = in->names.n;
	}
	if (!c->known[number])
		c->known[number] = 1 + pattern_fits(&c->pattern, text);
	*fits = c->known[number] == 2;
	return 0;
}

/* Making */

static struct class_node *add_node(struct class_nodes *t, const char *name, uint32_t parent)
{
	struct class_node *node = array_add(&t->node, &t->n, sizeof *node);

	if (node)
		*node = (struct class_node){ .name = name, .parent = parent };
	return node;
}

static int add_rule(struct class_nodes *t, const struct class_rule *rule, uint32_t parent,
		    struct error *err)
{
	struct class_node *node = add_node(t, rule->name, parent);
	int r;

	if (!node)
		return -ENOMEM;
	node->rule = rule;
	node->split = rule->split;
	r = condition_init(&node->file, rule->file, err);
	if (r)
		return r;
	r = condition_init(&node->permissions, rule->permissions, err);
	if (r)
		return r;
	r = condition_init(&node->source, rule->source, err);
	if (r || !rule->stack.n)
		return r;
	node->stack = calloc(rule->stack.n, sizeof *node->stack);
	if (!node->stack)
		return -ENOMEM;
	for (size_t i = 0; i < rule->stack.n && !r; i++)
		r = condition_init(&node->stack[i], rule->stack.item[i], err);
	return r;
}

/* The children of a node, which follow each other, and other. */
static int add_children(struct class_nodes *t, uint32_t parent, const struct class_rules *rules,
			struct error *err)
{
	int r = 0;

	t->node[parent].first = (uint32_t)t->n;
	t->node[parent].n_children = (uint32_t)rules->n + 1;
	for (size_t i = 0; i < rules->n; i++) {
		r = add_rule(t, &rules->rule[i], parent, err);
		if (r)
			return r;
	}
	return add_node(t, "other", parent) ? 0 : -ENOMEM;
}

int class_nodes_init(struct class_nodes *t, const struct class_rule_file *file,
		     const struct inspection *in, struct error *err)
{
	int r;

	*t = (struct class_nodes){ .in = in };
	r = condition_init(&t->allocators, file->allocators, err);
	if (r || !add_node(t, "all", CLASSES_NONE))
		return r ? r : -ENOMEM;
	r = add_children(t, 0, &file->rules, err);
	if (r)
		return r;
	for (uint32_t i = 1; i < t->n; i++) {
		if (t->node[i].rule && t->node[i].rule->children.n)
			r = add_children(t, i, &t->node[i].rule->children, err);
		if (r)
			return r;
	}
	return 0;
}

void class_nodes_release(struct class_nodes *t)
{
	for (size_t i = 0; i < t->n; i++) {
		struct class_node *node = &t->node[i];

		condition_release(&node->file);
		condition_release(&node->permissions);
		condition_release(&node->source);
		for (size_t k = 0; node->stack && k < node->rule->stack.n; k++)
			condition_release(&node->stack[k]);
		free(node->stack);
	}
	condition_release(&t->allocators);
	free(t->node);
	*t = (struct class_nodes){ 0 };
}

/* Finding */

static int call_fits(struct class_condition *c, const struct inspection *in,
		     const struct calls *calls, size_t call, bool *yes)
{
	uint32_t function = calls->call[call].function;
	struct buf name = BUF_INIT;
	int r;

	if (function < c->n_known && c->known[function]) {
		*yes = c->known[function] == 2;
		return 0;
	}
	call_names_short(&name, calls_function(calls, function));
	r = buf_error(&name);
	r = r ? r : condition_fits(c, in, function, buf_str(&name), yes);
	buf_release(&name);
	return r;
}

static int stack_fits(struct class_nodes *t, struct class_node *node, const struct calls *calls,
		      bool *fits, size_t *after)
{
	size_t call = 0, wanted = 0, n = node->rule->stack.n;

	for (; wanted < n && calls && call < calls->n; call++) {
		bool one;

		if (call_fits(&node->stack[wanted], t->in, calls, call, &one))
			return -ENOMEM;
		wanted += one;
	}
	*fits = wanted == n;
	*after = call;
	return 0;
}

static int source_fits(struct class_nodes *t, struct class_node *node, const struct calls *calls,
		       bool *fits)
{
	*fits = false;
	for (size_t i = 0; calls && i < calls->n && !*fits; i++) {
		uint32_t source = calls->call[i].source;

		if (source < t->in->names.n &&
		    condition_fits(&node->source, t->in, source, t->in->names.name[source].p, fits))
			return -ENOMEM;
	}
	return 0;
}

static int fits(struct class_nodes *t, struct class_node *node, const struct class_item *item,
		bool *yes, size_t *after)
{
	int r = 0;

	*yes = true;
	*after = 0;
	if (node->file.wanted)
		r = condition_fits(&node->file, t->in, item->file,
				   memory_part_file(t->in, item->file), yes);
	if (!r && *yes && node->permissions.wanted)
		*yes = pattern_fits(&node->permissions.pattern, item->permissions);
	if (!r && *yes && node->stack)
		r = stack_fits(t, node, item->calls, yes, after);
	if (!r && *yes && node->source.wanted)
		r = source_fits(t, node, item->calls, yes);
	return r;
}

int class_nodes_find(struct class_nodes *t, const struct class_item *item, uint32_t *node,
		     size_t *after)
{
	*node = 0;
	*after = 0;
	while (t->node[*node].n_children) {
		uint32_t child = t->node[*node].first;
		size_t calls = 0;
		bool yes = false;

		for (;; child++) {
			int r = fits(t, &t->node[child], item, &yes, &calls);

			if (r)
				return r;
			if (yes)	/* other always fits */
				break;
		}
		*after = MAX(calls, *after);
		*node = child;
	}
	return 0;
}

int class_nodes_blame(struct class_nodes *t, const struct calls *calls, size_t from, size_t *call)
{
	bool allocates = t->allocators.wanted;

	for (*call = from; *call < calls->n && allocates; *call += allocates) {
		if (call_fits(&t->allocators, t->in, calls, *call, &allocates))
			return -ENOMEM;
	}
	return 0;
}
