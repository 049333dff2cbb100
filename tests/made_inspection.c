/* SPDX-License-Identifier: MIT */
#include "tests/made_inspection.h"

#include "base/array.h"
#include "base/hash.h"
#include "tests/recorded.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_KB 4
#define FIRST_ADDRESS UINT64_C(0x400000)
#define MODULE_BYTES UINT64_C(0x1000000)
#define LIBRARIES UINT64_C(0x7f0000000000)

static const char *const module_files[] = {
	"/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus", "/usr/lib/x86_64-linux-gnu/libc.so.6",
	"/usr/lib/x86_64-linux-gnu/libzstd.so.1.5.4", "/lib64/ld-linux-x86-64.so.2",
};

uint32_t made_inspection_name(struct made_inspection *m, const char *text)
{
	uint32_t number;
	int r = name_table_add(&m->inspection.names, (struct slice){ text, strlen(text) }, &number);

	assert(!r);
	return r ? 0 : number;
}

static void add_module(struct made_inspection *m, size_t i)
{
	struct inspection *in = &m->inspection;
	struct module *module = array_add(&in->module, &in->n_modules, sizeof *module);
	uint64_t start = i ? LIBRARIES + i * MODULE_BYTES : FIRST_ADDRESS;

	*module = (struct module){
		.start = start, .end = start + MODULE_BYTES, .bias = i ? start : 0,
		.file = made_inspection_name(m, module_files[i]),
	};
	snprintf(module->build_id, sizeof module->build_id, "%08zx%032d", 0xabc0 + i, 7);
}

void made_inspection_init(struct made_inspection *m)
{
	struct inspection *in = &m->inspection;

	*m = (struct made_inspection){
		.inspection = {
			.host = "builder", .machine = "x86_64", .program = "cc1plus",
			.command = "/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus -quiet -O2 parser.cc",
			.pid = 12345, .start_ticks = 815000, .task = "t7", .why = "rule: cc1plus",
			.start_us = INT64_C(1795470709000000), .start_ns = INT64_C(8150000000000),
			.end = "the process ended", .heap = HEAP_SAMPLED, .heap_period = 512 * 1024,
		},
	};
	in->arena = arena_new();
	assert(in->arena);
	in->names.arena = in->arena;
}

void made_inspection_release(struct made_inspection *m)
{
	struct inspection *in = &m->inspection;

	for (size_t i = 0; i < m->n; i++)
		snapshot_release(&m->snapshot[i]);
	free(m->snapshot);
	free(in->module);
	free(in->frame);
	free(in->stack);
	free(in->frame_name);
	name_table_release(&in->names);
	arena_free(in->arena);
	*m = (struct made_inspection){ 0 };
}

/* Frames */

static uint32_t add_frame_name(struct made_inspection *m, const char *function, uint32_t outer)
{
	struct inspection *in = &m->inspection;
	uint32_t name = made_inspection_name(m, function);
	struct frame_name *f;

	f = array_add(&in->frame_name, &in->n_frame_names, sizeof *f);
	assert(f);
	*f = (struct frame_name){
		.function = name, .source = made_inspection_name(m, name % 3 ? "gcc/parser.cc" :
								 "gcc/ggc-page.cc"),
		.line = 10 + name % 5000, .inlined_in = outer,
	};
	return (uint32_t)in->n_frame_names - 1;
}

/* "outer<inner" is one frame. A function that is not the innermost of another has its own. */
static uint32_t frame_of(struct made_inspection *m, const char *text, size_t len)
{
	struct inspection *in = &m->inspection;
	uint64_t address = FIRST_ADDRESS + 0x1000 + hash_fnv64(text, len) % 0xfff00 * 16;
	char copy[512], *next = copy, *function;
	uint32_t name = INSPECTION_NONE;

	assert(len < sizeof copy);
	memcpy(copy, text, len);
	copy[len] = '\0';
	for (size_t i = 0; i < in->n_frames; i++) {
		if (in->frame[i].address == address)
			return (uint32_t)i;
	}
	while ((function = strsep(&next, "<")))
		name = add_frame_name(m, function, name);
	if (!in->n_modules)
		add_module(m, 0);
	*(struct frame *)array_add(&in->frame, &in->n_frames, sizeof *in->frame) = (struct frame){
		.address = address, .module = 0, .name = name,
	};
	return (uint32_t)in->n_frames - 1;
}

