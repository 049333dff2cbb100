/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_PROFILE_PAGE_H
#define BUILDBEAT_REPORT_PROFILE_PAGE_H

#include "analyse/profile_view.h"
#include "base/buf.h"

/*
 * An HTML file with the table of a profile, which its script groups, sorts, filters and merges. It
 * has one or more snapshots: moments of a recording, or recordings. If two are selected, the page
 * shows what the second has beyond the first. Its elements, for the script and the tests:
 *
 *	header			h1
 *	section#profile		filled by the script: snapshots, tools, tables
 *	script#head		JSON: columns, what the page begins with, and snapshots
 *	script#data-I		the rows of snapshot I: columns of numbers (pack_chart.h), then the
 *				texts, deflated
 *	script			the program: profile.js
 *
 * The columns of numbers: "key" of each key: index of its text; "sum", "max", "sample"; "unit" and
 * "known" of the rows. "n" of both times: 1 if the sum is the only value, otherwise the number of the
 * row's values in "value" and "times" plus 1. Numbers are in units of 1 or 1,000, "+1" where -1
 * means unknown. What a number has beyond 31 bits is in the column with an "h" behind its name.
 */
struct profile_snapshot {
	const char *title;
	const struct profile *profile;
	const char *dir;	/* of the sources, absolute, for links to them; NULL: no links */
	const char *chart, *log;	/* absolute paths to link to, or NULL */
};

struct profile_page {
	const char *title;
	const struct profile_snapshot *snapshot;
	size_t n_snapshots;
	struct profile_wish wish;	/* what the page begins with */
	const struct html_site *site;	/* NULL: a file */
};

/* 0 or a negative errno. */
int profile_page_write(struct buf *out, const struct profile_page *page);

#endif
