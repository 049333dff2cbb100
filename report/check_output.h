/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_CHECK_OUTPUT_H
#define BUILDBEAT_REPORT_CHECK_OUTPUT_H

#include "compare/limits.h"
#include "compare/population.h"
#include "compare/power.h"
#include "compare/verdict_group.h"
#include "report/check_against.h"
#include "report/command_line.h"
#include "write/doc.h"

/*
 * The outputs of check: a document for people, JSON with everything, JUnit's XML for collectors of
 * test results. They return the error of the buffer, or -ENOMEM.
 */
struct check {
	const struct builds *builds;	/* at least one */
	const struct rules *rules;
	const struct verdict *verdict;
	const struct limits_check *limits;	/* NULL: no limits */
	const struct check_against *against;	/* NULL: without a target branch */
	const struct verdict_groups *groups;
	const struct population *population;	/* NULL: unknown */
	const struct power *power;	/* what a short history finds; NULL: it is not short */
	size_t top;		/* printed groups of a section */
	bool all;		/* print every group and its members */

	/* For suggested commands */
	struct command_line_archive archive;
	const char *command;	/* of the newest build, in shell syntax, or NULL: unknown */
};

/* Members of a group are printed if there are at most so many, or all is set. */
#define CHECK_FEW 5

static inline size_t check_members(const struct check *c, const struct verdict_group *g)
{
	return g->n > 1 && (c->all || g->n <= CHECK_FEW) ? g->n : 0;
}

/* The finding of the i-th member. */
static inline const struct verdict_finding *check_member(const struct check *c,
							 const struct verdict_group *g, size_t i)
{
	return &c->verdict->finding[c->groups->member[g->first + i]];
}

/* The group in whose line one is reported because it shows the same; or itself. */
static inline size_t check_like(const struct check *c, size_t group)
{
	return c->all ? group : c->groups->like[group];
}

/* Commands that can be pasted: for the regressions that fail the check and for suspects; and for a
 * verdict that is unknown. */
int check_add_next(struct buf *out, const struct check *c);
void check_add_undecided(struct buf *out, const struct check *c);

int check_doc(struct doc *d, const struct check *c);
int check_json(struct buf *out, const struct check *c);
int check_junit(struct buf *out, const struct check *c, size_t n);	/* of n series */

/* Of n series, whose verdicts everywhere_join() made one. */
int check_doc_all(struct doc *d, const struct check *c, size_t n);
int check_json_all(struct buf *out, const struct check *c, size_t n);

#endif
