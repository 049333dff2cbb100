/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_BUILDS_MEMORY_H
#define BUILDBEAT_COMPARE_BUILDS_MEMORY_H

#include "base/buf.h"
#include "compare/builds.h"

/* Notes about builds that no archive has: the newest few of them, while this exists. It must not move. */
#define BUILDS_MEMORY 4

struct builds_memory {
	struct builds_notes notes;
	size_t n;		/* kept so far */
	struct buf name[BUILDS_MEMORY], text[BUILDS_MEMORY];
};

void builds_memory_init(struct builds_memory *m);
void builds_memory_release(struct builds_memory *m);

#endif
