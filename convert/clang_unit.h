/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_CLANG_UNIT_H
#define BUILDBEAT_CONVERT_CLANG_UNIT_H

#include "base/arena.h"
#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/*
 * What clang -ftime-trace wrote of compilations, one file each. Of their phases those
 * are kept that take a hundredth of the compilation, and a millisecond, or more;
 * shorter ones that follow each other inside one phase are joined into one that is as
 * long as they are together, which is kept if that is long enough. So there are a
 * hundred of each level of nesting at most, and CLANG_DEPTH_MAX levels.
 */
#define CLANG_SHARE 100
#define CLANG_LEAST_US 1000
#define CLANG_DEPTH_MAX 16

struct clang_phase {
	int64_t begin_us, end_us;	/* since the unit began */
	const char *name;
};

struct clang_unit {
	const char *path;	/* of the trace, as it was found */
	const char *tool;	/* clang-14; "" if it does not say */
	int64_t wall_us;	/* when it began, since 1970; -1: not known */
	int64_t length_us;
	size_t first_phase, n_phases;
};

struct clang_units {
	size_t n, n_phases;
	struct clang_unit *unit;
	struct clang_phase *phase;
	struct arena *arena;
};

/*
 * The traces at the n paths: files, or directories in which (and below which) all that
 * are clang's are read, by name. 0, or a negative errno with err. Always release.
 */
int clang_units_read(struct clang_units *u, const char *const *path, size_t n,
		     struct error *err);
void clang_units_release(struct clang_units *u);

#endif
