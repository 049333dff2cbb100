/* SPDX-License-Identifier: MIT */
/* Classes over time: stepped areas, one on the other */

const areas = { bands: [] };
const BANDS_MOST = 7, AREA_LEFT = 70, AREA_RIGHT = 12, AREA_TOP = 8, AREA_BOTTOM = 22;
const SVG = "http://www.w3.org/2000/svg";

function draw(name, attributes, parent, text) {
	const e = document.createElementNS(SVG, name);

	for (const key in attributes)
		e.setAttribute(key, attributes[key]);
	if (text !== undefined)
		e.textContent = text;
	parent.appendChild(e);
	return e;
}

function makeAreas(section) {
	const tools = make("div", { "class": "tools" }, section);

	if (head.heap_classes.length) {
		areas.kind = makeChoice(tools, "What is divided", [
			["memory", "memory", "all mappings of the process"],
			["heap", "heap", "live allocations by call stack"]], kind => {
				view.kind = kind;
				enterClass(0);
			});
	}
	areas.metric = make("select", { "aria-label": "Metric" }, tools);
	for (const value of head.values)
		make("option", { value }, areas.metric, VALUE_TITLES[value] || value);
	areas.metric.addEventListener("change", () => {
		view.metric = areas.metric.value;
		enterClass(view.class);
	});
	areas.crumbs = make("nav", { "class": "crumbs", "aria-label": "Class" }, tools);
	areas.box = make("div", { "class": "areas", tabindex: 0, role: "group",
		"aria-label": "Classes of memory over time: +, - and arrow keys zoom and move" }, section);
	areas.svg = draw("svg", { role: "img" }, areas.box);
	areas.legend = make("ul", { "class": "keys classes", "aria-label": "Classes" }, section);
	areas.zoom = makeZoom({
		box: areas.box,
		plot: () => [areas.svg.getBoundingClientRect().left + AREA_LEFT, areas.width],
		range: view.areas,
		least: () => Math.min(1, 2 / head.n),
		draw: drawAreas,
		hover: hoverArea,
		leave: () => {
			areas.hover = -1;
			areas.status.textContent = "";
			markBand();
		},
		click: (e, x) => {
			const band = bandAt(e);

			if (band && band.inside)
				enterClass(band.class);
			else
				setSnapshot(snapshotAt(x));
		},
		keys: { Escape: () => enterClass(parentClass()), Backspace: () => enterClass(parentClass()) },
	});
	areas.status = make("p", { "class": "status faint" }, section);
}

function parentClass() {
	return Math.max(0, classesOf().item[view.class][1]);
}

function enterClass(c) {
	view.class = c < classesOf().item.length ? c : 0;
	saveHash();
	drawAreas();
}

/* A snapshot holds until the next one; one without memory is of a process that has ended. */
function endTime() {
	const last = timeAt(head.n - 1);

	if (head.n > 1 && !head.snapshots[head.n - 1].rss_kb)
		return last + Math.max(1, (last - timeAt(0)) / 100);
	return last + (head.n > 1 ? Math.max(1, (last - timeAt(0)) / (head.n - 1)) : 1e6);
}

function snapshotAt(x) {
	const us = timeAt(0) + x * (endTime() - timeAt(0));
	let s = 0;

	while (s + 1 < head.n && timeAt(s + 1) <= us)
		s++;
	return s;
}

/* Children of the class with a value, the largest first; what is too small is one band. */
function makeBands() {
	const { item } = classesOf(), list = [];

	item.forEach(([name, parent, other], c) => {
		const value = parent === view.class ? head.snapshots.map((_, s) => classValue(c, s)) : null;

		if (value && value.some(v => v))
			list.push({ class: c, name: clean(name), value, other, most: Math.max(...value),
				inside: item.some(i => i[1] === c) });
	});
	if (!list.length) {
		const value = head.snapshots.map((_, s) => classValue(view.class, s));

		list.push({ class: view.class, name: clean(item[view.class][0]), value, most: Math.max(...value) });
	}
	list.sort((a, b) => b.most - a.most || a.class - b.class);
	const rest = list.length > BANDS_MOST + 1 ? list.splice(BANDS_MOST) : [];
	list.forEach((b, i) => {
		b.colour = b.other || i >= BANDS_MOST ? 7 : i;
	});
	if (rest.length) {
		list.push({ class: -1, name: rest.length + " smaller classes", colour: 7,
			value: head.snapshots.map((_, s) => rest.reduce((sum, b) => sum + b.value[s], 0)) });
	}
	areas.bands = list;
}

function xOf(us) {
	const share = (us - timeAt(0)) / (endTime() - timeAt(0)), { from, until } = view.areas;

	return AREA_LEFT + (share - from) / (until - from) * areas.width;
}

/* 1, 2 or 5 (or powers of two) parts of a unit */
function niceBytes(most) {
	let step = 1024;

	while (most / step > 5)
		step *= 2;
	return step;
}

function niceTime(span_us) {
	const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400];
	let unit = 1e6;

	while (span_us / unit < 2 && unit > 10)
		unit /= 10;
	return unit * (steps.find(s => span_us / (s * unit) <= Math.max(3, areas.width / 90)) || 86400);
}

