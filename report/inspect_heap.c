/* SPDX-License-Identifier: MIT */
#include "report/inspect_page_parts.h"

#include "base/array.h"
#include "base/minmax.h"
#include "base/pattern.h"
#include "inspect/call_names.h"

#include <errno.h>
#include <string.h>

#define LEAST_SHARE 1000	/* nodes of less than one in so many bytes are one node */

/* Collecting */

/* Keep the nodes that have enough of the values in p->sum with what they called. Returns the
 * whole. */
static uint64_t keep_large(struct inspect_page *p)
{
	const struct call_tree *t = p->tree;
	uint64_t total = 0;

	call_tree_add_up(t, p->sum);
	for (size_t i = 0; i < t->n; i++)
		total += t->node[i].parent == INSPECTION_NONE ? p->sum[i] : 0;
	for (size_t i = 0; i < t->n; i++)
		p->kept[i] |= p->sum[i] && p->sum[i] >= total / LEAST_SHARE;
	return total;
}

static void add_sites(struct inspect_page *p, const struct snapshot *s)
{
	for (size_t i = 0; i < p->tree->n; i++)
		p->node[i] = (struct page_node){ .spread = p->node[i].spread };
	for (size_t i = 0; i < s->n_sites; i++) {
		const struct site *site = &s->site[i];
		struct page_node *n = &p->node[p->tree->of_stack[site->stack]];
		double error = (double)site->error_bytes;

		n->allocations += site->allocations;
		n->allocated += site->allocated;
		n->temporary += site->temporary;
		n->peak_bytes += site->peak_bytes;
		p->sum[p->tree->of_stack[site->stack]] += site->live_bytes;
		if (site->live_bytes && error * error / (double)site->live_bytes > n->spread)
			n->spread = error * error / (double)site->live_bytes;
	}
}

int inspect_heap_add(struct inspect_page *p, const struct snapshot *s)
{
	size_t n = p->tree->n;

	p->has_heap = true;
	memset(p->sum, 0, n * sizeof *p->sum);
	add_sites(p, s);
	for (size_t i = 0; i < n; i++) {
		struct page_live *live;

		if (!p->sum[i])
			continue;
		live = array_add(&p->live, &p->n_live, sizeof *live);
		if (!live)
			return -ENOMEM;
		*live = (struct page_live){ (uint32_t)i, (uint32_t)p->n - 1, p->sum[i] };
	}
	p->time[p->n - 1].live_bytes = keep_large(p);
	for (size_t i = 0; i < n; i++)
		p->sum[i] = p->node[i].peak_bytes;
	keep_large(p);
	return 0;
}

/* Writing: a row for each node that is kept, and one for the rest below each node. */

struct row {
	uint32_t parent, function;	/* plus 1 */
	uint32_t rest;			/* row of the rest below it, PAGE_NONE */
	struct page_node node;
};

struct rows {
	size_t n, n_times;
	struct row *row;
	uint32_t *of_node;
	uint32_t rest;			/* of outermost calls */
	uint64_t *live;			/* [row * n_times + snapshot] */
};

static uint32_t add_row(struct rows *r, uint32_t parent, uint32_t function)
{
	struct row *row = array_add(&r->row, &r->n, sizeof *row);

	if (!row)
		return PAGE_NONE;
	*row = (struct row){ .parent = parent, .function = function, .rest = PAGE_NONE };
	return (uint32_t)r->n - 1;
}

static uint32_t row_of(struct rows *r, const struct inspect_page *p, uint32_t node)
{
	const struct call_node *n = &p->tree->node[node];
	uint32_t above = n->parent == INSPECTION_NONE ? PAGE_NONE : r->of_node[n->parent];
	uint32_t rest;

	if (p->kept[node])
		return add_row(r, above + 1, n->function + 1);
	if (above != PAGE_NONE && !p->kept[n->parent])
		return above;
	rest = above == PAGE_NONE ? r->rest : r->row[above].rest;
	if (rest != PAGE_NONE)
		return rest;
	rest = add_row(r, above + 1, 0);
	if (above == PAGE_NONE)
		r->rest = rest;
	else
		r->row[above].rest = rest;
	return rest;
}

static void add_node(struct rows *r, uint32_t row, const struct page_node *n)
{
	struct page_node *to = &r->row[row].node;

	to->allocations += n->allocations;
	to->allocated += n->allocated;
	to->temporary += n->temporary;
	to->spread = MAX(n->spread, to->spread);
	r->live[row * r->n_times + r->n_times - 1] += n->peak_bytes;
}

static int make_rows(struct rows *r, const struct inspect_page *p)
{
	size_t n = p->tree->n;

	*r = (struct rows){ .rest = PAGE_NONE, .n_times = p->n + 1 };
	r->of_node = array_new_zero(n, sizeof *r->of_node);
	for (uint32_t i = 0; r->of_node && i < n; i++) {
		r->of_node[i] = row_of(r, p, i);
		if (r->of_node[i] == PAGE_NONE)
			return -ENOMEM;
	}
	r->live = array_new_zero(r->n * r->n_times, sizeof *r->live);
	if (!r->of_node || !r->live)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		add_node(r, r->of_node[i], &p->node[i]);
	for (size_t i = 0; i < p->n_live; i++)
		r->live[r->of_node[p->live[i].node] * r->n_times + p->live[i].snapshot] +=
			p->live[i].bytes;
	return 0;
}

/* Functions that rows have, from 1 in the order of their rows. */
static uint32_t *number_functions(const struct rows *r, const struct inspect_page *p)
{
	uint32_t *number = array_new_zero(p->tree->n_functions, sizeof *number), n = 0;

	for (size_t i = 0; number && i < r->n; i++) {
		uint32_t *at = &number[r->row[i].function ? r->row[i].function - 1 : 0];

		if (r->row[i].function && !*at)
			*at = ++n;
	}
	return number;
}

