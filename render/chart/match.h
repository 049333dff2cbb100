/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_CHART_MATCH_H
#define BUILDBEAT_RENDER_CHART_MATCH_H

#include "analyse/summary.h"

#include <stddef.h>
#include <stdint.h>

/*
 * The same task in another build: the same directory (relative to the build's),
 * key and name, and as often before in its build (a recipe of three lines is three
 * tasks of one name). Versions in OpenEmbedded's keys do not count.
 */
struct match {
	uint32_t *other;	/* of every task of a: index in b's recording, or NO_INDEX */
	size_t n_common;
	size_t n_only_a, n_only_b;	/* of those that ran */
};

/* 0 or -ENOMEM. Always release. */
int match_make(struct match *m, const struct summary *a, const struct summary *b);
void match_release(struct match *m);

#endif
