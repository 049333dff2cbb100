/* SPDX-License-Identifier: MIT */
"use strict";
/*
 * The program of a report: the table of all tasks, of which only the rows in view are in
 * the document, the trends of the chosen one, the bootcharts. What it reads is said in
 * page.h. Whatever goes wrong here leaves the verdict and the events as they are.
 *
 * For tests and for the curious there is window.buildbeat:
 *	ready		a promise: true when the table is there, false when it will not be
 *	state()		what is shown: q, metric, show, sort, down, task, rows
 *	points(metric)	of the chosen task: [night, value] each
 */
(function () {

/* common.js */

const SVG = "http://www.w3.org/2000/svg";
const ROW = 27;			/* pixels of a row, as in page.css */
const SPARE = 6;		/* rows drawn beyond the view */
const SPARK = { width: 128, height: 20 };
const PLOT = { height: 168, left: 66, right: 12, top: 10, bottom: 22 };
const STATES = ["confirmed", "known", "suspect"];
const BETTER = 3, NOTHING = 4;	/* states behind those, in the order of the table */
const SEARCH_MS = 80;

/* Small tools */

function make(name, attributes, parent, text) {
	const e = document.createElement(name);

	for (const key in attributes)
		e.setAttribute(key, attributes[key]);
	if (text !== undefined)
		e.textContent = text;
	if (parent)
		parent.appendChild(e);
	return e;
}

function draw(name, attributes, parent, text) {
	const e = document.createElementNS(SVG, name);

	for (const key in attributes)
		e.setAttribute(key, attributes[key]);
	if (text !== undefined)
		e.textContent = text;
	parent.appendChild(e);
	return e;
}

function find(selector) {
	return document.querySelector(selector);
}

function px(v) {
	return String(Math.round(v * 10) / 10);
}

/* Figures in words, as report/amount.c has them */

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

/* The data */

const data = {};

function planes(bytes, at, n) {
	const bits = new Uint32Array(n);

	for (let i = 0; i < n; i++)
		bits[i] = bytes[at + i] << 24 | bytes[at + n + i] << 16 |
			bytes[at + 2 * n + i] << 8 | bytes[at + 3 * n + i];
	return new Float32Array(bits.buffer);
}

function readNames(head, bytes) {
	const names = new TextDecoder().decode(bytes.subarray(0, head.names)).split("\n");

	names[head.tasks] = "the build";
	names.length = head.tasks + 1;
	return names.map(clean);
}

/* Where the values of each series begin: from 0 the fine ones, below 0 the coarse. */
function placeSeries(n, fine) {
	const at = new Int32Array(n);
	let coarse = 0;

	fine.forEach((series, i) => { at[series] = i + 1; });
	for (let i = 0; i < n; i++)
		at[i] = at[i] ? at[i] - 1 : -1 - coarse++;
	return at;
}

function readColumns(head, bytes) {
	const n = data.rows * head.metrics.length, end = head.names + head.tasks;
	const fine = new Uint32Array(head.fine);
	let at = end + 16 * n;

	data.names = readNames(head, bytes);
	data.lower = data.names.map(name => name.toLowerCase());
	data.kind = bytes.subarray(head.names, end);
	data.newest = planes(bytes, end, n);
	data.usual = planes(bytes, end + 4 * n, n);
	data.low = planes(bytes, end + 8 * n, n);
	data.high = planes(bytes, end + 12 * n, n);
	for (let i = 0; i < head.fine; i++, at += 4)
		fine[i] = bytes[at] | bytes[at + 1] << 8 | bytes[at + 2] << 16 | bytes[at + 3] << 24;
	data.place = placeSeries(n, fine);
	data.fine = bytes.subarray(at, at + head.fine * head.nights.length);
	data.coarse = bytes.subarray(at + head.fine * head.nights.length);
}

function group(list) {
	const of = new Map();

	for (const item of list) {
		const series = item[0] * data.rows + item[1];

		of.has(series) ? of.get(series).push(item) : of.set(series, [item]);
	}
	return of;
}

async function readData() {
	const head = JSON.parse(find("#head").textContent);
	const packed = bytesOf(find("#columns").textContent, 0).subarray(0, head.deflated);

	data.head = head;
	data.rows = head.tasks + 1;
	data.changes = group(head.changes.map(([metric, row, at, first, last, before, after, creep]) =>
		Object.assign([metric, row], { at, first, last, before, after, creep })));
	for (const list of data.changes.values())
		list.sort((a, b) => a.at - b.at);
	data.findings = group(head.findings.map(([metric, row, state, worse, since, before, now]) =>
		Object.assign([metric, row], { state, worse, since, before, now })));
	readColumns(head, await inflate(packed));
	view.metric = view.first = head.findings.length ? head.findings[0][0] : 0;
}

/* Nights [from, until) and their value each: where the series is coarse their median. */
function pointsOf(series) {
	const place = data.place[series], n_nights = data.head.nights.length;
	const low = data.low[series], span = data.high[series] - low, points = [];
	const is_fine = place >= 0, starts = data.head.points;
	const steps = is_fine ? data.head.fine_steps : data.head.coarse_steps;
	const n = is_fine ? n_nights : starts.length, values = is_fine ? data.fine : data.coarse;
	const at = is_fine ? place * n : (-1 - place) * n;

	for (let i = 0; i < n; i++) {
		const step = values[at + i];

		if (step)
			points.push({ from: is_fine ? i : starts[i],
				      until: is_fine ? i + 1 : i + 1 < n ? starts[i + 1] : n_nights,
				      value: low + (step - 1) / steps * span });
	}
	return points;
}

function changesOf(series) {
	return data.changes.get(series) || [];
}

function findingOf(series) {
	return (data.findings.get(series) || [])[0];
}

/* What is shown */

const view = { q: "", metric: 0, first: 0, show: "all", sort: "state", down: true, row: -1,
	       rows: null, match: null, error: "" };
const table = {}, trend = {};

function seriesOf(row) {
	return view.metric * data.rows + row;
}

function unitNow() {
	return data.head.metrics[view.metric].unit;
}

function stateOf(row) {
	const f = findingOf(seriesOf(row));

	return !f ? NOTHING : !f.worse ? BETTER : f.state;
}

/* The night since when the figure is what it is, -1: always. */
function sinceOf(row) {
	const changes = changesOf(seriesOf(row)), f = findingOf(seriesOf(row));

	return Math.max(f ? f.since : -1, changes.length ? changes[changes.length - 1].at : -1);
}

const columns = [
	{ id: "task", title: "task", text: row => data.names[row] },
	{ id: "kind", title: "kind", text: row => data.head.kinds[data.kind[row]] || "" },
	{ id: "newest", title: "newest", number: row => data.newest[seriesOf(row)],
	  words: v => amountText(unitNow(), v) },
	{ id: "usual", title: "usual", number: row => data.usual[seriesOf(row)],
	  words: v => amountText(unitNow(), v) },
	{ id: "change", title: "change", mark: true,
	  number: row => data.newest[seriesOf(row)] / data.usual[seriesOf(row)] - 1,
	  words: shareText },
	{ id: "difference", title: "difference",
	  number: row => data.newest[seriesOf(row)] - data.usual[seriesOf(row)],
	  words: v => differenceText(unitNow(), v) },
	{ id: "trend", title: "trend", spark: true,
	  number: row => data.high[seriesOf(row)] / data.low[seriesOf(row)] },
	{ id: "since", title: "since", number: sinceOf,
	  words: v => v < 0 ? "" : data.head.nights[v][0] },
	{ id: "state", title: "state", number: row => -stateOf(row),
	  words: v => v === -BETTER ? "better" : STATES[-v] || "" },
];

function columnNow() {
	return columns.find(c => c.id === view.sort) || columns[0];
}

/* Searching, sorting */

/* Part of a name; with * or ? all of it; or /a regular expression/. */
function matcher(q) {
	const wanted = q.toLowerCase();

	view.error = "";
	if (q.length > 1 && q[0] === "/" && q[q.length - 1] === "/") {
		try {
			const re = new RegExp(q.slice(1, -1), "i");
			return row => re.test(data.names[row]);
		} catch (e) {
			view.error = "not a regular expression";
			return () => false;
		}
	}
	if (/[*?]/.test(q)) {
		const re = new RegExp("^" + wanted.replace(/[.+^${}()|[\]\\]/g, "\\$&")
			.replace(/\*/g, ".*").replace(/\?/g, ".") + "$");
		return row => re.test(data.lower[row]);
	}
	return row => data.lower[row].includes(wanted);
}

const shows = {
	all: ["all tasks", () => true],
	told: ["changes found by check", row => stateOf(row) !== NOTHING],
	changed: ["all that ever changed", row => sinceOf(row) >= 0],
	worse: ["above their usual value", row => data.newest[seriesOf(row)] > data.usual[seriesOf(row)]],
};

/* What is not known comes last, whichever way; what is alike by the difference, then as
 * the tasks are. */
function order() {
	const c = columnNow(), n = data.rows, sign = view.down ? -1 : 1;
	const key = c.number ? Float64Array.from({ length: n }, (_, row) => c.number(row)) : null;
	const second = Float64Array.from({ length: n }, (_, row) =>
		Math.abs(data.newest[seriesOf(row)] - data.usual[seriesOf(row)]) || 0);
	const text = key ? null : Array.from({ length: n }, (_, row) => c.text(row));

	return (a, b) => {
		if (key) {
			const x = key[a], y = key[b];

			if (x !== y && !(isNaN(x) && isNaN(y)))
				return isNaN(x) ? 1 : isNaN(y) ? -1 : (x - y) * sign;
		} else if (text[a] !== text[b]) {
			return (text[a] < text[b] ? -1 : 1) * sign;
		}
		return second[b] - second[a] || a - b;
	};
}

function select() {
	const fits = matcher(view.q), shown = shows[view.show][1], rows = [];

	for (let row = 0; row < data.rows; row++) {
		if (shown(row) && fits(row))
			rows.push(row);
	}
	view.rows = rows.sort(order());
	table.count.textContent = view.error || countText(rows.length) + " of " +
		countText(data.rows) + " rows";
	table.search.setAttribute("aria-invalid", view.error !== "");
	table.box.setAttribute("aria-rowcount", rows.length + 1);
	table.space.style.height = rows.length * ROW + "px";
	for (const c of columns)
		c.head.setAttribute("aria-sort", c.id !== view.sort ? "none" :
				    view.down ? "descending" : "ascending");
	for (const b of table.metrics)
		b.setAttribute("aria-pressed", Number(b.dataset.metric) === view.metric);
	table.show.value = view.show;
	if (table.search.value !== view.q)
		table.search.value = view.q;
	drawRows(true);
}

/* Rows */

function addSpark(cell, series) {
	const svg = draw("svg", { width: SPARK.width, height: SPARK.height, "aria-hidden": "true" },
			 cell);
	const points = pointsOf(series), n = data.head.nights.length;
	const low = data.low[series], span = data.high[series] - low || 1;
	const x = night => 1 + night / n * (SPARK.width - 2);
	const y = v => SPARK.height - 2 - (v - low) / span * (SPARK.height - 4);
	let d = "", last = -1;

	for (const p of points) {
		d += (p.from === last ? "L" : "M") + px(x((p.from + p.until) / 2)) + " " + px(y(p.value));
		last = p.until;
	}
	for (const c of changesOf(series))
		draw("path", { "class": c.after > c.before ? "mark up" : "mark down",
			       d: "M" + px(x(c.at)) + " 0V" + SPARK.height }, svg);
	draw("path", { "class": "spark", d }, svg);
}

function addCell(line, c, row) {
	const cell = make("span", { role: "gridcell", "class": "cell " + c.id }, line);

	if (c.spark) {
		addSpark(cell, seriesOf(row));
	} else if (c.text) {
		cell.textContent = cell.title = c.text(row);
	} else {
		const v = c.number(row);

		cell.textContent = c.words(v);
		if (c.mark && sinceOf(row) >= 0)
			cell.classList.add(v > 0 ? "worse" : v < 0 ? "better" : "same");
	}
}

function makeRow(at) {
	const row = view.rows[at];
	const line = make("div", { role: "row", "class": "line", id: "row-" + row,
		"aria-rowindex": at + 2, "aria-selected": row === view.row, "data-at": at });

	line.style.top = at * ROW + "px";
	for (const c of columns)
		addCell(line, c, row);
	return line;
}

function drawRows(anew) {
	const first = Math.max(0, Math.floor(table.body.scrollTop / ROW) - SPARE);
	const last = Math.min(view.rows.length,
			      Math.ceil((table.body.scrollTop + table.body.clientHeight) / ROW) + SPARE);

	if (!anew && first === table.first && last === table.last)
		return;
	table.first = first;
	table.last = last;
	table.space.replaceChildren(...Array.from({ length: last - first }, (_, i) =>
		makeRow(first + i)));
	if (view.row >= 0)
		table.body.setAttribute("aria-activedescendant", "row-" + view.row);
}

function reveal(at) {
	const top = at * ROW, room = table.body.clientHeight;

	if (top < table.body.scrollTop)
		table.body.scrollTop = top;
	else if (top + ROW > table.body.scrollTop + room)
		table.body.scrollTop = top + ROW - room;
}

function choose(row) {
	view.row = row;
	drawRows(true);
	drawTrend();
	saveHash();
}

function step(by) {
	const at = clamp(view.rows.indexOf(view.row) + by, 0, view.rows.length - 1);

	if (!view.rows.length)
		return;
	reveal(at);
	choose(view.rows[at]);
}

/* Trends */

/* A few round values between low and high. */
function ticks(unit, low, high) {
	const base = unit === "us" ? [1, 1e3, 1e6, 6e7, 3.6e9] :
		unit === "count" ? [1] : [0, 1, 2, 3, 4].map(i => Math.pow(1024, unit === "kb" ? i - 1 : i));
	const scale = base.filter(b => b <= high / 2).pop() || base[0];
	const rough = (high - low) / 4 / scale, ten = Math.pow(10, Math.floor(Math.log10(rough)));
	const step = [1, 2, 5, 10].map(f => f * ten).find(s => s >= rough) * scale, list = [];

	for (let v = Math.ceil(low / step) * step; v <= high && list.length < 8; v += step)
		list.push(v);
	return list;
}

/* The levels: between changes, as the changes have them; else what is usual. */
function levels(series) {
	const n = data.head.nights.length, changes = changesOf(series), f = findingOf(series);
	const list = [];
	let from = 0;

	for (const c of changes) {
		list.push([from, c.at, c.before]);
		from = c.at;
	}
	const last = changes[changes.length - 1];

	if (f && (!last || f.since > last.at)) {
		list.push([from, f.since, f.before], [f.since, n, f.now]);
	} else {
		list.push([from, n, last ? last.after : data.usual[series]]);
	}
	return list.filter(l => l[2] >= 0 && l[1] > l[0]);
}

function plotScale(series, width) {
	const n = data.head.nights.length;
	let low = data.low[series], high = data.high[series];

	for (const [, , v] of levels(series)) {
		low = Math.min(low, v);
		high = Math.max(high, v);
	}
	const pad = (high - low) * .08 || high * .05 || 1;

	low = Math.max(0, low - pad);
	high += pad;
	return { low, high,
		 x: night => PLOT.left + night / n * (width - PLOT.left - PLOT.right),
		 y: v => PLOT.top + (high - v) / (high - low) * (PLOT.height - PLOT.top - PLOT.bottom) };
}

function addDates(svg, s, width) {
	const nights = data.head.nights, months = nights.length > 100;
	let last = -Infinity, said = "";

	for (let i = 0; i < nights.length; i++) {
		const word = months ? nights[i][0].slice(0, 7) : nights[i][0], x = s.x(i + .5);

		if (word === said)
			continue;
		said = word;
		if (x - last < 84 || x > width - 34 || x < PLOT.left + 30 || word.length < 7)
			continue;
		last = x;
		draw("path", { "class": "grid", d: "M" + px(x) + " " + PLOT.top + "V" +
			(PLOT.height - PLOT.bottom) }, svg);
		draw("text", { x: px(x), y: PLOT.height - 6, "class": "tick middle" }, svg, word);
	}
}

function addAxis(svg, s, unit, width) {
	for (const v of ticks(unit, s.low, s.high)) {
		draw("path", { "class": "grid", d: "M" + PLOT.left + " " + px(s.y(v)) + "H" +
			(width - PLOT.right) }, svg);
		draw("text", { x: PLOT.left - 6, y: px(s.y(v) + 4), "class": "tick end" }, svg,
		     amountText(unit, v));
	}
}

function addChanges(svg, s, series) {
	const bottom = PLOT.height - PLOT.bottom;

	for (const c of changesOf(series)) {
		const way = c.after > c.before ? "up" : "down", x = s.x(c.at);

		draw("rect", { "class": "between " + way, x: px(s.x(c.first)), y: PLOT.top,
			width: px(Math.max(2, s.x(c.last) - s.x(c.first))), height: bottom - PLOT.top }, svg);
		draw("path", { "class": "mark " + way, d: "M" + px(x) + " " + PLOT.top + "V" + bottom }, svg);
		draw("text", { "class": "way " + way, x: px(x), y: PLOT.top + 2 }, svg,
		     way === "up" ? "\u25b2" : "\u25bc");
	}
}

function addPoints(svg, s, points) {
	let d = "";

	for (const p of points)
		d += "M" + px(s.x((p.from + p.until) / 2)) + " " + px(s.y(p.value)) + "h0";
	draw("path", { "class": "dots", d }, svg);
}

function addLevels(svg, s, series) {
	let d = "";

	for (const [from, until, v] of levels(series))
		d += "M" + px(s.x(from)) + " " + px(s.y(v)) + "H" + px(s.x(until));
	draw("path", { "class": "level", d }, svg);
}

function pointWords(unit, p) {
	const nights = data.head.nights, last = nights[p.until - 1], n = p.until - p.from;

	return (n > 1 ? nights[p.from][0] + " to " + last[0] + ", median: " : last[0] + ": ") +
		amountText(unit, p.value) + (last[2] ? ", revision " + last[2] : "") +
		", build " + last[1];
}

/* What the pointer or the arrow keys are at. */
function follow(plot, at) {
	const p = plot.points[at];

	plot.at = at;
	if (!p) {
		plot.cursor.setAttribute("d", "");
		plot.words.textContent = plot.summary;
		return;
	}
	const x = px(plot.scale.x((p.from + p.until) / 2));

	plot.cursor.setAttribute("d", "M" + x + " " + PLOT.top + "V" + (PLOT.height - PLOT.bottom) +
		"M" + x + " " + px(plot.scale.y(p.value)) + "h0");
	plot.words.textContent = pointWords(plot.unit, p);
}

function nearest(plot, x) {
	let best = -1, away = Infinity;

	plot.points.forEach((p, i) => {
		const d = Math.abs(plot.scale.x((p.from + p.until) / 2) - x);

		if (d < away) {
			away = d;
			best = i;
		}
	});
	return best;
}

function listen(svg, plot) {
	svg.addEventListener("pointermove", e => {
		const box = svg.getBoundingClientRect();

		follow(plot, nearest(plot, (e.clientX - box.left) * plot.width / box.width));
	});
	svg.addEventListener("pointerleave", () => follow(plot, -1));
	svg.addEventListener("blur", () => follow(plot, -1));
	svg.addEventListener("keydown", e => {
		const by = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[e.key];

		if (!by || !plot.points.length)
			return;
		e.preventDefault();
		follow(plot, clamp((plot.at < 0 ? plot.points.length : plot.at) + by, 0,
				   plot.points.length - 1));
	});
}

function summaryOf(series, unit) {
	const changes = changesOf(series), newest = data.newest[series], usual = data.usual[series];
	const told = changes.slice(-2).map(c => data.head.nights[c.at][0] + ": " +
		amountText(unit, c.before) + " to " + amountText(unit, c.after) +
		(c.creep ? ", slowly" : ""));

	return "newest " + amountText(unit, newest) + ", usual " + amountText(unit, usual) +
		(isNaN(newest / usual) ? "" : ", " + shareText(newest / usual - 1)) +
		(changes.length > 2 ? "; " + changes.length + " changes, the last " : told.length ? "; " : "") +
		told.join("; ");
}

function addPlot(parent, metric, width) {
	const { title, unit } = data.head.metrics[metric], series = metric * data.rows + view.row;
	const points = pointsOf(series);
	const figure = make("figure", { "class": "plot" }, parent);
	const caption = make("figcaption", {}, figure);

	make("b", {}, caption, title);
	if (!points.length) {
		make("p", { "class": "faint" }, figure, "not recorded in any build");
		return;
	}
	const plot = { unit, points, width, at: -1, scale: plotScale(series, width),
		       summary: summaryOf(series, unit) };
	const svg = draw("svg", { viewBox: "0 0 " + width + " " + PLOT.height, width: "100%",
		height: PLOT.height, tabindex: 0, role: "img", preserveAspectRatio: "none",
		"aria-label": title + " of " + data.names[view.row] + " by build: " + plot.summary }, figure);

	addAxis(svg, plot.scale, unit, width);
	addDates(svg, plot.scale, width);
	addChanges(svg, plot.scale, series);
	addPoints(svg, plot.scale, points);
	addLevels(svg, plot.scale, series);
	plot.cursor = draw("path", { "class": "cursor", d: "" }, svg);
	plot.words = make("p", { "class": "words", "aria-live": "polite" }, figure, plot.summary);
	listen(svg, plot);
}

function drawTrend() {
	const box = trend.box;

	box.replaceChildren();
	box.parentNode.classList.toggle("chosen", view.row >= 0);
	if (view.row < 0) {
		make("p", { "class": "faint" }, box, "Choose a task, by click or with the arrow keys, " +
			"to see its values in all builds.");
		return;
	}
	make("h3", { tabindex: -1 }, box, data.names[view.row]);
	const width = Math.max(320, box.clientWidth);

	data.head.metrics.forEach((_, metric) => addPlot(box, metric, width));
	trend.width = box.clientWidth;
}

/* State in the address */

const hash = { text: "" };

function hashText() {
	const p = new URLSearchParams();

	if (view.q)
		p.set("q", view.q);
	if (view.metric !== view.first)
		p.set("metric", data.head.metrics[view.metric].name);
	if (view.show !== "all")
		p.set("show", view.show);
	if (view.sort !== "state" || !view.down)
		p.set("sort", (view.down ? "-" : "") + view.sort);
	if (view.row >= 0)
		p.set("task", data.names[view.row]);
	return p.toString();
}

function saveHash() {
	const text = hashText();

	if (text === hash.text)
		return;
	hash.text = text;
	history.replaceState(null, "", text ? "#" + text : location.pathname + location.search);
}

function loadHash() {
	const text = location.hash.slice(1), p = new URLSearchParams(text);

	if (text && !text.includes("="))
		return;		/* the name of a part of the page */
	hash.text = text;
	const metric = data.head.metrics.findIndex(m => m.name === p.get("metric"));
	const sort = p.get("sort") || "-state", id = sort.replace(/^-/, "");

	view.q = p.get("q") || "";
	view.metric = metric < 0 ? view.first : metric;
	view.show = p.get("show") in shows ? p.get("show") : "all";
	view.sort = columns.some(c => c.id === id) ? id : "state";
	view.down = sort[0] === "-";
	view.row = p.has("task") ? data.names.indexOf(p.get("task")) :
		data.head.findings.length ? data.head.findings[0][1] : -1;
	select();
	const at = view.rows.indexOf(view.row);

	if (at >= 0)
		reveal(at);
	drawTrend();
}

/* Making the table */

function sortBy(c) {
	view.down = view.sort === c.id ? !view.down : !c.text;
	view.sort = c.id;
	table.body.scrollTop = 0;
	select();
	saveHash();
}

function setMetric(metric) {
	view.metric = metric;
	select();
	saveHash();
}

function makeTools(parent) {
	const bar = make("div", { "class": "tools", role: "toolbar", "aria-label": "Tasks" }, parent);
	const metrics = make("span", { "class": "metrics", role: "group", "aria-label": "Figure" }, bar);
	let timer = 0;

	table.metrics = data.head.metrics.map((m, i) => {
		const b = make("button", { type: "button", "data-metric": i }, metrics, m.title);

		b.addEventListener("click", () => setMetric(i));
		return b;
	});
	table.search = make("input", { type: "search", id: "search", size: 28,
		placeholder: "part of a name, do_c*, /pattern/", "aria-label": "Search tasks (/)" }, bar);
	table.search.addEventListener("input", () => {
		clearTimeout(timer);
		timer = setTimeout(() => {
			view.q = table.search.value;
			table.body.scrollTop = 0;
			select();
			saveHash();
		}, SEARCH_MS);
	});
	table.show = make("select", { id: "show", "aria-label": "Rows" }, bar);
	for (const id in shows)
		make("option", { value: id }, table.show, shows[id][0]);
	table.show.addEventListener("change", () => {
		view.show = table.show.value;
		table.body.scrollTop = 0;
		select();
		saveHash();
	});
	table.count = make("span", { id: "count", role: "status" }, bar);
}

function makeHead(box) {
	const line = make("div", { role: "row", "class": "line head", "aria-rowindex": 1 }, box);

	for (const c of columns) {
		c.head = make("span", { role: "columnheader", "class": "cell " + c.id }, line);
		make("button", { type: "button" }, c.head, c.title)
			.addEventListener("click", () => sortBy(c));
	}
}

function tableKey(e) {
	const page = Math.max(1, Math.floor(table.body.clientHeight / ROW) - 1);
	const by = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page,
		     Home: -Infinity, End: Infinity }[e.key];

	if (e.ctrlKey || e.altKey || e.metaKey)
		return;
	if (by) {
		e.preventDefault();
		step(by);
	} else if (e.key === "Enter" && view.row >= 0) {
		trend.box.querySelector("h3").focus();
	}
}

function makeTable(parent) {
	const box = table.box = make("div", { "class": "grid", role: "grid",
		"aria-colcount": columns.length, "aria-label": "Tasks" }, parent);

	makeHead(box);
	table.body = make("div", { "class": "body", tabindex: 0, role: "rowgroup" }, box);
	table.space = make("div", { "class": "space", role: "presentation" }, table.body);
	table.body.addEventListener("scroll", () => drawRows(false), { passive: true });
	table.body.addEventListener("keydown", tableKey);
	table.space.addEventListener("click", e => {
		const line = e.target.closest(".line");

		if (line)
			choose(view.rows[Number(line.dataset.at)]);
	});
}

/* A task's name in the verdict and the events leads here. */
function follows(e) {
	const a = e.target.closest("a.task");
	const row = a ? Number(a.dataset.row) : -1;

	if (row < 0 || e.ctrlKey || e.metaKey || e.shiftKey)
		return;
	e.preventDefault();
	view.metric = Math.max(0, data.head.metrics.findIndex(m => m.name === a.dataset.metric));
	view.q = "";
	view.show = "all";
	select();
	reveal(view.rows.indexOf(row));
	choose(row);
	find("#tasks").scrollIntoView();
	table.body.focus({ preventScroll: true });
}

function pageKey(e) {
	if (e.key !== "/" || e.ctrlKey || e.metaKey || e.altKey ||
	    /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName))
		return;
	e.preventDefault();
	table.search.focus();
}

