/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_CHECK_REPLAY_H
#define BUILDBEAT_REPORT_CHECK_REPLAY_H

#include "compare/episodes.h"
#include "compare/verdict_group.h"
#include "write/doc.h"

/* The outputs of check --replay. They return the error of the buffer, or -ENOMEM. */
struct check_replay {
	const struct builds *builds;
	const struct rules *rules;
	const struct episodes *episodes;
	const bool *exceeds;	/* a limit, of each build from episodes->first on; NULL: no limits */
	bool need_history;
	size_t top;		/* regressions that are listed, the newest */
};

enum check_answer {
	CHECK_PASSES,
	CHECK_FAILS,		/* exit status 1 */
	CHECK_FAILED_BUILD,	/* exit status 3 */
	CHECK_TOO_FEW,		/* 0, or 3 with need_history */
};

#define CHECK_ANSWERS 4

enum check_answer check_replay_answer(const struct check_replay *c, uint32_t build);
int check_replay_status(const struct check_replay *c, uint32_t build);

/* Regressions: groups of one cause are one. */
struct check_replay_sum {
	size_t n[CHECK_ANSWERS];
	size_t regressions, changes;
	size_t open;			/* regressions that still fail the check */
	double red;			/* builds of a regression on average */
};

int check_replay_sum(struct check_replay_sum *s, const struct check_replay *c);

/* The groups of the episodes [begin, end), which are of one build; v and g must be released. */
int check_replay_groups(struct verdict *v, struct verdict_groups *g, const struct check_replay *c,
			size_t begin, size_t end);

int check_replay_doc(struct doc *d, const struct check_replay *c);
int check_replay_json(struct buf *out, const struct check_replay *c);
int check_replay_svg(struct buf *out, const struct check_replay *c);

#endif
