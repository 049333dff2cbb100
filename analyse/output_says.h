/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_OUTPUT_SAYS_H
#define BUILDBEAT_ANALYSE_OUTPUT_SAYS_H

#include "base/cursor.h"

/* The lines of a build's output by which compilers, linkers and makefiles name a file. */
enum says {
	SAYS_NOTHING,
	SAYS_MESSAGE,		/* "bad.c:1:24: error: x", "bad.c(1,24): error", "bad.c:(.text+0x5): x" */
	SAYS_FUNCTION,		/* "bad.c: In function 'f':", "gcc: error: bad.c: No such file" */
	SAYS_INCLUDE,		/* "In file included from bad.c:1:" */
	SAYS_ARROW,		/* " --> bad.rs:1:24" */
	SAYS_LINKER,		/* "/usr/bin/ld: bad.o: in function `f':" */
	SAYS_FRAME,		/* "  File "bad.py", line 1, in f" */
	SAYS_ANNOUNCEMENT,	/* "  CC bad.o", "[  5%] Building C object bad.o" */
};

struct output_saying {
	enum says what;
	struct slice path;	/* of the file; for "ld: cannot find -lx" its argument */
	uint64_t line, column;	/* from 1, 0: none */
	bool linker;		/* only a linker says this */
};

/* text is without colours. What make says about makefiles is nothing here. */
struct output_saying output_says(struct slice text);

#endif