function makeTasks() {
	const section = find("#tasks");

	makeTools(section);
	const panes = make("div", { "class": "panes" }, section);

	makeTable(panes);
	trend.box = make("div", { id: "trend", role: "region", "aria-label": "Trends" }, panes);
	document.addEventListener("click", follows);
	document.addEventListener("keydown", pageKey);
	window.addEventListener("hashchange", loadHash);
	window.addEventListener("resize", () => {
		drawRows(false);
		if (trend.box.clientWidth !== trend.width)
			drawTrend();
	});
}

/* Bootcharts: each a document of its own, so that their scripts do not meet */

const charts = { stages: [], begun: false };

async function addChart(stage) {
	const d = stage.dataset;
	const packed = bytesOf(find("#chart-" + d.chart).textContent, 0).subarray(0, Number(d.bytes));
	const picture = new Blob([await inflate(packed)], { type: "image/svg+xml" });

	stage.frame = make("iframe", { title: "Bootchart, " + d.title, src: URL.createObjectURL(picture) },
			   stage);
	fitChart(stage);
}

/* As wide as it was made for, made smaller to what there is. */
function fitChart(stage) {
	const width = Math.max(Number(stage.dataset.width), stage.clientWidth);
	const height = Number(stage.dataset.height), scale = stage.clientWidth / width;

	stage.frame.style.width = width + "px";
	stage.frame.style.height = height + "px";
	stage.frame.style.transform = "scale(" + scale + ")";
	stage.style.height = Math.ceil(height * scale) + "px";
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
	try {
		await readData();
		makeTasks();
		loadHash();
		makeCharts();
		if (!view.rows)
			select();
		if (view.row < 0)
			drawTrend();
		return true;
	} catch (e) {
		console.error(e);
		make("p", {}, find("#tasks"), "The table cannot be shown: " + e);
		return false;
	}
}

window.buildbeat = {
	ready: begin(),
	state: () => ({ q: view.q, metric: data.head.metrics[view.metric].name, show: view.show,
			sort: view.sort, down: view.down, rows: view.rows.length,
			task: view.row < 0 ? null : data.names[view.row] }),
	points: metric => pointsOf(data.head.metrics.findIndex(m => m.name === metric) * data.rows +
				   view.row).map(p => [p.from, p.value]),
};

})();
