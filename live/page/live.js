/* SPDX-License-Identifier: MIT */
"use strict";
/*
 * The script of the live pages. A page is a file page_NAME.js, taken in below, with
 *
 *	pages.NAME = {
 *		async make(main, params) { ... },	fill the element; params: URLSearchParams
 *		leave() { ... },			if something must end with the page
 *	};
 *
 * and a row in live/page_shell.c, which has its path and its title. The shell is the same document for
 * every page: navigation, the choice of a recording and an empty <main>. A page is left by loading
 * another document. To add a page: its file here, in live/local.mk, and its row in live/page_shell.c.
 *
 * All files are in one scope: top-level names of page_NAME.js begin with NAME (tests/house.py).
 * What comes from a recording is text: textContent only, through clean() of common.js. There is no
 * innerHTML and no attribute "style" (CSP forbids it): set element.style.NAME or a class. Styles
 * are in live.css, below those of report/page.css; use its colours (var(--c0) ...) only.
 *
 * What pages use: common.js (clean, timeText, bytesText, percentText, countText), elements.js (make,
 * makeSvg, find, countOf), core.js (api, post, del, stream, every, link, hrefOf, setTitle, failed) and
 * parts.js (makeSheet, makeSpark, keyed, setText).
 *
 * For tests, window.buildbeat has:
 *	ready		a promise: true when the page was made, false if it failed
 */
(function () {

/* render/chart/common.js */
/* report/elements.js */
/* render/chart/table.js */
/* live/page/source.js */
/* live/page/core.js */
/* live/page/parts.js */
/* live/page/page_chart.js */
/* report/zoom.js */
/* report/areas.js */
/* live/page/page_compare.js */
/* live/page/page_help.js */
/* live/page/page_history.js */
/* live/page/page_machine.js */
/* live/page/page_overview.js */
/* live/page/page_ended.js */
/* live/page/long_list.js */
/* live/page/page_output.js */
/* live/page/page_wall.js */
/* live/page/page_processes.js */
/* live/page/page_process.js */
/* live/page/page_tasks.js */
/* live/page/page_inspections.js */
/* live/page/page_races.js */
/* live/page/page_settings.js */
/* live/page/page_table.js */
/* live/page/page_task.js */
/* live/page/page_tracker.js */
/* live/page/page_class.js */
/* live/page/page_graph.js */

window.buildbeat = { ready: begin() };

})();
