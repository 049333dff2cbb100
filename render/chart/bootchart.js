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

/* common.js */

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

/* Reading the data: see pack.h */

function readLeb(r) {
	let v = 0, shift = 1, b;

	do {
		b = r.bytes[r.at++];
		v += (b & 127) * shift;
		shift *= 128;
	} while (b > 127);
	return v;
}

/* Numbers of a block, as they were coded. */
function readBlock(r, out, from, until) {
	const least = readLeb(r), width = r.bytes[r.at++], unit = Math.pow(2, width);
	let bits = 0, held = 0;

	for (let i = from; i < until; i++) {
		if (width > 24) {	/* more than fits in the bits of a number of 32 */
			for (; held < width; held += 8)
				bits += r.bytes[r.at++] * Math.pow(2, held);
			out[i] = least + bits % unit;
			bits = Math.floor(bits / unit);
		} else {
			for (; held < width; held += 8)
				bits |= r.bytes[r.at++] << held;
			out[i] = least + (bits & unit - 1);
			bits >>>= width;
		}
		held -= width;
	}
}

function readColumn(r, type, n) {
	const coded = new Uint32Array(n), out = new Int32Array(coded.buffer);
	let sum = 0;

	for (let i = 0; i < n; i += 64)
		readBlock(r, coded, i, Math.min(i + 64, n));
	if (type === "u")
		return out;
	for (let i = 0; i < n; i++) {
		const v = coded[i] >>> 1 ^ -(coded[i] & 1);

		sum = type === "d" ? sum + v | 0 : v;
		out[i] = sum;
	}
	return out;
}

/* {numbers: {name: Int32Array}, texts: {name: [text]}, head: the JSON} */
async function readData(text) {
	const end = text.indexOf("\n"), head = JSON.parse(text.slice(0, end));
	const bytes = bytesOf(text, end + 1), r = { bytes, at: 0 };
	const unpacked = inflate(bytes.subarray(head.packed[0], head.packed[0] + head.packed[1]));
	const data = { head, numbers: {}, texts: {} };
	let at = 0;

	for (const [name, type, n] of head.numbers)
		data.numbers[name] = readColumn(r, type, n);
	const plain = await unpacked;
	for (const [name, n] of head.texts) {
		data.texts[name] = new TextDecoder().decode(plain.subarray(at, at + n)).split("\n");
		data.texts[name].pop();
		at += n;
	}
	return data;
}

/* Tasks */

function whole(column, n) {
	return column && column.length === n ? column : new Int32Array(n);
}

/* Indices of first appearances, coded as 0, others as 1 + the index. */
function readNames(coded) {
	const index = new Int32Array(coded.length);

	for (let i = 0, n = 0; i < index.length; i++)
		index[i] = coded[i] ? coded[i] - 1 : n++;
	return index;
}

/* Values that are stored as a change from the previous task in the lane. */
function readAlongLanes(t, c) {
	const n_lanes = t.lanes.y.length, last = new Int32Array(n_lanes).fill(-1);
	const place = new Int32Array(n_lanes).fill(-1), parent = new Int32Array(n_lanes).fill(-1);
	let before = 0;

	for (let i = 0; i < t.n; i++) {
		const lane = t.lane[i], how = c.wait[i] >> 3;

		t.start[i] = c.start[i] + (last[lane] < 0 ? 0 : t.end[last[lane]]);
		t.end[i] = t.start[i] + c.wall[i];
		if (c.place[i])
			place[lane] = c.place[i] - 1;
		if (c.parent[i])
			parent[lane] = c.parent[i] - 2;
		t.place[i] = place[lane];
		t.parent[i] = parent[lane];
		t.why[i] = c.wait[i] & 7;
		t.before[i] = !how ? -1 : how === 1 ? parent[lane] : how === 2 ? last[lane] :
			i - c.before[before++];
		last[lane] = i;
	}
}

/* Statuses, the other build's times, commands: of some tasks only. */
function readOfSome(t, data) {
	const c = data.numbers;
	let status = 0, ghost = 0;

	for (let i = 0; i < t.n; i++) {
		const state = t.marks[i] & STATE;

		if (state === FAILED || state === KILLED)
			t.status.set(i, c.status.length ? c.status[status++] : 0);
		if (t.marks[i] & GHOST) {
			const start = t.start[i] + (c.ghost_start.length ? c.ghost_start[ghost] : 0);

			t.ghosts.set(i, [start, start + t.end[i] - t.start[i] +
				(c.ghost_wall.length ? c.ghost_wall[ghost] : 0)]);
			ghost++;
		}
	}
	data.texts.commands.forEach((text, i) => t.commands.set(c.command_task[i] || 0, text));
	for (let i = 0, at = 0; i < c.spark_length.length; at += c.spark_length[i++])
		t.sparks.set(c.spark_task[i] || 0, c.spark.subarray(at, at + c.spark_length[i]));
}

/* Tasks of each lane by their start, and how far any up to one of them reaches. */
function indexLanes(t) {
	const n_lanes = t.lanes.y.length, first = new Int32Array(n_lanes + 1);
	const tasks = new Int32Array(t.n), reach = new Int32Array(t.n);

	for (let i = 0; i < t.n; i++)
		first[t.lane[i] + 1]++;
	for (let l = 0; l < n_lanes; l++)
		first[l + 1] += first[l];
	const at = first.slice();
	for (let i = 0; i < t.n; i++)
		tasks[at[t.lane[i]]++] = i;
	for (let l = 0; l < n_lanes; l++) {
		for (let j = first[l], most = 0; j < first[l + 1]; j++) {
			most = Math.max(most, t.end[tasks[j]]);
			reach[j] = most;
		}
	}
	Object.assign(t.lanes, { first, tasks, reach });
}

function readLanes(head) {
	const lanes = { y: [], height: [], row: [] };

	head.rows.forEach((row, i) => {
		for (let l = 0; l < row.lanes.length; l += 2) {
			lanes.y.push(row.lanes[l]);
			lanes.height.push(row.lanes[l + 1]);
			lanes.row.push(i);
		}
	});
	return lanes;
}

function readTasks(data) {
	const n = data.head.tasks, c = {}, t = { n, lanes: readLanes(data.head) };

	for (const name in data.numbers)
		c[name] = name.indexOf(".") < 0 ? whole(data.numbers[name], n) : null;
	c.before = data.numbers.before;
	for (const name of ["lane", "kind", "marks", "cpu", "system", "memory", "read", "written",
			    "queued"])
		t[name] = c[name];
	for (const name of ["start", "end", "place", "parent", "before", "why"])
		t[name] = new Int32Array(n);
	t.name = readNames(c.name);
	t.names = data.texts.names;
	t.places = data.texts.places;
	t.kinds = data.head.kinds;
	t.colour = new Uint8Array(n);
	for (let i = 0; i < n; i++)
		t.colour[i] = t.kinds[t.kind[i]].colour;
	t.status = new Map();
	t.ghosts = new Map();
	t.commands = new Map();
	t.sparks = new Map();
	readAlongLanes(t, c);
	readOfSome(t, data);
	indexLanes(t);
	return t;
}

function readPhases(data) {
	const c = data.numbers, names = data.texts.phases, n = phasesOf(c, names);
	const at = readNames(whole(c.phase_name, n));
	const task = whole(c.phase_task, n), start = whole(c.phase_start, n);
	const wall = whole(c.phase_wall, n), phases = [];

	for (let i = 0; i < n; i++)
		phases.push({ task: task[i], from: start[i], until: start[i] + wall[i],
			      name: names[at[i]] });
	return phases;
}

/* A column of zeros is absent: the longest column gives the number. */
function phasesOf(c, names) {
	return Math.max(names.length, c.phase_task.length, c.phase_start.length,
			c.phase_wall.length, c.phase_name.length);
}

/* "dir: name", as in the rest of buildbeat; not yet clean. */
function nameOf(i) {
	const place = tasks.place[i] < 0 ? "" : tasks.places[tasks.place[i]];

	return place ? place + ": " + tasks.names[tasks.name[i]] : tasks.names[tasks.name[i]];
}