function drawAxes(height, most) {
	const step = niceBytes(most), plot = height - AREA_TOP - AREA_BOTTOM;
	const grid = draw("g", { "aria-hidden": "true" }, areas.svg);

	for (let v = 0; v <= most; v += step) {
		const y = AREA_TOP + plot * (1 - v / most);

		draw("path", { "class": "grid", d: "M" + AREA_LEFT + " " + y.toFixed(1) + "h" + areas.width }, grid);
		draw("text", { "class": "tick end", x: AREA_LEFT - 6, y: y + 4 }, grid, v ? bytesText(v) : "0");
	}
	const { from, until } = view.areas, all = endTime() - timeAt(0), t = timeAt(0);
	const step_us = niceTime(all * (until - from));

	for (let us = Math.ceil((t + from * all) / step_us) * step_us; us <= t + until * all; us += step_us) {
		const x = xOf(us);

		draw("path", { "class": "grid", d: "M" + x.toFixed(1) + " " + (height - AREA_BOTTOM) + "v4" }, grid);
		draw("text", { "class": x > AREA_LEFT + areas.width - 30 ? "tick end" : "tick middle",
			x: x.toFixed(1), y: height - 5 }, grid, timeText(us));
	}
}

function drawBand(band, below, scale, bottom, group) {
	const top = [], floor = [];

	for (let s = 0; s < head.n; s++) {
		const x0 = xOf(timeAt(s)).toFixed(1), x1 = xOf(s + 1 < head.n ? timeAt(s + 1) : endTime()).toFixed(1);
		const y0 = (bottom - below[s] * scale).toFixed(1);

		below[s] += band.value[s];
		const y1 = (bottom - below[s] * scale).toFixed(1);

		top.push(x0 + " " + y1, x1 + " " + y1);
		floor.unshift(x1 + " " + y0, x0 + " " + y0);
	}
	band.path = draw("path", { "class": "band", d: "M" + top.concat(floor).join("L") + "Z",
		style: "fill:var(--c" + band.colour + ")", "data-class": band.class }, group);
}

function drawAreas() {
	const width = Math.max(240, areas.box.clientWidth), height = width < 600 ? 200 : 260;

	areas.width = width - AREA_LEFT - AREA_RIGHT;
	makeBands();
	const totals = head.snapshots.map((_, s) => areas.bands.reduce((sum, b) => sum + b.value[s], 0));
	const most = Math.max(1024, ...totals) * 1.02, bottom = height - AREA_BOTTOM;
	const scale = (bottom - AREA_TOP) / most, below = new Array(head.n).fill(0);

	areas.svg.replaceChildren();
	areas.svg.setAttribute("viewBox", "0 0 " + width + " " + height);
	areas.svg.setAttribute("width", width);
	areas.svg.setAttribute("height", height);
	areas.svg.setAttribute("aria-label", "Areas of " + areas.bands.map(b => b.name).join(", "));
	const clip = draw("clipPath", { id: "plot" }, draw("defs", {}, areas.svg));

	draw("rect", { x: AREA_LEFT, y: 0, width: areas.width, height }, clip);
	drawAxes(height, most);
	const group = draw("g", { "clip-path": "url(#plot)" }, areas.svg);

	for (const band of areas.bands)
		drawBand(band, below, scale, bottom, group);
	const s = shownSnapshot(), x = xOf((timeAt(s) + (s + 1 < head.n ? timeAt(s + 1) : endTime())) / 2);

	draw("path", { "class": "moment", d: "M" + x.toFixed(1) + " " + AREA_TOP + "V" + bottom }, group);
	drawLegend(totals[s]);
	drawCrumbs();
	if (areas.kind)
		areas.kind(view.kind);
	areas.metric.value = view.kind === "heap" ? "" : view.metric;
	areas.metric.disabled = view.kind === "heap";
}

function drawLegend(total) {
	const s = shownSnapshot();

	areas.legend.replaceChildren();
	for (const band of areas.bands) {
		const line = make("li", { style: "--d:var(--c" + band.colour + ")" }, areas.legend);
		const text = band.name + " " + bytesText(band.value[s]) + ", " + shareText(band.value[s], total);

		if (band.inside) {
			make("button", { type: "button", title: "show its parts" }, line, text)
				.addEventListener("click", () => enterClass(band.class));
		} else {
			make("span", {}, line, text);
		}
	}
}

function drawCrumbs() {
	const { item } = classesOf(), path = [];

	for (let c = view.class; c >= 0; c = item[c][1])
		path.unshift(c);
	areas.crumbs.replaceChildren();
	for (const c of path) {
		const here = c === view.class, name = c ? clean(item[c][0]) : "all";

		if (c)
			make("span", { "aria-hidden": "true" }, areas.crumbs, " / ");
		if (here)
			make("span", { "aria-current": "true" }, areas.crumbs, name);
		else
			make("button", { type: "button" }, areas.crumbs, name).addEventListener("click", () => enterClass(c));
	}
}

function bandAt(e) {
	const path = e.target.closest && e.target.closest(".band");

	return path ? areas.bands.find(b => b.path === path) : null;
}

function markBand(band) {
	for (const b of areas.bands)
		b.path.classList.toggle("on", b === band);
}

function hoverArea(e, x) {
	const band = bandAt(e), s = snapshotAt(clamp(x, 0, 1));

	markBand(band);
	areas.status.textContent = timeText(timeAt(s)) + (band ? " \u00b7 " + band.name + " " + bytesText(band.value[s]) +
		(s ? " (" + signedText(band.value[s] - band.value[s - 1]) + ")" : "") : "");
}
