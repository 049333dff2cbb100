/* SPDX-License-Identifier: MIT */
#include "symbols/symtab.h"

#include "base/array.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/minmax.h"
#include "base/sort.h"
#include "symbols/eh_frame.h"
#include "symbols/plt.h"
#include "symbols/segments.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SPAN_MAX UINT64_C(0x7fffffff)	/* from the first to the last address */

struct symbol {
	uint64_t start, size;
	const char *name;	/* in the ELF file, or in plt */
	uint8_t rank;		/* enum rank */
	uint8_t binding;	/* 0: global, 1: weak, 2: local */
};

struct maker {
	const struct elf_file *file;
	size_t n;
	struct symbol *symbol;	/* by start, one at each */
	size_t n_functions;
	struct code_range *function;	/* of .eh_frame, by start; what: number of the item */
	struct plt plt;
	bool complete;
};

/* The lower, the better. */
enum rank { RANK_SIZED, RANK_FUNCTION, RANK_SIZED_LABEL, RANK_LABEL, RANK_NONE };

static uint8_t binding_of(unsigned binding)
{
	return binding == STB_LOCAL ? 2 : binding == STB_WEAK ? 1 : 0;
}

static uint8_t rank_of(const struct elf_file *f, const GElf_Sym *symbol)
{
	unsigned type = GELF_ST_TYPE(symbol->st_info);

	if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= f->n_sections ||
	    symbol->st_shndx >= SHN_LORESERVE || !(f->flags[symbol->st_shndx] & ELF_FILE_CODE))
		return RANK_NONE;
	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return symbol->st_size ? RANK_SIZED : RANK_FUNCTION;
	if (type != STT_NOTYPE)
		return RANK_NONE;
	return symbol->st_size ? RANK_SIZED_LABEL : RANK_LABEL;
}

/* Names of the assembler and of the architecture, such as $x, are not names of functions. */
static bool is_name(const char *name, uint8_t rank)
{
	return name && *name && (rank < RANK_SIZED_LABEL || (*name != '$' && strncmp(name, ".L", 2)));
}

static int add_symbols(struct maker *m, const struct elf_file *f, uint32_t type, uint64_t shift)
{
	GElf_Shdr head;
	Elf_Scn *section = elf_file_next(f, NULL, type, &head);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	size_t size = gelf_fsize(f->elf, ELF_T_SYM, 1, EV_CURRENT);
	GElf_Sym symbol;

	for (size_t i = 1; data && size && i < data->d_size / size; i++) {
		struct symbol *new;
		const char *name;
		uint8_t rank;

		if (!gelf_getsym(data, (int)i, &symbol))
			break;
		rank = rank_of(f, &symbol);
		if (rank == RANK_NONE)
			continue;
		name = elf_strptr(f->elf, head.sh_link, symbol.st_name);
		if (!is_name(name, rank))
			continue;
		new = array_add(&m->symbol, &m->n, sizeof *new);
		if (!new)
			return -ENOMEM;
		*new = (struct symbol){ symbol.st_value + shift, symbol.st_size, name, rank,
					binding_of(GELF_ST_BIND(symbol.st_info)) };
	}
	return 0;
}

static int add_plt(struct maker *m)
{
	int r = plt_read(&m->plt, m->file);

	if (r)
		return r;
	for (size_t i = 0; i < m->plt.n; i++) {
		struct symbol *new = array_add(&m->symbol, &m->n, sizeof *new);

		if (!new)
			return -ENOMEM;
		*new = (struct symbol){ m->plt.entry[i].start, m->plt.entry[i].size,
					m->plt.names.data + m->plt.entry[i].name, RANK_SIZED, 0 };
	}
	return 0;
}

static size_t underscores(const char *name)
{
	size_t n = strspn(name, "_");

	return n && (name[n] == 'Z' || name[n] == 'R') ? 0 : n;
}

static bool is_better(const struct symbol *a, const struct symbol *b)
{
	size_t x, y;

	if (a->rank != b->rank)
		return a->rank < b->rank;
	x = underscores(a->name);
	y = underscores(b->name);
	if (x != y)
		return x < y;
	if (a->binding != b->binding)
		return a->binding < b->binding;
	x = strlen(a->name);
	y = strlen(b->name);
	return x != y ? x < y : strcmp(a->name, b->name) < 0;
}

