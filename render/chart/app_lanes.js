/* SPDX-License-Identifier: MIT */
/* Lanes: bars, how they ended, spans, and the rows' places */

const lanes = { row: null, over: null, spans: [], phases: null };
const GAUGE_LEAST = 3, GAUGE_MOST = 14;	/* pixels: the height of CPU in the lower part of a bar */
const GAUGE_NARROW = 4, GAUGE_WIDE = 24;	/* pixels: bars that share an area of CPU, and all of them */
const CURVE_LEAST = 8, CURVE_STEP = 2, CURVE_SHARE = .9;	/* pixels; of the time of a piece */
const PULSE_CPU = 16;		/* the level of one CPU */
const SIGN_HALF = 7, SIGN_ROOM = 240;	/* pixels: of a badge; that a name asks for */
const SPAN_HEIGHT = 12, SPAN_DEPTH = 3;

function laneY(lane) {
	return tasks.lanes.y[lane];
}

/* Of the bars of a lane, without spans. */
function barHeight(lane) {
	return tasks.lanes.bar[lane];
}

/* Of their lower part that shows CPU, 0: there is no room. */
function gaugeHeight(lane) {
	return tasks.lanes.gauge[lane];
}

/*
 * CPU in bars, as render/chart/bootchart_pulse.c draws it: an area over time, a second one for what
 * is above one CPU, and a line where only the mean is known. Narrow neighbours share an area.
 */
function Gauges() {
	this.last = null;
	this.d = Array(COLOURS).fill("");
	this.more = Array(COLOURS).fill("");
}

Gauges.prototype.add = function (p, x0, x1) {
	const lane = piece.lane[p], colour = piece.colour[p], i = piece.task[p], { last } = this;
	const narrow = x1 - x0 < GAUGE_NARROW, height = gaugeHeight(lane);
	const y = laneY(lane) + barHeight(lane) - height;

	if (narrow && last && last.y === y && last.colour === colour && x0 - last.x1 < 3 &&
	    x1 - last.x0 < GAUGE_WIDE) {
		last.x1 = x1;
		last.cpu += piece.cpu[p];
		last.wall += piece.wall[p];
		return;
	}
	this.flush();
	if (narrow)
		this.last = { colour, x0, x1, y, height, cpu: piece.cpu[p], wall: piece.wall[p] };
	else if (x1 - x0 >= CURVE_LEAST && tasks.end[i] - tasks.start[i] >= CURVE_SHARE * piece.busy[p] &&
		 tasks.pulses.has(i))
		this.curve(i, colour, x1, y, height);
	else if (piece.wall[p])
		this.d[colour] += box(x0, y + (height - 1) * (1 - Math.min(1, piece.cpu[p] / piece.wall[p])),
				      barWidth(x1 - x0), 1);
};

Gauges.prototype.flush = function () {
	const g = this.last, height = g && g.wall ? g.height * Math.min(1, g.cpu / g.wall) : 0;

	if (height >= .2)
		this.d[g.colour] += box(g.x0, g.y + g.height - height, g.x1 - g.x0, height);
	this.last = null;
};

/* The levels of a task that are in view, means of those closer than CURVE_STEP. */
Gauges.prototype.curve = function (i, colour, x1, y, height) {
	const levels = tasks.pulses.get(i), n = levels.length, start = toX(tasks.start[i]);
	const step = (toX(tasks.end[i]) - start) / n, each = Math.max(1, Math.ceil(CURVE_STEP / step));
	const until = clipX(start) + barWidth(x1 - clipX(start)), bottom = y + height;
	const further = Math.max(1, (head.cores || 2) - 1), area = [], more = [];
	let k = Math.max(0, Math.floor(-start / step));

	for (k -= k % each; k < n; k += each) {
		const from = clipX(start + k * step), part = levels.subarray(k, k + each);
		const cpus = part.reduce((sum, v) => sum + v, 0) / part.length / PULSE_CPU;

		if (from >= until)
			break;
		const to = Math.min(until, clipX(start + (k + each) * step));
		area.push([from, to, Math.min(1, cpus)]);
		more.push([from, to, clamp((cpus - 1) / further, 0, 1)]);
	}
	this.d[colour] += pulsePath(area, bottom, height);
	if (more.some(m => m[2] > .1 / further))
		this.more[colour] += pulsePath(more, bottom, height);
};

