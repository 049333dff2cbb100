/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_PAGE_H
#define BUILDBEAT_REPORT_PAGE_H

#include "compare/limits.h"
#include "compare/population.h"
#include "compare/power.h"
#include "compare/verdict.h"
#include "report/culprits.h"
#include "report/picture.h"
#include "report/trends.h"

/*
 * The report: one HTML file about a series of builds. Its elements, for the script and the tests:
 *
 *	header			h1, p.facts: series and number of builds
 *	section#verdict		p.sentence; table.findings with a row for each finding
 *	section#events		details.event[id=event-I] for each event, the newest first:
 *				h3, table.changes, then for each source tree .range with
 *				the commits and their files
 *	section#tasks		filled by the script: tools, the table, the trends of a task
 *	section#charts		two figure.chart, filled by the script
 *	script#head, #columns	the data of the table and the trends (below)
 *	script#chart-0, -1	the bootcharts (picture.h), if they exist
 *	script			the program: page.js
 *
 * #head is JSON: the metrics, the builds, changes and findings of the pictures. #columns has two
 * raw deflate streams in the characters of pack_chart.h; "deflated" in #head has their lengths.
 * The first one has, in this order:
 *	of each name, how many of its bytes are those of the name before, a byte
 *	the other bytes of each name and a newline
 *	the kind of each task, a byte
 * The second one has numbers. Values are the highest bits of a float, trends_code(), in 32
 * bits, and are stored as four planes, the highest bytes first:
 *	base of each series; usual and newest value, as their codes less that of the base,
 *	zigzag (trends.h)
 *	"fine" numbers of series; usual, newest, lowest and highest value of those
 *	the values of each fine series, then of each point of all coarse series
 */
struct page_chart {
	uint32_t build;
	const struct picture *picture;	/* NULL if missing ... */
	const char *why;		/* ... for this reason */
};

struct page {
	const struct builds *builds;
	const struct rules *rules;
	const struct history *history;
	const struct verdict *verdict;
	size_t n_causes;	/* of its regressions */
	const struct population *population;	/* NULL: unknown */
	const struct power *power;	/* what check finds within a few builds; NULL: not tried */
	bool is_short;		/* the history */
	const struct limits_check *limits;	/* NULL: no limits */
	const struct culprits *culprits;	/* of the first n_culprits events */
	size_t n_culprits;
	const struct trends *trends;
	struct page_chart chart[2];	/* of the build compared with, and of the newest */
};

/* There is at least one build. Returns 0 or a negative errno. */
int page_write(struct buf *out, const struct page *page);

#endif
