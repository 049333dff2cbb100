/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_CALLGRIND_H
#define BUILDBEAT_CONVERT_CALLGRIND_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One profile of remake: its targets and the prerequisites of each. */

enum callgrind_state { CALLGRIND_NEW, CALLGRIND_OPEN, CALLGRIND_PLACED };

struct callgrind_target {
	const char *name;
	int64_t recipe_us;	/* 0: it has no recipe */
	size_t first_need, n_needs;	/* in need */
	/* of callgrind.c */
	enum callgrind_state state;
	size_t n_seen;
	int64_t start_us, end_us;
	uint32_t task;
	bool hosts;
};

struct callgrind {
	struct arena *arena;
	const char *version, *command;
	const char *directory;	/* the last part of its makefile's directory, "" if not known */
	int64_t summary_us;
	size_t n_targets;
	struct callgrind_target *target;
	size_t n_needs;
	uint32_t *need;		/* indices of targets */
	/* of callgrind.c */
	bool parallel, added;
	int64_t from_us;
};

/* *c must be zero before. Always release it. 0, or a negative errno with err: -EINVAL with the
 * line. */
int callgrind_parse(struct callgrind *c, const char *text, size_t len, const char *path,
		    struct error *err);
void callgrind_release(struct callgrind *c);

#endif