/* Steps [from, until, part of the height], one behind the other. */
function pulsePath(steps, bottom, height) {
	let d = "", last = null;

	for (const [from, until, part] of steps) {
		const y = px(bottom - part * height);

		d += (last === null ? "M" + px(from) + " " + px(bottom) : "") + (y === last ? "" : "V" + y) +
			"H" + px(until);
		last = y;
	}
	return d && d + "V" + px(bottom) + "z";
}

/* The bars by colour, those that do not match faint; and in each its CPU. */
function drawBars(layer) {
	const bars = Array(2 * COLOURS).fill(""), named = [], gauges = new Gauges();

	for (let p = 0; p < piece.n; p++) {
		const x = clipX(piece.x0[p]), width = Math.max(.6, clipX(piece.x1[p]) - x);
		const lane = piece.lane[p], y = laneY(lane), height = barHeight(lane);

		bars[piece.colour[p] * 2 + (piece.match[p] ? 0 : 1)] += barBox(x, y, width, height);
		if (piece.match[p] && gaugeHeight(lane))
			gauges.add(p, x, x + width);
		if (width >= LABEL_LEAST)
			named.push({ x0: x, x1: x + width, y, height: height - gaugeHeight(lane),
				     task: piece.task[p], count: piece.count[p], busy: piece.busy[p],
				     colour: piece.colour[p], dim: !piece.match[p], lane });
	}
	gauges.flush();
	layer.group.classList.toggle("dense", piece.n > DENSE);
	for (let i = 0; i < 2 * COLOURS; i++)
		layer.path("bar c" + (i >> 1) + (i & 1 ? " dim" : ""), bars[i]);
	for (let i = 0; i < COLOURS; i++) {
		layer.path("gauge c" + i, gauges.d[i]);
		layer.path("gauge more c" + i, gauges.more[i]);
	}
	return named;
}

