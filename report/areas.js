/* SPDX-License-Identifier: MIT */
/* Stepped areas over time, one on the other */

const AREA_LEFT = 70, AREA_RIGHT = 12, AREA_TOP = 8, AREA_BOTTOM = 22;

/* 1, 2, 4 ... KiB: at most five lines. */
function niceBytes(most) {
	let step = 1024;

	while (most / step > 5)
		step *= 2;
	return step;
}

/* 1, 2 or 5 times a power of ten. */
function niceNumber(most) {
	const unit = 10 ** Math.floor(Math.log10(most / 5));

	return unit * [1, 2, 5, 10].find(k => most / (k * unit) <= 5);
}

function niceTime(span_us, width) {
	const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400];
	let unit = 1e6;

	while (span_us / unit < 2 && unit > 10)
		unit /= 10;
	return unit * (steps.find(s => span_us / (s * unit) <= Math.max(3, width / 90)) || 86400);
}

/*
 * Draw areas anew. o has:
 *	root		the element <svg>
 *	width		of the picture in pixels
 *	edge_us		n + 1 times: value i holds between edge i and i + 1
 *	bands		a list of {name, value, colour}, the lowest first; colour: a number of --c0 ... --c7.
 *			Each gets its `path`
 *	from_us, until_us	what the width shows
 *	moment_us	where a line marks a time; absent: nowhere
 *	text(value), step(most)	of the axis
 *	least		what the axis shows at least
 *	label		what the picture is, for those who do not see it
 * Returns {left, width, totals}: of the plot, and the sum of each value.
 */
function drawStack(o) {
	const width = Math.max(240, o.width), height = width < 600 ? 200 : 260, n = o.edge_us.length - 1;
	const plot = width - AREA_LEFT - AREA_RIGHT, bottom = height - AREA_BOTTOM;
	const xOf = us => AREA_LEFT + (us - o.from_us) / (o.until_us - o.from_us) * plot;
	const totals = Array.from({ length: n }, (_, i) => o.bands.reduce((sum, b) => sum + b.value[i], 0));
	const most = totals.reduce((a, b) => Math.max(a, b), o.least) * 1.02;
	const scale = (bottom - AREA_TOP) / most, below = new Array(n).fill(0);

	o.root.replaceChildren();
	o.root.setAttribute("viewBox", "0 0 " + width + " " + height);
	o.root.setAttribute("width", width);
	o.root.setAttribute("height", height);
	o.root.setAttribute("aria-label", o.label);
	const clip = makeSvg("clipPath", { id: "plot" }, makeSvg("defs", {}, o.root));

	makeSvg("rect", { x: AREA_LEFT, y: 0, width: plot, height }, clip);
	stackAxes(o, { plot, height, most, xOf });
	const group = makeSvg("g", { "clip-path": "url(#plot)" }, o.root);

	for (const band of o.bands) {
		const top = [], floor = [];

		for (let i = 0; i < n; i++) {
			const x0 = xOf(o.edge_us[i]).toFixed(1), x1 = xOf(o.edge_us[i + 1]).toFixed(1);
			const y0 = (bottom - below[i] * scale).toFixed(1);

			below[i] += band.value[i];
			const y1 = (bottom - below[i] * scale).toFixed(1);

			top.push(x0 + " " + y1, x1 + " " + y1);
			floor.push(x0 + " " + y0, x1 + " " + y0);
		}
		band.path = makeSvg("path", { "class": "band", d: "M" + top.concat(floor.reverse()).join("L") + "Z" }, group);
		band.path.style.fill = "var(--c" + band.colour + ")";
	}
	if (o.moment_us !== undefined) {
		makeSvg("path", { "class": "moment",
			d: "M" + xOf(o.moment_us).toFixed(1) + " " + AREA_TOP + "V" + bottom }, group);
	}
	return { left: AREA_LEFT, width: plot, totals };
}

function stackAxes(o, p) {
	const bottom = p.height - AREA_BOTTOM, step = o.step(p.most);
	const grid = makeSvg("g", { "aria-hidden": "true" }, o.root);

	for (let v = 0; v <= p.most; v += step) {
		const y = AREA_TOP + (bottom - AREA_TOP) * (1 - v / p.most);

		makeSvg("path", { "class": "grid", d: "M" + AREA_LEFT + " " + y.toFixed(1) + "h" + p.plot }, grid);
		makeSvg("text", { "class": "tick end", x: AREA_LEFT - 6, y: y + 4 }, grid, v ? o.text(v) : "0");
	}
	const step_us = niceTime(o.until_us - o.from_us, p.plot);

	for (let us = Math.ceil(o.from_us / step_us) * step_us; us <= o.until_us; us += step_us) {
		const x = p.xOf(us);

		makeSvg("path", { "class": "grid", d: "M" + x.toFixed(1) + " " + bottom + "v4" }, grid);
		makeSvg("text", { "class": x > AREA_LEFT + p.plot - 30 ? "tick end" : "tick middle",
			x: x.toFixed(1), y: p.height - 5 }, grid, timeText(us));
	}
}

/* The index of the value that holds at a time. */
function stackIndex(edge_us, us) {
	let low = 0, high = edge_us.length - 2;

	while (low < high) {
		const middle = (low + high + 1) >> 1;

		if (edge_us[middle] <= us)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

function bandOf(bands, e) {
	const path = e.target.closest && e.target.closest(".band");

	return path ? bands.find(b => b.path === path) : null;
}

function markBand(bands, band) {
	for (const b of bands)
		b.path.classList.toggle("on", b === band);
}
