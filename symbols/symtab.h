/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SYMBOLS_SYMTAB_H
#define BUILDBEAT_SYMBOLS_SYMTAB_H

#include "symbols/elf_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The functions of one module, for lookups by address: symbols of .symtab, otherwise of .dynsym;
 * entries of the PLT as "NAME@plt"; and where they say nothing, the starts of functions in
 * .eh_frame. It is one block of memory without pointers, which the cache keeps as a file.
 *
 * Of several symbols at one address, a function comes before a label, and what has a size before
 * what has none. Then the fewest underscores in front count ("write", not "__write"; those of
 * mangled names do not count), then the binding: global, weak, local. The shortest name, and the
 * first in the alphabet, decide the rest.
 * A symbol without a size ends where its function ends in .eh_frame, and otherwise where the next
 * symbol or function begins or its section ends. A label inside a symbol with a size does not count.
 */

#define SYMTAB_MAGIC "buildbeat symbols 1\n"

/* The file that it was made from. */
struct symtab_source {
	uint64_t device, inode, size;
	int64_t mtime_ns, ctime_ns;
};

struct symtab_head {
	char magic[24];
	uint32_t order;		/* SYMTAB_ORDER, in the byte order of the machine that wrote it */
	uint32_t n;		/* segments */
	uint64_t base;		/* address of the first segment */
	uint32_t names_size;
	uint32_t complete;	/* with a .symtab */
	uint64_t hash;		/* of what follows this head */
	struct symtab_source source;
	char build_id[2 * 64 + 8];
};

#define SYMTAB_ORDER 0x01020304u

struct symtab {
	void *memory;		/* NULL: empty; the head */
	size_t size;
	bool mapped;		/* by mmap(), otherwise by malloc() */
	const uint32_t *start;	/* of segments: addresses from base on */
	const uint32_t *what;	/* SYMTAB_NONE, SYMTAB_START | its start from base on, or the
				   place of a name */
	const char *names;
};

#define SYMTAB_NONE 0u
#define SYMTAB_START 0x80000000u

/* Make it from a file and its separate debug information, which may be NULL. 0 or -ENOMEM; a file
 * without anything makes an empty table. */
int symtab_make(struct symtab *t, const struct elf_file *file, const struct elf_file *debug);

/* Take such a block, which may have any content. False if it is no table. */
bool symtab_use(struct symtab *t, void *memory, size_t size, bool mapped);

void symtab_release(struct symtab *t);

/*
 * The function that has this address. Returns its name, not demangled; or NULL, and *start is where
 * the function begins, 0 if that is not known either.
 */
const char *symtab_find(const struct symtab *t, uint64_t address, uint64_t *start);

#endif