/* Panels: points over time. value[i] holds from time[i - 1] to time[i]; 0: unknown,
 * otherwise 1 + the value in 1/steps of its axis. */

function runningCurve() {
	const start = tasks.start.filter((_, i) => !(tasks.marks[i] & HOSTS)), n = start.length;
	const end = tasks.end.filter((_, i) => !(tasks.marks[i] & HOSTS)).sort();
	const time = new Int32Array(2 * n + 2), value = new Float32Array(2 * n + 2);
	let count = 0, at = 1;

	for (let s = 0, e = 0; e < n; at++) {
		const starting = s < n && start[s] < end[e];

		time[at] = starting ? start[s++] : end[e++];
		value[at] = count;
		count += starting ? 1 : -1;
	}
	time[at] = head.end;
	return { time: time.subarray(0, at + 1), value: value.subarray(0, at + 1) };
}

/* All of a stack: what is known of its bands added up. */
function stackTotal(panel) {
	const n = panel.time.length, total = new Float32Array(n);
	const stacked = panel.bands.filter(b => b.mark === "stack");

	for (const { value } of stacked) {
		for (let i = 0; i < n; i++) {
			if (value[i])
				total[i] = total[i] ? total[i] + value[i] - 1 : value[i];
		}
	}
	return stacked.length ? total : null;
}

function readPanel(panel, c) {
	if (panel.word === "running") {
		const curve = runningCurve(), scale = panel.steps * 100 / panel.ceiling;

		panel.time = curve.time;
		panel.bands = panel.bands.slice(0, 1);
		panel.bands[0].value = curve.value.map(v => 1 + v * scale);
	} else {
		panel.time = c[panel.word + ".time"];
		for (const b of panel.bands)
			b.value = new Float32Array(whole(c[panel.word + "." + b.id],
							 panel.time.length));
		panel.gaps = Array.from(c[panel.word + ".gap"]);
		for (const i of panel.gaps)
			panel.bands.forEach(b => b.value[i] = 0);
	}
	panel.total = stackTotal(panel);
}

/* What is shown */

let head, tasks, phases, panels;

const view = {
	from: 0, until: 1,	/* units of time */
	q: "", min_us: 0, task: -1, critical: true,
	width: 0,		/* of the plots */
	hover: -1,		/* task pointed at */
	pinned: false,
};
const search = { match: null, n: 0, time: 0, error: "" };
const hidden = { n: 0 };

function toX(t) {
	return (t - view.from) * view.width / (view.until - view.from);
}

function toTime(x) {
	return view.from + x * (view.until - view.from) / view.width;
}

/* The least stretch shown: a thousandth of a unit of time a pixel would be air. */
function show(from, until) {
	const least = Math.min(head.end, Math.max(10, 1000 / head.unit_us));
	const span = clamp(until - from, least, head.end);

	if (until - from !== span)
		from = (from + until - span) / 2;
	view.from = clamp(from, 0, head.end - span);
	view.until = view.from + span;
	request(true);
}

/* Around a place of the plots that stays where it is. */
function zoomAt(x, factor) {
	const t = toTime(x), span = (view.until - view.from) * factor;

	show(t - span * x / view.width, t + span * (1 - x / view.width));
}

function pan(share) {
	const by = (view.until - view.from) * share;

	show(view.from + by, view.until + by);
}

function zoomToTask(i) {
	const wall = Math.max(tasks.end[i] - tasks.start[i], 4);

	show(tasks.start[i] - wall * .25, tasks.end[i] + wall * .25);
}

/* Drawing: what a group holds is replaced path by path, each of a class */

function Layer(group) {
	this.group = group;
	this.before = Array.from(group.childNodes);
	this.paths = new Map();
	this.texts = [];
}

Layer.prototype.path = function (name, d) {
	let p = this.paths.get(name);

	if (!p) {
		p = make(SVG, "path", { "class": name }, this.group);
		this.paths.set(name, p);
	}
	p.setAttribute("d", d);
};

/* Texts are above the paths; unused ones are kept for the next drawing. */
Layer.prototype.text = function (i, name, x, y, text) {
	let e = this.texts[i];

	if (!e) {
		e = make(SVG, "text", {}, this.group);
		this.texts[i] = e;
	}
	e.setAttribute("class", name);
	e.setAttribute("x", px(x));
	e.setAttribute("y", px(y));
	e.textContent = text;
	e.style.display = "";
};

Layer.prototype.cut = function (n) {
	for (let i = n; i < this.texts.length; i++)
		this.texts[i].style.display = "none";
};

/* The static picture is kept until the first drawing is complete. */
Layer.prototype.begin = function () {
	this.before.forEach(e => e.remove());
};

Layer.prototype.undo = function () {
	this.group.replaceChildren(...this.before);
};

/* Panels */

const bin = { n: 0 };

function clearBins(n) {
	if (bin.n !== n) {
		bin.n = n;
		for (const name of ["sum", "weight", "min", "max", "y"])
			bin[name] = new Float64Array(n);
	}
	bin.sum.fill(0);
	bin.weight.fill(0);
	bin.min.fill(Infinity);
	bin.max.fill(-Infinity);
}

/* What n columns show of values: mean by time, least and most. */
function fillBins(time, value, n) {
	const k = n / (view.until - view.from), from = view.from, until = view.until;

	clearBins(n);
	const { sum, weight, min, max } = bin, last = time.length;

	for (let i = Math.max(1, above(time, from, 0, last)); i < last && time[i - 1] < until; i++) {
		const v = value[i] - 1;

		if (v < 0)
			continue;
		const x0 = Math.max(0, (time[i - 1] - from) * k), x1 = Math.min(n, (time[i] - from) * k);

		for (let c = x0 | 0; c < x1; c++) {
			const w = (x1 < c + 1 ? x1 : c + 1) - (x0 > c ? x0 : c);

			sum[c] += v * w;
			weight[c] += w;
			if (v < min[c])
				min[c] = v;
			if (v > max[c])
				max[c] = v;
		}
	}
}

/* Few points: what each is, and in x where. */
function fillPoints(time, value) {
	const end = time.length - 1, first = Math.max(1, above(time, view.from, 0, end));
	let last = first;

	while (last < end && time[last] < view.until)
		last++;
	clearBins(Math.max(0, last + 1 - first));
	bin.x = [];
	for (let c = 0; c <= bin.n; c++)
		bin.x.push(clamp(toX(time[first - 1 + c]), 0, view.width));
	for (let c = 0; c < bin.n; c++) {
		if (value[first + c]) {
			bin.sum[c] = value[first + c] - 1;
			bin.weight[c] = 1;
		}
	}
}

/* n columns of many points, through whose middles curves go (x: null) or, of what is
 * held, steps; or what there is of few. */
function fill(p, value, n, dense, held) {
	if (!dense) {
		fillPoints(p.time, value);
		return;
	}
	fillBins(p.time, value, n);
	bin.x = held ? Array.from({ length: n + 1 }, (_, c) => c * COLUMN) : null;
}

function binTops(height, steps) {
	for (let c = 0; c < bin.n; c++)
		bin.y[c] = bin.weight[c] ?
			clamp(height * (1 - bin.sum[c] / bin.weight[c] / steps), 0, height) : -1;
}

/* Call f(from, end) for each stretch of columns that pass. */
function runs(n, passes, f) {
	for (let i = 0, end; i < n; i = end + 1) {
		for (end = i; end < n && passes(end); end++)
			;
		if (end > i)
			f(i, end);
	}
}

/* Points through the middles of columns, without those a line passes anyway. */
function points(y, from, end, back) {
	let d = "";

	for (let k = 0; k < end - from; k++) {
		const i = back ? end - 1 - k : from + k;

		if (i === from || i === end - 1 || y[i] !== y[i - 1] || y[i] !== y[i + 1])
			d += "L" + px((i + .5) * COLUMN) + " " + px(y[i]);
	}
	return d;
}

/* What holds from x to x. */
function steps(x, y, from, end) {
	let d = "";

	for (let i = from + 1; i < end; i++) {
		if (y[i] !== y[i - 1])
			d += "H" + px(x[i]) + "V" + px(y[i]);
	}
	return d;
}

