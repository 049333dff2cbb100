/* SPDX-License-Identifier: MIT */
#include "plugin/got.h"

#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

/* The two relocations through which an executable calls a function of a library: with a PLT, or
 * directly through the table (-fno-plt, or an address that was taken). */
#if defined __x86_64__
#define TYPE_PLT R_X86_64_JUMP_SLOT
#define TYPE_GOT R_X86_64_GLOB_DAT
#elif defined __aarch64__
#define TYPE_PLT R_AARCH64_JUMP_SLOT
#define TYPE_GOT R_AARCH64_GLOB_DAT
#endif

#ifdef TYPE_PLT

struct image {
	uintptr_t base;
	const ElfW(Dyn) *dynamic;
	uintptr_t relro, relro_end;	/* read-only after ld.so has finished */
};

static void find_segments(struct image *image, const struct dl_phdr_info *info)
{
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_DYNAMIC) {
			image->dynamic = (const void *)(info->dlpi_addr + p->p_vaddr);
		} else if (p->p_type == PT_GNU_RELRO) {
			image->relro = info->dlpi_addr + p->p_vaddr;
			image->relro_end = image->relro + p->p_memsz;
		}
	}
}

/* The first object listed is the executable. */
static int take_first(struct dl_phdr_info *info, size_t size, void *data)
{
	struct image *image = data;

	(void)size;
	image->base = info->dlpi_addr;
	find_segments(image, info);
	return 1;
}

static uintptr_t dynamic_value(const struct image *image, ElfW(Sxword) tag)
{
	for (const ElfW(Dyn) *d = image->dynamic; d->d_tag != DT_NULL; d++)
		if (d->d_tag == tag)
			return d->d_un.d_val;
	return 0;
}

/* glibc converts these to addresses, other loaders leave offsets. */
static const void *dynamic_pointer(const struct image *image, ElfW(Sxword) tag)
{
	uintptr_t p = dynamic_value(image, tag);

	if (p && p < image->base)
		p += image->base;
	return (const void *)p;
}

static bool write_slot(const struct image *image, uintptr_t at, void (*function)(void))
{
	uintptr_t page_size = (uintptr_t)getauxval(AT_PAGESZ);
	uintptr_t page = at & ~(page_size - 1);
	bool locked = at >= image->relro && at < (image->relro_end & ~(page_size - 1));

	if (locked && mprotect((void *)page, page_size, PROT_READ | PROT_WRITE))
		return false;
	memcpy((void *)at, &function, sizeof function);
	if (locked)
		mprotect((void *)page, page_size, PROT_READ);
	return true;
}

/* By the first two letters. A name has at least one. */
#define LETTERS 256

static unsigned letters_of(const char *name)
{
	return ((unsigned char)name[0] * 5u + (unsigned char)name[1]) % LETTERS;
}

static size_t redirect_one(const struct image *image, uintptr_t slot, const char *symbol,
			   struct got_hook *hooks, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (hooks[i].symbol[0] != symbol[0] || strcmp(hooks[i].symbol, symbol))
			continue;
		hooks[i].found = true;
		return hooks[i].function && write_slot(image, slot, hooks[i].function);
	}
	return 0;
}

/* The first ones, relative relocations, have no names. */
static size_t redirect_table(const struct image *image, const ElfW(Rela) *rela, size_t bytes,
			     size_t relative, struct got_hook *hooks, size_t n)
{
	const ElfW(Sym) *symbols = dynamic_pointer(image, DT_SYMTAB);
	const char *names = dynamic_pointer(image, DT_STRTAB);
	bool is_hook[LETTERS] = { false };	/* by letters_of(): most names have others */
	size_t written = 0;

	if (!rela || !symbols || !names)
		return 0;
	for (size_t i = 0; i < n; i++)
		is_hook[letters_of(hooks[i].symbol)] = true;
	for (size_t i = relative; i < bytes / sizeof *rela; i++) {
		uint32_t type = ELF64_R_TYPE(rela[i].r_info);
		const char *name = names + symbols[ELF64_R_SYM(rela[i].r_info)].st_name;

		if (is_hook[letters_of(name)] && (type == TYPE_PLT || type == TYPE_GOT))
			written += redirect_one(image, image->base + rela[i].r_offset, name,
						hooks, n);
	}
	return written;
}

size_t got_redirect(struct got_hook *hooks, size_t n)
{
	struct image image = { 0 };
	size_t written = 0;

	dl_iterate_phdr(take_first, &image);
	if (!image.dynamic)
		return 0;
	if (dynamic_value(&image, DT_PLTREL) == DT_RELA)
		written += redirect_table(&image, dynamic_pointer(&image, DT_JMPREL),
					  dynamic_value(&image, DT_PLTRELSZ), 0, hooks, n);
	written += redirect_table(&image, dynamic_pointer(&image, DT_RELA),
				  dynamic_value(&image, DT_RELASZ),
				  dynamic_value(&image, DT_RELACOUNT), hooks, n);
	return written;
}

#else

size_t got_redirect(struct got_hook *hooks, size_t n)
{
	(void)hooks;
	(void)n;
	return 0;
}

#endif
