/* SPDX-License-Identifier: MIT */
#include "symbols/debug_info.h"

#include "base/array.h"
#include "base/sort.h"
#include "symbols/segments.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 256		/* of DIEs in one another */
#define NODES_MAX UINT32_C(0x10000000)

/* A function with code, or an inlined copy of one. */
struct node {
	Dwarf_Die die;
	uint32_t parent;	/* SEGMENT_NONE: was not inlined */
};

struct unit {
	Dwarf_Die lines;	/* the unit that has the line table */
	Dwarf_Die tree;		/* the unit that has the functions: of another file if split */
	bool mangled;		/* names in the source are not those of symbols */
	bool read;
	size_t n_nodes;
	struct node *node;
	struct segments segments;	/* what: a node */
};

struct debug_info {
	Dwarf *dwarf;
	size_t n_units;
	struct unit *unit;
	struct segments segments;	/* what: a unit */
};

/* Intervals while they are collected. */
struct ranges {
	size_t n;
	struct code_range *interval;
	int error;
};

static void add_ranges(struct ranges *r, Dwarf_Die *die, uint32_t what)
{
	Dwarf_Addr base = 0, start, end;
	ptrdiff_t at = 0;

	while (!r->error && (at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		struct code_range *new;

		if (!start || start >= end)	/* removed by the linker */
			continue;
		new = array_add(&r->interval, &r->n, sizeof *new);
		if (new)
			*new = (struct code_range){ start, end, what };
		else
			r->error = -ENOMEM;
	}
}

static int flatten(struct segments *s, struct ranges *r)
{
	struct keyed *key = array_new(r->n, sizeof *key);
	struct code_range *sorted = array_new(r->n, sizeof *sorted);

	if (!key || !sorted)
		r->error = -ENOMEM;
	for (size_t i = 0; i < r->n && !r->error; i++)
		key[i] = (struct keyed){ r->interval[i].start, (int64_t)i };
	if (!r->error)
		r->error = sort_keyed(key, r->n);
	for (size_t i = 0; i < r->n && !r->error; i++)
		sorted[i] = r->interval[key[i].value];
	if (!r->error)
		r->error = segments_flatten(s, sorted, r->n);
	free_all(key, sorted, r->interval);
	return r->error;
}

/* In these languages a function's name is that of its symbol. */
static bool is_mangled(Dwarf_Die *unit)
{
	switch (dwarf_srclang(unit)) {
	case DW_LANG_C89: case DW_LANG_C: case DW_LANG_C99: case DW_LANG_C11:
	case 0x2c: /* C17 */
	case DW_LANG_Mips_Assembler:
		return false;
	}
	return true;
}

static int add_unit(struct debug_info *d, struct ranges *ranges, Dwarf_Die *unit, Dwarf_Die *split)
{
	struct unit *new = array_add(&d->unit, &d->n_units, sizeof *new);

	if (!new)
		return -ENOMEM;
	*new = (struct unit){ .lines = *unit, .tree = split->addr ? *split : *unit };
	new->mangled = is_mangled(&new->tree);
	add_ranges(ranges, unit, (uint32_t)(d->n_units - 1));
	return ranges->error;
}

static int read_units(struct debug_info *d)
{
	struct ranges ranges = { 0 };
	Dwarf_CU *at = NULL;
	Dwarf_Die unit, split;
	Dwarf_Half version;
	uint8_t type;
	int r = 0;

	memset(&split, 0, sizeof split);
	while (!r && d->n_units < NODES_MAX &&
	       dwarf_get_units(d->dwarf, at, &at, &version, &type, &unit, &split) == 0) {
		if (dwarf_tag(&unit) == DW_TAG_compile_unit || dwarf_tag(&unit) == DW_TAG_skeleton_unit)
			r = add_unit(d, &ranges, &unit, &split);
		memset(&split, 0, sizeof split);
	}
	if (r) {
		free(ranges.interval);
		return r;
	}
	return flatten(&d->segments, &ranges);
}

struct debug_info *debug_info_new(const struct elf_file *f)
{
	struct debug_info *d = calloc(1, sizeof *d);

	if (!d)
		return NULL;
	d->dwarf = dwarf_begin_elf(f->elf, DWARF_C_READ, NULL);
	if (d->dwarf && !read_units(d) && d->segments.n)
		return d;
	debug_info_free(d);
	return NULL;
}

void debug_info_free(struct debug_info *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->n_units; i++) {
		free(d->unit[i].node);
		segments_release(&d->unit[i].segments);
	}
	free(d->unit);
	segments_release(&d->segments);
	if (d->dwarf)
		dwarf_end(d->dwarf);
	free(d);
}

