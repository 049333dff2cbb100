/* SPDX-License-Identifier: MIT */
#include "inspect/memory_parts.h"

#include "base/array.h"
#include "base/minmax.h"
#include "base/search.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GUARD_MAX (64 * 1024)			/* bytes */
#define VARIABLES_MAX (16 * 1024 * 1024)	/* bytes: .bss is rarely larger */
#define VALUE_MAX (UINT64_C(1) << 42)		/* the sum of a million is a number */
#define ARENA (64 * 1024 * 1024)		/* glibc's arenas begin at a multiple of it */

const char *memory_part_file(const struct inspection *in, uint32_t file)
{
	return file == PART_HEAP ? "[heap]" : file == PART_THREAD_STACK ? "[thread stack]" :
	       file < in->names.n ? in->names.name[file].p : "";
}

static struct memory_part *add_part(struct memory_parts *p, uint32_t file,
				    const char permissions[5])
{
	struct memory_part *part = array_add(&p->part, &p->n, sizeof *part);

	if (!part)
		return NULL;
	*part = (struct memory_part){ .file = file, .stack = INSPECTION_NONE };
	memcpy(part->permissions, permissions, sizeof part->permissions);
	return part;
}

static const char *text_of(const struct inspection *in, const struct mapping *m)
{
	return memory_part_file(in, m->file);
}

/* Anonymous memory of no name, or of one that the process or the kernel gave it. */
static bool is_anonymous(const struct inspection *in, const struct mapping *m)
{
	const char *text = text_of(in, m);

	return !m->inode && (!*text || !strncmp(text, "[anon:", 6));
}

static bool is_guard(const struct inspection *in, const struct mapping *m)
{
	return is_anonymous(in, m) && m->end - m->start <= GUARD_MAX &&
	       !strncmp(m->permissions, "---", 3);
}

/* The file of a part of a mapping that nothing says more about; last is that of the mapping
 * before it. */
static uint32_t file_of(const struct inspection *in, const struct snapshot *s, size_t i,
			uint32_t last)
{
	const struct mapping *m = &s->mapping[i], *before = i ? m - 1 : NULL;

	if (!strcmp(text_of(in, m), "[heap]"))
		return PART_HEAP;
	if (!is_anonymous(in, m) || !before || before->end != m->start || m->permissions[1] != 'w')
		return m->file;
	if (is_guard(in, before) && m->start % ARENA)
		return PART_THREAD_STACK;
	return *memory_part_file(in, last) == '/' && m->end - m->start <= VARIABLES_MAX ? last :
	       m->file;
}

/* Values of an archive can be anything; those of a process are smaller. */
static uint64_t bounded(uint64_t value)
{
	return MIN(value, VALUE_MAX);
}

/* floor(kb * part / whole) */
static int64_t share_of(uint64_t kb, uint64_t part, uint64_t whole)
{
	return whole ? (int64_t)((unsigned __int128)kb * part / whole) : 0;
}

/* The first range that ends behind an address. */
static size_t first_range(const struct snapshot *s, uint64_t address)
{
	struct search_range search = search_all(s->n_ranges);

	while (search_next(&search))
		search_past(&search, s->range[search.at].end <= address);
	return search.at;
}

/* The parts of a mapping that have stacks, each rounded so that they add up. Takes their values
 * out of left. */
static int add_ranges(struct memory_parts *p, const struct snapshot *s, const struct mapping *m,
		      int64_t left[MAPPING_VALUES])
{
	uint64_t length = m->end - m->start, covered = 0;

	for (size_t i = first_range(s, m->start); i < s->n_ranges && s->range[i].start < m->end; i++) {
		const struct mapped_range *range = &s->range[i];
		uint64_t start = MAX(range->start, m->start);
		uint64_t end = MIN(range->end, m->end);
		struct memory_part *part;

		if (start >= end || covered + (end - start) > length)
			continue;
		part = add_part(p, m->file, m->permissions);
		if (!part)
			return -ENOMEM;
		part->stack = range->stack;
		for (int v = 0; v < MAPPING_VALUES; v++) {
			part->kb[v] = share_of(bounded(m->kb[v]), covered + (end - start), length) -
				      share_of(bounded(m->kb[v]), covered, length);
			left[v] -= part->kb[v];
		}
		covered += end - start;
	}
	return 0;
}

