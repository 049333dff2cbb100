/* SPDX-License-Identifier: MIT */
#include "symbols/plt.h"

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ENTRY_SIZE 16
#define NAME_MAX_BYTES 65536

/* Slots of the global offset table that get the address of a named function. */
struct slots {
	const struct elf_file *file;
	size_t n;
	struct keyed *slot;	/* key: its address, value: number of the symbol */
	size_t strings;		/* section of the names */
	Elf_Data *symbols;
};

static int add_slots(struct slots *s, const struct elf_file *f)
{
	Elf_Scn *section = NULL;
	GElf_Shdr head;

	while ((section = elf_file_next(f, section, SHT_RELA, &head))) {
		Elf_Data *data = elf_getdata(section, NULL);
		size_t size = gelf_fsize(f->elf, ELF_T_RELA, 1, EV_CURRENT);
		GElf_Rela rela;

		for (size_t i = 0; data && size && i < data->d_size / size; i++) {
			struct keyed *new;

			if (!gelf_getrela(data, (int)i, &rela))
				break;
			if (!GELF_R_SYM(rela.r_info))
				continue;
			new = array_add(&s->slot, &s->n, sizeof *new);
			if (!new)
				return -ENOMEM;
			*new = (struct keyed){ rela.r_offset, (int64_t)GELF_R_SYM(rela.r_info) };
		}
	}
	return sort_keyed(s->slot, s->n);
}

static const char *slot_name(const struct slots *s, uint64_t address)
{
	struct search_range search = search_all(s->n);
	const struct keyed *found;
	GElf_Sym symbol;

	while (search_next(&search))
		search_past(&search, s->slot[search.at].key < address);
	found = &s->slot[search.at];
	if (search.at == s->n || found->key != address || found->value > INT32_MAX ||
	    !gelf_getsym(s->symbols, (int)found->value, &symbol))
		return NULL;
	return elf_strptr(s->file->elf, s->strings, symbol.st_name);
}

/* "[endbr64] [bnd] jmp *SLOT(%rip)". False if it is something else. */
static bool decode_x86(const uint8_t *p, size_t left, uint64_t address, uint64_t *slot)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	const uint8_t *start = p, *end = p + left;
	int32_t offset;

	if (left >= sizeof endbr64 && !memcmp(p, endbr64, sizeof endbr64))
		p += sizeof endbr64;
	if (p < end && *p == 0xf2)
		p++;
	if (end - p < 6 || p[0] != 0xff || p[1] != 0x25)
		return false;
	memcpy(&offset, p + 2, sizeof offset);
	*slot = address + (uint64_t)(p - start) + 6 + (uint64_t)offset;
	return true;
}

/* "[bti c] adrp x16, PAGE; ldr x17, [x16, SLOT]". */
static bool decode_aarch64(const uint8_t *p, size_t left, uint64_t address, uint64_t *slot)
{
	uint32_t word[3] = { 0 }, page;
	unsigned at;
	int64_t pages;

	memcpy(word, p, left < sizeof word ? left : sizeof word);
	at = word[0] == 0xd503245f;
	page = word[at];
	if ((page & 0x9f00001f) != 0x90000010 || (word[at + 1] & 0xffc003ff) != 0xf9400211)
		return false;
	pages = (int32_t)((page >> 5 & 0x7ffff) << 13) >> 11 | (int32_t)(page >> 29 & 3);
	*slot = ((address + 4 * at) & ~UINT64_C(0xfff)) + (uint64_t)pages * 4096 +
		(word[at + 1] >> 10 & 0xfff) * 8;
	return true;
}

static int add_entry(struct plt *p, uint64_t start, uint32_t size, const char *name)
{
	struct plt_entry *new;
	size_t length = strnlen(name, NAME_MAX_BYTES);

	if (!length || length == NAME_MAX_BYTES || p->names.len > UINT32_MAX - 2 * NAME_MAX_BYTES)
		return 0;
	new = array_add(&p->entry, &p->n, sizeof *new);
	if (!new)
		return -ENOMEM;
	*new = (struct plt_entry){ start, size, (uint32_t)p->names.len };
	buf_add(&p->names, name, length);
	buf_add(&p->names, "@plt", sizeof "@plt");
	return buf_error(&p->names);
}

static int read_section(struct plt *p, const struct slots *s, Elf_Scn *section,
			const GElf_Shdr *head)
{
	bool x86 = s->file->head.e_machine == EM_X86_64;
	unsigned step = head->sh_entsize == 8 && x86 ? 8 : x86 ? ENTRY_SIZE : 4;
	size_t size;
	const uint8_t *data = elf_file_content(section, &size);
	int r = 0;

	for (size_t at = 0; data && at < size; at += step) {
		uint64_t slot;
		const char *name;

		if (!(x86 ? decode_x86 : decode_aarch64)(data + at, size - at, head->sh_addr + at,
							 &slot))
			continue;
		name = slot_name(s, slot);
		if (name)
			r = add_entry(p, head->sh_addr + at, step == 8 ? 8 : ENTRY_SIZE, name);
		if (r)
			return r;
	}
	return 0;
}

int plt_read(struct plt *p, const struct elf_file *f)
{
	struct slots s = { .file = f };
	Elf_Scn *section = NULL;
	GElf_Shdr head;
	int r;

	if (f->head.e_machine != EM_X86_64 && f->head.e_machine != EM_AARCH64)
		return 0;
	section = elf_file_next(f, NULL, SHT_DYNSYM, &head);
	s.symbols = section ? elf_getdata(section, NULL) : NULL;
	if (!s.symbols)
		return 0;
	s.strings = head.sh_link;
	r = add_slots(&s, f);
	section = NULL;
	while (!r && (section = elf_file_next(f, section, SHT_PROGBITS, &head))) {
		if (head.sh_flags & SHF_EXECINSTR &&
		    !strncmp(elf_file_section_name(f, &head), ".plt", 4))
			r = read_section(p, &s, section, &head);
	}
	free(s.slot);
	return r;
}

void plt_release(struct plt *p)
{
	free(p->entry);
	buf_release(&p->names);
	*p = (struct plt){ 0 };
}