/* x: of steps, where each begins and the last ends; without it y is of columns. */
function topPath(y, x, from, end) {
	return (x ? steps(x, y, from, end) : points(y, from, end)) +
		"H" + px(x ? x[end] : end * COLUMN);
}

function areaPath(y, height, x) {
	let d = "";

	runs(y.length, i => y[i] >= 0, (from, end) => {
		d += "M" + px(x ? x[from] : from * COLUMN) + " " + px(height) + "V" + px(y[from]) +
			topPath(y, x, from, end) + "V" + px(height) + "z";
	});
	return d;
}

function linePath(y, x) {
	let d = "";

	runs(y.length, i => y[i] >= 0, (from, end) => {
		d += "M" + px(x ? x[from] : from * COLUMN) + " " + px(y[from]) +
			topPath(y, x, from, end);
	});
	return d;
}

/* From the least to the most, where they are apart. */
function bandPath(height, steps) {
	const k = height / steps, high = bin.max, low = bin.min;
	let d = "";

	for (let c = 0; c < bin.n; c++) {
		high[c] = clamp(height - high[c] * k, 0, height);
		low[c] = clamp(height - low[c] * k, 0, height);
	}
	runs(bin.n, i => bin.weight[i] > 0 && low[i] - high[i] > 1, (from, end) => {
		d += "M" + px(from * COLUMN) + " " + px(high[from]) + points(high, from, end) +
			"H" + px(end * COLUMN) + "V" + px(low[end - 1]) +
			points(low, from, end, true) + "H" + px(from * COLUMN) + "z";
	});
	return d;
}

/* From the top one down, so that those below cover it. */
function drawStack(p, n, dense) {
	const sum = [], areas = [];

	for (const b of p.bands.filter(x => x.mark === "stack")) {
		fill(p, b.value, n, dense, false);
		for (let c = 0; c < bin.n; c++) {
			if (bin.weight[c])
				sum[c] = (sum[c] || 0) + bin.sum[c] / bin.weight[c];
			bin.y[c] = sum[c] === undefined ? -1 :
				clamp(p.height * (1 - sum[c] / p.steps), 0, p.height);
		}
		areas.push(["area c" + b.colour, areaPath(bin.y, p.height, bin.x)]);
	}
	for (const [name, d] of areas.reverse())
		p.layer.path(name, d);
	if (dense)
		fillBins(p.time, p.total, n);
	p.layer.path("band all", dense ? bandPath(p.height, p.steps) : "");
}

/* Stretches of which nothing is known; what is between those is at least a pixel. */
function gapPath(p) {
	const list = [];

	for (const i of p.gaps || []) {
		const x0 = clipX(toX(p.time[i - 1])), x1 = clipX(toX(p.time[i]));
		const last = list[list.length - 1];

		if (last && x0 - last.x1 < 1)
			last.x1 = x1;
		else if (x1 > x0)
			list.push({ x0, x1 });
	}
	return list.map(g => box(g.x0, 0, g.x1 - g.x0, p.height)).join("");
}

/* An area's band lies upon it, a line's behind it. */
function drawBand(p, b, n, dense) {
	const area = b.mark === "area";

	fill(p, b.value, n, dense, b.held);
	binTops(p.height, p.steps);
	if (area)
		p.layer.path("area c" + b.colour, areaPath(bin.y, p.height, bin.x));
	p.layer.path("band " + (area ? "all of" + b.colour : "c" + b.colour),
		     dense ? bandPath(p.height, p.steps) : "");
	if (!area)
		p.layer.path("line c" + b.colour, linePath(bin.y, bin.x));
}

function drawPanel(p) {
	const n = Math.ceil(view.width / COLUMN);
	const seen = above(p.time, view.until, 0, p.time.length) - above(p.time, view.from, 0, p.time.length);

	const dense = seen > n;

	p.layer.begin();
	p.layer.group.classList.toggle("dense", seen > 2 * n);
	p.layer.path("gap", gapPath(p));
	if (p.total)
		drawStack(p, n, dense);
	for (const b of p.bands.filter(x => x.mark !== "stack"))
		drawBand(p, b, n, dense);
	drawOtherBuild(p);
}

/* Of the other build's curve there is the static one alone: it is stretched. */
function drawOtherBuild(p) {
	const k = view.width / p.width * head.end / (view.until - view.from);

	for (const e of p.layer.before) {
		if (!e.classList || !e.classList.contains("ghost"))
			continue;
		e.setAttribute("transform", "translate(" + toX(0) + ")scale(" + k + " 1)");
		e.setAttribute("vector-effect", "non-scaling-stroke");
		p.layer.group.appendChild(e);
	}
}

/* The time axis */

function timeStep(span_us, most) {
	const s = 1e6, m = 60 * s, h = 60 * m, day = 24 * h;
	const steps = [s, 2 * s, 5 * s, 10 * s, 15 * s, 30 * s, m, 2 * m, 5 * m, 10 * m, 15 * m,
		30 * m, h, 2 * h, 3 * h, 6 * h, 12 * h];
	let step = 1;

	for (let i = 0; step < s && span_us / step > most; i++)
		step *= i % 3 === 1 ? 2.5 : 2;
	if (step < s)
		return step;
	return steps.find(v => span_us / v <= most) || day * Math.ceil(span_us / most / day);
}

function tickText(us, step, last_us) {
	const s = us / 1e6;

	if (!us)
		return "0";
	if (step < 1e6)
		return momentText(us, step);
	if (last_us < 6e7 || us < 6e7 && last_us < 36e8)
		return s + " s";
	if (step >= 864e8)
		return s / 86400 + " d";
	if (step >= 36e8)
		return s / 3600 + " h";
	if (last_us < 36e8)
		return step >= 6e7 ? s / 60 + " min" :
			Math.floor(s / 60) + "m " + two(s % 60) + "s";
	if (step >= 6e7)
		return Math.floor(s / 3600) + "h " + two(Math.floor(s / 60 % 60)) + "m";
	return momentText(us, 1e6);
}

function drawTime() {
	const unit = head.unit_us, until_us = view.until * unit;
	const step = timeStep((view.until - view.from) * unit, Math.max(4, view.width / 95));
	let d = "", n = 0;

	geometry.time.begin();
	for (let i = Math.ceil(view.from * unit / step); i * step <= until_us; i++) {
		const x = toX(i * step / unit), text = tickText(i * step, step, until_us);
		const side = x > view.width - 30 ? "tick end" : x < 30 ? "tick start" : "tick";

		for (const [y, height] of geometry.spans)
			d += "M" + px(head.plot_x + x) + " " + y + "v" + height;
		for (const y of geometry.labels)
			geometry.time.text(n++, side, head.plot_x + x, y, text);
	}
	geometry.time.path("grid", d);
	geometry.time.group.prepend(geometry.time.paths.get("grid"));
	geometry.time.cut(n);
}

/* Lanes: tasks too small to see are one piece */

const piece = { n: 0, size: 0, first: [] };

function roomForPieces() {
	const size = piece.size ? 2 * piece.size : 4096;

	for (const name of ["x0", "x1", "lane", "task", "count", "colour", "cpu", "wall", "ended",
			    "match", "last"]) {
		const grown = new Float64Array(size);

		if (piece.size)
			grown.set(piece[name]);
		piece[name] = grown;
	}
	piece.size = size;
}

const time_of_colour = new Float64Array(8);

function beginPiece(i, lane, x0, x1) {
	const p = piece.n++;

	if (p >= piece.size)
		roomForPieces();
	piece.x0[p] = x0;
	piece.x1[p] = x1;
	piece.lane[p] = lane;
	piece.task[p] = i;
	piece.count[p] = piece.cpu[p] = piece.wall[p] = piece.ended[p] = piece.match[p] = 0;
	time_of_colour.fill(0);
	return p;
}

