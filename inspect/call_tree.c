/* SPDX-License-Identifier: MIT */
#include "inspect/call_tree.h"

#include "base/array.h"
#include "base/index.h"
#include "base/minmax.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TEXT_CAP 512
#define INLINED_MAX 64		/* functions at one address */

struct making {
	struct call_tree *t;
	const struct inspection *in;
	struct index nodes;	/* (parent, function) -> node */
};

static int add_function(struct making *m, struct slice name, const struct call_function *what,
			uint32_t *number)
{
	struct call_tree *t = m->t;
	struct call_function *f;
	int r = name_table_add(&t->names, name, number);

	if (r || *number < t->n_functions)
		return r;
	f = array_add(&t->function, &t->n_functions, sizeof *f);
	if (!f)
		return -ENOMEM;
	*f = *what;
	f->name = t->names.name[*number].p;
	return 0;
}

static int add_node(struct making *m, uint32_t *node, uint32_t function, bool inlined)
{
	struct call_tree *t = m->t;
	struct call_node *n;
	uint32_t parent = *node;

	if (index_find(&m->nodes, parent, function, node))
		return 0;
	*node = (uint32_t)t->n;
	n = array_add(&t->node, &t->n, sizeof *n);
	if (!n)
		return -ENOMEM;
	*n = (struct call_node){ .parent = parent, .function = function, .inlined = inlined };
	return index_put(&m->nodes, parent, function, *node);
}

static struct slice name_of(const struct inspection *in, uint32_t name)
{
	return in->names.name[name].len ? in->names.name[name] : (struct slice){ "?", 1 };
}

static int add_unnamed(struct making *m, uint32_t *node, const struct frame *f)
{
	struct call_function what = { .module = f->module, .source = INSPECTION_NONE };
	const struct inspection *in = m->in;
	uint64_t address = f->address;
	char text[TEXT_CAP];
	uint32_t function;
	int r, len = 0;

	if (f->module != INSPECTION_NONE) {
		const struct slice *file = &in->names.name[in->module[f->module].file];
		const char *base = memrchr(file->p, '/', file->len);
		size_t left = base ? (size_t)(file->p + file->len - ++base) : file->len;

		len = snprintf(text, sizeof text - 32, "%.*s!", (int)MIN(left, 400),
			       base ? base : file->p);
		address -= in->module[f->module].bias;
	}
	len += snprintf(text + len, sizeof text - (size_t)len, "0x%" PRIx64, address);
	r = add_function(m, (struct slice){ text, (size_t)len }, &what, &function);
	return r ? r : add_node(m, node, function, false);
}

/* A node for each function at the address of the frame, outermost first. */
static int add_frame(struct making *m, uint32_t *node, const struct frame *f)
{
	uint32_t chain[INLINED_MAX], n = 0;
	const struct inspection *in = m->in;
	int r = 0;

	for (uint32_t at = f->name; at < in->n_frame_names && n < INLINED_MAX;
	     at = in->frame_name[at].inlined_in)
		chain[n++] = at;
	if (!n)
		return add_unnamed(m, node, f);
	for (uint32_t i = n; !r && i-- > 0;) {
		const struct frame_name *name = &in->frame_name[chain[i]];
		struct call_function what = {
			.module = f->module, .source = name->source, .line = name->line,
		};
		uint32_t function;

		r = add_function(m, name_of(in, name->function), &what, &function);
		if (!r)
			r = add_node(m, node, function, i + 1 < n);
	}
	return r;
}

int call_tree_make(struct call_tree *t, const struct inspection *in)
{
	struct making m = { .t = t, .in = in, .nodes = INDEX_INIT };
	int r = 0;

	*t = (struct call_tree){ .arena = arena_new() };
	t->names.arena = t->arena;
	t->of_stack = array_new_zero(in->n_stacks + 1, sizeof *t->of_stack);
	if (!t->arena || !t->of_stack)
		r = -ENOMEM;
	for (; !r && t->n_stacks < in->n_stacks; t->n_stacks++) {
		const struct stack *s = &in->stack[t->n_stacks];
		uint32_t node = s->parent == INSPECTION_NONE ? INSPECTION_NONE :
			t->of_stack[s->parent];

		r = add_frame(&m, &node, &in->frame[s->frame]);
		t->of_stack[t->n_stacks] = node;
	}
	index_release(&m.nodes);
	if (r)
		call_tree_release(t);
	return r;
}

void call_tree_release(struct call_tree *t)
{
	free_all(t->node, t->function, t->of_stack);
	name_table_release(&t->names);
	arena_free(t->arena);
	*t = (struct call_tree){ 0 };
}

void call_tree_add_up(const struct call_tree *t, uint64_t *value)
{
	for (size_t i = t->n; i-- > 0;) {
		if (t->node[i].parent != INSPECTION_NONE)
			value[t->node[i].parent] += value[i];
	}
}
