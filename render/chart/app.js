/* SPDX-License-Identifier: MIT */
"use strict";
/*
 * The program inside bootchart.svg, "the app". It reads the data that pack_chart.h describes, puts an
 * HTML page in the place of the static picture, and keeps that picture in the page for printing.
 * If anything fails here, the static picture comes back.
 *
 * The elements of the page, from the top to the bottom:
 *
 *	div#bb-app
 *	 header#bb-head			h1, dl.facts, ol.verdict: a button a sentence
 *	 section#bb-top			stays at the top of the window:
 *	  div#bb-tools[role=toolbar]	search, longer than, zoom, colour
 *	  div.row#bb-map		the whole build, small, with a brush
 *	  div.row#bb-axis		the time axis of everything below, with the crosshair's time
 *	 main#bb-main
 *	  div#bb-chart, in div#bb-left	the plots, one above the other, all as wide
 *	   section#bb-waits		div.row#bb-path: what the end of the build waited for;
 *					div.row#bb-dependency: the longest chain of dependencies
 *	   div.row#bb-lanes		.gutter with a label a row; svg.plot with the bars
 *	   section#bb-compare		with --compare: the other build's lanes, what differs most
 *	   section.panel#bb-p-WORD	button.fold, .legend, .now; div.row with the plot
 *	   div#bb-cross			the crosshair's line
 *	   section#bb-icicle		where the time went, by directory, target and program
 *	   section#bb-range		what happened in a selected range of time
 *	   section#bb-table		all tasks
 *	  aside#bb-detail		the chosen task; beside all that or, in a narrow window, below
 *	 div#bb-status			one line about what is below the pointer
 *	 svg#bb				the static picture: printed, not shown
 *
 * A module is an entry of `parts`: an object with those of these functions that it needs.
 *	make()		once: make elements, add listeners
 *	fill()		the data is new, after make() and whenever it was replaced: what elements
 *			show of it beside the drawings
 *	layOut()	the window's size changed; view.width is the plots' new width
 *	draw()		the view changed: times, colours, search ...
 *	over()		the pointer, the hovered or the chosen task changed
 *	chosen()	view.task changed
 *	ranged()	view.range changed
 *	searched()	search.match or view.min_us changed
 *
 * For tests and for the curious, svg#bb has an object `buildbeat`:
 *	ready			a promise: true when the data is there and drawn, false when
 *				the picture stays static
 *	state()			what is shown: from, until (seconds), q, min (seconds), task,
 *				range, colour, only, sort, tasks,
 *				matches, hidden, pieces
 *	zoom(from, until)	show these seconds
 *	choose(task)		choose a task, -1: none
 *	select(from, until)	select a range of seconds
 *	at(x, y)		the tasks at a place of the window: {task, count, name} or null
 *	redraw()		draw at once, all of it
 *	update(text)		replace the data by others, as in pack_chart.h: a promise
 *	hear(o), setClock(us), stopClock(), say(text)	of a build that runs: app_live.js
 */