function addToPiece(p, i, x1) {
	const wall = tasks.end[i] - tasks.start[i], state = tasks.marks[i] & STATE;
	const colour = tasks.colour[i];

	if (x1 > piece.x1[p])
		piece.x1[p] = x1;
	if (wall > tasks.end[piece.task[p]] - tasks.start[piece.task[p]])
		piece.task[p] = i;
	piece.last[p] = i;
	piece.count[p]++;
	time_of_colour[colour] += wall + 1e-9;
	if (piece.count[p] === 1 || time_of_colour[colour] > time_of_colour[piece.colour[p]])
		piece.colour[p] = colour;
	if (tasks.cpu[i] && !(tasks.marks[i] & HOSTS)) {
		piece.cpu[p] += (tasks.cpu[i] - 1) / 256 * wall;
		piece.wall[p] += wall;
	}
	if (state)
		piece.ended[p] = state;
	if (!search.match || search.match[i])
		piece.match[p] = 1;
}

/* Marked stretches of lanes; those that look like one are joined. */
function Strips(close) {
	this.close = close || CLOSE;
	this.list = [];
}

Strips.prototype.add = function (lane, x0, x1) {
	const last = this.list[this.list.length - 1];

	const small = SMALL * this.close;

	if (last && last.lane === lane && x0 - last.x1 < this.close && x0 >= last.x0 &&
	    (x1 - x0 < small || last.x1 - last.x0 < small))
		last.x1 = Math.max(last.x1, x1);
	else
		this.list.push({ lane, x0, x1 });
};

/* As rectangles of a height (0: the lane's), from a part of the lane's height on. */
Strips.prototype.path = function (part, height) {
	let d = "";

	for (const s of this.list) {
		const all = tasks.lanes.height[s.lane], h = height ? Math.min(height, all) : all;

		d += box(clipX(s.x0), geometry.laneY(s.lane) + part * (all - h),
			 Math.max(.5, clipX(s.x1) - clipX(s.x0)), h);
	}
	return d;
};

function box(x, y, width, height) {
	return "M" + px(x) + " " + px(y) + "h" + px(width) + "v" + px(height) + "h-" + px(width) + "z";
}

/* A little beyond the plot, so that outlines there are not seen. */
function clipX(x) {
	return x < 0 ? 0 : x > view.width + 3 ? view.width + 3 : x;
}

/* Everything of one lane within the view. */
function walkLane(lane, close, marks) {
	const { first, tasks: list, reach } = tasks.lanes, from = view.from, until = view.until;
	const min = view.min_us / head.unit_us, k = view.width / (until - from);
	let p = -1;

	for (let j = above(reach, from, first[lane], first[lane + 1]); j < first[lane + 1]; j++) {
		const i = list[j], start = tasks.start[i], end = tasks.end[i];

		if (start - tasks.queued[i] >= until)
			break;
		if (end < from)
			continue;
		const x0 = (start - from) * k, x1 = (end - from) * k;

		if (tasks.queued[i])
			marks.queue.add(lane, (start - tasks.queued[i] - from) * k, x0);
		if (start >= until)
			continue;
		if (tasks.marks[i] & CRITICAL && view.critical)
			marks.critical.add(lane, x0, x1);
		if (tasks.marks[i] & STATE)
			marks.ended[tasks.marks[i] & STATE].add(lane, x0, x1);
		if (end - start < min) {
			marks.busy.add(lane, x0, x1);
			hidden.n++;
			continue;
		}
		if (p < 0 || x0 - piece.x1[p] >= close ||
		    (x1 - x0 >= SMALL * close && piece.x1[p] - piece.x0[p] >= SMALL * close))
			p = beginPiece(i, lane, x0, x1);
		addToPiece(p, i, x1);
	}
}

/* The marks of what is in view. Wider merging where there would be too many pieces. */
function walkLanes() {
	for (let close = CLOSE; ; close *= 2) {
		const marks = { queue: new Strips(close), critical: new Strips(close),
			busy: new Strips(close), ended: STATES.map(() => new Strips(close)) };

		piece.n = hidden.n = 0;
		for (let lane = 0; lane < tasks.lanes.y.length; lane++) {
			piece.first[lane] = piece.n;
			walkLane(lane, close, marks);
		}
		piece.first[tasks.lanes.y.length] = piece.n;
		if (piece.n <= PIECES_MAX || close > view.width)
			return marks;
	}
}

/* Bars by colour and of each the part that computed; those that do not match faint. */
function drawBars(layer) {
	const bars = Array(16).fill(""), cpu = Array(16).fill("");

	for (let p = 0; p < piece.n; p++) {
		const x = clipX(piece.x0[p]), width = Math.max(.6, clipX(piece.x1[p]) - x);
		const y = geometry.laneY(piece.lane[p]), height = tasks.lanes.height[piece.lane[p]];
		const h = piece.wall[p] ? height * Math.min(1, piece.cpu[p] / piece.wall[p]) : 0;
		const at = piece.colour[p] * 2 + (piece.match[p] ? 0 : 1);

		bars[at] += box(x, y, width, height);
		if (h >= .5)
			cpu[at] += box(x, y + height - h, width, h);
	}
	layer.group.classList.toggle("dense", piece.n > DENSE);
	for (let i = 0; i < 16; i++) {
		const name = " c" + (i >> 1) + (i & 1 ? " dim" : "");

		layer.path("bar" + name, bars[i]);
		layer.path("cpu" + name, cpu[i]);
	}
}

/* A badge with a cross or a bolt: the shape shows the state, not the colour. */
const SIGNS = {
	badge: "m-5.5-2.3l3.2-3.2h4.6l3.2 3.2v4.6l-3.2 3.2h-4.6l-3.2-3.2z",
	cross: "m-2.6-2.6l5.2 5.2m0-5.2l-5.2 5.2",
	bolt: "m1.3-3.6l-3.4 4.2l4.2-1l-3.4 4",
};

function sign(name, x, y) {
	return "M" + px(x) + " " + px(y) + SIGNS[name];
}

/* Open at the right. */
function openEnd(x, y, width, height) {
	return "M" + px(x + width) + " " + px(y) + "H" + px(x) + "v" + px(height) + "h" + px(width);
}

function drawEnds(layer, ended) {
	const signs = ["", "", "", ""];
	let badges = "";

	for (const state of [UNFINISHED, KILLED, FAILED]) {
		let d = "", lane = -1, last = -100;

		for (const s of ended[state].list) {
			const x = clipX(s.x0), width = Math.max(1, clipX(s.x1) - x);
			const y = geometry.laneY(s.lane), height = tasks.lanes.height[s.lane];
			const at = clamp(x + width - (width > 22 ? 9 : width / 2), 5.5, view.width - 5.5);

			d += state === UNFINISHED ? openEnd(x, y, width, height) : box(x, y, width, height);
			if (state === UNFINISHED || (s.lane === lane && at - last < 11))
				continue;
			lane = s.lane;
			last = at;
			badges += sign("badge", at, y + height / 2);
			signs[state] += sign(state === FAILED ? "cross" : "bolt", at, y + height / 2);
		}
		layer.path(STATES[state], d);
	}
	layer.path("badge", badges);
	layer.path("bolt", signs[KILLED]);
	layer.path("cross", signs[FAILED]);
}

function drawPhases(layer) {
	const strips = new Strips();

	for (const f of phases) {
		if (f.until >= view.from && f.from < view.until)
			strips.add(f.task < 0 ? 0 : tasks.lane[f.task], toX(f.from), toX(f.until));
	}
	layer.path("phase", tasks.lanes.y.length ? strips.path(0, 2) : "");
}

function drawGhosts(layer) {
	const strips = new Strips(), sorted = [];

	for (const [i, [from, until]] of tasks.ghosts) {
		if (until >= view.from && from < view.until)
			sorted.push([tasks.lane[i], toX(from), toX(until)]);
	}
	sorted.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
	sorted.forEach(g => strips.add(...g));
	layer.path("ghost", strips.path(1, 3));
}

/* Names in the widest bars */

const ruler = { context: null, family: "" };

function widthOf(text, font) {
	if (!ruler.context)
		ruler.context = make(HTML, "canvas", {}).getContext("2d");
	ruler.family = ruler.family || getComputedStyle(root).fontFamily || "sans-serif";
	ruler.context.font = font + "px " + ruler.family;
	return ruler.context.measureText(text).width;
}

