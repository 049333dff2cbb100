/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_PAGE_H
#define BUILDBEAT_REPORT_PAGE_H

#include "report/culprits.h"
#include "report/events.h"
#include "report/picture.h"
#include "report/trends.h"

/*
 * The report: one HTML file with all that is known of a series of builds. What stands where,
 * for the script and the tests:
 *
 *	header			h1, p.facts: of what, and how many builds
 *	section#verdict		p.sentence; table.findings a row a finding
 *	section#events		article.event[id=event-I] one an event, the newest first:
 *				h3, table.changes, then of each source tree .range with
 *				the commits and the files they touched
 *	section#tasks		filled by the script: tools, the table, the trends of a task
 *	section#charts		figure.chart two, filled by the script
 *	script#head, #columns	the data of the table and the trends (below)
 *	script#chart-0, -1	a bootchart each (picture.h), if there is one
 *	script			the program: page.js
 *
 * #head is JSON: the metrics, the builds, changes and findings of the pictures. #columns is a
 * raw deflate stream in the characters of pack.h, of these one after the other: "names" bytes
 * of names, a line a task; of each task its kind, a byte; the newest, usual, lowest and
 * highest value of each series (trends.h), single precision, each as four planes, the
 * highest bytes first; "fine" numbers of series, four bytes, the lowest first; their values;
 * those of the coarse ones.
 */
struct page_chart {
	uint32_t build;
	const struct picture *picture;	/* NULL: there is none ... */
	const char *why;		/* ... for that reason */
};

struct page {
	const struct builds *builds;
	const struct rules *rules;
	const struct history *history;
	const struct verdict *verdict;
	const struct report_events *events;
	const struct culprits *culprits;	/* of each of the first n_culprits events */
	size_t n_culprits;
	const struct trends *trends;
	struct page_chart chart[2];	/* the build compared with, the newest */
};

/* 0 or a negative errno. There is one build at least. */
int page_write(struct buf *out, const struct page *page);

#endif
