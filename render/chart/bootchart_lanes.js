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
