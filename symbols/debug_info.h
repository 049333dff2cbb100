/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SYMBOLS_DEBUG_INFO_H
#define BUILDBEAT_SYMBOLS_DEBUG_INFO_H

#include "symbols/elf_file.h"

/*
 * Source lines and inlined functions of addresses, by libdw. A compilation unit is read when the
 * first address in it is looked up; after that a lookup is a binary search.
 */
struct debug_info;

/* A function that contains the address, or that the one before was inlined into. */
struct debug_frame {
	const char *name;	/* NULL: unknown */
	bool linkage;		/* the name that its symbol has; otherwise only the name in the
				   source, without the class */
	const char *source;	/* NULL: unknown */
	unsigned line;		/* 0: unknown */
};

#define DEBUG_FRAMES_MAX 64

/* NULL if it has no debug information that can be read, or out of memory. The file stays open. */
struct debug_info *debug_info_new(const struct elf_file *f);
void debug_info_free(struct debug_info *d);

/* Fill frame[DEBUG_FRAMES_MAX], innermost first. Returns their number; 0: nothing is known. The
 * texts are of the file. */
size_t debug_info_find(struct debug_info *d, uint64_t address, struct debug_frame *frame);

#endif
