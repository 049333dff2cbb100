/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_CMAKE_SNIPPET_H
#define BUILDBEAT_CONVERT_CMAKE_SNIPPET_H

#include "base/error.h"
#include "convert/json_reader.h"

#include <stdbool.h>
#include <stdint.h>

/* One snippet of CMake's instrumentation (data version 1): a command it ran. */
struct cmake_snippet {
	struct json_document document;	/* has the texts below */
	const char *role;		/* compile, link, custom, configure, ... */
	const char *command, *directory, *target, *name;
	const struct json_value *outputs;	/* may be NULL */
	int64_t start_us;		/* since 1970 */
	int64_t duration_us;
	int64_t result;			/* exit status, -1 not known */
	bool contains;			/* others ran in it: a build, installation or test run */
};

/* 0, or a negative errno with err and nothing to release. */
int cmake_snippet_read(struct cmake_snippet *s, const char *path, struct error *err);
void cmake_snippet_release(struct cmake_snippet *s);

#endif