static int add_mapping(struct memory_parts *p, const struct inspection *in,
		       const struct snapshot *s, size_t i, uint32_t *last)
{
	const struct mapping *m = &s->mapping[i];
	struct memory_part *part;
	int64_t left[MAPPING_VALUES], any = 0;
	size_t first = p->n;

	for (int v = 0; v < MAPPING_VALUES; v++)
		left[v] = (int64_t)bounded(m->kb[v]);
	if (is_anonymous(in, m) && s->n_ranges && add_ranges(p, s, m, left))
		return -ENOMEM;
	for (int v = 0; v < MAPPING_VALUES; v++)
		any |= left[v];
	*last = p->n == first ? file_of(in, s, i, *last) : m->file;
	if (!any)
		return 0;
	part = add_part(p, *last, m->permissions);
	if (!part)
		return -ENOMEM;
	memcpy(part->kb, left, sizeof left);
	part->allocated = *last == PART_HEAP || (s->has_heap && is_anonymous(in, m) &&
						 *last == m->file && m->permissions[1] == 'w');
	return 0;
}

/* The memory of malloc() */

struct allocated {
	size_t n_parts;			/* before those of the allocations */
	int64_t sum[MAPPING_VALUES];	/* of the parts that malloc() manages */
	uint64_t live;			/* bytes */
	uint64_t whole;			/* bytes that sum has a share of live of */
};

/* Takes the share of the allocations out of the parts that malloc() manages. */
static void take_share(struct memory_parts *p, const struct allocated *a)
{
	for (int v = 0; v < MAPPING_VALUES; v++) {
		uint64_t taken = (uint64_t)share_of((uint64_t)a->sum[v], a->live, a->whole);
		uint64_t done = 0;

		for (size_t i = 0; i < a->n_parts; i++) {
			int64_t kb = p->part[i].kb[v];

			if (!p->part[i].allocated)
				continue;
			p->part[i].kb[v] -= share_of(taken, done + (uint64_t)kb, (uint64_t)a->sum[v]) -
					    share_of(taken, done, (uint64_t)a->sum[v]);
			done += (uint64_t)kb;
		}
	}
}

static int add_site(struct memory_parts *p, const struct allocated *a, const struct site *site,
		    uint64_t before)
{
	struct memory_part *part = add_part(p, PART_HEAP, "rw-p");

	if (!part)
		return -ENOMEM;
	part->stack = site->stack;
	part->allocated = true;
	for (int v = 0; v < MAPPING_VALUES; v++) {
		uint64_t sum = (uint64_t)a->sum[v];

		part->kb[v] = share_of(sum, before + bounded(site->live_bytes), a->whole) -
			      share_of(sum, before, a->whole);
	}
	return 0;
}

static int add_allocations(struct memory_parts *p, const struct snapshot *s)
{
	struct allocated a = { .n_parts = p->n };
	uint64_t before = 0;

	for (size_t i = 0; i < s->n_sites; i++)
		a.live += s->site[i].mapped ? 0 : bounded(s->site[i].live_bytes);
	for (size_t i = 0; i < p->n; i++) {
		for (int v = 0; v < MAPPING_VALUES && p->part[i].allocated; v++)
			a.sum[v] += p->part[i].kb[v];
	}
	a.whole = (uint64_t)a.sum[MAPPING_RSS] * 1024;
	a.whole = MAX(a.whole, a.live);
	if (!a.live)
		return 0;
	take_share(p, &a);
	for (size_t i = 0; i < s->n_sites; i++) {
		const struct site *site = &s->site[i];

		if (site->mapped || !site->live_bytes)
			continue;
		if (add_site(p, &a, site, before))
			return -ENOMEM;
		before += bounded(site->live_bytes);
	}
	return 0;
}

int memory_parts_read(struct memory_parts *p, const struct inspection *in,
		      const struct snapshot *s)
{
	uint32_t last = INSPECTION_NONE;
	int r = 0;

	/* grows as if it were new */
	free(p->part);
	*p = (struct memory_parts){ 0 };
	for (size_t i = 0; i < s->n; i++) {
		r = add_mapping(p, in, s, i, &last);
		if (r)
			return r;
	}
	return add_allocations(p, s);
}

void memory_parts_release(struct memory_parts *p)
{
	free(p->part);
	*p = (struct memory_parts){ 0 };
}
