/* SPDX-License-Identifier: MIT */
/* Pieces of lanes: neighbours too small to see are one piece */

const piece = { n: 0, size: 0, first: [] };

function roomForPieces() {
	const size = piece.size ? 2 * piece.size : 4096;

	for (const name of ["x0", "x1", "lane", "task", "count", "colour", "cpu", "wall", "busy",
			    "ended", "match"]) {
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
	for (const name of ["count", "cpu", "wall", "busy", "ended", "match"])
		piece[name][p] = 0;
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
	piece.count[p]++;
	piece.busy[p] += wall;
	time_of_colour[colour] += wall + 1e-9;
	if (piece.count[p] === 1 || time_of_colour[colour] > time_of_colour[piece.colour[p]])
		piece.colour[p] = colour;
	if (tasks.cpu[i] >= 0 && !(tasks.marks[i] & HOSTS)) {
		piece.cpu[p] += units(tasks.cpu[i] / 1e6);
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
		const all = barHeight(s.lane), h = height ? Math.min(height, all) : all;

		d += box(clipX(s.x0), laneY(s.lane) + part * (all - h),
			 Math.max(.5, clipX(s.x1) - clipX(s.x0)), h);
	}
	return d;
};

function box(x, y, width, height) {
	return "M" + px(x) + " " + px(y) + "h" + px(width) + "v" + px(height) + "h-" + px(width) + "z";
}

/* A bar: a little of the ground is between it and the next. */
function barBox(x, y, width, height) {
	return box(x, y, barWidth(width), height);
}

function barWidth(width) {
	return width > 6 ? width - 1.8 : width > 2.5 ? width - .8 : Math.max(.6, width);
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
		if (tasks.link[i])
			marks.path[tasks.link[i]].add(lane, x0, x1);
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
		const marks = { queue: new Strips(close), busy: new Strips(close),
			path: [null, new Strips(close), new Strips(close)],
			ended: STATES.map(() => new Strips(close)) };

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
