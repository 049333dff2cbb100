/* SPDX-License-Identifier: MIT */
"use strict";
/*
 * The script of a profile: it reads the snapshots, and groups, sorts, filters and merges their
 * rows. profile_page.h describes the data.
 *
 * For tests, window.buildbeat has:
 *	ready		a promise: true when the table is there, false if it failed
 *	state()		what is shown
 *	rows()		[number of rows that fit, totals of count and run]
 */
(function () {

/* render/chart/common.js */
/* render/chart/unpack.js */
/* report/elements.js */

const ROWS = 30, ROWS_OF_GROUP = 10, GROUPS = 30, ROWS_MOST = 20000;
const SEARCH_MS = 60;
const KEYS = 11, SUMS = 13, MAXES = 3, TIMES = 2, UNITS = 2;	/* of profile.h */
const COUNT = 0, LIVING = 1, RUN = 2, SELF = 3, QUEUE = 4, WAIT = 5, QUEUED = 11, AMOUNT = 12;
const KIND = 2, DIR = 3, BORN = 6, DIED = 7, PHASE = 10;

/* report/profile_rows.js */
/* report/profile_table.js */

async function begin() {
	await readAll();
	makePage();
	loadHash();
	compute();
}

window.buildbeat = {
	ready: beginPage("#profile", "The table", begin),
	state: () => ({ q: view.q, group: view.group.map(c => columns[c].id), snapshots: view.snapshots,
			sort: view.sort.map(s => (s.down ? "-" : "") + columns[s.column].id),
			merged: [...view.merged].map(c => columns[c].id), similar: view.similar,
			shown: [...view.shown].map(c => columns[c].id) }),
	rows: () => [shown.rows.length, total(shown.rows, COUNT), total(shown.rows, RUN)],
};

})();
