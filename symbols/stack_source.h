/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SYMBOLS_STACK_SOURCE_H
#define BUILDBEAT_SYMBOLS_STACK_SOURCE_H

#include "base/buf.h"
#include "base/json.h"

#include <limits.h>

/* Lines of source files below one directory. What debug information names can be anything, so only
 * regular files that are really below it are read. */
#define STACK_SOURCE_AROUND 2	/* lines before and after */

struct stack_source {
	int dir_fd;		/* -1: there is no directory */
	char dir[PATH_MAX];
	char path[PATH_MAX];	/* of the text, "": none */
	struct buf text;
};

/* dir may be NULL, or missing. */
void stack_source_init(struct stack_source *s, const char *dir);
void stack_source_release(struct stack_source *s);

/* An array "context" of [number, text], or null if the file cannot be shown. */
void stack_source_json(struct json *j, struct stack_source *s, const char *path, unsigned line);

#endif
