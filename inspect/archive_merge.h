/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_INSPECT_ARCHIVE_MERGE_H
#define BUILDBEAT_INSPECT_ARCHIVE_MERGE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Changes a sorted array in the order of its keys. Items are changed in place; what comes and goes
 * is merged at the end, so a few changes of a long array cost little.
 */
struct archive_merge {
	void *array;		/* address of the pointer to it */
	size_t *n;
	size_t size;		/* of an item */
	uint64_t (*key)(const void *item);
	size_t at;		/* items before this one are done */
	size_t n_fresh, n_gone;
	char *fresh;		/* new items, by key */
	size_t *gone;		/* indices of items */
};

#define ARCHIVE_MERGE(items, count, key_of) \
	{ .array = &(items), .n = &(count), .size = sizeof *(items), .key = (key_of) }

/* The item with this key, NULL: there is none, or the keys are not in order. */
void *archive_merge_find(struct archive_merge *m, uint64_t key);

/* The same, and a new item, which is zero, if there is none. NULL when out of memory. */
void *archive_merge_put(struct archive_merge *m, uint64_t key);

/* Remove the item. 0, -ENOMEM, or -EINVAL without it. */
int archive_merge_remove(struct archive_merge *m, uint64_t key);

/* Merge. The array is sorted if the keys came in order. 0 or -ENOMEM. */
int archive_merge_finish(struct archive_merge *m);

void archive_merge_release(struct archive_merge *m);

/* Replace an array, which may be NULL or grew by array_add(), by a copy of another, which can grow
 * in the same way. 0 or -ENOMEM. */
int archive_merge_copy(void *array, size_t *n, const void *from, size_t count, size_t size);

#endif
