/* SPDX-License-Identifier: MIT */
/*
 * What used the memory, the CPU, the storage, and when: stacked areas by groups of tasks, what the
 * groups had at the peak, and a table of all of them at a moment or for the time that is shown.
 */

const TRACKER_METRICS = {
	running: { title: "running tasks", text: v => trackerNumber(v), step: niceNumber, least: 1 },
	waiting: { title: "waiting tasks", text: v => trackerNumber(v), step: niceNumber, least: 1 },
	cpu: { title: "CPU", text: v => trackerNumber(v) + (v === 1 ? " core" : " cores"), step: niceNumber, least: .01 },
	memory: { title: "memory", text: bytesText, step: niceBytes, least: 1024 },
	read: { title: "storage read", text: v => bytesText(v) + "/s", step: niceBytes, least: 1024 },
	written: { title: "storage written", text: v => bytesText(v) + "/s", step: niceBytes, least: 1024 },
};
const TRACKER_BYS = ["kind", "program", "recipe", "directory", "task"];
const TRACKER_POINTS = 300, TRACKER_SETTLE_MS = 250, TRACKER_GROW_MS = 2000;
const tracker = { range: { from: 0, until: 1 }, data: null, table: null, moment: -1, sheet: null, timer: 0,
		  asked: 0, bands: [], phases: "", running: false };

/* At most three digits. */
function trackerNumber(v) {
	return v >= 100 ? countText(Math.round(v)) : String(Number(v.toPrecision(v < .1 ? 2 : 3)));
}

function trackerMetric() {
	return core.params.get("metric") in TRACKER_METRICS ? core.params.get("metric") : "";
}

function trackerBy() {
	return TRACKER_BYS.includes(core.params.get("by")) ? core.params.get("by") : "kind";
}

function trackerUnit() {
	return TRACKER_METRICS[tracker.data ? tracker.data.metric : trackerMetric() || "running"];
}

/* Of a series, a row or a part of the peak. */
function trackerName(o, by) {
	switch (o.role) {
	case "others":
		return countOf(o.n_groups, "smaller group");
	case "build tools":
		return "the build tools themselves";
	case "buildbeat":
		return "buildbeat (not in the total)";
	default:
		return o.name ? clean(o.name) : "no " + by;
	}
}

function trackerEdges(d) {
	const span = d.until_us - d.from_us;

	return Array.from({ length: d.points + 1 }, (_, i) =>
		d.from_us + Math.floor(span / d.points) * i + Math.floor(span % d.points * i / d.points));
}

/* The whole time that is asked for: the range is a part of it. */
function trackerTimes() {
	const end = tracker.data ? tracker.data.end_us : 1;

	return [Math.round(tracker.range.from * end), Math.max(1, Math.round(tracker.range.until * end))];
}

function trackerWhole() {
	return tracker.range.from <= 0 && tracker.range.until >= 1;
}

async function trackerLoad() {
	const number = ++tracker.asked, [from_us, until_us] = trackerTimes(), whole = trackerWhole();
	const ask = { metric: trackerMetric(), by: trackerBy(), points: TRACKER_POINTS };
	const data = await api("/api/v1/tracker", whole ? ask : Object.assign({ from_us, until_us }, ask));

	if (number !== tracker.asked)
		return;
	tracker.data = data;
	tracker.edges = trackerEdges(data);
	drawTracker();
	await trackerLoadTable(number);
}

