/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_INSPECT_CLASS_PATHS_H
#define BUILDBEAT_INSPECT_CLASS_PATHS_H

#include "base/index.h"
#include "inspect/call_names.h"

/* Private to classify.c: the paths of calls as a tree, for SPLIT_DIRECTORY. */
struct class_path {
	uint32_t parent;	/* before its children */
	uint32_t text;		/* number in texts */
	bool is_source;
};

struct class_paths {
	size_t n;
	struct class_path *path;	/* the root first, without a text */
	struct index index;
	struct call_path scratch;
};

/* The number of the path of a call, 0: it has none. 0 or -ENOMEM. */
int class_paths_add(struct class_paths *t, struct name_table *texts, const struct calls *calls,
		    size_t from, uint32_t *number);
void class_paths_release(struct class_paths *t);

#endif
