/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_CLANG_UNIT_H
#define BUILDBEAT_CONVERT_CLANG_UNIT_H

#include "base/arena.h"
#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Traces of compilations by clang -ftime-trace, one file each. A phase is kept if it takes at
 * least a hundredth of the compilation and at least a millisecond. Shorter phases that follow each
 * other inside one phase are joined into one as long as their sum, which is kept if that is long
 * enough. Therefore each level of nesting has at most a hundred phases, and there are
 * CLANG_DEPTH_MAX levels.
 */
#define CLANG_SHARE 100
#define CLANG_LEAST_US 1000
#define CLANG_DEPTH_MAX 16

struct clang_phase {
	int64_t begin_us, end_us;	/* since the unit began */
	const char *name;
};

struct clang_unit {
	const char *path;	/* of the trace */
	const char *tool;	/* such as clang-14; "" if not known */
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
 * Read the traces at n paths. Of a directory, all traces of clang in it and below it are read, by
 * name. 0, or a negative errno with err. Always release.
 */
int clang_units_read(struct clang_units *u, const char *const *path, size_t n,
		     struct error *err);
void clang_units_release(struct clang_units *u);

#endif