async function trackerLoadTable(number) {
	const d = tracker.data, moment = tracker.moment >= 0;
	const point = moment ? stackIndex(tracker.edges, tracker.moment) : -1;
	const at = moment ? Math.round(d.moment_us ? d.moment_us[point] : tracker.moment) : 0;
	const table = await api("/api/v1/classes", { metric: d.metric, by: d.by, count: 1000,
		from_us: moment ? at : d.from_us, until_us: moment ? at : d.until_us });

	if (number !== tracker.asked)
		return;
	tracker.table = table;
	setText(tracker.heading, moment ? "At " + timeText(at) :
		trackerWhole() ? "Over the whole build" :
			"From " + timeText(d.from_us) + " to " + timeText(d.until_us));
	setText(tracker.note, table.n_classes > table.classes.length ?
		"The " + countText(table.classes.length) + " largest of " + countText(table.n_classes) + " classes." : "");
	tracker.whole.hidden = !moment && trackerWhole();
	drawTrackerPhases(table.phases);
	tracker.sheet.update();
}

/* Ask again when the range has settled; only the newest reply counts. */
function trackerSoon(ms) {
	clearTimeout(tracker.timer);
	tracker.timer = setTimeout(() => trackerLoad().then(() => worked(find("#main")), e => failed(find("#main"), e)), ms);
}

/* The picture */

/* The colour of a kind is that in the chart; what has none there is grey. */
function trackerColour(d, s, i) {
	return s.role !== "group" ? 7 : d.by !== "kind" ? i % 7 : s.colour === null ? 7 : s.colour;
}

function drawTracker() {
	const d = tracker.data, unit = trackerUnit(), [from_us, until_us] = trackerTimes();

	if (!d)
		return;
	tracker.bands = d.series.map((s, i) => ({ series: s, value: s.values, name: trackerName(s, d.by),
		colour: trackerColour(d, s, i) }));
	const drawn = drawStack({
		root: tracker.svg, width: tracker.box.clientWidth, edge_us: tracker.edges, bands: tracker.bands,
		from_us, until_us, moment_us: tracker.moment >= 0 ? tracker.moment : undefined,
		text: unit.text, step: unit.step, least: unit.least,
		label: "Areas over time: " + unit.title + " by " + d.by + ". " + trackerPeak(),
	});

	for (const b of tracker.bands)
		b.path.classList.add(b.series.role.replace(" ", "-"));
	tracker.plot = [drawn.left, drawn.width];
	setText(tracker.answer, trackerPeak());
	tracker.metric.value = d.metric;
	tracker.by.value = d.by;
	drawTrackerLegend();
}

/* The sentence that answers: what used it at the peak. */
function trackerPeak() {
	const d = tracker.data, { peak } = d, unit = trackerUnit();

	if (!d.known)
		return "It was not recorded: " + unit.title + ".";
	if (!peak.groups.length)
		return "No tasks had any: " + unit.title + ".";
	const largest = peak.groups.slice(0, 3).map(g => trackerName(g, d.by) + " " + percentText(g.share));

	return "The peak was " + unit.text(peak.total) + " at " +
		timeText(peak.time_us === null ? (peak.from_us + peak.until_us) / 2 : peak.time_us) + ": " +
		largest.join(", ") + (peak.groups.length > 3 ? " and others" : "") + ".";
}

function trackerClassLink(name, parent, by, metric) {
	return make("a", { href: hrefOf("class", { by, name, metric }) }, parent,
		name ? clean(name) : "no " + by);
}

function drawTrackerLegend() {
	const d = tracker.data, unit = trackerUnit();

	keyed(tracker.legend, tracker.bands, b => b.series.role + b.series.name, () => {
		const line = make("li");

		make("span", {}, line);
		make("span", { "class": "faint" }, line);
		return line;
	}, (line, b) => {
		const link = line.firstChild.firstChild, name = b.name;

		line.style.setProperty("--d", "var(--c" + b.colour + ")");
		line.className = b.series.role.replace(" ", "-");
		if (b.series.role !== "group") {
			setText(line.firstChild, name);
		} else if (!link || link.textContent !== name) {
			line.firstChild.replaceChildren();
			trackerClassLink(b.series.name, line.firstChild, d.by, d.metric);
		}
		setText(line.lastChild, " " + unit.text(b.series.mean) + " mean, " + unit.text(b.series.at_peak) + " at the peak");
	});
}

