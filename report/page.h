/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_PAGE_H
#define BUILDBEAT_REPORT_PAGE_H

#include "report/culprits.h"
#include "report/events.h"
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
 * #head is JSON: the metrics, the builds, changes and findings of the pictures. #columns is a
 * raw deflate stream in the characters of pack.h. It has, in this order:
 *	"names" bytes of names, one line for each task
 *	the kind of each task, a byte
 *	the newest, usual, lowest and highest value of each series (trends.h), in single
 *	precision, each as four planes, the highest bytes first
 *	"fine" numbers of series, four bytes each, the lowest first, and their values
 *	the values of the coarse series
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
	const struct report_events *events;
	const struct culprits *culprits;	/* of the first n_culprits events */
	size_t n_culprits;
	const struct trends *trends;
	struct page_chart chart[2];	/* of the build compared with, and of the newest */
};

/* There is at least one build. Returns 0 or a negative errno. */
int page_write(struct buf *out, const struct page *page);

#endif
