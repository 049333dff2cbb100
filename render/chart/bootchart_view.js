/* SPDX-License-Identifier: MIT */
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

// The spans around one are listed before it.
function addSpans(parent, spans) {
	spans.forEach((f, k) => {
		const depth = spans.filter((g, n) => n < k && g.from <= f.from && g.until >= f.until).length;

		line(parent, "", "span " + "\u203a ".repeat(depth) + clean(f.name) + ": " +
		     timeText((f.until - f.from) * head.unit_us));
	});
}

/* A link to the lines on the page with the output. */
function addLines(parent, i) {
	const n = tasks.lines.get(i);
	const link = make(HTML, "a", { href: "log.html#t" + i, target: "log" }, parent);

	link.textContent = countText(n) + (n === 1 ? " line" : " lines") + " of output";
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
	if (tasks.lines.has(i))
		addLines(line(parent, "", ""), i);
	addGhost(parent, i);
	if (tasks.parent[i] >= 0)
		line(parent, "", "inside " + clean(nameOf(tasks.parent[i])));
	addChain(parent, i);
	addSpans(parent, phases.filter(x => x.task === i).slice(0, 6));
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