/* What the pointer, or the keys, show */

function trackerRead(us, band) {
	const d = tracker.data, unit = trackerUnit();

	if (!d || us < d.from_us || us > d.until_us)
		return;
	const i = stackIndex(tracker.edges, us);
	const shown = band ? [band] : [...tracker.bands].sort((a, b) => b.value[i] - a.value[i]).slice(0, 3);

	setText(tracker.status, timeText(d.moment_us ? d.moment_us[i] : tracker.edges[i]) + " \u00b7 " +
		unit.text(d.total[i]) + " in total \u00b7 " + shown.filter(b => band || b.value[i] > 0)
		.map(b => b.name + " " + unit.text(b.value[i])).join(", "));
}

function trackerSetMoment(us) {
	tracker.moment = us;
	drawTracker();
	if (us >= 0)
		trackerRead(us);
	trackerSoon(TRACKER_SETTLE_MS);
}

function trackerStep(by) {
	const d = tracker.data, i = tracker.moment < 0 ? d.peak.point : stackIndex(tracker.edges, tracker.moment) + by;
	const at = clamp(i, 0, d.points - 1);

	trackerSetMoment((tracker.edges[at] + tracker.edges[at + 1]) / 2);
}

function trackerSetRange(from, until) {
	tracker.range.from = clamp(from, 0, 1);
	tracker.range.until = clamp(until, tracker.range.from + 1e-9, 1);
	tracker.moment = -1;
	drawTracker();
	trackerSoon(0);
}

function drawTrackerPhases(phases) {
	const known = JSON.stringify(phases);

	if (known === tracker.phases)
		return;
	tracker.phases = known;
	tracker.phase.parentNode.hidden = !phases.length;
	tracker.phase.replaceChildren();
	make("option", { value: "" }, tracker.phase, "whole build");
	phases.forEach((p, i) => make("option", { value: i }, tracker.phase, clean(p.name)));
	tracker.phase.onchange = () => {
		const p = phases[tracker.phase.value], end = tracker.data.end_us;

		if (p)
			trackerSetRange(p.from_us / end, (p.until_us === null ? end : p.until_us) / end);
		else
			trackerSetRange(0, 1);
	};
}

/* The table */

function makeTrackerSheet(parent) {
	const rows = () => tracker.table ? tracker.table.classes : [], unit = v => v === null ? "" : trackerUnit().text(v);
	const number = (id, title, hint, text) => ({ id, title, hint, width: "minmax(76px,110px)", numeric: true,
		key: i => rows()[i][id] === null ? NaN : rows()[i][id], text: i => text(rows()[i][id]) });

	tracker.sheet = makeSheet({
		id: "tracker-table", parent, label: "Classes of tasks", what: "row", start: "total",
		narrow: ["name", "total", "share"],
		columns: [
			{ id: "name", title: "Class", width: "minmax(120px,1fr)", text: i => trackerName(rows()[i], tracker.table.by),
			  fill: (cell, i) => {
				if (rows()[i].role === "group")
					trackerClassLink(rows()[i].name, cell, tracker.table.by, tracker.table.metric);
				else
					cell.textContent = trackerName(rows()[i], tracker.table.by);
			  } },
			number("n_tasks", "Tasks", "tasks with a part in the total", countText),
			number("total", "Total", "of all its tasks: the mean, or the level at the moment", unit),
			number("average", "Average", "total for each task", unit),
			number("share", "Share", "of the total of all classes", percentText),
		],
		all: () => rows().map((_, i) => i),
		choose: (i, how) => {
			if (how === "Enter" && rows()[i].role === "group") {
				visit(hrefOf("class", { by: tracker.table.by, name: rows()[i].name,
					metric: tracker.table.metric }));
			}
		},
	});
}

function makeTrackerChoice(parent, text, options, apply) {
	const label = make("label", {}, parent, text + " "), select = make("select", {}, label);

	for (const [value, title] of options)
		make("option", { value }, select, title);
	select.addEventListener("change", () => apply(select.value));
	return select;
}