static uint32_t add_stack(struct made_inspection *m, uint32_t parent, uint32_t frame)
{
	struct inspection *in = &m->inspection;
	struct stack *s;

	for (size_t i = 0; i < in->n_stacks; i++) {
		if (in->stack[i].parent == parent && in->stack[i].frame == frame)
			return (uint32_t)i;
	}
	s = array_add(&in->stack, &in->n_stacks, sizeof *s);
	assert(s);
	*s = (struct stack){ parent, frame };
	return (uint32_t)in->n_stacks - 1;
}

uint32_t made_inspection_stack(struct made_inspection *m, const char *functions)
{
	uint32_t stack = INSPECTION_NONE;

	for (const char *p = functions, *end; *p; p = end + (*end == ';')) {
		end = strchrnul(p, ';');
		stack = add_stack(m, stack, frame_of(m, p, (size_t)(end - p)));
	}
	return stack;
}

/* Snapshots */

struct snapshot *made_inspection_snapshot(struct made_inspection *m, int64_t time_us)
{
	struct snapshot *s = array_add(&m->snapshot, &m->n, sizeof *s);

	assert(s);
	*s = (struct snapshot){
		.time_us = time_us, .took_us = 900, .has_heap = m->inspection.heap != HEAP_OFF,
		.process = { .user_ticks = (uint64_t)time_us / 11000, .system_ticks = 3,
			     .minor_faults = 1000 + (uint64_t)m->n, .threads = 1 },
	};
	m->inspection.n_snapshots = m->n;
	return s;
}

static struct mapping *add_mapping(struct snapshot *s, uint64_t start, uint64_t kb,
				   const char *permissions, uint32_t file)
{
	struct mapping *mapping = array_add(&s->mapping, &s->n, sizeof *mapping);

	assert(mapping);
	*mapping = (struct mapping){ .start = start, .end = start + kb * 1024, .file = file };
	strncpy(mapping->permissions, permissions, sizeof mapping->permissions - 1);
	mapping->kb[MAPPING_SIZE] = kb;
	return mapping;
}

struct mapping *made_inspection_map(struct made_inspection *m, struct snapshot *s,
				    const char *permissions, const char *file, uint64_t kb)
{
	uint64_t start = s->n ? s->mapping[s->n - 1].end + 0x10000 : FIRST_ADDRESS;
	struct mapping *mapping = add_mapping(s, start, kb, permissions,
					      made_inspection_name(m, file));

	mapping->kb[MAPPING_RSS] = mapping->kb[MAPPING_PSS] = kb;
	mapping->kb[MAPPING_PRIVATE_DIRTY] = kb;
	mapping->kb[MAPPING_ANONYMOUS] = *file == '/' ? 0 : kb;
	if (*file == '/') {
		mapping->inode = 1000 + mapping->file;
		mapping->device_major = 8;
		mapping->device_minor = 1;
	}
	s->process.rss_kb += kb;
	return mapping;
}

struct site *made_inspection_site(struct snapshot *s, uint32_t stack, bool mapped, uint64_t live,
				  uint64_t live_bytes)
{
	struct site *site = array_add(&s->site, &s->n_sites, sizeof *site);

	assert(site);
	while (site > s->site && (site[-1].stack > stack ||
				  (site[-1].stack == stack && site[-1].mapped && !mapped))) {
		site[0] = site[-1];
		site--;
	}
	*site = (struct site){
		.stack = stack, .mapped = mapped, .allocations = live, .allocated = live_bytes,
		.live = live, .live_bytes = live_bytes, .peak_bytes = live_bytes,
	};
	return site;
}

/* Random */

