/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_MERGE_H
#define BUILDBEAT_COMPARE_MERGE_H

#include "compare/builds.h"

/*
 * Builds made of others: each is one recorded build, or the median of several. Tasks of several
 * series are the same if they have the same name.
 */
struct merge_part {
	struct builds builds;
	uint32_t *to;		/* of each build: the build it becomes part of, or MERGE_NONE */
};

#define MERGE_NONE UINT32_MAX

/*
 * Makes n builds, in the series of the last part. Each must have a build of one of the parts, and
 * cannot have builds of several. Its id, start and revisions are those of the newest; totals and
 * values are medians, without those that are unknown. Takes over the builds of the parts in every
 * case, but not `to`. Returns 0 or a negative errno with err. Always release.
 */
int merge_builds(struct builds *builds, size_t n, struct merge_part *part, size_t n_parts,
		 struct error *err);

#endif
