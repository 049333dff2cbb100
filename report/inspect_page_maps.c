/* SPDX-License-Identifier: MIT */
#include "report/inspect_page_parts.h"

#include "base/array.h"
#include "base/sort.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AREAS_MOST 20000	/* rows of the table; those of the largest size are kept */
#define PAGE_SHIFT 12
#define LOW_BITS 20

/* Collecting */

static uint64_t key_of(const struct mapping *m)
{
	uint64_t key = m->file;

	for (int i = 0; i < 4; i++)
		key = key << 8 | (unsigned char)m->permissions[i];
	return key;
}

static struct page_area *find_area(struct inspect_page *p, const struct mapping *m)
{
	uint64_t key = key_of(m);
	struct page_area *a;
	uint32_t at;

	if (index_find(&p->areas, m->start, key, &at))
		return &p->area[at];
	at = (uint32_t)p->n_areas;
	a = array_add(&p->area, &p->n_areas, sizeof *a);
	if (!a || index_put(&p->areas, m->start, key, at))
		return NULL;
	*a = (struct page_area){
		.start = m->start, .offset = m->offset, .file = m->file, .last = PAGE_NONE,
	};
	memcpy(a->permissions, m->permissions, sizeof a->permissions);
	return a;
}

/* NULL: the area is not there any more. */
static int add_change(struct inspect_page *p, struct page_area *a, const struct mapping *m)
{
	uint32_t kb[MAPPING_VALUES] = { 0 };
	struct page_change *c;

	for (int v = 0; m && v < MAPPING_VALUES; v++)
		kb[v] = m->kb[v] > INT32_MAX ? INT32_MAX : (uint32_t)m->kb[v];
	if (a->last != PAGE_NONE && !memcmp(p->change[a->last].kb, kb, sizeof kb))
		return 0;
	c = array_add(&p->change, &p->n_changes, sizeof *c);
	if (!c)
		return -ENOMEM;
	*c = (struct page_change){ .before = a->last, .snapshot = (uint32_t)p->n - 1 };
	memcpy(c->kb, kb, sizeof kb);
	a->last = (uint32_t)p->n_changes - 1;
	if (kb[MAPPING_SIZE] > a->most_kb)
		a->most_kb = kb[MAPPING_SIZE];
	return 0;
}

int inspect_maps_add(struct inspect_page *p, const struct snapshot *s)
{
	int r = 0;

	for (size_t i = 0; !r && i < s->n; i++) {
		struct page_area *a = find_area(p, &s->mapping[i]);

		if (!a)
			return -ENOMEM;
		a->seen = (uint32_t)p->n;
		r = add_change(p, a, &s->mapping[i]);
	}
	for (size_t i = 0; !r && i < p->n_areas; i++) {
		if (p->area[i].seen != p->n)
			r = add_change(p, &p->area[i], NULL);
	}
	return r;
}

/* Writing */

static bool is_larger(const void *ctx, uint32_t a, uint32_t b)
{
	const struct page_area *area = ctx;

	return area[a].most_kb != area[b].most_kb ? area[a].most_kb > area[b].most_kb : a < b;
}

static bool is_first(const void *ctx, uint32_t a, uint32_t b)
{
	const struct page_area *area = ctx;

	return area[a].start != area[b].start ? area[a].start < area[b].start : a < b;
}

/* The values of an area in all snapshots: [snapshot]. */
static void fill(const struct inspect_page *p, const struct page_area *a, int value, uint32_t *kb)
{
	uint32_t end = (uint32_t)p->n;

	for (uint32_t at = a->last; at != PAGE_NONE; at = p->change[at].before) {
		for (uint32_t s = p->change[at].snapshot; s < end; s++)
			kb[s] = p->change[at].kb[value];
		end = p->change[at].snapshot;
	}
	memset(kb, 0, end * sizeof *kb);
}

static void write_values(struct packed *data, const struct inspect_page *p, const uint32_t *order,
			 size_t n, uint32_t *kb)
{
	for (int v = 0; v < MAPPING_VALUES; v++) {
		struct pack_column column;
		char name[16];

		pack_column_init(&column, 'd');
		for (size_t i = 0; i < n; i++) {
			fill(p, &p->area[order[i]], v, kb);
			for (size_t s = 0; s < p->n; s++)
				pack_column_adds(&column, (int32_t)kb[s]);
		}
		snprintf(name, sizeof name, "kb%d", v);
		packed_column(data, &column, name, 1);
	}
}

static void write_areas(struct packed *data, const struct inspect_page *p, const uint32_t *order,
			size_t n)
{
	static const char *const names[] = { "high", "low", "offset", "file", "permissions" };
	struct pack_dictionary text[2] = { PACK_DICTIONARY_INIT, PACK_DICTIONARY_INIT };
	struct pack_column column[ARRAY_SIZE(names)];

	for (size_t k = 0; k < ARRAY_SIZE(names); k++)
		pack_column_init(&column[k], 'd');
	for (size_t i = 0; i < n; i++) {
		const struct page_area *a = &p->area[order[i]];
		uint64_t offset = a->offset >> PAGE_SHIFT;
		uint32_t known;

		pack_column_adds(&column[0], (int32_t)(a->start >> (PAGE_SHIFT + LOW_BITS)));
		pack_column_adds(&column[1], (int32_t)(a->start >> PAGE_SHIFT & ((1 << LOW_BITS) - 1)));
		pack_column_adds(&column[2], offset > INT32_MAX ? -1 : (int32_t)offset);
		known = pack_dictionary_add(&text[0], p->in->names.name[a->file].p);
		pack_column_adds(&column[3], (int32_t)(known ? known : text[0].n) - 1);
		known = pack_dictionary_add(&text[1], a->permissions);
		pack_column_adds(&column[4], (int32_t)(known ? known : text[1].n) - 1);
	}
	for (size_t k = 0; k < ARRAY_SIZE(names); k++)
		packed_column(data, &column[k], names[k], 1);
	for (size_t k = 0; k < ARRAY_SIZE(text); k++) {
		packed_texts(data, names[3 + k], &text[k].out);
		pack_dictionary_release(&text[k]);
	}
}

void inspect_maps_write(struct packed *data, const struct inspect_page *p)
{
	uint32_t *order = array_new_zero(p->n_areas, sizeof *order);
	uint32_t *kb = array_new_zero(p->n, sizeof *kb);
	size_t n;

	for (uint32_t i = 0; order && i < p->n_areas; i++)
		order[i] = i;
	if (order && kb) {
		n = sort_top(order, p->n_areas, AREAS_MOST, is_larger, p->area);
		sort_top(order, n, n, is_first, p->area);
		write_areas(data, p, order, n);
		write_values(data, p, order, n, kb);
	} else {
		data->r = -ENOMEM;
	}
	free(order);
	free(kb);
}
