/* SPDX-License-Identifier: MIT */
#include "render/inspect/inspect_parts.h"

#include "base/array.h"
#include "base/sort.h"
#include "render/show.h"

#include <errno.h>
#include <stdlib.h>

#define TREE_SHARE 0.01		/* of all: smaller nodes are not printed */
#define TREE_CALLERS 12		/* functions deep, from what allocates */
#define TREE_ROWS 200

/* Call sites */

static int64_t size_of(const struct call_site *site)
{
	int64_t live = site->value[VIEW_SHOWN][HEAP_LIVE_BYTES];
	int64_t peak = site->value[VIEW_SHOWN][HEAP_PEAK_BYTES];

	return live > peak ? live : peak;
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
	uint32_t *index = malloc((n + 1) * sizeof *index);

	for (size_t i = 0; index && i < n; i++)
		index[i] = (uint32_t)i;
	return index;
}

static void add_call(struct buf *out, const struct inspect_view *v, const struct style *style,
		     const struct call_site *site, size_t taken)
{
	struct buf name = BUF_PART_OF(out);

	inspect_call(&name, v, &site->call);
	if (site->mapped)
		buf_adds(&name, "  (mmap)");
	inspect_name(out, style, taken, 0, buf_str(&name));
	buf_release(&name);
}

static void site_cell(struct buf *out, const struct call_site *site, size_t column)
{
	const int64_t *value = site->value[VIEW_SHOWN];

	switch (column) {
	case 0:
		inspect_bytes(out, value[HEAP_LIVE_BYTES]);
		break;
	case 1:
		inspect_error(out, site->variance[VIEW_SHOWN]);
		break;
	case 2:
		inspect_bytes(out, value[HEAP_PEAK_BYTES]);
		break;
	case 3:
		inspect_bytes(out, site->value[VIEW_LAST][HEAP_LIVE_BYTES]);
		break;
	case 4:
		inspect_bytes(out, value[HEAP_ALLOCATED_BYTES]);
		break;
	case 5:
		inspect_count(out, value[HEAP_ALLOCATIONS], 9);
		break;
	default:
		inspect_count(out, value[HEAP_TEMPORARY], 9);
	}
}

int inspect_text_sites(struct buf *out, const struct inspect_view *v,
		       const struct inspect_show_options *o, const struct style *style)
{
	static const char *const heads[] = {
		"live", "error", "at peak", "at end", "alloc'd", "count", "temporary"
	};
	static const size_t columns[] = { 10, 12, 10, 10, 10, 11, 11 };
	size_t fit = inspect_fitting(style, columns, ARRAY_SIZE(columns)), n;
	uint32_t *index = numbers(v->sites.n);

	if (!index)
		return -ENOMEM;
	n = sort_top(index, v->sites.n, o->top, by_size, v);
	text_title(out, style, "Functions that allocate most");
	for (size_t k = 0; k < fit; k++)
		inspect_head(out, heads[k], columns[k] - 2);
	buf_adds(out, "function\n");
	for (size_t i = 0; i < n; i++) {
		const struct call_site *site = &v->sites.site[index[i]];
		size_t start = out->len;

		for (size_t k = 0; k < fit; k++)
			site_cell(out, site, k);
		add_call(out, v, style, site, out->len - start);
	}
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

static void class_rows(struct buf *out, const struct inspect_view *v, const struct style *style,
		       const uint32_t *index, size_t n)
{
	struct buf name = BUF_PART_OF(out);

	for (size_t i = 0; i < n && class_growth(v, index[i]) > 0; i++) {
		buf_clear(&name);
		inspect_growth(out, class_growth(v, index[i]) * 1024);
		add_class(&name, v, index[i]);
		inspect_name(out, style, 11, 0, buf_str(&name));
	}
	buf_release(&name);
}

int inspect_text_growth(struct buf *out, const struct inspect_view *v,
			const struct inspect_show_options *o, const struct style *style)
{
	uint32_t *class = numbers(v->memory.n), *site = numbers(v->sites.n);
	struct buf title = BUF_PART_OF(out);
	size_t n;

	if (class && site) {
		buf_addf(&title, "What grew most from snapshot %zu to %zu", v->base + 1, v->shown + 1);
		text_title(out, style, buf_str(&title));
		n = sort_top(class, v->memory.n, o->top, by_class_growth, v);
		class_rows(out, v, style, class, n);
		n = sort_top(site, v->sites.n, o->top, by_growth, v);
		if (n && growth_of(&v->sites.site[site[0]]) > 0)
			text_title(out, style, "Functions whose live allocations grew most");
		for (size_t i = 0; i < n && growth_of(&v->sites.site[site[i]]) > 0; i++) {
			inspect_growth(out, growth_of(&v->sites.site[site[i]]));
			add_call(out, v, style, &v->sites.site[site[i]], 11);
		}
	}
	n = class && site;
	free(class);
	free(site);
	buf_release(&title);
	return n ? 0 : -ENOMEM;
}

/* Trees */

struct printer {
	struct buf *out;
	const struct inspect_view *v;
	const struct heap_tree *t;
	const struct style *style;
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
		struct buf name = BUF_PART_OF(p->out);

		inspect_bytes(p->out, live(p->t, child));
		inspect_error(p->out, p->t->node[child].variance);
		inspect_share(p->out, live(p->t, child), live(p->t, 0));
		inspect_call(&name, p->v, &call);
		inspect_name(p->out, p->style, 30, indent, buf_str(&name));
		buf_release(&name);
		if (!p->callers || depth < TREE_CALLERS)
			print_below(p, child, one ? indent : indent + 2, depth + 1);
	}
}

int inspect_text_tree(struct buf *out, const struct inspect_view *v, const struct heap_tree *t,
		      const struct style *style)
{
	struct printer p = {
		.out = out, .v = v, .t = t, .style = style, .callers = t == &v->bottom_up,
	};
	int r = -ENOMEM;

	p.first = malloc((t->n + 1) * sizeof *p.first);
	p.next = malloc((t->n + 1) * sizeof *p.next);
	if (p.first && p.next) {
		text_title(out, style, p.callers ? "Live allocations by function, and who called it" :
			   "Live allocations by function, from main() on");
		inspect_head(out, "live", 8);
		inspect_head(out, "error", 10);
		inspect_head(out, "share", 6);
		buf_adds(out, "function\n");
		if (t->n) {
			make_lists(&p);
			print_below(&p, 0, 0, 0);
		}
		r = 0;
	}
	free(p.first);
	free(p.next);
	return r;
}
