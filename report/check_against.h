/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_CHECK_AGAINST_H
#define BUILDBEAT_REPORT_CHECK_AGAINST_H

#include "compare/against_target.h"
#include "write/doc.h"

#include <stddef.h>
#include <stdint.h>

struct diff_fact;

/* The parts about the target branch in the outputs of check --against. NULL: there is none. */
struct check_against {
	const char *ref;	/* the target's series */
	const char *why;	/* why the merge base is unknown, so that the target's builds end by
				   time; NULL: it is known */
	uint32_t first;		/* the branch's first build; the target's are before it */
	size_t theirs;		/* confirmed regressions of the target itself */
	struct against_list undecided;
	size_t n_facts;		/* circumstances that differ, with those of the sources */
	const struct diff_fact *fact;
};

/* Whether "no regression" would be more than is known: a change is undecided, and none is confirmed. */
bool check_against_is_unknown(const struct check_against *a, const struct verdict *v);

/* "unknown: 2 more recordings would decide about 3 changes". */
void check_against_add_verdict(struct buf *b, const struct check_against *a);

void check_against_lines(struct doc *d, const struct check_against *a, const struct builds *builds);

/* An object "against", or null. */
void check_against_json(struct json *j, const struct check_against *a, const struct builds *builds);

#endif