function fit(text, width, size) {
	for (let all = text; ;) {
		const taken = widthOf(text, size);

		if (taken <= width)
			return text;
		const n = Math.min(text.length - 2, Math.floor(text.length * width / taken) - 1);
		if (n < 3)
			return "";
		/* The end of a path says more than its beginning. */
		text = all.slice(0, n / 3 | 0) + "\u2026" + all.slice(all.length - (n * 2 / 3 | 0));
	}
}

/* What says most of those names of a task that fit as they are, or the shortest. */
function fitName(i, width, size) {
	const target = tasks.names[tasks.name[i]], names = [nameOf(i), target,
		target.slice(target.lastIndexOf("/") + 1) || target].map(clean);
	const name = names.find(x => widthOf(x, size) <= width);

	return name || (width < NAME_CUT_LEAST ? "" : fit(names[2], width, size));
}

/* What most of a bar's height is: a name upon it has that around it, and where the edge of
 * the strong part would go through it, it is moved off the middle into that. */
function placeOfName(p, height, size) {
	const strong = piece.wall[p] ? piece.cpu[p] / piece.wall[p] : 0;
	const room = Math.abs(strong - .5) > .3 ? 0 : Math.max(0, (height - size) / 2 - NAME_MARGIN);

	return { ground: (strong > .5 ? "c" : "t") + piece.colour[p],
		 shift: strong > .5 ? room : -room };
}

function drawNames(layer) {
	const list = [];
	let n = 0;

	for (let p = 0; p < piece.n; p++) {
		const width = clipX(piece.x1[p]) - clipX(piece.x0[p]);

		if (piece.count[p] === 1 && width >= LABEL_LEAST &&
		    tasks.lanes.height[piece.lane[p]] >= 10)
			list.push({ p, width });
	}
	list.sort((a, b) => b.width - a.width);
	for (const { p, width } of list.slice(0, LABELS_MAX)) {
		const height = tasks.lanes.height[piece.lane[p]];
		const size = height >= 14 ? 10.5 : height - 2;
		const text = fitName(piece.task[p], width - 2 * LABEL_PAD -
				     (piece.ended[p] ? SIGN_WIDTH : 0), size);

		const place = placeOfName(p, height, size);

		if (text)
			layer.text(n++, "name " + place.ground + (size < 10.5 ? " small" : "") +
				   (piece.match[p] ? "" : " dim"), clipX(piece.x0[p]) + LABEL_PAD,
				   geometry.laneY(piece.lane[p]) + height / 2 + size * .36 +
				   place.shift, text);
	}
	layer.cut(n);
}

function drawLanes() {
	const layer = geometry.lanes, marks = walkLanes();

	layer.begin();
	layer.path("queue", marks.queue.path(.5, 2));
	layer.path("busy", marks.busy.path(.5, 4));
	drawBars(layer);
	drawPhases(layer);
	layer.path("critical", marks.critical.path(0, 0));
	drawGhosts(layer);
	drawEnds(layer, marks.ended);
	drawNames(layer);
}

/* The task pointed at or chosen, and what it waited for */

function chainOf(i) {
	const chain = [];

	for (; i >= 0 && chain.length < CHAIN_MAX; i = tasks.before[i])
		chain.push(i);
	return chain;
}

function drawChain() {
	const i = view.hover >= 0 ? view.hover : view.task;
	let boxes = "", links = "", last = null;

	for (const j of i < 0 ? [] : chainOf(i)) {
		const x0 = clipX(toX(tasks.start[j])), x1 = clipX(toX(tasks.end[j]));
		const y = geometry.laneY(tasks.lane[j]), height = tasks.lanes.height[tasks.lane[j]];
		const middle = y + height / 2;

		if (toX(tasks.end[j]) >= 0 && toX(tasks.start[j]) <= view.width)
			boxes += box(x0, y, Math.max(1.5, x1 - x0), height);
		if (last)
			links += "M" + px(Math.min(x1, last.x)) + " " + px(middle) +
				"L" + px(last.x) + " " + px(last.middle);
		last = { x: x0, middle };
	}
	geometry.over.path("chain", boxes);
	geometry.over.path("link", links);
}

/* One drawing a frame */

const frame = { id: 0, all: false };

function request(all) {
	frame.all = frame.all || all;
	if (!frame.id)
		frame.id = requestAnimationFrame(guard(draw));
}

function draw() {
	const all = frame.all;

	frame.id = 0;
	frame.all = false;
	if (all) {
		panels.forEach(drawPanel);
		drawTime();
		if (tasks.n)
			drawLanes();
		tellCounts();
		saveHash();
	}
	if (tasks.n)
		drawChain();
	drawCross();
}

/* Positions of the elements */

const geometry = { cross: { x: -1 } };

function number(e, name) {
	return Number(e.getAttribute(name));
}

function readGeometry() {
	const plot = find("#lanes .plot");

	panels = head.panels.filter(p => find("#p-" + p.word + " .plot"));
	for (const p of panels) {
		p.plot = find("#p-" + p.word + " .plot");
		p.y = number(p.plot, "y");
		p.height = number(p.plot, "height");
		p.width = number(p.plot, "width");
		p.layer = new Layer(find(".draw", p.plot));
	}
	geometry.static_width = head.width;
	geometry.static_height = number(root, "height");
	geometry.lanes_y = number(plot, "y");
	geometry.lanes_height = number(plot, "height");
	geometry.laneY = lane => tasks.lanes.y[lane] - geometry.lanes_y;
	geometry.spans = panels.map(p => [p.y, p.height]);
	geometry.spans.push([geometry.lanes_y, geometry.lanes_height]);
	geometry.time = new Layer(find("#time"));
	geometry.labels = Array.from(new Set(Array.from(geometry.time.group.querySelectorAll("text"),
							e => number(e, "y"))));
	geometry.lanes = new Layer(find(".draw", plot));
	geometry.over = new Layer(make(SVG, "g", { "class": "chain-marks" }, plot));
	geometry.top = Math.min(...geometry.spans.map(s => s[0]));
	geometry.bottom = geometry.lanes_y + geometry.lanes_height;
}

function available() {
	return alone ? root.clientWidth || window.innerWidth :
		root.parentNode && root.parentNode.clientWidth || window.innerWidth;
}

/* As wide as the window: plots grow, what is right of them moves. */
function layOut() {
	const room = alone ? window.innerWidth - scrollbarWidth() : available();
	const width = Math.max(room, WIDTH_LEAST), more = width - geometry.static_width;
	const plot = width - head.plot_x - head.plot_right;
	const k = plot / (geometry.static_width - head.plot_x - head.plot_right);
	const height = geometry.static_height + TOOLS_HEIGHT;

	view.width = plot;
	geometry.width = width;
	root.setAttribute("viewBox", "0 " + -TOOLS_HEIGHT + " " + width + " " + height);
	root.setAttribute("width", Math.min(room, width));
	root.setAttribute("height", height * Math.min(1, room / width));
	find(".ground").setAttribute("y", -TOOLS_HEIGHT);
	root.querySelectorAll(".plot").forEach(e => e.setAttribute("width", plot));
	root.querySelectorAll(".axis.right, .panel > .over").forEach(e =>
		e.setAttribute("transform", "translate(" + more + ")"));
	root.querySelectorAll(".axis .grid, .limit, .stripe").forEach(e =>
		e.setAttribute("transform", "translate(" + head.plot_x * (1 - k) + ")scale(" + k + " 1)"));
	if (tools.box)
		tools.box.setAttribute("width", width);
	placeTools();
	request(true);
}

function scrollbarWidth() {
	return geometry.static_height + TOOLS_HEIGHT > window.innerHeight ?
		Math.max(0, window.innerWidth - (root.clientWidth || window.innerWidth)) || 0 : 0;
}

/* A place of the window in the picture. */
function toPicture(e) {
	const r = root.getBoundingClientRect(), k = geometry.width / r.width;

	return { x: (e.clientX - r.left) * k, y: (e.clientY - r.top) * k - TOOLS_HEIGHT };
}

function inPlots(at) {
	const x = at.x - head.plot_x;

	return x >= 0 && x <= view.width && at.y >= geometry.top && at.y <= geometry.bottom;
}

