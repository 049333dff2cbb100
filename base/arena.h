/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BASE_ARENA_H
#define BUILDBEAT_BASE_ARENA_H

#include <stddef.h>

/* Memory that is released all at once, such as everything that belongs to one recording. */
struct arena;

/* NULL when out of memory. */
struct arena *arena_new(void);

/* a may be NULL. */
void arena_free(struct arena *a);

/* size bytes, aligned for anything, zero; NULL when out of memory. */
void *arena_alloc(struct arena *a, size_t size);

/* A copy of len bytes, with a NUL after it. NULL when out of memory. */
char *arena_text(struct arena *a, const char *p, size_t len);

/* Take over a block from malloc(). 0, or -ENOMEM and the block is freed. */
int arena_keep(struct arena *a, void *block);

#endif
