/* SPDX-License-Identifier: MIT */
/* What happened within a task: its memory, its phases and processes, the tasks inside it */

const FLAME_ROW = 18, FLAME_ROWS = 14, CURVE_HEIGHT = 44, FLAME_NAMED = 30, SUMS_MOST = 6;

/* Spans below those that contain them; side by side, below each other. {from, until, name, row} */
function spansOf(i) {
	const list = phases.filter(p => p.task === i).sort((a, b) => a.from - b.from || b.until - a.until);
	const ends = [], around = [], spans = [];

	for (const p of list) {
		while (around.length && around[around.length - 1].until < p.until)
			around.pop();
		let row = around.length ? around[around.length - 1].row + 1 : 0;

		while (ends[row] > p.from)
			row++;
		ends[row] = p.until;
		const span = { from: p.from, until: p.until, name: clean(p.name), row, task: -1, colour: tasks.colour[i] };

		around.push(span);
		spans.push(span);
	}
	return spans;
}

/* The tasks of the builds that ran in it, in as few rows as they need. */
function insideOf(i, first) {
	const ends = [], list = [];

	for (let j = i + 1; j < tasks.n && tasks.start[j] < tasks.end[i]; j++) {
		if (tasks.parent[j] !== i)
			continue;
		let row = 0;

		while (ends[row] > tasks.start[j])
			row++;
		ends[row] = tasks.end[j];
		list.push({ from: tasks.start[j], until: tasks.end[j], name: "", row: first + row, task: j, held: hold(j),
			    colour: tasks.colour[j] });
	}
	return list;
}

function nameOfSpan(s) {
	return s.task < 0 ? s.name : labelOf(s.task);
}

/* Boxes of a row that are too small to see are not drawn, names where they fit. */
function drawFlame(layer, list, i, width, top) {
	const start = tasks.start[i], k = width / Math.max(1, tasks.end[i] - start);
	const bars = Array(COLOURS).fill(""), edge = [], names = [];
	let boxes = "";

	for (const s of list) {
		const x0 = clamp((s.from - start) * k, 0, width), x1 = clamp((s.until - start) * k, 0, width);
		const y = top + s.row * FLAME_ROW, name = nameOfSpan(s);

		if (s.row >= FLAME_ROWS || x1 - (edge[s.row] || -1) < .5)
			continue;
		edge[s.row] = x1;
		if (s.task < 0)
			boxes += box(x0 + .5, y + .5, Math.max(.6, x1 - x0 - 1), FLAME_ROW - 2);
		else
			bars[s.colour] += barBox(x0, y + .5, x1 - x0, FLAME_ROW - 2);
		if (x1 - x0 < FLAME_NAMED)
			continue;
		const text = fit(name, x1 - x0 - 6, 11);

		if (text)
			names.push([s.task < 0 ? "span-name" : "name c" + s.colour, x0 + 3, y + 12.5, text]);
	}
	layer.path("span", boxes);
	bars.forEach((d, c) => layer.path("bar c" + c, d));
	names.forEach((name, n) => layer.text(n, ...name));	/* above all bars */
}

function curvePath(points, width) {
	const step = width / points.length;
	let d = "M0 " + CURVE_HEIGHT;

	points.forEach((v, k) => {
		const y = px(CURVE_HEIGHT - v * (CURVE_HEIGHT - 2) / 63);

		d += "L" + px(k * step) + " " + y + "H" + px((k + 1) * step);
	});
	return d + "V" + CURVE_HEIGHT + "z";
}

/* By name, the most time first: also for those who do not see the boxes. */
function addSums(parent, spans) {
	const sums = new Map();

	for (const s of spans) {
		const sum = sums.get(s.name) || { n: 0, time: 0 };

		sum.n++;
		sum.time += s.until - s.from;
		sums.set(s.name, sum);
	}
	const list = Array.from(sums).sort((a, b) => b[1].time - a[1].time);
	const ul = element("ul", { "class": "sums" }, parent);

	for (const [name, { n, time }] of list.slice(0, SUMS_MOST)) {
		const li = element("li", {}, ul, name + (n > 1 ? " \u00d7 " + countText(n) : ""));

		element("span", { "class": "time" }, li, lengthText(time * head.unit_us));
	}
	if (list.length > SUMS_MOST)
		element("li", {}, ul, "and " + countText(list.length - SUMS_MOST) + " more names");
}

function addFlame(parent, i) {
	const points = tasks.sparks.get(i), spans = spansOf(i);
	const depth = spans.reduce((most, s) => Math.max(most, s.row + 1), 0), inside = insideOf(i, depth);
	const rows = Math.min(FLAME_ROWS, inside.reduce((most, s) => Math.max(most, s.row + 1), depth));
	const top = points ? CURVE_HEIGHT + 16 : 0, height = top + rows * FLAME_ROW + 16;

	if (!points && !rows)
		return;
	element("h3", {}, parent, "Over its " + wallText(i));
	const style = getComputedStyle(page.detail), width = Math.max(200, page.detail.clientWidth -
		parseFloat(style.paddingLeft) - parseFloat(style.paddingRight));
	const svg = make(SVG, "svg", { "class": "plot flame", width, height, role: "img" }, parent);
	const layer = new Layer(make(SVG, "g", {}, svg)), all = spans.concat(inside), texts = [];

	if (points) {
		layer.path("area c" + tasks.colour[i], curvePath(points, width));
		texts.push("memory" + (tasks.marks[i] & SUMMED ? ", up to " + sizeText(tasks.memory[i]) : ""));
	}
	drawFlame(layer, all, i, width, top);
	if (points)
		make(SVG, "text", { "class": "tick start", x: 0, y: CURVE_HEIGHT + 12 }, svg).textContent = texts[0];
	make(SVG, "text", { "class": "tick start", x: 0, y: height - 3 }, svg).textContent = "0";
	make(SVG, "text", { "class": "tick end", x: width, y: height - 3 }, svg).textContent = wallText(i);
	if (spans.length)
		texts.push(countText(spans.length) + " phases and processes");
	if (inside.length)
		texts.push(countText(inside.length) + " tasks inside");
	svg.setAttribute("aria-label", texts.join("; "));
	const start = tasks.start[i], end = tasks.end[i], at = e => {
		const r = svg.getBoundingClientRect(), row = Math.floor((e.clientY - r.top - top) / FLAME_ROW);
		const t = start + (e.clientX - r.left) / width * (end - start), slack = (end - start) / width;

		return all.find(s => s.row === row && s.from - slack <= t && s.until + slack >= t);
	};

	svg.addEventListener("pointermove", guard(e => {
		const s = at(e);

		page.status.textContent = s ? nameOfSpan(s) + " \u00b7 " + lengthText((s.until - s.from) * head.unit_us) +
			" \u00b7 after " + lengthText((s.from - start) * head.unit_us) : "";
		svg.style.cursor = s && s.task >= 0 ? "pointer" : "";
	}));
	svg.addEventListener("pointerleave", () => page.status.textContent = "");
	svg.addEventListener("click", guard(e => {
		const s = at(e);

		if (s && s.task >= 0)
			reveal(s.held());
	}));
	if (spans.length)
		addSums(parent, spans);
	if (inside.length)
		addInside(parent, inside);
}

/* The longest of them, to be chosen without a pointer, too. */
function addInside(parent, inside) {
	const list = inside.slice().sort((a, b) => (b.until - b.from) - (a.until - a.from));

	element("h3", {}, parent, "Inside it: " + countText(list.length) + (list.length === 1 ? " task" : " tasks"));
	addTasks(parent, list.map(s => ({ task: s.task, why: 0, word: "" })), list.length);
}