/* Above the bars of the path: a bracket. */
function bracketPath(strips) {
	return strips.list.map(s => {
		const x = clipX(s.x0), width = Math.max(1, clipX(s.x1) - x), y = laneY(s.lane);

		return width < 5 ? "M" + px(x) + " " + px(y - 1) + "h" + px(width) :
			"M" + px(x + .5) + " " + px(y + 3) + "V" + px(y - 1) + "h" + px(width - 1) + "v4";
	}).join("");
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

/* Of a bar that grows. */
function arrow(x, y) {
	return "M" + px(x) + " " + px(y - 5) + "l5 5l-5 5";
}

/* Returns where the badges of each lane are. */
function drawEnds(layer, ended) {
	const signs = ["", "", "", ""], places = [];
	let badges = "";

	for (const state of [UNFINISHED, KILLED, FAILED]) {
		let d = "", lane = -1, last = -100;		/* of the badge before */

		for (const s of ended[state].list) {
			const x = clipX(s.x0), width = Math.max(1, clipX(s.x1) - x);
			const y = laneY(s.lane), height = barHeight(s.lane);
			const at = clamp(x + width - (width > 22 ? 8 : width / 2), 5.5, view.width - 5.5);

			d += state !== UNFINISHED ? box(x, y, width, height) : openEnd(x, y, width, height) +
				(head.running ? arrow(Math.min(x + width, view.width) - 6, y + height / 2) : "");
			if (state === UNFINISHED || (s.lane === lane && at - last < 11))
				continue;
			lane = s.lane;
			last = at;
			(places[lane] = places[lane] || []).push(at);
			badges += sign("badge", at, y + height / 2);
			signs[state] += sign(state === FAILED ? "cross" : "bolt", at, y + height / 2);
		}
		layer.path(endName(state), d);
	}
	layer.path("badge", badges);
	layer.path("bolt", signs[KILLED]);
	layer.path("cross", signs[FAILED]);
	return places;
}

/* The name of a bar goes where most of it is free of badges. */
function besideSigns(bar, signs) {
	const free = [];
	let from = bar.x0;

	for (const x of (signs || []).filter(at => at > bar.x0 - SIGN_HALF && at < bar.x1 + SIGN_HALF)
		.sort((a, b) => a - b)) {
		free.push([from, x - SIGN_HALF]);
		from = x + SIGN_HALF;
	}
	if (!free.length)
		return;
	free.push([from, bar.x1]);
	[bar.x0, bar.x1] = free.find(f => f[1] - f[0] >= SIGN_ROOM) ||
		free.reduce((a, b) => b[1] - b[0] > a[1] - a[0] ? b : a);
}

/* Spans: thin bars of their own below those of their task */

/* Spans by lane, and how deep they are; those of no task are phases of the build. */
function indexSpans() {
	const by_lane = tasks.lanes.row.map(() => []), depths = tasks.lanes.row.map(() => 0);
	const build = [], nest = list => {
		const open = [];

		list.sort((a, b) => a.from - b.from || b.until - a.until);
		for (const s of list) {
			while (open.length && open[open.length - 1].until <= s.from)
				open.pop();
			s.depth = open.length;
			open.push(s);
		}
		return list.filter(s => s.depth < SPAN_DEPTH);
	};

	for (const s of phases)
		(s.task < 0 ? build : by_lane[tasks.lane[s.task]]).push(s);
	lanes.spans = by_lane.map(nest);
	lanes.phases = nest(build);
	lanes.spans.forEach((list, lane) => list.forEach(s =>
		depths[lane] = Math.max(depths[lane], s.depth + 1)));
	tasks.lanes.depth = depths;
	lanes.phase_depth = lanes.phases.reduce((most, s) => Math.max(most, s.depth + 1), 0);
}

/* Of one list: boxes, and names where they fit. */
function spanBoxes(list, y, texts) {
	const last = Array(SPAN_DEPTH).fill(null), boxes = [];

	for (const s of list) {
		const x0 = toX(s.from), x1 = toX(s.until), before = last[s.depth];

		if (x1 < 0 || x0 > view.width)
			continue;
		if (before && x0 - before.x1 < CLOSE &&
		    (x1 - x0 < SMALL || before.x1 - before.x0 < SMALL)) {
			before.x1 = Math.max(before.x1, clipX(x1));
			before.n++;
			before.sum += s.until - s.from;
			if (s.until - s.from > before.s.until - before.s.from)
				before.s = s;
			continue;
		}
		last[s.depth] = { x0: clipX(x0), x1: clipX(x1), y: y + s.depth * SPAN_HEIGHT, n: 1,
				  sum: s.until - s.from, s };
		boxes.push(last[s.depth]);
	}
	texts.push(...boxes.filter(b => b.x1 - b.x0 >= LABEL_LEAST));
	return boxes.map(b => box(b.x0, b.y, Math.max(.6, b.x1 - b.x0), SPAN_HEIGHT - 1)).join("");
}

function drawSpans(layer) {
	const texts = [];
	let d = spanBoxes(lanes.phases, 1, texts), n = 0;

	lanes.spans.forEach((list, lane) => {
		if (list.length)
			d += spanBoxes(list, laneY(lane) + tasks.lanes.height[lane] -
				       tasks.lanes.depth[lane] * SPAN_HEIGHT, texts);
	});
	layer.path("span", d);
	for (const b of texts.slice(0, LABELS_MAX)) {
		const name = clean(b.s.name), time = timeText((b.s.until - b.s.from) * head.unit_us);
		const many = 2 * (b.s.until - b.s.from) < b.sum;
		const text = firstThatFits(many ? ["\u00d7" + countText(b.n)] : [name + " " + time, name],
					   b.x1 - b.x0 - 4, 10);

		if (text)
			layer.text(n++, "span-name", b.x0 + 2, b.y + SPAN_HEIGHT - 3, text);
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

function taskBox(i) {
	const x0 = clipX(toX(tasks.start[i])), x1 = clipX(toX(tasks.end[i]));

	return tasks.end[i] < view.from || tasks.start[i] > view.until ? "" :
		box(x0, laneY(tasks.lane[i]), Math.max(2, x1 - x0 - 1.8), barHeight(tasks.lane[i]));
}

function drawChain() {
	const i = view.hover >= 0 ? view.hover : view.task, layer = lanes.over;
	let links = "", last = null;

	for (const j of i < 0 ? [] : chainOf(i)) {
		const x0 = clipX(toX(tasks.start[j])), x1 = clipX(toX(tasks.end[j]));
		const middle = laneY(tasks.lane[j]) + barHeight(tasks.lane[j]) / 2;

		if (last)
			links += "M" + px(Math.min(x1, last.x)) + " " + px(middle) +
				"L" + px(last.x) + " " + px(last.middle);
		last = { x: x0, middle };
	}
	layer.path("link under", links);
	layer.path("link", links);
	layer.path("hovered", view.hover >= 0 && view.hover !== view.task ? taskBox(view.hover) : "");
	layer.path("chosen", view.task >= 0 ? taskBox(view.task) : "");
}

/* Places */

/* The label of a row as far as it fits: the end of a path, a recipe without its version. */
function rowLabel(text, width) {
	const short = head.recipes ? withoutVersion(text) : text, font = 12;

	if (widthOf(short, font) <= width)
		return short;
	for (let at = short.indexOf("/"); at >= 0; at = short.indexOf("/", at + 1)) {
		if (widthOf("\u2026" + short.slice(at), font) <= width)
			return "\u2026" + short.slice(at);
	}
	return short.indexOf("/") < 0 ? fit(short, width, font) : fitEnd(short, width, font);
}

function addLabel(parent, text, height, title, row) {
	const label = element("div", { "class": "label", title, "data-row": row }, parent, text);

	label.style.height = height + "px";
	return label;
}

/* Labels that would be the same are cut at their beginning. */
function rowLabels(width) {
	const all = head.rows.map(r => rowLabel(clean(r.label), width));

	return all.map((text, k) => all.indexOf(text) === all.lastIndexOf(text) ? text :
		fitEnd(clean(head.rows[k].label), width, 12));
}

/* Lanes fill the window, within bounds. */
function laneHeights() {
	const top = page.head.offsetHeight + page.top.offsetHeight + lanes.row.box.offsetTop;
	const count = nest => head.rows.filter(r => r.tasks && r.nest === nest)
		.reduce((sum, r) => sum + r.lanes, 0);
	const nest = count(true) * NEST_HEIGHT > window.innerHeight / 6 ? NEST_LEAST : NEST_HEIGHT;
	const spans = tasks.lanes.depth.reduce((sum, d) => sum + d, lanes.phase_depth);
	const below = Math.max(46, window.innerHeight * .12);	/* the first panel is seen, too */
	const room = window.innerHeight - top - below - spans * SPAN_HEIGHT - nest * count(true);

	const least = clamp(LANES_MOST / Math.max(1, count(false)), 3, LANE_LEAST);
	const most = clamp(window.innerHeight / 20, LANE_MOST, 2 * LANE_MOST);

	return { nest, wide: Math.floor(clamp(room / Math.max(1, count(false)), least, most)) };
}

function placeLanes() {
	const height = laneHeights(), l = tasks.lanes, gutter = lanes.row.gutter;
	const labels = rowLabels(page.gutter - 10);
	let y = 0;

	gutter.replaceChildren();
	if (lanes.phase_depth) {
		y = lanes.phase_depth * SPAN_HEIGHT + 3;
		addLabel(gutter, "phases", y, "phases of the build", -1);
	}
	head.rows.forEach((row, r) => {
		const from = y;

		for (let lane = row.first; lane < row.first + row.lanes; lane++) {
			const each = !row.tasks ? 0 : row.nest ? height.nest : height.wide;

			const thin = row.nest || each < 12;

			l.y[lane] = y + (each < 12 ? 1 : 2);
			l.bar[lane] = Math.max(0, each - (each < 12 ? 1 : row.nest ? 2 : 3));
			l.gauge[lane] = thin ? 0 : clamp(Math.min(.3 * l.bar[lane],
				Math.max(.2 * l.bar[lane], l.bar[lane] - 14)), GAUGE_LEAST, GAUGE_MOST);
			y += each + l.depth[lane] * SPAN_HEIGHT;
			l.height[lane] = Math.max(0, y - l.y[lane]);
		}
		if (y > from)
			addLabel(gutter, labels[r], y - from, clean(row.label) + ": " +
				 countText(row.tasks) + (row.tasks === 1 ? " task, " : " tasks, ") +
				 timeText(row.busy * head.unit_us), r);
	});
	sizeRow(lanes.row, Math.max(y + 2, 20));
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
	const x = client_x - r.left, y = client_y - r.top, { y: top, height } = tasks.lanes;
	let best = -1, distance = 3;

	if (!tasks.n || x < 0 || x > view.width)
		return -1;
	const lane = above(top, y, 0, top.length) - 1;
	if (lane < 0 || y > top[lane] + height[lane])
		return -1;
	const from = piece.first[lane], until = piece.first[lane + 1];
	const at = above(piece.x0, x, from, until);
	/* Pieces of a crowded lane may overlap a little. */
	for (let p = Math.max(from, at - 8); p < Math.min(until, at + 1); p++) {
		const d = Math.max(piece.x0[p] - x, x - piece.x1[p]);

		if (d <= distance && (d < distance || d < 0)) {
			distance = d;
			best = p;
		}
	}
	return best;
}

function drawLanes() {
	const layer = lanes.row.layer, marks = walkLanes();

	layer.path("grid", gridPath(lanes.row.height));
	layer.path("queue", marks.queue.path(.5, 2));
	layer.path("busy", marks.busy.path(.5, 4));
	const named = drawBars(layer);
	drawSpans(lanes.thin);
	layer.path("onpath", view.path ? bracketPath(marks.path[1]) : "");
	layer.path("onpath worker", view.path ? bracketPath(marks.path[2]) : "");
	const signs = drawEnds(layer, marks.ended);
	named.forEach(b => besideSigns(b, signs[b.lane]));
	drawBarNames(layer, named, head.by);
}

parts.push({
	make() {
		lanes.row = makeRow(page.chart, "bb-lanes", "Tasks by " + head.by);
		lanes.row.box.setAttribute("tabindex", "0");
		lanes.row.box.setAttribute("role", "group");
		lanes.row.box.setAttribute("aria-label", "Tasks by " + head.by + ": arrow keys choose");
		lanes.thin = new Layer(make(SVG, "g", { "class": "draw" }, lanes.row.svg));
		lanes.over = new Layer(make(SVG, "g", { "class": "over" }, lanes.row.svg));
		lanes.nothing = element("p", { "class": "nothing" }, page.chart);
	},
	fill() {
		if (lanes.ran !== !!head.running)
			lanes.row.layer.clear();
		lanes.ran = !!head.running;
		lanes.nothing.hidden = tasks.n > 0;
		lanes.nothing.textContent = head.running ? "No task has started yet." : "No task was recorded.";
		tasks.lanes.bar = tasks.lanes.row.map(() => 0);
		tasks.lanes.gauge = tasks.lanes.row.map(() => 0);
		indexSpans();
	},
	layOut: placeLanes,
	draw() {
		if (tasks.n)
			drawLanes();
	},
	over() {
		if (tasks.n)
			drawChain();
	},
});
