/* SPDX-License-Identifier: MIT */
#include "inspect/elf_head.h"

#include "base/hex.h"
#include "base/minmax.h"

#include <elf.h>
#include <endian.h>
#include <link.h>
#include <string.h>

#define HEADERS_MAX 128		/* program headers that are read */
#define NOTES_MAX 4096		/* bytes of notes that are read */
#define BUILD_ID_MAX 20

#if __SIZEOF_POINTER__ == 8
#define OUR_CLASS ELFCLASS64
#else
#define OUR_CLASS ELFCLASS32
#endif
#if BYTE_ORDER == LITTLE_ENDIAN
#define OUR_ORDER ELFDATA2LSB
#else
#define OUR_ORDER ELFDATA2MSB
#endif

static void add_build_id(struct elf_head *h, const unsigned char *id, size_t len)
{
	len = MIN(len, BUILD_ID_MAX);
	for (size_t i = 0; i < len; i++) {
		h->build_id[2 * i] = hex_digit(id[i] >> 4);
		h->build_id[2 * i + 1] = hex_digit(id[i]);
	}
	h->build_id[2 * len] = '\0';
}

static size_t padded(size_t n, size_t alignment)
{
	return (n + alignment - 1) & ~(alignment - 1);
}

/* A note is three numbers, a name and a description, each padded. */
static void find_build_id(struct elf_head *h, const unsigned char *notes, size_t len,
			  size_t alignment)
{
	ElfW(Nhdr) n;

	for (size_t at = 0; at < len && len - at >= sizeof n;) {
		size_t name = at + sizeof n, text;

		memcpy(&n, notes + at, sizeof n);
		if (n.n_namesz > len)
			return;
		text = padded(name + n.n_namesz, alignment);
		if (text > len || n.n_descsz > len - text)
			return;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == sizeof ELF_NOTE_GNU &&
		    !memcmp(notes + name, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) && n.n_descsz) {
			add_build_id(h, notes + text, n.n_descsz);
			return;
		}
		at = padded(text + n.n_descsz, alignment);
	}
}

static void read_notes(struct elf_head *h, const ElfW(Phdr) *p, elf_head_reader *read, void *ctx)
{
	unsigned char notes[NOTES_MAX];
	size_t len = p->p_filesz < sizeof notes ? (size_t)p->p_filesz : sizeof notes;

	find_build_id(h, notes, read(ctx, notes, len, p->p_offset), p->p_align == 8 ? 8 : 4);
}

static void take_header(struct elf_head *h, const ElfW(Phdr) *p, elf_head_reader *read, void *ctx)
{
	if (p->p_type == PT_LOAD && h->n_loads < ELF_HEAD_LOADS)
		h->load[h->n_loads++] = (struct elf_load){ p->p_offset, p->p_filesz, p->p_vaddr,
							   p->p_memsz };
	else if (p->p_type == PT_NOTE && !h->build_id[0])
		read_notes(h, p, read, ctx);
}

bool elf_head_read(struct elf_head *h, elf_head_reader *read, void *ctx)
{
	ElfW(Phdr) header[HEADERS_MAX];
	ElfW(Ehdr) e;
	size_t n;

	*h = (struct elf_head){ .n_loads = 0 };
	if (read(ctx, &e, sizeof e, 0) < sizeof e || memcmp(e.e_ident, ELFMAG, SELFMAG) ||
	    e.e_ident[EI_CLASS] != OUR_CLASS || e.e_ident[EI_DATA] != OUR_ORDER ||
	    e.e_phentsize != sizeof *header)
		return false;
	n = MIN(e.e_phnum, HEADERS_MAX);
	n = read(ctx, header, n * sizeof *header, e.e_phoff) / sizeof *header;
	for (size_t i = 0; i < n; i++)
		take_header(h, &header[i], read, ctx);
	return h->n_loads > 0;
}

bool elf_head_address(const struct elf_head *h, uint64_t offset, uint64_t page_size,
		      uint64_t *address)
{
	for (size_t i = 0; i < h->n_loads; i++) {
		const struct elf_load *l = &h->load[i];
		uint64_t start = l->offset & ~(page_size - 1);

		if (offset < start || offset - start >= l->file_size + (l->offset - start))
			continue;
		*address = l->address + (offset - l->offset);
		return true;
	}
	return false;
}