/* The piece at a place of the picture, or -1: the nearest within a few pixels. */
function pieceAt(at) {
	const x = at.x - head.plot_x;
	let best = -1, distance = 3;

	for (let lane = 0; lane < tasks.lanes.y.length; lane++) {
		const y = at.y - tasks.lanes.y[lane];

		if (y < 0 || y > tasks.lanes.height[lane])
			continue;
		for (let p = piece.first[lane]; p < piece.first[lane + 1]; p++) {
			const d = Math.max(piece.x0[p] - x, x - piece.x1[p]);

			if (d < distance) {
				distance = d;
				best = p;
			}
		}
	}
	return best;
}

/* Crosshair */

function valuesAt(p, t) {
	const i = above(p.time, t - 1e-9, 0, p.time.length), texts = [];

	for (const b of p.bands) {
		const v = i && i < p.time.length ? b.value[i] - 1 : -1;

		if (v >= 0)
			texts.push(b.label + " " + valueText(b.right ? p.right_unit : p.unit,
				v / p.steps * (b.right ? p.right_ceiling : p.ceiling)));
	}
	return texts.join("  \u00b7  ");
}

function drawCross() {
	const x = geometry.cross.x, layer = geometry.cross.layer;
	let d = "", n = 0;

	layer.group.style.display = x < 0 ? "none" : "";
	if (x < 0)
		return;
	const t = toTime(x), fine_us = (view.until - view.from) * head.unit_us / view.width;
	const right = x > view.width / 2, at = head.plot_x + x + (right ? -9 : 9);

	for (const [y, height] of geometry.spans)
		d += "M" + px(head.plot_x + x) + " " + y + "v" + height;
	layer.path("crosshair", d);
	const texts = panels.map(p => ["readout", p.y + 13, "11", valuesAt(p, t)]);
	let plates = "";

	texts.push(["moment", geometry.labels[0] || 12, "bold 11",
		    momentText(t * head.unit_us, fine_us)]);
	for (const [name, y, font, text] of texts.filter(x => x[3])) {
		const width = widthOf(text, font) + 10;

		plates += box(right ? at - width + 5 : at - 5, y - 11, width, 15);
		layer.text(n++, name + (right ? " end" : " start"), at, y, text);
	}
	layer.path("plate", plates);
	layer.group.insertBefore(layer.paths.get("plate"), layer.texts[0]);
	layer.cut(n);
}

/* Tooltip */

function line(parent, name, text) {
	const e = make(HTML, "div", { "class": name }, parent);

	e.textContent = text;
	return e;
}

function endText(i) {
	const state = tasks.marks[i] & STATE, status = tasks.status.get(i);

	if (state === FAILED)
		return status >= 0 ? "failed: exit status " + status : "failed";
	if (state === KILLED)
		return "killed" + (status > 0 ? " by signal " + status : "");
	return STATES[state];
}

function sizeText(code) {
	return bytesText((Math.pow(2, code / 64) - 1) * 1024);
}

function cpuText(i) {
	const share = (tasks.cpu[i] - 1) / 256, wall_us = (tasks.end[i] - tasks.start[i]) * head.unit_us;
	const cpu_us = share * wall_us, system_us = cpu_us * tasks.system[i] / 63;

	return "CPU " + timeText(cpu_us) + ": " + percentText(share) + " of its time, user " +
		timeText(cpu_us - system_us) + ", system " + timeText(system_us);
}

function addSpark(parent, i) {
	const points = tasks.sparks.get(i);

	if (!points)
		return;
	const svg = make(SVG, "svg", { "class": "spark", width: 120, height: 20 }, parent);
	let d = "M0 20";

	points.forEach((v, k) => d += "L" + px(k * 120 / (points.length - 1)) + " " + px(20 - v * 19 / 15));
	make(SVG, "path", { d: d + "V20z" }, svg);
}

function addChain(parent, i) {
	const before = tasks.before[i];

	if (before < 0)
		return;
	const chain = chainOf(i).slice(1), rest = chain.length > 3 ? " \u2190 \u2026" : "";

	line(parent, "chained", "waited for " + (WAITED[tasks.why[i]] || "a task") + ": " +
	     chain.slice(0, 3).map(j => clean(nameOf(j))).join(" \u2190 ") + rest);
}

function addGhost(parent, i) {
	const other = tasks.ghosts.get(i);

	if (!other)
		return;
	const theirs = other[1] - other[0], ours = tasks.end[i] - tasks.start[i];
	const change = theirs ? " (" + (ours >= theirs ? "+" : "\u2212") +
		percentText(Math.abs(ours - theirs) / theirs) + ")" : "";

	line(parent, "", "in the other build " + timeText(theirs * head.unit_us) + ", here " +
	     timeText(ours * head.unit_us) + change);
}

function tellTask(parent, i) {
	const wall_us = (tasks.end[i] - tasks.start[i]) * head.unit_us, m = tasks.marks[i];

	line(parent, "what", clean(nameOf(i)));
	line(parent, m & STATE ? "bad" : "", clean(tasks.kinds[tasks.kind[i]].name) + ", " + endText(i) +
	     (m & CRITICAL ? ", on the critical path" : ""));
	line(parent, "", "from " + momentText(tasks.start[i] * head.unit_us, head.unit_us) + ", took " +
	     timeText(wall_us) + (tasks.queued[i] ? ", queued " +
	     timeText(tasks.queued[i] * head.unit_us) + " before" : ""));
	if (tasks.cpu[i])
		line(parent, "", cpuText(i));
	if (tasks.memory[i])
		addSpark(line(parent, "", "memory " + (m & AT_MOST ? "at most " : "") +
			      sizeText(tasks.memory[i]) +
			      (m & SUMMED ? ", all its processes " : ", its largest process ")), i);
	if (m & IO && (tasks.read[i] || tasks.written[i]))
		line(parent, "", "read " + sizeText(tasks.read[i]) + ", written " +
		     sizeText(tasks.written[i]));
	addGhost(parent, i);
	if (tasks.parent[i] >= 0)
		line(parent, "", "inside " + clean(nameOf(tasks.parent[i])));
	addChain(parent, i);
	for (const f of phases.filter(x => x.task === i).slice(0, 6))
		line(parent, "", "phase " + clean(f.name) + ": " + timeText((f.until - f.from) * head.unit_us));
	if (tasks.commands.has(i))
		line(parent, "command", clean(tasks.commands.get(i)).slice(0, 400));
}

/* The tasks of a piece: the range of its lane's list from its first to its last. */
function tasksOfPiece(p) {
	const { first, tasks: list } = tasks.lanes, lane = piece.lane[p], found = [];
	const min = view.min_us / head.unit_us;
	const from = toTime(piece.x0[p] - .01), until = toTime(piece.x1[p] + .01);

	for (let j = first[lane]; j < first[lane + 1] && tasks.start[list[j]] <= until; j++) {
		const i = list[j];

		if (tasks.start[i] >= from && tasks.end[i] - tasks.start[i] >= min)
			found.push(i);
	}
	return found.sort((a, b) => tasks.end[b] - tasks.start[b] - tasks.end[a] + tasks.start[a]);
}

function tellPiece(parent, p) {
	const list = tasksOfPiece(p);
	let sum = 0;

	for (const i of list)
		sum += tasks.end[i] - tasks.start[i];
	line(parent, "what", countText(piece.count[p]) + " tasks, " + timeText(sum * head.unit_us) +
	     " together");
	for (const i of list.slice(0, 5))
		line(parent, "", timeText((tasks.end[i] - tasks.start[i]) * head.unit_us) + "  " +
		     clean(nameOf(i)));
	line(parent, "faint", "zoom in to see them one by one");
}

const tip = { box: null, text: null };

function makeTip() {
	tip.box = make(SVG, "foreignObject", { id: "tip", width: 460, height: 10 }, root);
	tip.text = make(HTML, "div", { "class": "tip", role: "tooltip" }, tip.box);
	hideTip();
}

function hideTip() {
	tip.box.style.display = "none";
	pin(false);
}

/* A tooltip that stays, and whose text can be selected. */
function pin(pinned) {
	view.pinned = pinned;
	tip.box.classList.toggle("pinned", pinned);
}

