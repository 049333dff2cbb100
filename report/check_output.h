/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_CHECK_OUTPUT_H
#define BUILDBEAT_REPORT_CHECK_OUTPUT_H

#include "base/buf.h"
#include "base/text.h"
#include "compare/limits.h"
#include "compare/verdict.h"

/*
 * The outputs of check: text for people, JSON with everything, JUnit's XML for collectors of test
 * results, Markdown for a merge request. They return the error of the buffer.
 */
struct check {
	const struct builds *builds;	/* at least one */
	const struct rules *rules;
	const struct verdict *verdict;
	const struct limits_check *limits;	/* NULL: no limits */
	const char *repo;	/* the archive, for suggested commands */
	size_t top;		/* printed findings of a section */
};

int check_text(struct buf *out, const struct check *c, const struct style *style);
int check_json(struct buf *out, const struct check *c);
int check_junit(struct buf *out, const struct check *c);
int check_markdown(struct buf *out, const struct check *c);

#endif
