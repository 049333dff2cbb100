/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SYMBOLS_SYMBOLIZER_H
#define BUILDBEAT_SYMBOLS_SYMBOLIZER_H

#include "base/buf.h"
#include "symbols/debug_info.h"
#include "symbols/module_files.h"
#include "symbols/symtab.h"

/* Names for the addresses of one module, whatever they come from. */
struct symbolizer {
	struct module_files files;
	struct symtab symtab;
	struct debug_info *debug;
	uint64_t debug_shift;	/* address in the file minus that in its debug information */
	bool debug_asked;
};

/* A function, or one that was inlined into it. */
struct symbolizer_frame {
	const char *name;	/* not demangled, NULL: unknown */
	const char *source;	/* NULL: unknown */
	unsigned line;		/* 0: unknown */
};

/* What the caller knows of the module is in files; the rest is 0. cache_fd may be negative. The
 * files may be missing: then all is unknown, and files.note says why. 0 or -ENOMEM. */
int symbolizer_open(struct symbolizer *s, int cache_fd);

void symbolizer_close(struct symbolizer *s);

/* Does the module have debug information? Reads its beginning at the first call. */
bool symbolizer_has_debug(struct symbolizer *s);

/* Fill frame[DEBUG_FRAMES_MAX], innermost first, from the table only or also from the debug
 * information. Returns their number; if that is 0, *start is where the function begins, 0: not
 * known. */
size_t symbolizer_find(struct symbolizer *s, uint64_t address, bool debug,
		       struct symbolizer_frame *frame, uint64_t *start);

#endif
