/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SYMBOLS_PLT_H
#define BUILDBEAT_SYMBOLS_PLT_H

#include "base/buf.h"
#include "symbols/elf_file.h"

/* The entries of the PLT: code that jumps to a function of another module, of which it has the name
 * with "@plt". */
struct plt_entry {
	uint64_t start;
	uint32_t size;
	uint32_t name;		/* place in names */
};

struct plt {
	size_t n;
	struct plt_entry *entry;	/* in the order of the sections */
	struct buf names;
};

/* By decoding the jumps of all sections ".plt*" of x86-64 and aarch64; p was empty. 0 or
 * -ENOMEM. */
int plt_read(struct plt *p, const struct elf_file *f);

void plt_release(struct plt *p);

#endif