pages.tracker = {
	async make(main) {
		const tools = make("div", { "class": "tools" }, main);

		tracker.answer = make("p", { "class": "tracker-answer", role: "status" });
		main.insertBefore(tracker.answer, tools);
		tracker.metric = makeTrackerChoice(tools, "Show", Object.entries(TRACKER_METRICS).map(([k, m]) => [k, m.title]), v => {
			keepParam("metric", v);
			trackerSoon(0);
		});
		tracker.by = makeTrackerChoice(tools, "by", TRACKER_BYS.map(b => [b, b]), v => {
			keepParam("by", v);
			trackerSoon(0);
		});
		tracker.phase = makeTrackerChoice(tools, "in", [["", "whole build"]], () => {});
		tracker.phase.parentNode.hidden = true;
		tracker.whole = make("button", { type: "button", hidden: "" }, tools, "Whole build");
		tracker.whole.addEventListener("click", () => trackerSetRange(0, 1));
		tracker.box = make("div", { "class": "areas", tabindex: 0, role: "group", "aria-label":
			"Areas over time: + and - zoom, arrow keys move, comma and full stop choose a moment, p the peak" }, main);
		tracker.svg = makeSvg("svg", { role: "img" }, tracker.box);
		tracker.status = make("p", { "class": "status faint tracker-status" }, main,
			"Point at the areas, or use the keys: + and - zoom, arrows move, \u201c,\u201d and \u201c.\u201d choose a moment, p the peak.");
		tracker.legend = make("ul", { "class": "keys tracker-keys", "aria-label": "Groups" }, main);
		tracker.heading = make("h2", {}, main);
		tracker.note = make("p", { "class": "faint" }, main);
		makeTrackerSheet(main);
		tracker.plot = [AREA_LEFT, 100];
		tracker.zoom = makeZoom({
			box: tracker.box,
			plot: () => [tracker.svg.getBoundingClientRect().left + tracker.plot[0], tracker.plot[1]],
			range: tracker.range,
			least: () => tracker.data ? Math.min(1, 1000 / tracker.data.end_us) : 1,
			draw: () => {
				drawTracker();
				trackerSoon(TRACKER_SETTLE_MS);
			},
			hover: (e, x) => {
				const band = bandOf(tracker.bands, e);

				markBand(tracker.bands, band);
				if (tracker.data)
					trackerRead(clamp(x, 0, 1) * tracker.data.end_us, band);
			},
			leave: () => markBand(tracker.bands, null),
			click: (e, x, twice) => {
				const band = bandOf(tracker.bands, e);

				if (twice && band && band.series.role === "group")
					visit(hrefOf("class", { by: tracker.data.by, name: band.series.name, metric: tracker.data.metric }));
				else if (!twice && tracker.data)
					trackerSetMoment(clamp(x, 0, 1) * tracker.data.end_us);
			},
			keys: {
				",": () => trackerStep(-1),
				".": () => trackerStep(1),
				p: () => {
					tracker.moment = -1;
					trackerStep(0);
				},
				Escape: () => trackerSetMoment(-1),
			},
		});
		new ResizeObserver(drawTracker).observe(tracker.box);
		await trackerLoad();
		if (tracker.data.is_running)
			trackerGrow();
	},
};

/*
 * While the build runs, ask again, but only if something happened, or if the stream has ended: it knows
 * first that a build was killed.
 */
function trackerGrow() {
	let changed = true, over = false;
	const messages = stream({
		task: () => { changed = true; },
		sample: () => { changed = true; },
		gap: () => { changed = true; },
		end: () => { over = true; },
	});
	const stop = every(TRACKER_GROW_MS, async () => {
		if (!changed && !over)
			return;
		changed = false;
		await trackerLoad();
		if (!tracker.data.is_running) {
			stop();
			messages.close();
		}
	});
}