(function () {

const SVG = "http://www.w3.org/2000/svg", HTML = "http://www.w3.org/1999/xhtml";
const STATES = ["done", "failed", "killed", "unfinished"];
const FAILED = 1, KILLED = 2, UNFINISHED = 3, STATE = 3, HOSTS = 4, SUMMED = 8, CRITICAL = 16,
	IO = 32, GHOST = 64, AT_MOST = 128, END_AT_MOST = 256, AT_LEAST = 512;
const COLOURS = 8, LINK_WORKER = 2, WAIT_WORKER = 4, WAIT_UNKNOWN = 5, WAIT_SHELL = 6, WAIT_POOL = 7,
	WAIT_LOAD = 8, WAIT_ORDER = 9;
const COLUMN = 2;		/* pixels of a column of the plots */
const CLOSE = 1, SMALL = 1.5;	/* pixels: pieces that close, one of them that small, join */
const PIECES_MAX = 28000, DENSE = 3000, LABELS_MAX = 1500, CHAIN_MAX = 60;
const LABEL_LEAST = 30;		/* pixels: bars that are as wide have a name */
const MIN_LEAST_S = .01, MIN_MOST_S = 60;

let root = document.currentScript && document.currentScript.ownerSVGElement ||
	document.getElementById("bb");

/* render/chart/common.js */

/* Small tools */

function find(selector, within) {
	return (within || root).querySelector(selector);
}

function make(namespace, name, attributes, parent) {
	const e = document.createElementNS(namespace, name);

	for (const key in attributes)
		e.setAttribute(key, attributes[key]);
	if (parent)
		parent.appendChild(e);
	return e;
}

/* Tenths of a pixel as text: there are few different ones, and making them is dear. */
const tenths = [];

function px(v) {
	const i = v > 0 ? v * 10 + .5 | 0 : 0;

	return tenths[i] || (tenths[i] = String(i / 10));
}

/* The first index of a rising list at which it is above v. */
function above(list, v, low, high) {
	while (low < high) {
		const middle = low + high >> 1;

		if (list[middle] > v)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

function valueText(unit, v) {
	switch (unit) {
	case "share": return percentText(v / 1e4);
	case "bytes": return bytesText(v);
	case "bytes/s": return bytesText(v) + "/s";
	case "time": return timeText(v);
	default: return v >= 995 || v % 100 < .5 ? (v / 100).toFixed(0) : (v / 100).toFixed(1);
	}
}

/* "12.5 s", "1:02:03.4": a moment, to the resolution of the view. */
function momentText(us, fineness_us) {
	const digits = clamp(Math.ceil(-Math.log10(fineness_us / 1e6)), 0, 6);
	const s = us / 1e6, rest = (s % 60).toFixed(digits);

	if (s < 60)
		return s.toFixed(digits) + " s";
	return (s < 3600 ? "" : Math.floor(s / 3600) + ":") +
		(s < 3600 ? Math.floor(s / 60) : two(Math.floor(s / 60 % 60))) + ":" +
		(rest.indexOf(".") === 1 || rest.length === 1 ? "0" : "") + rest;
}

/* What is shown; each module below adds its part. */

let head, tasks, phases, panels;

const parts = [];
const view = {
	from: 0, until: 1,	/* units of time */
	width: 0,		/* of the plots, in pixels */
	q: "", min_us: 0,
	task: -1,		/* the chosen one */
	hover: -1,		/* the one below the pointer */
	cross: -1,		/* x of the pointer in the plots, or -1 */
	range: null,		/* {from, until}: the selected range */
	selects: false,		/* the next drag selects one */
	path: true,		/* the lane of the path is shown */
	colour: "kind",		/* what the colours mean */
	sort: "wall", down: true,	/* of the table: a column, the largest first */
	only: -1,		/* the only colour that is not dimmed */
};

/* render/chart/table.js */
/* render/chart/unpack.js */
/* render/chart/app_data.js */
/* render/chart/app_view.js */
/* render/chart/app_page.js */
/* render/chart/app_search.js */
/* render/chart/app_names.js */
/* render/chart/app_pieces.js */
/* render/chart/app_path.js */
/* render/chart/app_lanes.js */
/* render/chart/app_colour.js */
/* render/chart/app_compare.js */
/* render/chart/app_panels.js */
/* render/chart/app_axis.js */
/* render/chart/app_flame.js */
/* render/chart/app_range.js */
/* render/chart/app_table.js */
/* render/chart/app_detail.js */
/* render/chart/app_tree.js */
/* render/chart/app_icicle.js */
/* render/chart/app_input.js */
/* render/chart/app_update.js */
/* render/chart/app_live.js */

/* Beginning, and what may go wrong */

function guard(f) {
	return function (...e) {
		try {
			return page.gone ? undefined : f(...e);
		} catch (error) {
			giveUp(error);
		}
	};
}

/* Back to the static picture. */
function giveUp(error) {
	if (page.gone)
		return;
	page.gone = true;
	console.warn("buildbeat: the picture stays as it is:", error);
	removePage();
}

function all(name) {
	for (const p of parts) {
		if (p[name])
			p[name]();
	}
}

function take(data) {
	head = data.head;
	tasks = readTasks(data);
	readTheirs(data);
	phases = readPhases(data);
	panels = head.panels;
	panels.forEach(p => readPanel(p, data.numbers));
}

async function begin(text) {
	take(await readData(text));
	if (document.readyState === "loading")
		await new Promise(f => document.addEventListener("DOMContentLoaded", f));
	makePage();
	all("make");
	all("fill");
	layOut();
	loadHash();
	drawNow();
	return true;
}

function seconds(t) {
	return t * head.unit_us / 1e6;
}

function units(s) {
	return s * 1e6 / head.unit_us;
}

function state() {
	return {
		from: seconds(view.from), until: seconds(view.until),
		q: view.q, min: view.min_us / 1e6, task: view.task, path: view.path,
		range: view.range && [seconds(view.range.from), seconds(view.range.until)],
		colour: view.colour, only: view.only, sort: (view.down ? "-" : "") + view.sort, tasks: tasks.n, matches: search.match ? search.n : tasks.n,
		hidden: hidden.n, pieces: piece.n,
	};
}

function taskAt(x, y) {
	const p = pieceAt(x, y);

	return p < 0 ? null : { task: piece.task[p], count: piece.count[p],
				name: nameOf(piece.task[p]) };
}

/* In a page of buildbeat-serve: the chart is made in the place of an element. See app_live.js. */
function serve(place, text, links) {
	root = place;
	live.links = links;
	return openChart(text);
}

function openChart(text) {
	root.buildbeat = {
		ready: typeof DecompressionStream === "undefined" ? Promise.resolve(false) :
			begin(text).catch(error => {
				giveUp(error);
				return false;
			}),
		state,
		zoom: (from, until) => show(units(from), units(until)),
		choose,
		select: (from, until) => selectRange(units(from), units(until)),
		at: taskAt,
		redraw: drawNow,
		update,
		hear,
		setClock,
		stopClock,
		say,
	};
	return root.buildbeat;
}

if (root && find("#data"))
	openChart(find("#data").textContent);
else
	window.bootchart = { serve };

}());
