/* SPDX-License-Identifier: MIT */
#include "report/inspect/inspect_parts.h"

#include "base/array.h"
#include "base/minmax.h"
#include "base/sort.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define TREE_SHARE 0.01		/* of all: smaller nodes are not printed */
#define TREE_CALLERS 12		/* functions deep, from what allocates */
#define TREE_ROWS 200

/* Call sites */

static int64_t size_of(const struct call_site *site)
{
	int64_t live = site->value[VIEW_SHOWN][HEAP_LIVE_BYTES];
	int64_t peak = site->value[VIEW_SHOWN][HEAP_PEAK_BYTES];

	return MAX(live, peak);
}

static bool by_size(const void *ctx, uint32_t a, uint32_t b)
{
	const struct inspect_view *v = ctx;
	int64_t x = size_of(&v->sites.site[a]), y = size_of(&v->sites.site[b]);

	return x != y ? x > y : a < b;
}

static int64_t growth_of(const struct call_site *site)
{
	return site->value[VIEW_SHOWN][HEAP_LIVE_BYTES] - site->value[VIEW_BASE][HEAP_LIVE_BYTES];
}

static bool by_growth(const void *ctx, uint32_t a, uint32_t b)
{
	const struct inspect_view *v = ctx;
	int64_t x = growth_of(&v->sites.site[a]), y = growth_of(&v->sites.site[b]);

	return x != y ? x > y : a < b;
}

static uint32_t *numbers(size_t n)
{
	uint32_t *index = array_new(n, sizeof *index);

	for (size_t i = 0; index && i < n; i++)
		index[i] = (uint32_t)i;
	return index;
}

static void add_call(struct doc *d, const struct inspect_view *v, const struct call_site *site)
{
	struct buf *name = doc_text(d, NAN);

	inspect_call(name, v, &site->call);
	if (site->mapped)
		buf_adds(name, "  (mmap)");
}

int inspect_text_sites(struct doc *d, const struct inspect_view *v,
		       const struct inspect_show_options *o)
{
	static const struct doc_column columns[] = {
		{ "live", .type = DOC_BYTES, .width = 8, .drop = 1 },
		{ "error", .right = true, .gap = 2, .width = 10, .drop = 2 },
		{ "at peak", .type = DOC_BYTES, .gap = 2, .width = 8, .drop = 3 },
		{ "at end", .type = DOC_BYTES, .gap = 2, .width = 8, .drop = 4 },
		{ "alloc'd", .type = DOC_BYTES, .gap = 2, .width = 8, .drop = 5 },
		{ "count", .type = DOC_COUNT, .gap = 2, .width = 9, .drop = 6 },
		{ "temporary", .type = DOC_COUNT, .gap = 2, .width = 9, .drop = 7 },
		INSPECT_NAME("function"),
	};
	static const struct doc_table table = INSPECT_TABLE("Functions that allocate most", columns);
	uint32_t *index = numbers(v->sites.n);
	size_t n;

	if (!index)
		return -ENOMEM;
	n = sort_top(index, v->sites.n, o->top, by_size, v);
	doc_table(d, &table);
	for (size_t i = 0; i < n; i++) {
		const struct call_site *site = &v->sites.site[index[i]];
		const int64_t *value = site->value[VIEW_SHOWN];

		doc_row(d);
		doc_num(d, value[HEAP_LIVE_BYTES]);
		inspect_error(d, site->variance[VIEW_SHOWN]);
		doc_num(d, value[HEAP_PEAK_BYTES]);
		doc_num(d, site->value[VIEW_LAST][HEAP_LIVE_BYTES]);
		doc_num(d, value[HEAP_ALLOCATED_BYTES]);
		doc_num(d, value[HEAP_ALLOCATIONS]);
		doc_num(d, value[HEAP_TEMPORARY]);
		add_call(d, v, site);
	}
	doc_table_end(d, 0);
	free(index);
	return 0;
}

/* Growth */

static bool is_leaf(const struct classes *c, uint32_t i)
{
	return i + 1 == c->n || c->item[i + 1].depth <= c->item[i].depth;
}

static int64_t class_growth(const struct inspect_view *v, uint32_t i)
{
	return is_leaf(&v->memory, i) ? classes_value(&v->memory, i, v->shown, MAPPING_RSS) -
		classes_value(&v->memory, i, v->base, MAPPING_RSS) : 0;
}

static bool by_class_growth(const void *ctx, uint32_t a, uint32_t b)
{
	int64_t x = class_growth(ctx, a), y = class_growth(ctx, b);

	return x != y ? x > y : a < b;
}

/* "malloc heap: identifiers" */
static void add_class(struct buf *out, const struct inspect_view *v, uint32_t i)
{
	const struct memory_class *class = &v->memory.item[i];

	if (class->depth > 1) {
		add_class(out, v, class->parent);
		buf_adds(out, ": ");
	}
	buf_adds(out, class->name);
}