static void random_word(char *out, size_t cap, uint64_t *state, bool hostile)
{
	static const char *const part[] = {
		"parse", "tree", "make", "node", "copy", "alloc", "build", "decl", "expr", "type",
		"std::vector<int>::", "lex", "buffer", "_M_", "finish", "cp_", "ggc_", "::operator ",
	};
	static const char *const trap[] = {
		"</script>", "<!--", "a;b", "\"q\"", "tab\there", "line\nfeed", "\xff\xfe", "",
		"&amp;", "\xe2\x80\xaertl", "'", "\\", "{x}", "%s", "zähler 测", "\x01",
	};
	size_t n = 1 + (size_t)random_below(state, 4);

	*out = '\0';
	while (n--) {
		const char *word = hostile && !random_below(state, 3) ?
			trap[random_below(state, ARRAY_SIZE(trap))] :
			part[random_below(state, ARRAY_SIZE(part))];

		strncat(out, word, cap - strlen(out) - 1);
	}
}

static void random_frames(struct made_inspection *m, size_t n, bool hostile, uint64_t *state)
{
	struct inspection *in = &m->inspection;

	for (size_t i = 0; i < ARRAY_SIZE(module_files); i++)
		add_module(m, i);
	for (size_t i = 0; i < n; i++) {
		uint32_t module = (uint32_t)random_below(state, in->n_modules + 1);
		struct frame *f = array_add(&in->frame, &in->n_frames, sizeof *f);
		uint64_t inlined = random_below(state, 8) ? 1 : 3;
		char word[256], text[300];

		*f = (struct frame){ .module = INSPECTION_NONE, .name = INSPECTION_NONE };
		if (module < in->n_modules) {
			f->module = module;
			f->address = in->module[module].start + 0x1000 + 16 * i;
		} else {
			f->address = UINT64_C(0x10000000) + 16 * i;
		}
		while (random_below(state, 10) && inlined--) {
			random_word(word, sizeof word, state, hostile);
			snprintf(text, sizeof text, "%s%zu", word, i / 3);
			f->name = add_frame_name(m, text, f->name);
		}
	}
}

/* A tree: each stack is called by an earlier one, more often by a recent one. */
static void random_stacks(struct made_inspection *m, size_t n, unsigned deepest, uint64_t *state)
{
	struct inspection *in = &m->inspection;
	unsigned *depth = calloc(n + 1, sizeof *depth);

	for (size_t i = 0; i < n; i++) {
		struct stack *s = array_add(&in->stack, &in->n_stacks, sizeof *s);
		uint32_t parent = INSPECTION_NONE;

		if (i && random_below(state, 50))
			parent = (uint32_t)(random_below(state, 3) ? i - 1 - random_below(state, i < 9 ? i : 9) :
					    random_below(state, i));
		if (parent != INSPECTION_NONE && depth[parent] + 1 >= deepest)
			parent = INSPECTION_NONE;
		depth[i] = parent == INSPECTION_NONE ? 0 : depth[parent] + 1;
		*s = (struct stack){ parent, (uint32_t)random_below(state, in->n_frames) };
	}
	free(depth);
}

struct made_area {
	uint64_t start, kb, resident_kb, step_kb;
	size_t first, end;		/* snapshots that have it */
	char permissions[5];
	uint32_t file;
};

static void random_area(struct made_inspection *m, struct made_area *a, size_t i, size_t snapshots,
			bool hostile, uint64_t *state)
{
	static const char *const permissions[] = { "r--p", "r-xp", "r--p", "rw-p", "rw-s", "---p" };
	char file[300] = "", word[256];

	a->kb = PAGE_KB * (1 + random_below(state, random_below(state, 10) ? 200 : 20000));
	a->resident_kb = PAGE_KB * random_below(state, a->kb / PAGE_KB + 1);
	a->step_kb = random_below(state, 3) ? 0 : PAGE_KB * random_below(state, 300);
	a->first = random_below(state, 4) ? 0 : random_below(state, snapshots);
	a->end = random_below(state, 4) ? snapshots : a->first + random_below(state, snapshots);
	strcpy(a->permissions, permissions[random_below(state, ARRAY_SIZE(permissions))]);
	if (i == 3)
		strcpy(file, "[heap]");
	else if (random_below(state, 3)) {
		random_word(word, sizeof word, state, hostile);
		snprintf(file, sizeof file, "/usr/lib/%s%zu.so", word, i / 4);
	}
	a->file = made_inspection_name(m, file);
}

static uint64_t part_of(uint64_t *left_kb, uint64_t *state)
{
	uint64_t kb = PAGE_KB * random_below(state, *left_kb / PAGE_KB + 1);

	*left_kb -= kb;
	return kb;
}