/* Sort by start, and keep the best of each. */
static int sort_symbols(struct maker *m)
{
	struct keyed *key = array_new(m->n, sizeof *key);
	struct symbol *sorted = array_new(m->n, sizeof *sorted);
	int r = key && sorted ? 0 : -ENOMEM;
	size_t kept = 0;

	if (r)
		goto out;
	for (size_t i = 0; i < m->n; i++)
		key[i] = (struct keyed){ m->symbol[i].start, (int64_t)i };
	r = sort_keyed(key, m->n);
	if (r)
		goto out;
	for (size_t i = 0; i < m->n; i++) {
		const struct symbol *s = &m->symbol[key[i].value];

		if (!kept || sorted[kept - 1].start != s->start)
			sorted[kept++] = *s;
		else if (is_better(s, &sorted[kept - 1]))
			sorted[kept - 1] = *s;
	}
out:
	free(key);
	if (r) {
		free(sorted);
		return r;
	}
	free(m->symbol);
	m->symbol = sorted;
	m->n = kept;
	return 0;
}

static int read_functions(struct maker *m)
{
	GElf_Shdr head;
	Elf_Scn *section = elf_file_section(m->file, ".eh_frame", &head);
	size_t size;
	const uint8_t *data = elf_file_content(section, &size);
	struct code_range *in_order = NULL;
	struct keyed *key;
	int r = data ? eh_frame_functions(&in_order, &m->n_functions, data, size, head.sh_addr,
					  gelf_getclass(m->file->elf) == ELFCLASS32 ? 4 : 8) : 0;

	key = array_new(m->n_functions, sizeof *key);
	m->function = array_new(m->n_functions, sizeof *m->function);
	if (!key || !m->function)
		r = -ENOMEM;
	if (r)
		goto out;
	for (size_t i = 0; i < m->n_functions; i++)
		key[i] = (struct keyed){ in_order[i].start, (int64_t)i };
	r = sort_keyed(key, m->n_functions);
	if (r)
		goto out;
	for (size_t i = 0; i < m->n_functions; i++) {
		m->function[i] = in_order[key[i].value];
		m->function[i].what = (uint32_t)i;
	}
out:
	free(key);
	free(in_order);
	return r;
}

/* Where a symbol without a size ends; `function` is the first that begins after it. */
static uint64_t end_of(const struct maker *m, size_t i, size_t function)
{
	const struct symbol *s = &m->symbol[i];
	uint64_t end;

	if (function && m->function[function - 1].end > s->start)
		return m->function[function - 1].end;
	end = elf_file_code_end(m->file, s->start);
	if (function < m->n_functions && m->function[function].start < end)
		end = m->function[function].start;
	if (i + 1 < m->n && m->symbol[i + 1].start < end)
		end = m->symbol[i + 1].start;
	return end;
}

static int flatten_symbols(struct maker *m, struct segments *out)
{
	struct code_range *interval = array_new(m->n, sizeof *interval);
	size_t function = 0;
	uint64_t sized = 0;	/* end of those with a size */
	int r = interval ? 0 : -ENOMEM;

	for (size_t i = 0; i < m->n && !r; i++) {
		const struct symbol *s = &m->symbol[i];
		uint64_t end = s->start + s->size;

		while (function < m->n_functions && m->function[function].start <= s->start)
			function++;
		if (s->size && end > sized)
			sized = end;
		else if (s->rank == RANK_LABEL && s->start < sized)
			end = s->start;
		else if (!s->size)
			end = end_of(m, i, function);
		interval[i] = (struct code_range){ s->start, MAX(s->start, end),
						 (uint32_t)i };
	}
	if (!r)
		r = segments_flatten(out, interval, m->n);
	free(interval);
	return r;
}

/* Segments of functions without a symbol have the numbers after those of the symbols. */
static int flatten(struct maker *m, struct segments *out)
{
	struct segments named = { 0 }, unnamed = { 0 };
	int r = flatten_symbols(m, &named);

	for (size_t i = 0; i < m->n_functions; i++)
		m->function[i].what += (uint32_t)m->n;
	if (!r)
		r = segments_flatten(&unnamed, m->function, m->n_functions);
	if (!r)
		r = segments_merge(out, &named, &unnamed);
	segments_release(&named);
	segments_release(&unnamed);
	return r;
}