static void add_growth(struct doc *d, const struct inspect_view *v, size_t top, const char *title,
		       uint32_t *class, uint32_t *site)
{
	static const struct doc_column columns[] = { { .right = true, .width = 9 }, INSPECT_NAME(NULL) };
	struct doc_table table = INSPECT_TABLE(title, columns);
	size_t n = sort_top(class, v->memory.n, top, by_class_growth, v);

	table.heads = false;
	doc_table(d, &table);
	for (size_t i = 0; i < n && class_growth(v, class[i]) > 0; i++) {
		doc_row(d);
		inspect_growth(d, class_growth(v, class[i]) * 1024);
		add_class(doc_text(d, NAN), v, class[i]);
	}
	doc_table_end(d, 0);
	n = sort_top(site, v->sites.n, top, by_growth, v);
	table.title = "Functions whose live allocations grew most";
	table.empty = false;
	doc_table(d, &table);
	for (size_t i = 0; i < n && growth_of(&v->sites.site[site[i]]) > 0; i++) {
		doc_row(d);
		inspect_growth(d, growth_of(&v->sites.site[site[i]]));
		add_call(d, v, &v->sites.site[site[i]]);
	}
	doc_table_end(d, 0);
}

int inspect_text_growth(struct doc *d, const struct inspect_view *v,
			const struct inspect_show_options *o)
{
	uint32_t *class = numbers(v->memory.n), *site = numbers(v->sites.n);
	struct buf title = BUF_PART_OF(d->out);
	int r = class && site ? 0 : -ENOMEM;

	buf_addf(&title, "What grew most from snapshot %zu to %zu", v->base + 1, v->shown + 1);
	if (!r)
		add_growth(d, v, o->top, buf_str(&title), class, site);
	free(class);
	free(site);
	buf_release(&title);
	return r;
}

/* Trees */

struct printer {
	struct doc *d;
	const struct inspect_view *v;
	const struct heap_tree *t;
	uint32_t *first, *next;		/* child, and next child of the same parent, by size */
	size_t rows;
	bool callers;
};

static int64_t live(const struct heap_tree *t, uint32_t node)
{
	return t->node[node].value[HEAP_LIVE_BYTES];
}

static bool is_shown(const struct printer *p, uint32_t node)
{
	return (double)live(p->t, node) >= TREE_SHARE * (double)live(p->t, 0) && live(p->t, node);
}

/* Lists of children, of which those that are shown are in order of size. */
static void make_lists(struct printer *p)
{
	for (size_t i = 0; i < p->t->n; i++)
		p->first[i] = p->next[i] = CLASSES_NONE;
	for (uint32_t i = 1; i < p->t->n; i++) {
		uint32_t *at = &p->first[p->t->node[i].parent];

		if (!is_shown(p, i))
			continue;
		while (*at != CLASSES_NONE && live(p->t, *at) >= live(p->t, i))
			at = &p->next[*at];
		p->next[i] = *at;
		*at = i;
	}
}

/* A function that is the only one below its caller is not indented. */
static void print_below(struct printer *p, uint32_t node, size_t indent, unsigned depth)
{
	uint32_t child = p->first[node];
	bool one = child != CLASSES_NONE && p->next[child] == CLASSES_NONE &&
		   live(p->t, child) == live(p->t, node);

	for (; child != CLASSES_NONE && p->rows < TREE_ROWS; child = p->next[child], p->rows++) {
		struct call call = { p->t->node[child].function, INSPECTION_NONE, 0, INSPECTION_NONE };

		doc_row(p->d);
		doc_depth(p->d, indent);
		doc_num(p->d, live(p->t, child));
		inspect_error(p->d, p->t->node[child].variance);
		inspect_share(p->d, live(p->t, child), live(p->t, 0));
		inspect_call(doc_text(p->d, NAN), p->v, &call);
		if (!p->callers || depth < TREE_CALLERS)
			print_below(p, child, one ? indent : indent + 1, depth + 1);
	}
}

int inspect_text_tree(struct doc *d, const struct inspect_view *v, const struct heap_tree *t)
{
	static const struct doc_column columns[] = {
		{ "live", .type = DOC_BYTES, .width = 8 }, INSPECT_CELL("error", 10),
		INSPECT_CELL("share", 6), INSPECT_NAME("function"),
	};
	struct printer p = { .d = d, .v = v, .t = t, .callers = t == &v->bottom_up };
	const struct doc_table table =
		INSPECT_TABLE(p.callers ? "Live allocations by function, and who called it" :
			      "Live allocations by function, from main() on", columns);
	int r = -ENOMEM;

	p.first = array_new(t->n + 1, sizeof *p.first);
	p.next = array_new(t->n, sizeof *p.next);
	if (p.first && p.next) {
		doc_table(d, &table);
		if (t->n) {
			make_lists(&p);
			print_below(&p, 0, 0, 0);
		}
		doc_table_end(d, 0);
		r = 0;
	}
	free(p.first);
	free(p.next);
	return r;
}