/* Beside a place of the picture, within what is seen of it. */
function placeTip(at) {
	const r = root.getBoundingClientRect(), k = geometry.width / r.width;
	const bottom = (Math.min(window.innerHeight, r.bottom) - r.top) * k - TOOLS_HEIGHT;

	tip.box.style.display = "";
	tip.box.setAttribute("height", 600);
	const width = tip.text.offsetWidth + 6, height = tip.text.offsetHeight + 6;
	const x = at.x + 16 + width > geometry.width ? at.x - width - 12 : at.x + 16;
	const y = at.y + 16 + height > bottom ? at.y - height - 8 : at.y + 16;

	tip.box.setAttribute("x", px(Math.max(4, x)));
	tip.box.setAttribute("y", Math.max(y, -TOOLS_HEIGHT, -r.top * k - TOOLS_HEIGHT));
	tip.box.setAttribute("height", height);
}

function showTip(at, tell) {
	tip.text.replaceChildren();
	tell(tip.text);
	placeTip(at);
}

/* Pointer */

const pointers = new Map();
let drag = null;

function hover(at) {
	const inside = inPlots(at), p = inside && tasks.n ? pieceAt(at) : -1;

	geometry.cross.x = inside ? at.x - head.plot_x : -1;
	if (!view.pinned) {
		view.hover = p < 0 || piece.count[p] > 1 ? -1 : piece.task[p];
		if (p < 0)
			hideTip();
		else
			showTip(at, e => piece.count[p] > 1 ? tellPiece(e, p) : tellTask(e, piece.task[p]));
	}
	request(false);
}

function leave() {
	geometry.cross.x = -1;
	if (!view.pinned) {
		view.hover = -1;
		hideTip();
	}
	request(false);
}

/* Both fingers stay on the times they were put on. */
function pinch() {
	const [a, b] = Array.from(pointers.values());
	const xa = a.at.x - head.plot_x, xb = b.at.x - head.plot_x;

	if (Math.abs(xb - xa) < 8)
		return;
	const k = (b.time - a.time) / (xb - xa);

	if (k > 0)
		show(a.time - xa * k, a.time + (view.width - xa) * k);
}

function pointerDown(e) {
	const at = toPicture(e);

	if (e.button || !inPlots(at) || tip.box.contains(e.target))
		return;
	pointers.set(e.pointerId, { at, time: toTime(at.x - head.plot_x) });
	drag = pointers.size === 1 ? { x: at.x, from: view.from, moved: false } : null;
}

function pointerMove(e) {
	const at = toPicture(e), p = pointers.get(e.pointerId);

	if (p)
		p.at = at;
	if (pointers.size === 2) {
		pinch();
	} else if (p && drag && (drag.moved || Math.abs(at.x - drag.x) > 4)) {
		const span = view.until - view.from;
		const from = drag.from - (at.x - drag.x) * span / view.width;

		if (!drag.moved && root.setPointerCapture)
			root.setPointerCapture(e.pointerId);
		drag.moved = true;
		leave();
		show(from, from + span);
	} else if (!tip.box.contains(e.target)) {
		hover(at);
	}
}

function pointerUp(e) {
	const clicked = pointers.delete(e.pointerId) && drag && !drag.moved;

	drag = null;
	for (const p of pointers.values())
		drag = { x: p.at.x, from: view.from, moved: true };
	if (clicked && e.type === "pointerup")
		click(toPicture(e));
}

function click(at) {
	const p = tasks.n ? pieceAt(at) : -1;

	pin(false);
	choose(p < 0 || piece.count[p] > 1 ? -1 : piece.task[p]);
	hover(at);
	pin(view.task >= 0);
}

function doubleClick(e) {
	const at = toPicture(e), p = inPlots(at) && tasks.n ? pieceAt(at) : -1;

	if (!inPlots(at))
		return;
	e.preventDefault();
	hideTip();
	if (p >= 0 && piece.count[p] === 1)
		zoomToTask(piece.task[p]);
	else
		zoomAt(at.x - head.plot_x, .25);
}

/* The wheel zooms over the plots, with Shift it scrolls; zoomed out, it scrolls too. */
function wheel(e) {
	const at = toPicture(e), out = e.deltaY > 0;
	const scale = e.deltaMode === 1 ? 20 : e.deltaMode === 2 ? 400 : 1;

	if (!inPlots(at) || tip.box.contains(e.target) || (e.shiftKey && !e.deltaX && !e.deltaY))
		return;
	if (e.shiftKey) {
		e.preventDefault();
		window.scrollBy(0, (e.deltaY || e.deltaX) * scale);
		return;
	}
	if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
		e.preventDefault();
		pan(clamp(e.deltaX * scale / 1000, -.5, .5));
		return;
	}
	if (out && view.until - view.from >= head.end && !e.ctrlKey)
		return;
	e.preventDefault();
	zoomAt(at.x - head.plot_x, Math.exp(clamp(e.deltaY * scale / 400, -1, 1)));
	hover(at);
}

/* Search */

/* A test of a text: a part of it, /a pattern/ or nothing. Throws what is wrong with it. */
function tester(q) {
	const pattern = /^\/(.*)\/([iu]*)$/.exec(q);

	if (!q || q === "/")
		return null;
	if (q[0] === "/" && pattern && pattern[1]) {
		const re = new RegExp(pattern[1], pattern[2]);

		return (name, kind) => re.test(name) || re.test(kind);
	}
	if (/[A-Z]/.test(q))
		return (name, kind) => name.includes(q) || kind === q;
	return (name, kind) => name.toLowerCase().includes(q) || kind === q;
}

function runSearch() {
	let test = null;

	search.error = "";
	search.match = null;
	search.n = search.time = 0;
	try {
		test = tester(view.q);
	} catch (e) {
		search.error = "not a pattern: " + e.message.replace(/^Invalid regular expression: /, "");
	}
	if (test) {
		search.match = new Uint8Array(tasks.n);
		for (let i = 0; i < tasks.n; i++) {
			if (!test(nameOf(i), tasks.kinds[tasks.kind[i]].name))
				continue;
			search.match[i] = 1;
			search.n++;
			search.time += tasks.end[i] - tasks.start[i];
		}
	}
	request(true);
}

/* The next match after the chosen task, or the one before it. */
function nextMatch(step) {
	if (!search.match || !search.n)
		return;
	let i = view.task < 0 ? (step > 0 ? -1 : tasks.n) : view.task;

	do
		i = (i + step + tasks.n) % tasks.n;
	while (!search.match[i]);
	choose(i);
	reveal(i);
}

/* The chosen task */

function choose(i) {
	view.task = i;
	tell(i < 0 ? "" : nameOf(i) + ", " + tasks.kinds[tasks.kind[i]].name + ", " + endText(i) +
	     ", from " + momentText(tasks.start[i] * head.unit_us, head.unit_us) + ", took " +
	     timeText((tasks.end[i] - tasks.start[i]) * head.unit_us));
	request(true);
}

/* Bring it into view, its lane too, and say what it is. */
function reveal(i) {
	const span = view.until - view.from, wall = tasks.end[i] - tasks.start[i];

	if (wall * view.width / span < 4)
		show(tasks.start[i] - wall * 20 - 1, tasks.end[i] + wall * 20 + 1);
	else if (tasks.end[i] < view.from || tasks.start[i] > view.until)
		show(tasks.start[i] - span / 3, tasks.start[i] + span * 2 / 3);
	const x = clamp(toX((tasks.start[i] + tasks.end[i]) / 2), 0, view.width);
	const lane = tasks.lane[i];

	view.hover = i;
	showTip({ x: head.plot_x + x, y: tasks.lanes.y[lane] + tasks.lanes.height[lane] },
		e => tellTask(e, i));
	pin(true);
}