static const char *file_text(const struct made_inspection *m, uint32_t file)
{
	return m->inspection.names.name[file].p;
}

static void random_maps(const struct made_inspection *m, struct snapshot *s,
			const struct made_area *area, size_t n, size_t k, uint64_t *state)
{
	for (size_t i = 0; i < n; i++) {
		const struct made_area *a = &area[i];
		uint64_t grown, left;
		struct mapping *mapping;

		if (k < a->first || k >= a->end)
			continue;
		grown = a->step_kb * (k - a->first);
		mapping = add_mapping(s, a->start, a->kb + grown, a->permissions, a->file);
		if (*file_text(m, a->file) == '/')
			mapping->inode = 100 + i / 4;
		mapping->kb[MAPPING_RSS] = left = a->resident_kb + grown;
		s->process.rss_kb += left;
		mapping->kb[MAPPING_ANONYMOUS] = PAGE_KB * random_below(state, left / PAGE_KB + 1);
		mapping->kb[MAPPING_SHARED_CLEAN] = part_of(&left, state);
		mapping->kb[MAPPING_SHARED_DIRTY] = part_of(&left, state) & ~UINT64_C(3);
		mapping->kb[MAPPING_PRIVATE_CLEAN] = part_of(&left, state);
		mapping->kb[MAPPING_PRIVATE_DIRTY] = left;
		mapping->kb[MAPPING_PSS] = left + mapping->kb[MAPPING_PRIVATE_CLEAN] +
			mapping->kb[MAPPING_SHARED_CLEAN] / 2 + mapping->kb[MAPPING_SHARED_DIRTY] / 2;
		mapping->kb[MAPPING_SWAP] = PAGE_KB * random_below(state, 3);
	}
}

static void random_sites(struct snapshot *s, const struct snapshot *before, size_t n_stacks,
			 uint64_t *best, uint64_t *state)
{
	uint64_t total = 0;
	size_t old = 0;

	for (uint32_t i = 0; i < 2 * n_stacks; i++) {
		const struct site *b = before && old < before->n_sites ? &before->site[old] : NULL;
		struct site *site;
		uint64_t live, freed, size = 16 << random_below(state, 12);

		if (b && (b->stack != i / 2 || b->mapped != i % 2))
			b = NULL;
		old += !!b;
		if (!b && random_below(state, i % 2 ? 12 : 3))
			continue;
		site = array_add(&s->site, &s->n_sites, sizeof *site);
		assert(site);
		*site = b ? *b : (struct site){ .stack = i / 2, .mapped = i % 2 };
		live = random_below(state, 1 << random_below(state, 12));
		freed = random_below(state, site->live + live + 1);
		site->live_bytes = (site->live_bytes + live * size) / (site->live + live + 1) *
			(site->live + live - freed + 1);
		site->live += live - freed;
		site->live_bytes = site->live ? site->live_bytes | 1 : 0;
		site->allocations += live;
		site->frees += freed;
		site->allocated = site->allocated + live * size < site->live_bytes ? site->live_bytes :
			site->allocated + live * size;
		site->temporary += random_below(state, freed + 1);
		site->error_bytes = site->live_bytes / 20;
		total += site->live_bytes;
	}
	for (size_t i = 0; total > *best && i < s->n_sites; i++)
		s->site[i].peak_bytes = s->site[i].live_bytes;
	*best = total > *best ? total : *best;
}

void made_inspection_random(struct made_inspection *m, const struct made_inspection_wish *w)
{
	struct made_area *area = calloc(w->mappings + 1, sizeof *area);
	uint64_t state = w->seed * 2654435761u + 88172645463325252u, at = FIRST_ADDRESS, best = 0;

	made_inspection_init(m);
	if (w->stacks) {
		random_frames(m, w->stacks / 3 + 4, w->hostile, &state);
		random_stacks(m, w->stacks, w->depth ? w->depth : 20, &state);
	} else {
		m->inspection.heap = HEAP_OFF;
	}
	for (size_t i = 0; i < w->mappings; i++) {
		random_area(m, &area[i], i, w->snapshots, w->hostile, &state);
		area[i].start = at;
		at += (area[i].kb + area[i].step_kb * w->snapshots) * 1024;
		at += random_below(&state, 2) ? 0 : 4096 * random_below(&state, 1000);
	}
	for (size_t k = 0; k < w->snapshots; k++) {
		struct snapshot *s = made_inspection_snapshot(m, (int64_t)(k * 1000000 + k * k % 7777));

		random_maps(m, s, area, w->mappings, k, &state);
		if (w->stacks)
			random_sites(s, k ? &m->snapshot[k - 1] : NULL, w->stacks, &best, &state);
	}
	free(area);
}

