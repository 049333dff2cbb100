/* SPDX-License-Identifier: MIT */
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
	if (!area) {
		const d = linePath(bin.y, bin.x);

		p.layer.path("line halo c" + b.colour, d);
		p.layer.path("line c" + b.colour, d);
	}
}

/* The curve of the other build, which the static picture has: of the whole time, in its pixels. */
function readOther(p) {
	const line = find("#p-" + p.word + " .line.ghost"), plot = line && line.closest("svg");

	if (line)
		p.other = { line: line.cloneNode(), width: plot.width.baseVal.value,
			    height: plot.height.baseVal.value };
	if (line)
		p.top.group.appendChild(p.other.line);
}

function placeOther(p) {
	const k = view.width / (view.until - view.from);

	if (p.other)
		p.other.line.setAttribute("transform", "translate(" + -view.from * k + " 0) scale(" +
			head.end * k / p.other.width + " " + p.height / p.other.height + ")");
}

function drawPanel(p) {
	const n = Math.ceil(view.width / COLUMN);
	const upTo = t => above(p.time, t, 0, p.time.length), seen = upTo(view.until) - upTo(view.from);
	const dense = seen > n;

	p.late = false;
	p.layer.group.classList.toggle("dense", seen > 2 * n);
	drawAxes(p);
	placeOther(p);
	p.layer.path("gap", gapPath(p));
	if (p.total)
		drawStack(p, n, dense);
	for (const b of p.bands.filter(x => x.mark !== "stack"))
		drawBand(p, b, n, dense);
}

/* Axes: ticks in the gutter and, of a right axis, right of the plot; a grid; a limit */

function ticksThatFit(ticks, height) {
	const every = Math.ceil(ticks.length * 13 / (height + 13)) || 1;

	return ticks.filter((_, k) => (ticks.length - 1 - k) % every === 0);
}

function addTicks(parent, ticks, p, ceiling) {
	parent.replaceChildren(...ticksThatFit(ticks, p.height).map(([value, label]) => {
		const e = element("span", { "class": "mark" }, null, label);

		e.style.top = clamp(p.height * (1 - value / ceiling), 5, p.height - 6) + "px";
		return e;
	}));
}

function levelPath(p, value, ceiling) {
	const y = clamp(p.height * (1 - value / ceiling), .5, p.height - .5);

	return "M0 " + px(y) + "h" + px(view.width);
}

function placeAxes(p) {
	addTicks(p.row.gutter, p.ticks, p, p.ceiling);
	if (p.right_ticks.length)
		addTicks(p.right, p.right_ticks, p, p.right_ceiling);
}

function drawAxes(p) {
	const limited = p.limit !== null && p.limit <= p.ceiling;

	p.layer.path("grid", gridPath(p.height) +
		     ticksThatFit(p.ticks, p.height).map(t => levelPath(p, t[0], p.ceiling)).join(""));
	p.top.path("limit", limited ? levelPath(p, p.limit, p.ceiling) : "");
	if (!limited || !p.limit_label)
		return;
	const y = p.height * (1 - p.limit / p.ceiling);

	p.top.text(0, "limit-label end", view.width - 4, y < 14 ? y + 11 : y - 4, p.limit_label);
}

/* Their places in the page */

function swatch(parent, colour, mark) {
	const svg = make(SVG, "svg", { "class": "swatch", width: 11, height: 11 }, parent);

	make(SVG, "rect", { "class": "c" + colour, width: 11, height: mark === "line" ? 3 : 11,
		y: mark === "line" ? 4 : 0 }, svg);
	return svg;
}

function foldPanel(p, folded) {
	p.folded = folded;
	p.row.box.hidden = folded;
	p.fold.setAttribute("aria-expanded", !folded);
	request(true);
}

function bandValues(p, b) {
	const unit = b.right ? p.right_unit : p.unit;

	if (b.max === undefined || b.max < 0)
		return "";
	return (b.max ? "max " : "") + valueText(unit, b.max) + (!b.max ? "" : b.total !== null ?
		", total " + bytesText(b.total) : ", mean " + valueText(unit, b.mean)) +
		(b.right ? ", right axis" : "");
}

/* An entry of the legend. That of one task chooses it. */
function addKey(parent, p, b) {
	const title = b.meaning || "", task = b.task === undefined ? null : hold(b.task);
	const held = () => reveal(task());
	const key = b.task === undefined ? element("span", { "class": "key", title }, parent) :
		button(parent, "", "Choose " + clean(b.label), held);

	key.classList.add("key");
	swatch(key, b.colour, b.mark);
	element("span", {}, key, clean(b.label));
	element("span", { "class": "values" }, key, bandValues(p, b));
}

