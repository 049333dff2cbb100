/* SPDX-License-Identifier: MIT */
/* Trends */

/* A few round values between low and high. */
function ticks(unit, low, high) {
	const base = unit === "us" ? [1, 1e3, 1e6, 6e7, 3.6e9] :
		unit === "count" ? [1] : [0, 1, 2, 3, 4].map(i => Math.pow(1024, unit === "kb" ? i - 1 : i));
	const scale = base.filter(b => b <= high / 2).pop() || base[0];
	const rough = (high - low) / 4 / scale, ten = Math.pow(10, Math.floor(Math.log10(rough)));
	const step = [1, 2, 5, 10].map(f => f * ten).find(s => s >= rough) * scale, list = [];

	for (let v = Math.ceil(low / step) * step; v <= high && list.length < 8; v += step)
		list.push(v);
	return list;
}

/* The levels: between changes, as the changes have them; otherwise the usual value. */
function levels(series) {
	const n = data.head.builds.length, changes = changesOf(series), f = findingOf(series);
	const list = [];
	let from = 0;

	for (const c of changes) {
		list.push([from, c.at, c.before]);
		from = c.at;
	}
	const last = changes[changes.length - 1];

	if (f && (!last || f.since > last.at)) {
		list.push([from, f.since, f.before], [f.since, n, f.now]);
	} else {
		list.push([from, n, last ? last.after : data.usual[series]]);
	}
	return list.filter(l => l[2] >= 0 && l[1] > l[0]);
}

function plotScale(series, width) {
	const n = data.head.builds.length;
	let [low, high] = rangeOf(series);

	for (const [, , v] of levels(series)) {
		low = Math.min(low, v);
		high = Math.max(high, v);
	}
	const pad = (high - low) * .08 || high * .05 || 1;

	low = Math.max(0, low - pad);
	high += pad;
	return { low, high,
		 x: build => PLOT.left + build / n * (width - PLOT.left - PLOT.right),
		 y: v => PLOT.top + (high - v) / (high - low) * (PLOT.height - PLOT.top - PLOT.bottom) };
}

function addDates(svg, s, width) {
	const builds = data.head.builds, months = builds.length > 100;
	let last = -Infinity, said = "";

	for (let i = 0; i < builds.length; i++) {
		const word = months ? builds[i][0].slice(0, 7) : builds[i][0], x = s.x(i + .5);

		if (word === said)
			continue;
		said = word;
		if (x - last < 84 || x > width - 34 || x < PLOT.left + 30 || word.length < 7)
			continue;
		last = x;
		makeSvg("path", { "class": "grid", d: "M" + px(x) + " " + PLOT.top + "V" +
			(PLOT.height - PLOT.bottom) }, svg);
		makeSvg("text", { x: px(x), y: PLOT.height - 6, "class": "tick middle" }, svg, word);
	}
}

function addAxis(svg, s, unit, width) {
	for (const v of ticks(unit, s.low, s.high)) {
		makeSvg("path", { "class": "grid", d: "M" + PLOT.left + " " + px(s.y(v)) + "H" +
			(width - PLOT.right) }, svg);
		makeSvg("text", { x: PLOT.left - 6, y: px(s.y(v) + 4), "class": "tick end" }, svg,
		     amountText(unit, v));
	}
}

function addChanges(svg, s, series) {
	const bottom = PLOT.height - PLOT.bottom;

	for (const c of changesOf(series)) {
		const way = c.after > c.before ? "up" : "down", x = s.x(c.at);

		makeSvg("rect", { "class": "between " + way, x: px(s.x(c.first)), y: PLOT.top,
			width: px(Math.max(2, s.x(c.last) - s.x(c.first))), height: bottom - PLOT.top }, svg);
		makeSvg("path", { "class": "mark " + way, d: "M" + px(x) + " " + PLOT.top + "V" + bottom }, svg);
		makeSvg("text", { "class": "way " + way, x: px(x), y: PLOT.top + 2 }, svg,
		     way === "up" ? "\u25b2" : "\u25bc");
	}
}

function addPoints(svg, s, points) {
	let d = "";

	for (const p of points)
		d += "M" + px(s.x((p.from + p.until) / 2)) + " " + px(s.y(p.value)) + "h0";
	makeSvg("path", { "class": "dots", d }, svg);
}

function addLevels(svg, s, series) {
	let d = "";

	for (const [from, until, v] of levels(series))
		d += "M" + px(s.x(from)) + " " + px(s.y(v)) + "H" + px(s.x(until));
	makeSvg("path", { "class": "level", d }, svg);
}

