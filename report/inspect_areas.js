/* SPDX-License-Identifier: MIT */
/* Classes over time: stepped areas, one on the other */

const areas = { bands: [] };
const BANDS_MOST = 7;

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
	areas.svg = makeSvg("svg", { role: "img" }, areas.box);
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
			markBand(areas.bands);
		},
		click: (e, x) => {
			const band = bandOf(areas.bands, e);

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

function drawAreas() {
	const s = shownSnapshot(), { from, until } = view.areas, first = timeAt(0), span = endTime() - first;

	makeBands();
	const edges = Array.from({ length: head.n }, (_, i) => timeAt(i)).concat(endTime());
	const drawn = drawStack({
		root: areas.svg, width: areas.box.clientWidth, edge_us: edges, bands: areas.bands,
		from_us: first + from * span, until_us: first + until * span,
		moment_us: (edges[s] + edges[s + 1]) / 2, text: bytesText, step: niceBytes, least: 1024,
		label: "Areas of " + areas.bands.map(b => b.name).join(", "),
	});

	areas.bands.forEach(b => b.path.setAttribute("data-class", b.class));
	areas.width = drawn.width;
	drawLegend(drawn.totals[s]);
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
		const line = make("li", {}, areas.legend);
		const text = band.name + " " + bytesText(band.value[s]) + ", " + shareText(band.value[s], total);

		line.style.setProperty("--d", "var(--c" + band.colour + ")");
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

function hoverArea(e, x) {
	const band = bandOf(areas.bands, e), s = snapshotAt(clamp(x, 0, 1));

	markBand(areas.bands, band);
	areas.status.textContent = timeText(timeAt(s)) + (band ? " \u00b7 " + band.name + " " + bytesText(band.value[s]) +
		(s ? " (" + signedText(band.value[s] - band.value[s - 1]) + ")" : "") : "");
}