/* The number that stands for a segment; adds its name. */
static uint32_t segment_number(struct maker *m, uint32_t what, uint64_t base, uint32_t *place,
			       struct buf *names)
{
	if (what == SEGMENT_NONE)
		return SYMTAB_NONE;
	if (what >= m->n) {
		uint64_t start = m->function[what - m->n].start;

		return start < base || start - base > SPAN_MAX ? SYMTAB_NONE :
			SYMTAB_START | (uint32_t)(start - base);
	}
	if (!place[what] && names->len < SPAN_MAX - UINT16_MAX) {
		place[what] = (uint32_t)names->len;
		buf_add(names, m->symbol[what].name, strlen(m->symbol[what].name) + 1);
	}
	return place[what];
}

static void fill_head(struct symtab_head *head, const struct maker *m)
{
	const struct stat *st = &m->file->st;

	memcpy(head->magic, SYMTAB_MAGIC, sizeof SYMTAB_MAGIC);
	head->order = SYMTAB_ORDER;
	head->complete = m->complete;
	head->source = (struct symtab_source){
		.device = st->st_dev, .inode = st->st_ino, .size = (uint64_t)st->st_size,
		.mtime_ns = st->st_mtim.tv_sec * INT64_C(1000000000) + st->st_mtim.tv_nsec,
		.ctime_ns = st->st_ctim.tv_sec * INT64_C(1000000000) + st->st_ctim.tv_nsec,
	};
	memcpy(head->build_id, m->file->build_id, sizeof m->file->build_id);
}

static int pack(struct symtab *t, struct maker *m, const struct segments *s)
{
	uint64_t base = s->n ? s->segment[0].start : 0;
	uint32_t *place = array_new_zero(m->n, sizeof *place), *start;
	struct buf names = BUF_INIT;
	struct symtab_head *head;
	size_t n = 0, size;

	while (n < s->n && s->segment[n].start - base <= SPAN_MAX)
		n++;
	head = calloc(1, sizeof *head + 8 * n);
	buf_addc(&names, '\0');	/* so that no name is at 0 */
	if (!head || !place) {
		buf_release(&names);
		free(head);
		free(place);
		return -ENOMEM;
	}
	fill_head(head, m);
	head->n = (uint32_t)n;
	head->base = base;
	start = (uint32_t *)(head + 1);
	for (size_t i = 0; i < n; i++) {
		start[i] = (uint32_t)(s->segment[i].start - base);
		start[n + i] = segment_number(m, s->segment[i].what, base, place, &names);
	}
	free(place);
	size = sizeof *head + 8 * n + names.len;
	t->memory = buf_error(&names) ? NULL : realloc(head, size);
	if (!t->memory) {
		buf_release(&names);
		free(head);
		return -ENOMEM;
	}
	head = t->memory;
	memcpy((char *)head + size - names.len, names.data, names.len);
	head->names_size = (uint32_t)names.len;
	head->hash = hash_bytes(0, (char *)(head + 1), size - sizeof *head);
	buf_release(&names);
	return symtab_use(t, head, size, false) ? 0 : -ENOMEM;
}

/* The separate debug information of a prelinked file has the addresses from before. */
static uint64_t shift_of(const struct maker *m, const struct elf_file *debug)
{
	return m->file->load - debug->load;
}

int symtab_make(struct symtab *t, const struct elf_file *file, const struct elf_file *debug)
{
	struct maker m = { .file = file };
	struct segments s = { 0 };
	int r;

	*t = (struct symtab){ 0 };
	m.complete = elf_file_has_symbols(file) || (debug && elf_file_has_symbols(debug));
	if (elf_file_has_symbols(file))
		r = add_symbols(&m, file, SHT_SYMTAB, 0);
	else if (m.complete)
		r = add_symbols(&m, debug, SHT_SYMTAB, shift_of(&m, debug));
	else
		r = add_symbols(&m, file, SHT_DYNSYM, 0);
	if (!r)
		r = add_plt(&m);
	if (!r)
		r = sort_symbols(&m);
	if (!r)
		r = read_functions(&m);
	if (!r && m.n + m.n_functions >= UINT32_MAX)
		r = -ENOMEM;
	if (!r)
		r = flatten(&m, &s);
	if (!r)
		r = pack(t, &m, &s);
	segments_release(&s);
	plt_release(&m.plt);
	free(m.symbol);
	free(m.function);
	return r;
}
