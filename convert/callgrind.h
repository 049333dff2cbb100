/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_CALLGRIND_H
#define BUILDBEAT_CONVERT_CALLGRIND_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One profile of remake, parsed: its targets and what each needs. */

enum callgrind_state { CALLGRIND_NEW, CALLGRIND_OPEN, CALLGRIND_LAID };

struct callgrind_target {
	const char *name;
	int64_t recipe_us;	/* 0: it has none, or is only needed */
	size_t first_need, n_needs;	/* in need */
	/* callgrind.c's */
	enum callgrind_state state;
	size_t n_seen;
	int64_t start_us, end_us;
	uint32_t task;
	bool hosts;
};

struct callgrind {
	struct arena *arena;
	const char *version, *command;
	const char *directory;	/* last part of that of its makefile, "" if not known */
	int64_t summary_us;
	size_t n_targets;
	struct callgrind_target *target;
	size_t n_needs;
	uint32_t *need;		/* indices of targets */
	/* callgrind.c's */
	bool parallel, added;
	int64_t length_us, from_us;
};

/* c is zero before, and to be released whatever comes. 0, or a negative errno with err:
 * -EINVAL with the line. */
int callgrind_parse(struct callgrind *c, const char *text, size_t len, const char *path,
		    struct error *err);
void callgrind_release(struct callgrind *c);

#endif
