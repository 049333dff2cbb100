/* SPDX-License-Identifier: MIT */
"use strict";
/*
 * The script of a report: the table of all tasks (only the rows in view are in the document),
 * the trends of the chosen task, and the bootcharts. page.h describes the data that it reads.
 * If anything fails here, the verdict and the events remain as they are.
 *
 * For tests, window.buildbeat has:
 *	ready		a promise: true when the table is there, false if it failed
 *	state()		what is shown: q, metric, show, sort, down, task, rows
 *	points(metric)	of the chosen task: [build, value] each
 */
(function () {

/* render/chart/common.js */
/* report/elements.js */
/* render/chart/table.js */

const ROW = 27;			/* pixels of a row, as in page.css */
const SPARK = { width: 128, height: 20, least: .4 };	/* least: as in report/sparkline.c */
const PLOT = { height: 168, left: 66, right: 12, top: 10, bottom: 22 };
const COARSE_STEPS = 5;		/* that a picture shows at least */
const CHART_LEAST = 560;	/* pixels: height of a bootchart */
const STATES = ["confirmed", "known", "suspect"];
const BETTER = 3, NOTHING = 4;	/* states behind those, in the order of the table */
const SEARCH_MS = 80;

/* Small tools */

function px(v) {
	return String(Math.round(v * 10) / 10);
}

/* Values in words, as report/amount.c writes them */

function amountText(unit, v) {
	if (!(v >= 0))
		return "-";
	return unit === "us" ? timeText(v) : unit === "kb" ? bytesText(v * 1024) :
		unit === "bytes" ? bytesText(v) : countText(Math.round(v));
}

function differenceText(unit, v) {
	return isNaN(v) ? "-" : (v > 0 ? "+" : v < 0 ? "-" : "") + amountText(unit, Math.abs(v));
}

function shareText(v) {
	if (isNaN(v))
		return "-";
	if (!isFinite(v))
		return "new";
	if (v >= 1)
		return "x " + (1 + v).toFixed(v < 9 ? 1 : 0);
	return (v < 0 ? "" : "+") + (100 * v).toFixed(Math.abs(v) < .0995 ? 1 : 0) + " %";
}

/* report/page_data.js */
/* report/page_rows.js */
/* report/page_trends.js */

/* Bootcharts: each a document of its own, so that their scripts do not meet */

const charts = { stages: [], begun: false };

async function addChart(stage) {
	const d = stage.dataset;
	const packed = bytesOf(find("#chart-" + d.chart).textContent, 0).subarray(0, Number(d.bytes));
	const picture = new Blob([await inflate(packed)], { type: "image/svg+xml" });

	stage.frame = make("iframe", { title: "Bootchart, " + d.title, src: URL.createObjectURL(picture) },
			   stage);
	stage.frame.addEventListener("load", () =>
		stage.frame.contentWindow.postMessage({ hasTrends: true }, "*"));
	fitChart(stage);
}

/* A chart in a frame asks for the trend of a task by its name. */
function answerChart(e) {
	const stage = charts.stages.find(s => s.frame && s.frame.contentWindow === e.source);
	const name = stage && e.data && e.data.trendOf;

	if (typeof name === "string")
		showTrendOf(name);
}

/* The chart arranges itself for its width. */
function fitChart(stage) {
	stage.frame.style.width = stage.clientWidth + "px";
	stage.frame.style.height = clamp(innerHeight * .9, CHART_LEAST, Number(stage.dataset.height)) + "px";
}

function fitCharts() {
	charts.stages.forEach(stage => stage.frame && fitChart(stage));
}

function makeCharts() {
	const section = find("#charts"), pair = find("#charts .pair");

	charts.stages = [...document.querySelectorAll("#charts .stage")];
	if (charts.stages.length > 1) {
		const bar = make("div", { "class": "tools" });
		const wide = make("button", { type: "button", "aria-pressed": false }, bar, "full width");

		section.insertBefore(bar, pair);
		wide.addEventListener("click", () => {
			wide.setAttribute("aria-pressed", pair.classList.toggle("wide"));
			fitCharts();
		});
	}
	window.addEventListener("resize", fitCharts);
	window.addEventListener("message", answerChart);
	/* Not before somebody looks there. */
	const watch = new IntersectionObserver(seen => {
		if (charts.begun || !seen.some(e => e.isIntersecting))
			return;
		charts.begun = true;
		watch.disconnect();
		charts.stages.forEach(addChart);
	}, { rootMargin: "400px" });

	watch.observe(pair);
}

async function begin() {
	await readData();
	makeTasks();
	loadHash();
	makeCharts();
	if (!view.rows)
		select();
	if (view.row < 0)
		drawTrend();
}

window.buildbeat = {
	ready: beginPage("#tasks", "The table", begin),
	state: () => ({ q: view.q, metric: data.head.metrics[view.metric].name, show: view.show,
			sort: view.sort, down: view.down, rows: view.rows.length,
			task: view.row < 0 ? null : data.names[view.row] }),
	points: metric => pointsOf(data.head.metrics.findIndex(m => m.name === metric) * data.rows +
				   view.row).map(p => [p.from, p.value]),
};

})();
