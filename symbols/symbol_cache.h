/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SYMBOLS_SYMBOL_CACHE_H
#define BUILDBEAT_SYMBOLS_SYMBOL_CACHE_H

#include "symbols/symtab.h"

/*
 * Tables of functions in "symbols" of the user's cache directory, each in a file named as its
 * build-id. The directory and its files must be ours and private; otherwise there is no cache.
 * Tables that were not used for the longest time are removed when all are larger than
 * SYMBOL_CACHE_MAX bytes.
 */
#define SYMBOL_CACHE_MAX 268435456

/* A descriptor of the directory, which is made; a negative errno if there is none. */
int symbol_cache_open(void);

/* The table of a build-id. False if there is none that can be used. */
bool symbol_cache_load(struct symtab *t, int cache_fd, const char *build_id);

/* Add or replace one. A failure is ignored. */
void symbol_cache_store(int cache_fd, const char *build_id, const struct symtab *t);

#endif