/* What a panel has in the page: new data get that of the same panel before. */
const PANEL_KEPT = ["box", "fold", "legend", "now", "row", "layer", "top", "right", "other", "folded", "seen",
		    "said"];
const shown_panels = new Map();	/* by their words */
let panel_observer = null;

function bandsOf(p) {
	return p.bands.map(b => b.mark + b.colour).join(" ");
}

function fillPanel(p) {
	const before = shown_panels.get(p.word);

	if (before)
		PANEL_KEPT.forEach(name => p[name] = before[name]);
	if (before && bandsOf(before) !== bandsOf(p))
		p.layer.clear();
	if (!before)
		makePanel(p);
	shown_panels.set(p.word, p);
	renew(p.legend, parent => {
		p.bands.forEach(b => addKey(parent, p, b));
		if (p.note)
			element("span", { "class": "values" }, parent, p.note);
	});
}

function fillPanels() {
	for (const [word, p] of shown_panels) {
		if (!panels.some(x => x.word === word)) {
			p.box.remove();
			shown_panels.delete(word);
		}
	}
	panels.forEach(fillPanel);
	/* In their order, below everything else. */
	for (let k = panels.length - 1, next = null; k >= 0; next = panels[k--].box) {
		if (panels[k].box.nextSibling !== next)
			page.chart.insertBefore(panels[k].box, next);
	}
}

function makePanel(p) {
	p.box = element("section", { "class": "panel", id: "bb-p-" + p.word }, page.chart);
	const title = element("h2", {}, p.box);

	p.fold = button(title, p.title, p.title + ": fold or unfold", () => {
		foldPanel(shown_panels.get(p.word), !shown_panels.get(p.word).folded);
		layOut();
	});
	p.fold.setAttribute("class", "fold");
	const said = element("span", { "class": "said" }, title);
	p.legend = element("span", { "class": "legend" }, said);
	p.now = element("span", { "class": "now" }, said);
	p.row = makeRow(p.box, "bb-r-" + p.word, p.title);
	p.layer = p.row.layer;
	p.top = new Layer(make(SVG, "g", {}, p.row.svg));
	p.right = element("div", { "class": "right" }, p.row.box);
	readOther(p);
	foldPanel(p, false);
	if (panel_observer)
		panel_observer.observe(p.box);
}

/* Panels outside of the window are drawn when they come into it. */
function watchPanels() {
	if (typeof IntersectionObserver === "undefined")
		return;
	panel_observer = new IntersectionObserver(guard(entries => {
		for (const e of entries) {
			const p = panels.find(x => x.box === e.target);

			if (!p)
				continue;
			p.seen = e.isIntersecting;
			if (p.seen && p.late && !p.folded)
				drawPanel(p);
		}
	}), { rootMargin: "100px" });
}

/* As high as the window has room for, when the lanes have theirs. */
function panelHeight() {
	const shown = panels.filter(p => !p.folded).length;
	const taken = page.head.offsetHeight + page.top.offsetHeight + lanes.row.box.offsetTop +
		lanes.row.height;

	return Math.floor(clamp((window.innerHeight - taken - 30) / Math.max(1, shown) - 34, PANEL_LEAST +
				(page.chart.clientWidth < NARROW ? 0 : 12), PANEL_MOST));
}

/* The values at a time. */
function valuesAt(p, t) {
	const i = above(p.time, t - 1e-9, 0, p.time.length), texts = [];

	for (const b of p.bands) {
		const v = i && i < p.time.length ? b.value[i] - 1 : -1;

		if (v >= 0)
			texts.push(b.label + " " + valueText(b.right ? p.right_unit : p.unit,
				v / p.steps * (b.right ? p.right_ceiling : p.ceiling)));
	}
	return texts.join(" \u00b7 ");
}

parts.push({
	make: watchPanels,
	fill: fillPanels,
	layOut() {
		const height = panelHeight();

		for (const p of panels) {
			p.height = height;
			sizeRow(p.row, height);
			placeAxes(p);
			if (typeof IntersectionObserver !== "undefined" && p.seen === undefined)
				p.seen = p.box.getBoundingClientRect().top < window.innerHeight;
		}
	},
	draw() {
		for (const p of panels.filter(x => !x.folded)) {
			p.late = p.seen === false;
			if (!p.late)
				drawPanel(p);
		}
	},
	over() {
		for (const p of panels) {
			const text = view.cross < 0 || p.folded ? "" : valuesAt(p, toTime(view.cross));

			if (p.said !== text)
				p.now.textContent = p.said = text;
		}
	},
});
