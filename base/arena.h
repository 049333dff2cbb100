/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BASE_ARENA_H
#define BUILDBEAT_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

/* Memory that is released all at once: what hangs off one recording. */
struct arena;

/* NULL when out of memory. */
struct arena *arena_new(void);

/* NULL is fine. */
void arena_free(struct arena *a);

/* size bytes, aligned for anything, zero; NULL when out of memory. */
void *arena_alloc(struct arena *a, size_t size);

/* A copy of len bytes with a NUL behind it. */
char *arena_text(struct arena *a, const char *p, size_t len);

/* Take over a block from malloc(). 0 or -ENOMEM (then it is freed). */
int arena_keep(struct arena *a, void *block);

#endif
