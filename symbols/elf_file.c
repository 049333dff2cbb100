/* SPDX-License-Identifier: MIT */
#include "symbols/elf_file.h"

#include "base/array.h"
#include "base/file.h"
#include "base/hex.h"
#include "base/readfile.h"

#include <elfutils/libdwelf.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

#define SAME_DIGITS 40
#define CRC_BLOCK 65536

static void read_build_id(struct elf_file *f)
{
	const uint8_t *id;
	ssize_t n = dwelf_elf_gnu_build_id(f->elf, (const void **)&id);

	for (ssize_t i = 0; i < n && 2 * (size_t)i + 2 < sizeof f->build_id; i++) {
		f->build_id[2 * i] = hex_digit(id[i] >> 4);
		f->build_id[2 * i + 1] = hex_digit(id[i]);
	}
}

static void read_load(struct elf_file *f)
{
	size_t n = 0;
	GElf_Phdr head;

	if (elf_getphdrnum(f->elf, &n))
		return;
	for (size_t i = 0; i < n && gelf_getphdr(f->elf, (int)i, &head); i++) {
		if (head.p_type == PT_LOAD) {
			f->load = head.p_vaddr & ~(head.p_align ? head.p_align - 1 : 0);
			return;
		}
	}
}

static int read_sections(struct elf_file *f)
{
	Elf_Scn *section = NULL;
	GElf_Shdr head;

	if (elf_getshdrnum(f->elf, &f->n_sections))
		f->n_sections = 0;
	if (elf_getshdrstrndx(f->elf, &f->names))
		f->names = 0;
	f->flags = array_new_zero(f->n_sections, 1);
	if (!f->flags)
		return -ENOMEM;
	while ((section = elf_nextscn(f->elf, section))) {
		size_t index = elf_ndxscn(section);

		if (index < f->n_sections && gelf_getshdr(section, &head) &&
		    (head.sh_flags & (SHF_ALLOC | SHF_EXECINSTR)) == (SHF_ALLOC | SHF_EXECINSTR))
			f->flags[index] |= ELF_FILE_CODE;
	}
	return 0;
}

static int begin_file(struct elf_file *f)
{
	int host = BYTE_ORDER == LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB;

	if (!f->elf || elf_kind(f->elf) != ELF_K_ELF || !gelf_getehdr(f->elf, &f->head) ||
	    f->head.e_ident[EI_DATA] != host)
		return -ENOEXEC;
	read_build_id(f);
	read_load(f);
	return read_sections(f);
}

int elf_file_open(struct elf_file *f, const char *path)
{
	int r = 0;

	*f = (struct elf_file){ .fd = -1 };
	if (elf_version(EV_CURRENT) == EV_NONE)
		return -ENOSYS;
	/* a device is not even opened, and a FIFO must not block */
	if (stat(path, &f->st))
		return -errno;
	if (!S_ISREG(f->st.st_mode))
		return -ENOEXEC;
	f->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (f->fd < 0)
		return -errno;
	if (fstat(f->fd, &f->st))
		r = -errno;
	else if (!S_ISREG(f->st.st_mode))
		r = -ENOEXEC;
	if (!r) {
		f->elf = elf_begin(f->fd, ELF_C_READ_MMAP, NULL);
		r = begin_file(f);
	}
	if (r)
		elf_file_close(f);
	return r;
}

int elf_file_of_memory(struct elf_file *f, const void *data, size_t size)
{
	int r;

	*f = (struct elf_file){ .fd = -1 };
	if (elf_version(EV_CURRENT) == EV_NONE)
		return -ENOSYS;
	f->elf = elf_memory((char *)data, size);
	r = begin_file(f);
	if (r)
		elf_file_close(f);
	return r;
}

void elf_file_close(struct elf_file *f)
{
	if (f->elf)
		elf_end(f->elf);
	file_close(f->fd);
	free(f->flags);
	*f = (struct elf_file){ .fd = -1 };
}

Elf_Scn *elf_file_next(const struct elf_file *f, Elf_Scn *from, uint32_t type, GElf_Shdr *head)
{
	while ((from = elf_nextscn(f->elf, from))) {
		if (gelf_getshdr(from, head) && head->sh_type == type)
			return from;
	}
	return NULL;
}

const char *elf_file_section_name(const struct elf_file *f, const GElf_Shdr *head)
{
	const char *name = f->names ? elf_strptr(f->elf, f->names, head->sh_name) : NULL;

	return name ? name : "";
}

Elf_Scn *elf_file_section(const struct elf_file *f, const char *name, GElf_Shdr *head)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(f->elf, section))) {
		if (gelf_getshdr(section, head) && head->sh_type != SHT_NOBITS &&
		    !strcmp(elf_file_section_name(f, head), name))
			return section;
	}
	return NULL;
}

const uint8_t *elf_file_content(Elf_Scn *section, size_t *size)
{
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;

	*size = data && data->d_buf ? data->d_size : 0;
	return *size ? data->d_buf : NULL;
}

bool elf_file_has_symbols(const struct elf_file *f)
{
	GElf_Shdr head;

	return elf_file_next(f, NULL, SHT_SYMTAB, &head) != NULL;
}

bool elf_file_has_debug(const struct elf_file *f)
{
	GElf_Shdr head;

	return elf_file_section(f, ".debug_info", &head) || elf_file_section(f, ".zdebug_info", &head);
}

uint64_t elf_file_code_end(const struct elf_file *f, uint64_t address)
{
	Elf_Scn *section = NULL;
	GElf_Shdr head;

	while ((section = elf_nextscn(f->elf, section))) {
		if (gelf_getshdr(section, &head) && head.sh_flags & SHF_EXECINSTR &&
		    address >= head.sh_addr && address - head.sh_addr < head.sh_size)
			return head.sh_addr + head.sh_size;
	}
	return address;
}

bool elf_file_debuglink(const struct elf_file *f, const char **name, uint32_t *crc)
{
	GElf_Word word;

	*name = dwelf_elf_gnu_debuglink(f->elf, &word);
	*crc = word;
	return *name && **name && !strchr(*name, '/');
}

bool elf_file_crc(const struct elf_file *f, uint32_t *crc)
{
	uint8_t *block = malloc(CRC_BLOCK);
	off_t at = 0;
	ssize_t n = -1;
	uLong sum = 0;

	while (block && (n = readfile_some_at(f->fd, block, CRC_BLOCK, at)) > 0) {
		sum = crc32(sum, block, (uInt)n);
		at += n;
	}
	free(block);
	*crc = (uint32_t)sum;
	return n == 0;
}

bool elf_file_same_id(const char *a, const char *b)
{
	return *a && *b && !strncasecmp(a, b, SAME_DIGITS);
}