static void write_tree(struct packed *data, const struct rows *r, const uint32_t *number)
{
	struct pack_column parent, function;

	pack_column_init(&parent, 'd');
	pack_column_init(&function, 'd');
	for (size_t i = 0; i < r->n; i++) {
		pack_column_adds(&parent, (int32_t)r->row[i].parent);
		pack_column_adds(&function, r->row[i].function ?
				 (int32_t)number[r->row[i].function - 1] : 0);
	}
	packed_column(data, &parent, "parent", 1);
	packed_column(data, &function, "function", 1);
}

static void write_live(struct packed *data, const struct rows *r)
{
	struct pack_column column;
	uint64_t most = 0;
	double unit;

	for (size_t i = 0; i < r->n * r->n_times; i++)
		most = MAX(r->live[i], most);
	unit = packed_unit((int64_t)most, 2);
	pack_column_init(&column, 'd');
	for (size_t i = 0; i < r->n * r->n_times; i++)
		pack_column_adds(&column, (int32_t)((double)r->live[i] / unit + .5));
	packed_column(data, &column, "live", unit);
}

static uint64_t node_number(const struct page_node *n, unsigned which)
{
	switch (which) {
	case 0:
		return n->allocations;
	case 1:
		return n->allocated;
	case 2:
		return n->temporary;
	default:
		return (uint64_t)n->spread;
	}
}

static void write_numbers(struct packed *data, const struct rows *r)
{
	static const char *const names[] = { "allocations", "allocated", "temporary", "spread" };

	for (unsigned k = 0; k < ARRAY_SIZE(names); k++) {
		struct pack_column column;
		uint64_t most = 0;
		double unit;

		for (size_t i = 0; i < r->n; i++) {
			uint64_t v = node_number(&r->row[i].node, k);

			most = MAX(v, most);
		}
		unit = packed_unit(most > INT64_MAX ? INT64_MAX : (int64_t)most, 2);
		pack_column_init(&column, 'u');
		for (size_t i = 0; i < r->n; i++)
			pack_column_add(&column, (uint32_t)((double)node_number(&r->row[i].node, k) /
							    unit + .5));
		packed_column(data, &column, names[k], unit);
	}
}

static void add_text(struct pack_dictionary *d, struct pack_column *column, const char *text)
{
	uint32_t known = pack_dictionary_add(d, text);

	pack_column_add(column, known ? known : (uint32_t)d->n);
}

static void add_function(const struct inspect_page *p, struct pack_column *c,
			 struct pack_dictionary *d, const struct call_function *f)
{
	const struct name_table *names = &p->in->names;

	if (f->module == INSPECTION_NONE)
		pack_column_add(&c[0], 0);
	else
		add_text(&d[0], &c[0], names->name[p->in->module[f->module].file].p);
	if (f->source == INSPECTION_NONE)
		pack_column_add(&c[1], 0);
	else
		add_text(&d[1], &c[1], names->name[f->source].p);
	pack_column_add(&c[2], f->line);
}

/* 1 if it does, 0, or -ENOMEM. */
static int allocates(const struct pattern *allocators, const char *function)
{
	struct buf name = BUF_INIT;
	int r;

	if (!allocators->made)
		return 0;
	call_names_short(&name, function);
	r = buf_error(&name);
	r = r ? r : pattern_fits(allocators, buf_str(&name));
	buf_release(&name);
	return r;
}

/* Of the functions that have a number, in its order. */
static void write_functions(struct packed *data, const struct inspect_page *p, const struct rows *r,
			    const uint32_t *number)
{
	static const char *const names[] = { "module", "source", "line", "allocates" };
	struct pack_dictionary d[2] = { PACK_DICTIONARY_INIT, PACK_DICTIONARY_INIT };
	struct pack_column column[ARRAY_SIZE(names)];
	struct pattern allocators = { .made = false };
	struct buf texts = BUF_INIT;
	struct error err;
	uint32_t n = 0;
	int failed = p->rules->allocators ? pattern_init(&allocators, p->rules->allocators, &err) : 0;

	for (size_t k = 0; k < ARRAY_SIZE(names); k++)
		pack_column_init(&column[k], 'u');
	for (size_t i = 0; i < r->n; i++) {
		const struct call_function *f;
		int yes;

		if (!r->row[i].function || number[r->row[i].function - 1] != n + 1)
			continue;
		n++;
		f = &p->tree->function[r->row[i].function - 1];
		add_function(p, column, d, f);
		yes = allocates(&allocators, f->name);
		failed = yes < 0 ? yes : failed;
		pack_column_add(&column[3], yes > 0);
		pack_text(&texts, f->name, PACKED_TEXT_MAX);
	}
	for (size_t k = 0; k < ARRAY_SIZE(names); k++)
		packed_column(data, &column[k], names[k], 1);
	packed_texts(data, "function", &texts);
	for (size_t k = 0; k < ARRAY_SIZE(d); k++) {
		packed_texts(data, names[k], &d[k].out);
		pack_dictionary_release(&d[k]);
	}
	pattern_release(&allocators);
	if (failed)
		data->r = failed;
}

void inspect_heap_write(struct packed *data, const struct inspect_page *p)
{
	uint32_t *number = NULL;
	struct rows r;
	int error = make_rows(&r, p);

	if (!error)
		number = number_functions(&r, p);
	if (!error && !number)
		error = -ENOMEM;
	if (error) {
		data->r = error;
	} else {
		write_tree(data, &r, number);
		write_live(data, &r);
		write_numbers(data, &r);
		write_functions(data, p, &r, number);
	}
	free_all(number, r.of_node, r.row, r.live);
}
