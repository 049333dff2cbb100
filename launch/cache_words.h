/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LAUNCH_CACHE_WORDS_H
#define BUILDBEAT_LAUNCH_CACHE_WORDS_H

#include "base/cursor.h"

#include <stdbool.h>

/*
 * The words of a command line that can be the source of a compilation: not options, without their
 * quotes, also those in "sh -c '...'". Of a word with backquotes, as automake writes it,
 * `test -f 'x.c' || echo '../src/'`x.c, both results: x.c and ../src/x.c.
 */
struct cache_words {
	void *context;
	/* after_cache: a word before it is ccache or sccache. Returns 0 or a negative errno, which
	 * ends the search. */
	int (*word)(void *context, struct slice word, bool after_cache);
};

int cache_words_find(const struct cache_words *w, const char *command);

#endif