/* The task beside the chosen one: along its lane, or the nearest in another lane. */
function stepTask(along, across) {
	const { first, tasks: list } = tasks.lanes, from = view.task;
	let lane = from < 0 ? 0 : tasks.lane[from];
	const t = from < 0 ? view.from : tasks.start[from];

	do
		lane += across;
	while (across && lane >= 0 && lane < first.length - 1 && first[lane] === first[lane + 1]);
	while (from < 0 && lane < first.length - 2 && first[lane] === first[lane + 1])
		lane++;
	if (lane < 0 || lane >= first.length - 1 || first[lane] === first[lane + 1])
		return;
	const starts = list.subarray(first[lane], first[lane + 1]);
	let at = from >= 0 && !across ? starts.indexOf(from) + along :
		above(starts.map(i => tasks.start[i]), t, 0, starts.length) - (from < 0 ? 0 : 1);

	at = clamp(at, 0, starts.length - 1);
	choose(starts[at]);
	reveal(starts[at]);
}

/* Tools */

const tools = { box: null };

function button(parent, text, label, act) {
	const b = make(HTML, "button", { type: "button", title: label, "aria-label": label }, parent);

	b.textContent = text;
	b.addEventListener("click", guard(act));
	return b;
}

function minOfSlider(v) {
	return v > 0 ? MIN_LEAST_S * Math.pow(MIN_MOST_S / MIN_LEAST_S, (v - 1) / 99) * 1e6 : 0;
}

function sliderOfMin(us) {
	return us > 0 ? clamp(1 + 99 * Math.log(us / 1e6 / MIN_LEAST_S) /
			      Math.log(MIN_MOST_S / MIN_LEAST_S), 0, 100) : 0;
}

function beginTools() {
	const g = make(SVG, "g", { id: "tools" }, root);

	tools.group = g;
	tools.box = make(SVG, "foreignObject", { x: 0, y: 0, width: WIDTH_LEAST,
		height: TOOLS_HEIGHT }, g);
	tools.bar = make(HTML, "div", { "class": "tools", role: "toolbar",
		"aria-label": "Chart" }, tools.box);
}

function makeTools() {
	const bar = tools.bar;
	let timer = 0;

	tools.search = make(HTML, "input", { id: "bb-search", type: "search", size: 26,
		placeholder: "search, or /pattern/", "aria-label": "Search tasks" }, bar);
	tools.search.addEventListener("input", guard(() => {
		clearTimeout(timer);
		timer = setTimeout(guard(() => {
			view.q = tools.search.value;
			runSearch();
		}), 120);
	}));
	button(bar, "\u2039", "Previous match (N)", () => nextMatch(-1));
	button(bar, "\u203a", "Next match (n)", () => nextMatch(1));
	const label = make(HTML, "label", {}, bar);
	label.textContent = "at least ";
	tools.min = make(HTML, "input", { id: "bb-min", type: "range", min: 0, max: 100, step: 1,
		value: 0, "aria-label": "Shortest task shown by itself" }, label);
	tools.min_text = make(HTML, "output", {}, label);
	tools.min.addEventListener("input", guard(() => {
		view.min_us = minOfSlider(Number(tools.min.value));
		request(true);
	}));
	button(bar, "\u2212", "Zoom out (-)", () => zoomAt(view.width / 2, 2));
	button(bar, "+", "Zoom in (+)", () => zoomAt(view.width / 2, .5));
	button(bar, "all", "Show all (0)", reset);
	tools.critical = button(bar, "critical path", "Critical path (c)", toggleCritical);
	tools.count = make(HTML, "span", { id: "bb-count", role: "status" }, bar);
	tools.live = make(HTML, "span", { id: "bb-live", "class": "live", "aria-live": "polite" }, bar);
}

function reset() {
	show(0, head.end);
}

function toggleCritical() {
	view.critical = !view.critical;
	request(true);
}

function tell(text) {
	tools.live.textContent = clean(text);
}

/* They stay at the top of the window. */
function placeTools() {
	const r = root.getBoundingClientRect(), k = geometry.width / r.width;

	if (tools.group)
		tools.group.setAttribute("transform", "translate(0 " +
			(Math.max(0, Math.min(-r.top, r.height - 80)) * k - TOOLS_HEIGHT) + ")");
}

function tellCounts() {
	const texts = [];

	if (search.error)
		texts.push(search.error);
	else if (search.match)
		texts.push(countText(search.n) + " of " + countText(tasks.n) + " tasks, " +
			   timeText(search.time * head.unit_us));
	if (view.min_us)
		texts.push(countText(hidden.n) + " shorter in grey");
	tools.count.textContent = texts.join("; ");
	tools.count.classList.toggle("wrong", search.error !== "");
	tools.search.setAttribute("aria-invalid", search.error !== "");
	tools.min_text.textContent = view.min_us ? timeText(view.min_us) : "any";
	tools.critical.setAttribute("aria-pressed", view.critical);
}

/* Keyboard */

const keys = {
	"+": () => zoomAt(view.width / 2, .5),
	"=": () => zoomAt(view.width / 2, .5),
	"-": () => zoomAt(view.width / 2, 2),
	"0": reset,
	"Home": reset,
	"ArrowLeft": () => pan(-.15),
	"ArrowRight": () => pan(.15),
	"/": () => tools.search.focus(),
	"Escape": () => {
		hideTip();
		view.hover = -1;
		choose(-1);
	},
	"n": () => nextMatch(1),
	"N": () => nextMatch(-1),
	"c": toggleCritical,
};

/* With the focus on the lanes: from task to task. */
const lane_keys = {
	"ArrowLeft": () => stepTask(-1, 0),
	"ArrowRight": () => stepTask(1, 0),
	"ArrowUp": () => stepTask(0, -1),
	"ArrowDown": () => stepTask(0, 1),
	"Enter": () => view.task >= 0 && zoomToTask(view.task),
};

function keyDown(e) {
	const input = e.target && e.target.localName === "input";
	const lanes = e.target && e.target.id === "lanes" && tasks.n;

	if (e.ctrlKey || e.altKey || e.metaKey)
		return;
	if (input && e.key === "Escape")
		e.target.blur();
	if (input || (e.target && e.target.localName === "button" && e.key.length > 1 &&
		      e.key !== "Escape"))
		return;
	const act = lanes && !e.shiftKey && lane_keys[e.key] || keys[e.key];

	if (!act)
		return;
	e.preventDefault();
	act();
}

/* The state in the URL: #t=12.5-80&q=...&min=...&task=...&critical=0 */

const hash = { timer: 0, last: "" };

function seconds(t) {
	return String(Math.round(t * head.unit_us) / 1e6);
}

function hashText() {
	const parts = [];

	if (view.from > 0 || view.until < head.end)
		parts.push("t=" + seconds(view.from) + "-" + seconds(view.until));
	if (view.q)
		parts.push("q=" + encodeURIComponent(view.q));
	if (view.min_us)
		parts.push("min=" + String(Math.round(view.min_us / 1000) / 1000));
	if (view.task >= 0)
		parts.push("task=" + view.task);
	if (!view.critical)
		parts.push("critical=0");
	return parts.join("&");
}

function saveHash() {
	clearTimeout(hash.timer);
	hash.timer = setTimeout(guard(() => {
		const text = hashText();

		if (text === hash.last)
			return;
		hash.last = text;
		try {
			history.replaceState(history.state, "", text ? "#" + text :
				location.pathname + location.search);
		} catch (e) {
			/* Some places forbid a page to change its address: the view still works. */
		}
	}), 200);
}

function loadHash() {
	const got = new URLSearchParams(location.hash.slice(1));
	const t = /^([\d.e-]+?)-([\d.]+)$/.exec(got.get("t") || "");
	const from = t ? Number(t[1]) * 1e6 / head.unit_us : 0;
	const until = t ? Number(t[2]) * 1e6 / head.unit_us : head.end;
	const task = parseInt(got.get("task"), 10), min = Number(got.get("min"));

	view.q = (got.get("q") || "").slice(0, 1000);
	view.min_us = min > 0 ? Math.min(min, MIN_MOST_S) * 1e6 : 0;
	view.task = task >= 0 && task < tasks.n ? task : -1;
	view.critical = got.get("critical") !== "0";
	tools.search.value = view.q;
	tools.min.value = sliderOfMin(view.min_us);
	hash.last = location.hash.slice(1);
	show(until > from ? from : 0, until > from ? until : head.end);
	runSearch();
}

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
