/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_CHECK_OUTPUT_H
#define BUILDBEAT_REPORT_CHECK_OUTPUT_H

#include "base/buf.h"
#include "base/text.h"
#include "compare/verdict.h"

/*
 * The verdict on the newest builds, written: text for people, JSON with all there is,
 * JUnit's XML for what collects test results, Markdown for a merge request. The buffer's errors
 * are returned.
 */
struct check {
	const struct builds *builds;	/* one at least */
	const struct rules *rules;
	const struct verdict *verdict;
	const char *repo;	/* the archive, for what to run next */
	size_t top;		/* findings of a kind that people are shown */
};

int check_text(struct buf *out, const struct check *c, const struct style *style);
int check_json(struct buf *out, const struct check *c);
int check_junit(struct buf *out, const struct check *c);
int check_markdown(struct buf *out, const struct check *c);

#endif
