/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_INSPECT_HEAP_IMAGE_H
#define BUILDBEAT_INSPECT_HEAP_IMAGE_H

#include "base/error.h"
#include "inspect/inspection.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * The reader of the images that buildbeat-heap.so writes: heap/image.h. An image is read any
 * number of times while its process runs, and after its end. What is read once keeps its
 * number: modules, frames and stacks are only added to the inspection.
 */
struct heap_image;

/* What the image says of itself at the last read. */
struct heap_image_state {
	bool ended;		/* the process reached its end */
	bool forked;		/* only what was allocated since the fork */
	bool other_malloc;	/* the program has its own malloc(): only mappings are counted */
	int error;		/* errno that prevented the image from growing, 0: none. Then what is
				   new has no stack */
	uint64_t lost;		/* events that were not recorded */
	uint64_t events;	/* allocations that were recorded */
	uint64_t live_bytes, peak_bytes;	/* estimates, malloc() and mmap() */
};

/* Find the newest image of a process in a directory. start_ticks 0: of any process with that id.
 * 0 or a negative errno: -ENOENT without one. */
int heap_image_find(char name[NAME_MAX + 1], int dir_fd, pid_t pid, uint64_t start_ticks);

/* Open the image called name. 0 or a negative errno with err: -EINVAL if it is not an image. Sets
 * in->heap and its period. */
int heap_image_open(struct heap_image **out, int dir_fd, const char *name, struct inspection *in,
		    struct error *err);

/* The process that it is of. */
pid_t heap_image_pid(const struct heap_image *h);
uint64_t heap_image_start_ticks(const struct heap_image *h);
const char *heap_image_program(const struct heap_image *h);

/*
 * Read it: new modules, frames and stacks are added to in, and the sites and ranges replace those
 * of s, which then has a heap. What has no known stack has the stack of one frame with address 0.
 * Modules are in the order in which they were met. Arrays of in grow by array_add(); texts are in
 * its arena. While the process runs, a site can be one event ahead of another. 0 or a negative
 * errno with err; then s is as before.
 */
int heap_image_read(struct heap_image *h, struct inspection *in, struct snapshot *s,
		    struct heap_image_state *state, struct error *err);

/* h may be NULL. */
void heap_image_close(struct heap_image *h);

#endif
