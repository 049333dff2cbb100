/* SPDX-License-Identifier: MIT */
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