/* Only the functions of types and scopes matter. */
static bool has_functions(int tag)
{
	switch (tag) {
	case DW_TAG_enumeration_type: case DW_TAG_array_type: case DW_TAG_subroutine_type:
	case DW_TAG_call_site: case DW_TAG_GNU_call_site: case DW_TAG_formal_parameter:
	case DW_TAG_variable: case DW_TAG_member:
		return false;
	}
	return true;
}

static void walk_dies(struct unit *u, struct ranges *ranges, Dwarf_Die *die, uint32_t parent,
		      unsigned depth)
{
	Dwarf_Die child;
	int r;

	for (r = dwarf_child(die, &child); r == 0 && !ranges->error;
	     r = dwarf_siblingof(&child, &child)) {
		int tag = dwarf_tag(&child);
		uint32_t inside = parent;

		if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine) {
			size_t before = ranges->n;
			struct node *new;

			add_ranges(ranges, &child, (uint32_t)u->n_nodes);
			if (ranges->n > before && u->n_nodes < NODES_MAX) {
				inside = (uint32_t)u->n_nodes;
				new = array_add(&u->node, &u->n_nodes, sizeof *new);
				if (!new) {
					ranges->error = -ENOMEM;
					return;
				}
				*new = (struct node){ child, tag == DW_TAG_subprogram ?
						      SEGMENT_NONE : parent };
			}
		}
		if (depth < DEPTH_MAX && has_functions(tag) && dwarf_haschildren(&child) == 1)
			walk_dies(u, ranges, &child, inside, depth + 1);
	}
}

static void read_unit(struct unit *u)
{
	struct ranges ranges = { 0 };

	u->read = true;
	walk_dies(u, &ranges, &u->tree, SEGMENT_NONE, 0);
	if (ranges.error)
		free(ranges.interval);
	else
		flatten(&u->segments, &ranges);
}

static void set_name(struct debug_frame *frame, const struct unit *u, Dwarf_Die *die)
{
	Dwarf_Attribute attribute;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute)) {
		frame->name = dwarf_formstring(&attribute);
		frame->linkage = frame->name != NULL;
	}
	if (!frame->name && dwarf_attr_integrate(die, DW_AT_name, &attribute)) {
		frame->name = dwarf_formstring(&attribute);
		frame->linkage = !u->mangled;
	}
}

static void set_line(struct debug_frame *frame, struct unit *u, uint64_t address)
{
	Dwarf_Line *line = dwarf_getsrc_die(&u->lines, address);
	int number;

	if (!line)
		return;
	frame->source = dwarf_linesrc(line, NULL, NULL);
	if (frame->source && dwarf_lineno(line, &number) == 0 && number > 0)
		frame->line = (unsigned)number;
}

/* Where an inlined copy was called. */
static void set_call(struct debug_frame *frame, struct unit *u, Dwarf_Die *inlined)
{
	Dwarf_Attribute attribute;
	Dwarf_Word file, line;
	Dwarf_Files *files;
	size_t n;

	if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &file) ||
	    dwarf_getsrcfiles(&u->tree, &files, &n) || file >= n)
		return;
	frame->source = dwarf_filesrc(files, file, NULL, NULL);
	if (frame->source &&
	    dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &line) == 0 &&
	    line <= INT32_MAX)
		frame->line = (unsigned)line;
}

size_t debug_info_find(struct debug_info *d, uint64_t address, struct debug_frame *frame)
{
	uint32_t at = segments_find(&d->segments, address);
	struct unit *u;
	size_t n = 0;

	if (at == SEGMENT_NONE)
		return 0;
	u = &d->unit[at];
	if (!u->read)
		read_unit(u);
	memset(frame, 0, DEBUG_FRAMES_MAX * sizeof *frame);
	set_line(&frame[0], u, address);
	at = segments_find(&u->segments, address);
	if (at == SEGMENT_NONE)
		return frame[0].source ? 1 : 0;
	for (;; n++) {
		struct node *node = &u->node[at];

		set_name(&frame[n], u, &node->die);
		at = node->parent;
		if (at == SEGMENT_NONE || n + 1 == DEBUG_FRAMES_MAX)
			return n + 1;
		set_call(&frame[n + 1], u, &node->die);
	}
}
