/* SPDX-License-Identifier: MIT */
"use strict";
/*
 * The script of an inspection: classes of memory over time, the live heap as an icicle, call
 * sites and mappings. inspect_page.h describes the data.
 *
 * For tests, window.buildbeat has:
 *	ready		a promise: true when the page is there, false if it failed
 *	state()		what is shown
 *	boxes()		[name, bytes, depth] of each box of the icicle
 *	sum(name)	bytes of all topmost boxes of that function, whatever is zoomed
 *	bands()		[class, value at the snapshot] of each band, from the bottom
 *	rows(id)	the items of a table
 */
(function () {

/* render/chart/common.js */
/* render/chart/unpack.js */
/* report/elements.js */
/* render/chart/table.js */

const SEARCH_MS = 80;

/* report/inspect_data.js */
/* report/zoom.js */
/* report/areas.js */
/* report/inspect_page.js */
/* report/inspect_areas.js */
/* report/inspect_icicle.js */
/* report/inspect_lists.js */

async function begin() {
	await readAll();
	makePage();
	loadHash();
	drawAll();
}

window.buildbeat = {
	ready: beginPage("#inspection", "The page", begin),
	state: () => ({ snapshot: view.snapshot, kind: view.kind, metric: view.metric,
			class: classesOf().item[view.class][0], up: view.up, q: view.q,
			range: [view.icicle.from, view.icicle.until],
			times: [view.areas.from, view.areas.until],
			node: view.node < 0 ? "" : nameOf(view.node),
			selected: [...view.selected].map(nameOf) }),
	boxes: () => icicle.boxes.map(b => [nameOf(b.node), tree().value[b.node], b.depth]),
	sum: name => sumOf(topmost(matching(n => nameOf(n) === name))),
	bands: () => areas.bands.map(b => [b.name, b.value[shownSnapshot()]]),
	rows: id => Array.from(lists[id].table.list),
};

})();
