/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_INSPECT_ELF_HEAD_H
#define BUILDBEAT_INSPECT_ELF_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What the head of an ELF file says about where it is loaded, and its build-id. Only files of this
 * machine's word size and byte order are read. Their content is not trusted.
 */
#define ELF_HEAD_LOADS 16

struct elf_load {
	uint64_t offset, file_size, address, size;
};

struct elf_head {
	size_t n_loads;
	struct elf_load load[ELF_HEAD_LOADS];
	char build_id[41];	/* hexadecimal, "" without one */
};

/* Reads bytes at an offset of the file: how many, up to len, 0 if there are none. */
typedef size_t elf_head_reader(void *ctx, void *to, size_t len, uint64_t offset);

/* False: it is no such file. */
bool elf_head_read(struct elf_head *h, elf_head_reader *read, void *ctx);

/* Where the segment that has this offset is loaded: an address before relocation. False: none has
 * it. */
bool elf_head_address(const struct elf_head *h, uint64_t offset, uint64_t page_size,
		      uint64_t *address);

#endif
