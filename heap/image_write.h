/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_HEAP_IMAGE_WRITE_H
#define BUILDBEAT_HEAP_IMAGE_WRITE_H

#include "heap/image.h"

#include <stdbool.h>

/*
 * The image of this process, written. There is one. No descriptor stays open: to grow, the file
 * is opened again by its path. The caller has the lock.
 */

/* The head, which has its own memory without an image. */
extern struct heap_head *image_head;

/* The parts of each table in memory. */
extern void *image_chunk[HEAP_TABLES][HEAP_IMAGE_CHUNKS];

/* Create it in a directory, with an absolute path. Everything in head but the magic is 0. 0 or a
 * negative errno. */
int image_create(const char *dir, int pid, uint64_t start_ticks);

/*
 * Room for one more item at the end of a table of n items. It is zero. NULL: the image cannot
 * grow; the head has the reason.
 */
void *image_new_module(void);
struct heap_stack *image_new_stack(void);
struct heap_site *image_new_site(void);
struct heap_range *image_new_range(void);

/* Create the beginning of all tables now: a program may enter a sandbox that cannot open the file. */
void image_prepare(void);

/* In a forked child: the image is its parent's, and is no longer this process's. */
void image_forget(void);

static inline struct heap_module *image_module(uint32_t n)
{
	return (struct heap_module *)image_chunk[HEAP_TABLE_MODULES][n / HEAP_MODULES_PER_CHUNK] +
	       n % HEAP_MODULES_PER_CHUNK;
}

static inline struct heap_stack *image_stack(uint32_t n)
{
	return (struct heap_stack *)image_chunk[HEAP_TABLE_STACKS][n / HEAP_STACKS_PER_CHUNK] +
	       n % HEAP_STACKS_PER_CHUNK;
}

static inline struct heap_range *image_range(uint32_t n)
{
	return (struct heap_range *)image_chunk[HEAP_TABLE_RANGES][n / HEAP_RANGES_PER_CHUNK] +
	       n % HEAP_RANGES_PER_CHUNK;
}

static inline struct heap_site *image_site(uint32_t n)
{
	return (struct heap_site *)image_chunk[HEAP_TABLE_SITES][n / HEAP_SITES_PER_CHUNK] +
	       n % HEAP_SITES_PER_CHUNK;
}

#endif
