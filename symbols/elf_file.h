/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SYMBOLS_ELF_FILE_H
#define BUILDBEAT_SYMBOLS_ELF_FILE_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/*
 * An ELF file, by libelf. Nothing in it can be trusted: what libelf returns is inside the file, but
 * every number and offset in it can be any.
 */
struct elf_file {
	int fd;			/* -1: in memory */
	Elf *elf;		/* NULL: not open */
	struct stat st;
	GElf_Ehdr head;
	size_t names;		/* section of the names of sections, 0: none */
	size_t n_sections;
	char build_id[2 * 64 + 1];	/* hexadecimal, "" without one */
	uint64_t load;		/* address of the first loaded segment */
	uint8_t *flags;		/* by section, see below */
};

#define ELF_FILE_CODE 1		/* a section of code */

/* Open a regular file. 0 or a negative errno: -ENOEXEC if it is no ELF file of this machine's byte
 * order. */
int elf_file_open(struct elf_file *f, const char *path);

/* The same of memory, which must stay unchanged until it is closed. */
int elf_file_of_memory(struct elf_file *f, const void *data, size_t size);

void elf_file_close(struct elf_file *f);

/* The next section with this type after `from` (NULL: from the first on), NULL if there is none. */
Elf_Scn *elf_file_next(const struct elf_file *f, Elf_Scn *from, uint32_t type, GElf_Shdr *head);

/* The name of a section, "" if it has none. */
const char *elf_file_section_name(const struct elf_file *f, const GElf_Shdr *head);

/* The section of this name with content, NULL if there is none. */
Elf_Scn *elf_file_section(const struct elf_file *f, const char *name, GElf_Shdr *head);

/* The content of a section, NULL if it has none. */
const uint8_t *elf_file_content(Elf_Scn *section, size_t *size);

bool elf_file_has_symbols(const struct elf_file *f);	/* .symtab */
bool elf_file_has_debug(const struct elf_file *f);	/* .debug_info */

/* The end of the section of code that has this address; the address itself if there is none. */
uint64_t elf_file_code_end(const struct elf_file *f, uint64_t address);

/* Name and checksum of its debug information's file. False if it names none. */
bool elf_file_debuglink(const struct elf_file *f, const char **name, uint32_t *crc);

/* The checksum that a debug link has, of an open file. False if it cannot be read. */
bool elf_file_crc(const struct elf_file *f, uint32_t *crc);

/* Are both the same? An archive keeps 40 digits of them. */
bool elf_file_same_id(const char *a, const char *b);

#endif
