/* SPDX-License-Identifier: MIT */
"use strict";
/*
 * The program inside bootchart.svg. It reads the data that pack.h describes, fits the
 * picture to its window and draws the plots again at any zoom. bootchart.h describes the
 * elements of the document. If anything fails here, the static picture remains.
 *
 * For tests and for the curious, document's root element (the <svg> itself) has an
 * object `buildbeat`:
 *	ready			a promise: true when the data is there and drawn, false when
 *				the picture stays static
 *	state()			what is shown: from, until (seconds), q, min (seconds), task,
 *				critical, tasks, matches, hidden, pieces
 *	zoom(from, until)	show these seconds
 *	at(x, y)		the tasks at a place of the window: {task, count, name} or null
 *	redraw()		draw at once, all of it
 */
(function () {

const SVG = "http://www.w3.org/2000/svg", HTML = "http://www.w3.org/1999/xhtml";
const STATES = ["done", "failed", "killed", "unfinished"];
const FAILED = 1, KILLED = 2, UNFINISHED = 3, STATE = 3, HOSTS = 4, SUMMED = 8, CRITICAL = 16,
	IO = 32, GHOST = 64, AT_MOST = 128;
const WAITED = ["", "its target", "the line before it", "the task it runs in",
	"a task that kept its worker busy"];
const COLUMN = 2;		/* pixels of a column of the plots */
const CLOSE = 1, SMALL = 1.5;	/* pixels: pieces that close, one of them that small, join */
const PIECES_MAX = 28000, DENSE = 3000, LABELS_MAX = 400, CHAIN_MAX = 60;
const LABEL_LEAST = 26, LABEL_PAD = 4, SIGN_WIDTH = 12, NAME_CUT_LEAST = 44;
const NAME_MARGIN = 1.3;
const TOOLS_HEIGHT = 40, WIDTH_LEAST = 1280;
const MIN_LEAST_S = .01, MIN_MOST_S = 60;

const root = document.currentScript && document.currentScript.ownerSVGElement ||
	document.getElementById("bb");
const alone = document.documentElement === root;

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

/* render/chart/unpack.js */
/* render/chart/bootchart_data.js */
/* render/chart/bootchart_panels.js */
/* render/chart/bootchart_lanes.js */
/* render/chart/bootchart_view.js */
/* render/chart/bootchart_control.js */

/* Beginning, and what may go wrong */

function guard(f) {
	return function (e) {
		try {
			return f(e);
		} catch (error) {
			giveUp(error);
		}
	};
}

/* Back to the static picture. */
function giveUp(error) {
	console.warn("buildbeat: the picture stays as it is:", error);
	for (const layer of [geometry.time, geometry.lanes].concat((panels || []).map(p => p.layer))) {
		if (layer)
			layer.undo();
	}
	for (const id of ["tools", "tip", "cross"]) {
		if (find("#" + id))
			find("#" + id).remove();
	}
	if (geometry.static_width)
		root.setAttribute("viewBox", "0 0 " + geometry.static_width + " " + geometry.static_height);
}

/* An SVG in a page of others hears no keys of theirs. */
function listen() {
	const on = (target, type, f, options) => target.addEventListener(type, guard(f), options);

	on(root, "wheel", wheel, { passive: false });
	on(root, "pointerdown", pointerDown);
	on(root, "pointermove", pointerMove);
	on(root, "pointerup", pointerUp);
	on(root, "pointercancel", pointerUp);
	on(root, "pointerleave", leave);
	on(root, "dblclick", doubleClick);
	on(alone ? document : root, "keydown", keyDown);
	on(window, "resize", layOut);
	on(window, "hashchange", loadHash);
	on(window, "scroll", placeTools, { passive: true });
}

function sayStatic() {
	beginTools();
	tools.group.setAttribute("transform", "translate(0 0)");
	tools.bar.textContent = "This browser cannot unpack the chart's data " +
		"(it has no DecompressionStream): the picture is static.";
}

async function begin() {
	const data = await readData(find("#data").textContent);

	head = data.head;
	tasks = readTasks(data);
	phases = readPhases(data);
	readGeometry();
	panels.forEach(p => readPanel(p, data.numbers));
	geometry.cross.layer = new Layer(make(SVG, "g", { id: "cross" }, root));
	beginTools();
	makeTools();
	makeTip();
	layOut();
	loadHash();
	listen();
	cancelAnimationFrame(frame.id);
	draw();
	return true;
}

function state() {
	return {
		from: view.from * head.unit_us / 1e6, until: view.until * head.unit_us / 1e6,
		q: view.q, min: view.min_us / 1e6, task: view.task, critical: view.critical,
		tasks: tasks.n, matches: search.match ? search.n : tasks.n, hidden: hidden.n,
		pieces: piece.n,
	};
}

function taskAt(x, y) {
	const p = tasks.n ? pieceAt(toPicture({ clientX: x, clientY: y })) : -1;

	return p < 0 ? null : { task: piece.task[p], count: piece.count[p],
				name: nameOf(piece.task[p]) };
}

if (!root || !find("#data"))
	return;
root.buildbeat = {
	ready: typeof DecompressionStream === "undefined" ?
		Promise.resolve(sayStatic() || false) :
		begin().catch(error => {
			giveUp(error);
			return false;
		}),
	state,
	zoom: (from, until) => show(from * 1e6 / head.unit_us, until * 1e6 / head.unit_us),
	at: taskAt,
	redraw: () => {
		frame.all = true;
		cancelAnimationFrame(frame.id);
		draw();
	},
};

}());