/* A compilation */

static const struct {
	const char *permissions, *file;
	uint64_t kb[6];
} compile_map[] = {
	{ "r--p", "/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus", { 4096, 4096, 4096, 4096, 4096, 4096 } },
	{ "r-xp", "/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus", { 6144, 9216, 12288, 15360, 15360, 15360 } },
	{ "rw-p", "/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus", { 512, 512, 512, 512, 512, 512 } },
	{ "rw-p", "[heap]", { 1024, 4096, 8192, 12288, 16384, 16384 } },
	{ "rw-p", "", { 8192, 40960, 98304, 163840, 229376, 196608 } },
	{ "r--s", "/src/project/all.h", { 2048, 2048, 0, 0, 0, 0 } },
	{ "r-xp", "/usr/lib/x86_64-linux-gnu/libc.so.6", { 1536, 1536, 1536, 1536, 1536, 1536 } },
	{ "rw-p", "[stack]", { 132, 132, 264, 264, 264, 264 } },
};

static const struct {
	const char *stack;
	bool mapped;
	uint64_t kb[6];
} compile_site[] = {
	{ "_start;main;toplev::main;c_common_parse_file;cp_parser_declaration;make_node<ggc_alloc;alloc_page", true,
	  { 4096, 20480, 49152, 81920, 114688, 98304 } },
	{ "_start;main;toplev::main;c_common_parse_file;cp_parser_declaration;copy_node;alloc_page", true,
	  { 2048, 12288, 32768, 49152, 65536, 57344 } },
	{ "_start;main;toplev::main;c_common_parse_file;cp_lexer_new_main;vec_alloc;alloc_page", true,
	  { 1024, 4096, 8192, 16384, 24576, 16384 } },
	{ "_start;main;toplev::main;c_common_parse_file;_cpp_lex_direct;xmalloc", false,
	  { 512, 2048, 4096, 6144, 8192, 8192 } },
	{ "_start;main;toplev::main;finalize_compilation_unit;execute_pass_list;rtx_alloc", false,
	  { 0, 0, 0, 1024, 2048, 4096 } },
	{ "_start;main;toplev::main;init_ttree;hash_table_T::hash_table;xcalloc", false,
	  { 256, 256, 256, 256, 256, 256 } },
};

void made_inspection_compile(struct made_inspection *m)
{
	made_inspection_init(m);
	for (size_t k = 0; k < ARRAY_SIZE(compile_map->kb); k++) {
		struct snapshot *s = made_inspection_snapshot(m, (int64_t)k * 1000000);

		for (size_t i = 0; i < ARRAY_SIZE(compile_map); i++) {
			if (compile_map[i].kb[k])
				made_inspection_map(m, s, compile_map[i].permissions,
						    compile_map[i].file, compile_map[i].kb[k]);
		}
		for (size_t i = 0; i < ARRAY_SIZE(compile_site); i++) {
			uint32_t stack = made_inspection_stack(m, compile_site[i].stack);
			uint64_t bytes = compile_site[i].kb[k] * 1024;
			struct site *site;

			if (!bytes)
				continue;
			site = made_inspection_site(s, stack, compile_site[i].mapped, bytes / 65536 + 1, bytes);
			site->peak_bytes = compile_site[i].kb[k < 4 ? k : 4] * 1024;
			if (site->peak_bytes > site->live_bytes) {
				site->allocated = site->peak_bytes;
				site->frees = 1;
				site->allocations++;
			}
			site->error_bytes = bytes / 50;
			site->temporary = compile_site[i].mapped ? 0 : 17 * i;
			site->allocations += site->temporary;
			site->frees += site->temporary;
			site->allocated += site->temporary * 64;
		}
	}
}
