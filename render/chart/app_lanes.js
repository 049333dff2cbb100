/* SPDX-License-Identifier: MIT */
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

		d += box(clipX(s.x0), laneY(s.lane) + part * (all - h),
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
		const marks = { queue: new Strips(close), busy: new Strips(close), ended: STATES.map(() => new Strips(close)) };

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

const GAUGE = 3;		/* pixels: the height of the gauge of CPU in a bar */

/* Bars by colour, those that do not match faint; and in each the share of its time that
 * it computed. */
function drawBars(layer) {
	const bars = Array(2 * COLOURS).fill("");
	let gauge = "";

	for (let p = 0; p < piece.n; p++) {
		const x = clipX(piece.x0[p]), width = Math.max(.6, clipX(piece.x1[p]) - x);
		const y = laneY(piece.lane[p]), height = tasks.lanes.height[piece.lane[p]];
		const share = piece.wall[p] ? Math.min(1, piece.cpu[p] / piece.wall[p]) : 0;

		bars[piece.colour[p] * 2 + (piece.match[p] ? 0 : 1)] += box(x, y, width, height);
		if (share * width >= .5 && height > 2 * GAUGE && piece.match[p])
			gauge += box(x, y + height - GAUGE, width * share, GAUGE);
	}
	layer.group.classList.toggle("dense", piece.n > DENSE);
	for (let i = 0; i < 2 * COLOURS; i++)
		layer.path("bar c" + (i >> 1) + (i & 1 ? " dim" : ""), bars[i]);
	layer.path("gauge", gauge);
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
			const y = laneY(s.lane), height = tasks.lanes.height[s.lane];
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

/* Names in the widest bars */

function fit(text, width, size) {
	for (const all = text; ;) {
		const taken = widthOf(text, size);

		if (taken <= width)
			return text;
		const n = Math.min(text.length - 2, Math.floor(text.length * width / taken) - 1);
		if (n < 2)
			return "";
		text = all.slice(0, n) + "\u2026";
	}
}

/* The most of these that fits: name and time, the name, a part of it. */
function fitName(i, width, size) {
	const name = clean(labelOf(i)), whole = name + " " + wallText(i);

	return widthOf(whole, size) <= width ? whole : fit(name, width, size);
}

function drawNames(layer) {
	const list = [];
	let n = 0;

	for (let p = 0; p < piece.n; p++) {
		const width = clipX(piece.x1[p]) - clipX(piece.x0[p]);

		if (width >= LABEL_LEAST && tasks.lanes.height[piece.lane[p]] >= 10)
			list.push({ p, width });
	}
	list.sort((a, b) => b.width - a.width);
	for (const { p, width } of list.slice(0, LABELS_MAX)) {
		const height = tasks.lanes.height[piece.lane[p]], size = height >= 14 ? 11 : 9;
		const text = fitName(piece.task[p], width - 2 * LABEL_PAD -
				     (piece.ended[p] ? SIGN_WIDTH : 0), size);

		if (text)
			layer.text(n++, "name c" + piece.colour[p] + (size < 11 ? " small" : "") +
				   (piece.match[p] ? "" : " dim"), clipX(piece.x0[p]) + LABEL_PAD,
				   laneY(piece.lane[p]) + (height - GAUGE) / 2 + size * .36, text);
	}
	layer.cut(n);
}

/* What the end of the build waited for: a lane of its own */

const path_lane = { row: null, list: [] };

/* The tasks of the path by their start, with the kind of each link to the one before. */
function pathTasks() {
	const list = [];

	for (let i = 0; i < tasks.n; i++) {
		if (tasks.marks[i] & CRITICAL)
			list.push(i);
	}
	return list;
}

function drawPath() {
	const { layer, height } = path_lane.row, bars = Array(COLOURS).fill(""), wide = [];
	let worker = "", needed = "", last = -1, n = 0;

	path_lane.row.box.hidden = !view.path || !path_lane.list.length;
	for (const i of view.path ? path_lane.list : []) {
		const x0 = toX(tasks.start[i]), x1 = toX(tasks.end[i]);

		if (last >= 0 && x1 >= 0 && x0 <= view.width) {
			const link = "M" + px(clipX(Math.min(last, x0))) + " " + px(height - 2) +
				"H" + px(clipX(Math.max(x0, last) + 2));

			if (tasks.why[i] === WAIT_WORKER)
				worker += link;
			else
				needed += link;
		}
		last = x1;
		if (x1 < 0 || x0 > view.width)
			continue;
		bars[tasks.colour[i]] += box(clipX(x0), 0, Math.max(.6, clipX(x1) - clipX(x0)), height - 4);
		if (clipX(x1) - clipX(x0) >= LABEL_LEAST)
			wide.push(i);
	}
	bars.forEach((d, c) => layer.path("bar c" + c, d));
	layer.path("needed", needed);
	layer.path("worker", worker);
	for (const i of wide.slice(0, LABELS_MAX)) {
		const x = clipX(toX(tasks.start[i])), width = clipX(toX(tasks.end[i])) - x;

		layer.text(n++, "name c" + tasks.colour[i], x + LABEL_PAD, height / 2 + 2,
			   fitName(i, width - 2 * LABEL_PAD, 11));
	}
	layer.cut(n);
}

/* The task pointed at or chosen, and what it waited for */

function chainOf(i) {
	const chain = [];

	for (; i >= 0 && chain.length < CHAIN_MAX; i = tasks.before[i])
		chain.push(i);
	return chain;
}

function drawChain() {
	const i = view.hover >= 0 ? view.hover : view.task, layer = lanes.over;
	let boxes = "", links = "", chosen = "", last = null;

	for (const j of i < 0 ? [] : chainOf(i)) {
		const x0 = clipX(toX(tasks.start[j])), x1 = clipX(toX(tasks.end[j]));
		const y = laneY(tasks.lane[j]), height = tasks.lanes.height[tasks.lane[j]];
		const middle = y + height / 2;

		if (toX(tasks.end[j]) >= 0 && toX(tasks.start[j]) <= view.width && j !== view.task)
			boxes += box(x0, y, Math.max(1.5, x1 - x0), height);
		if (last)
			links += "M" + px(Math.min(x1, last.x)) + " " + px(middle) +
				"L" + px(last.x) + " " + px(last.middle);
		last = { x: x0, middle };
	}
	if (view.task >= 0 && tasks.end[view.task] >= view.from && tasks.start[view.task] <= view.until) {
		const x0 = clipX(toX(tasks.start[view.task])), x1 = clipX(toX(tasks.end[view.task]));

		chosen = box(x0, laneY(tasks.lane[view.task]), Math.max(1.5, x1 - x0),
			     tasks.lanes.height[tasks.lane[view.task]]);
	}
	layer.path("chain", boxes);
	layer.path("link", links);
	layer.path("chosen", chosen);
}

/* Places */

const lanes = { row: null, over: null };

function laneY(lane) {
	return tasks.lanes.y[lane];
}

/* Lanes fill the window, within bounds. */
function placeLanes() {
	const room = window.innerHeight - page.top.offsetHeight - 120;
	const nest = head.rows.filter(r => r.nest).length;
	const n = tasks.lanes.row.length - nest;
	const height = clamp((room - nest * NEST_HEIGHT) / Math.max(1, n), LANE_LEAST, LANE_MOST);
	let y = 0;

	lanes.row.gutter.replaceChildren();
	head.rows.forEach((row, r) => {
		const each = row.nest ? NEST_HEIGHT : height;
		const label = element("div", { "class": "label", "data-row": r, title: row.label },
				      lanes.row.gutter, row.label);

		label.style.height = each * row.lanes + "px";
		for (let l = row.first; l < row.first + row.lanes; l++, y += each) {
			tasks.lanes.y[l] = y + 1;
			tasks.lanes.height[l] = each - 2;
		}
	});
	sizeRow(lanes.row, Math.max(y, 20));
}

function scrollToLane(lane) {
	const r = lanes.row.svg.getBoundingClientRect(), y = r.top + laneY(lane);
	const top = page.top.offsetHeight;

	if (y < top + 4 || y > window.innerHeight - 60)
		window.scrollBy(0, y - top - (window.innerHeight - top) / 3);
}

/* The piece at a place of the window, or -1: the nearest within a few pixels. */
function pieceAt(client_x, client_y) {
	const r = lanes.row.svg.getBoundingClientRect();
	const x = client_x - r.left, y = client_y - r.top;
	let best = -1, distance = 3;

	if (!tasks.n || x < 0 || x > view.width)
		return -1;
	for (let lane = 0; lane < tasks.lanes.y.length; lane++) {
		if (y < laneY(lane) || y > laneY(lane) + tasks.lanes.height[lane])
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

function drawLanes() {
	const layer = lanes.row.layer, marks = walkLanes();

	layer.path("grid", gridPath(lanes.row.height));
	layer.path("queue", marks.queue.path(.5, 2));
	layer.path("busy", marks.busy.path(.5, 4));
	drawBars(layer);
	drawEnds(layer, marks.ended);
	drawNames(layer);
}

parts.push({
	make() {
		path_lane.row = makeRow(page.chart, "bb-path", "What the end of the build waited for");
		element("div", { "class": "label" }, path_lane.row.gutter, "path");
		path_lane.list = pathTasks();
		lanes.row = makeRow(page.chart, "bb-lanes", "Tasks by " + head.by);
		lanes.row.box.setAttribute("tabindex", "0");
		lanes.row.box.setAttribute("role", "group");
		lanes.row.box.setAttribute("aria-label", "Tasks by " + head.by + ": arrow keys choose");
		lanes.over = new Layer(make(SVG, "g", { "class": "over" }, lanes.row.svg));
	},
	layOut() {
		sizeRow(path_lane.row, 24);
		placeLanes();
	},
	draw() {
		drawPath();
		if (tasks.n)
			drawLanes();
	},
	over() {
		if (tasks.n)
			drawChain();
	},
});
