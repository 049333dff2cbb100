/* SPDX-License-Identifier: MIT */
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
		return us < 36e8 ? s / 60 + " min" :
			Math.floor(s / 3600) + "h " + two(Math.floor(s / 60 % 60)) + "m";
	return momentText(us, 1e6);
}

/* The axis above the plots, the map of the whole build, and the crosshair */

const axis = { row: null, map: null, cross: null };
const AXIS_HEIGHT = 22, MAP_HEIGHT = 34, MAP_LOW = 24;
const BRUSH_EDGE = 6, BRUSH_FINGER = 14;	/* pixels beside an edge of the brush that belong to it */

function sizeAxis() {
	const low = window.innerHeight < 500 || page.chart.clientWidth < NARROW;

	sizeRow(axis.map, low ? MAP_LOW : MAP_HEIGHT);
	sizeRow(axis.row, AXIS_HEIGHT);
}

function timeTicks() {
	const unit = head.unit_us, until_us = view.until * unit;
	const step = timeStep((view.until - view.from) * unit, Math.max(3, view.width / 85)), list = [];

	for (let i = Math.ceil(view.from * unit / step); i * step <= until_us; i++)
		list.push({ x: toX(i * step / unit), text: tickText(i * step, step, until_us) });
	return list;
}

function gridPath(height) {
	return timeTicks().map(t => "M" + px(t.x) + " 0v" + height).join("");
}

function drawAxis() {
	const layer = axis.row.layer;
	let n = 0;

	for (const { x, text } of timeTicks())
		layer.text(n++, x > view.width - 30 ? "tick end" : x < 30 ? "tick start" : "tick",
			   x, 15, text);
	layer.cut(n);
}

/* The whole build, small: how many tasks ran. The brush is what is shown. */
function drawMap() {
	const running = panels.find(p => p.word === "running"), layer = axis.map.layer;
	const from = view.from * view.width / head.end, until = view.until * view.width / head.end;
	const now = [view.from, view.until], { height } = axis.map;

	if (running && (axis.drawn !== view.width || axis.end !== head.end)) {
		axis.drawn = view.width;
		axis.end = head.end;
		view.from = 0;
		view.until = head.end;
		fillBins(running.time, running.bands[0].value, Math.ceil(view.width / COLUMN));
		binTops(height, running.steps);
		[view.from, view.until] = now;
		layer.path("area c7", areaPath(bin.y, height, null));
	} else if (!running) {
		layer.path("area c7", "");
	}
	layer.path("veil", box(0, 0, from, height) +
		   box(until, 0, Math.max(0, view.width - until), height));
	const width = Math.max(2, until - from), grip = height / 2 - 5;

	layer.path("brush", box(from, .5, width, height - 1));
	layer.path("grip", width < 12 ? "" : box(from - 1, grip, 3, 10) +
		   box(from + width - 2, grip, 3, 10));
}

/* Drag the brush, one of its edges, or draw a new one beside it. */
function brush(e) {
	const r = axis.map.svg.getBoundingClientRect(), k = head.end / view.width;
	const t = x => clamp(x - r.left, 0, view.width) * k;
	const near = (e.pointerType === "touch" ? BRUSH_FINGER : BRUSH_EDGE) * k;
	const at = t(e.clientX), { from, until } = view, inside = at > from - near && at < until + near;
	const [to_from, to_until] = [Math.abs(at - from), Math.abs(at - until)];
	const edge = inside && Math.min(to_from, to_until) < Math.min(near, (until - from) / 3 + k);
	const fixed = edge ? to_from < to_until ? until : from : at;
	const moves = inside && !edge && until - from < head.end;
	const move = guard(m => moves ? show(from + t(m.clientX) - at, until + t(m.clientX) - at) :
		show(Math.min(fixed, t(m.clientX)), Math.max(fixed, t(m.clientX))));
	const end = () => {
		axis.map.svg.removeEventListener("pointermove", move);
		axis.map.svg.removeEventListener("pointerup", end);
		axis.map.svg.removeEventListener("pointercancel", end);
	};

	if (e.button)
		return;
	axis.map.svg.setPointerCapture(e.pointerId);
	axis.map.svg.addEventListener("pointermove", move);
	axis.map.svg.addEventListener("pointerup", end);
	axis.map.svg.addEventListener("pointercancel", end);
}

function drawCross() {
	const x = view.cross;
	const fine_us = (view.until - view.from) * head.unit_us / view.width;

	axis.cross.hidden = x < 0;
	axis.moment.hidden = x < 0;
	if (x < 0)
		return;
	axis.cross.style.left = page.gutter + x + "px";
	axis.moment.textContent = momentText(toTime(x) * head.unit_us, Math.max(fine_us, head.unit_us));
	axis.moment.style.left = clamp(page.gutter + x, 30, page.gutter + view.width - 30) + "px";
}

parts.push({
	make() {
		axis.map = makeRow(page.top, "bb-map", "The whole build");
		axis.row = makeRow(page.top, "bb-axis", "Time");
		axis.moment = element("span", { "class": "moment" }, axis.row.box);
		axis.cross = element("div", { id: "bb-cross" }, page.chart);
		axis.map.svg.addEventListener("pointerdown", guard(brush));
	},
	fill() {
		axis.drawn = 0;
	},
	draw() {
		drawMap();
		drawAxis();
	},
	over: drawCross,
});
