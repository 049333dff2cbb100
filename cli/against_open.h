/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CLI_AGAINST_OPEN_H
#define BUILDBEAT_CLI_AGAINST_OPEN_H

#include "cli/buildset.h"
#include "compare/diff.h"
#include "report/check_against.h"

/*
 * A branch is compared with its target: n->builds are the builds of HOST/BRANCH/MACHINE up to the
 * merge base, then all recordings of the newest revision of the branch. The merge base is found
 * in the source tree that the newest build names, otherwise in the working directory.
 */
struct against {
	struct buf ref, why;
	struct values side[DIFF_SIDES];
	struct diff diff;
	struct check_against report;
};

/* Instead of buildset_open(). Returns 0 or a negative errno with err; always release. */
int against_open(struct against *a, struct buildset *n, struct args *args,
		 struct buildset_options *options, const char *branch, struct error *err);
void against_release(struct against *a);

#endif