function pointWords(unit, p) {
	const builds = data.head.builds, last = builds[p.until - 1], n = p.until - p.from;

	return (n > 1 ? builds[p.from][0] + " to " + last[0] + ", median: " : last[0] + ": ") +
		(p.about ? "about " : "") + amountText(unit, p.value) + (last[2] ? ", revision " + last[2] : "") +
		", build " + last[1];
}

/* What the pointer or the arrow keys are at. */
function follow(plot, at) {
	const p = plot.points[at];

	plot.at = at;
	if (!p) {
		plot.cursor.setAttribute("d", "");
		plot.words.textContent = plot.summary;
		return;
	}
	const x = px(plot.scale.x((p.from + p.until) / 2));

	plot.cursor.setAttribute("d", "M" + x + " " + PLOT.top + "V" + (PLOT.height - PLOT.bottom) +
		"M" + x + " " + px(plot.scale.y(p.value)) + "h0");
	plot.words.textContent = pointWords(plot.unit, p);
}

function nearest(plot, x) {
	let best = -1, away = Infinity;

	plot.points.forEach((p, i) => {
		const d = Math.abs(plot.scale.x((p.from + p.until) / 2) - x);

		if (d < away) {
			away = d;
			best = i;
		}
	});
	return best;
}

function listen(svg, plot) {
	svg.addEventListener("pointermove", e => {
		const box = svg.getBoundingClientRect();

		follow(plot, nearest(plot, (e.clientX - box.left) * plot.width / box.width));
	});
	svg.addEventListener("pointerleave", () => follow(plot, -1));
	svg.addEventListener("blur", () => follow(plot, -1));
	svg.addEventListener("keydown", e => {
		const by = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[e.key];

		if (!by || !plot.points.length)
			return;
		e.preventDefault();
		follow(plot, clamp((plot.at < 0 ? plot.points.length : plot.at) + by, 0,
				   plot.points.length - 1));
	});
}

function summaryOf(series, unit) {
	const changes = changesOf(series), newest = data.newest[series], usual = data.usual[series];
	const recent = changes.slice(-2).map(c => data.head.builds[c.at][0] + ": " +
		amountText(unit, c.before) + " to " + amountText(unit, c.after) +
		(c.creep ? ", slowly" : ""));

	return "newest " + amountText(unit, newest) + ", usual " + amountText(unit, usual) +
		(isNaN(newest / usual) ? "" : ", " + shareText(newest / usual - 1)) +
		(changes.length > 2 ? "; " + changes.length + " changes, the last " : recent.length ? "; " : "") +
		recent.join("; ");
}

function addPlot(parent, metric, width) {
	const { title, unit } = data.head.metrics[metric], series = metric * data.rows + view.row;
	const points = pointsOf(series);
	const frame = make("figure", { "class": "plot" }, parent);
	const caption = make("figcaption", {}, frame);

	make("b", {}, caption, title);
	if (!points.length) {
		make("p", { "class": "faint" }, frame, "not recorded in any build");
		return;
	}
	const plot = { unit, points, width, at: -1, scale: plotScale(series, width),
		       summary: summaryOf(series, unit) };
	const svg = makeSvg("svg", { viewBox: "0 0 " + width + " " + PLOT.height, width: "100%",
		height: PLOT.height, tabindex: 0, role: "img", preserveAspectRatio: "none",
		"aria-label": title + " of " + data.names[view.row] + " by build: " + plot.summary }, frame);

	addAxis(svg, plot.scale, unit, width);
	addDates(svg, plot.scale, width);
	addChanges(svg, plot.scale, series);
	addPoints(svg, plot.scale, points);
	addLevels(svg, plot.scale, series);
	plot.cursor = makeSvg("path", { "class": "cursor", d: "" }, svg);
	plot.words = make("p", { "class": "words", "aria-live": "polite" }, frame, plot.summary);
	listen(svg, plot);
}

function drawTrend() {
	const box = trend.box;

	box.replaceChildren();
	box.parentNode.classList.toggle("chosen", view.row >= 0);
	if (view.row < 0) {
		make("p", { "class": "faint" }, box, "Choose a task, by click or with the arrow keys, " +
			"to see its values in all builds.");
		return;
	}
	make("h3", { tabindex: -1 }, box, data.names[view.row]);
	const width = Math.max(320, box.clientWidth);

	data.head.metrics.forEach((_, metric) => addPlot(box, metric, width));
	trend.width = box.clientWidth;
}
