/* SPDX-License-Identifier: MIT */
/* What the colours mean, and the legend */

const REST = COLOURS - 1;		/* grey */
const COLOUR_LEAST = .01;		/* of the time: less has no colour of its own */
const REST_NAMED = 4;
const SHARE_STEPS = [.2, .5, .8, 1.1];	/* of CPU, between the colours of the scale */

const legend = { row: null, keys: null, select: null, marks: null, own: null, now: null,
	entries: [] };

/*
 * Ways to colour the tasks, in the order of the select:
 *	id, title	in the address, in the select
 *	scale		a class of palette.h's other sets of colours: "colours-share"; "": the
 *			usual ones
 *	there()		it is offered
 *	ordered		the colours have an order: not that of their time
 *	rank(colour)	where in it, if not at the place of the colour
 *	apply()		sets tasks.colour and returns the label of each colour that is used
 *	value(i)	what the legend adds up, if not a task's own time
 * A module may add its own before the page is made.
 */
const colourings = [
	{ id: "kind", title: () => "kind", scale: "", there: () => true, apply: colourKinds },
	{ id: "directory", title: () => head.recipes ? "recipe" : "directory", scale: "",
		there: () => tasks.places.length > 1,
		apply: () => colourGroups(tasks.places.length + 1, i => tasks.place[i] + 1,
					  k => k ? tasks.places[k - 1] || "." : ".") },
	{ id: "target", title: () => head.recipes ? "task" : "target", scale: "",
		there: () => true, apply: colourTargets },
	{ id: "program", title: () => "program", scale: "", there: () => tasks.programs.length > 1,
		apply: () => colourGroups(tasks.programs.length, i => tasks.program[i],
					  k => tasks.programs[k] || "not known") },
	{ id: "difference", title: () => "difference", scale: "", ordered: true,
		there: () => !!head.ghost, apply: colourDifferences, value: changeOf,
		rank: colour => head.ghost.scale.findIndex(s => s.colour === colour) },
	{ id: "cpu", title: () => "CPU share", scale: "colours-share", ordered: true,
		there: () => tasks.cpu.some(v => v >= 0), apply: colourShares },
];

/*
 * What tasks cost by themselves between two times: of one that ran a build of its own without
 * the tasks in it, as in `show`. CPU time is spread evenly over a task. In units.
 */
function ownCosts(from, until) {
	const n = tasks.n, wall = new Float64Array(n), cpu = new Float64Array(n);
	const busy_until = new Float64Array(n);

	for (let i = 0; i < n; i++) {
		const start = Math.max(tasks.start[i], from), end = Math.min(tasks.end[i], until);
		const parent = tasks.parent[i];

		if (end < start)
			continue;
		const took = end - start, whole = tasks.end[i] - tasks.start[i];
		const used = units((tasks.cpu[i] || 0) / 1e6) * (took < whole ? took / whole : 1);

		wall[i] += took;
		cpu[i] += used;
		if (parent < 0)
			continue;
		cpu[parent] -= used;
		wall[parent] -= Math.max(0, end - Math.max(start, busy_until[parent]));
		busy_until[parent] = Math.max(busy_until[parent], end);
	}
	for (let i = 0; i < n; i++) {
		wall[i] = Math.max(0, wall[i]);
		cpu[i] = Math.max(0, cpu[i]);
	}
	return { wall, cpu };
}

function restLabel(names, some) {
	return (some ? "everything else: " : "") + names.slice(0, REST_NAMED).join(", ") +
		(names.length > REST_NAMED ? ", \u2026" : "");
}

/* As in the static picture. */
function colourKinds() {
	const labels = [], rest = [];

	for (const { name, colour } of tasks.kinds) {
		if (colour === REST)
			rest.push(name);
		else
			labels[colour] = name;
	}
	for (let i = 0; i < tasks.n; i++)
		tasks.colour[i] = tasks.kinds[tasks.kind[i]].colour;
	if (rest.length)
		labels[REST] = restLabel(rest, labels.length > 0);
	return labels;
}

/* The groups with most time have the colours, in the order of the palette: those with a good part
 * of it or, where all are small, the first ones. */
function colourGroups(n, groupOf, nameOfGroup) {
	const time = new Float64Array(n), own = legend.own.wall, colour = new Uint8Array(n).fill(REST);
	const labels = [];
	let all_time = 0;

	for (let i = 0; i < tasks.n; i++) {
		time[groupOf(i)] += own[i] + 1e-9;
		all_time += own[i];
	}
	const order = Array.from(time.keys()).filter(k => time[k]).sort((a, b) => time[b] - time[a]);
	const n_large = order.slice(0, REST).filter(k => time[k] >= COLOUR_LEAST * all_time).length;
	const n_coloured = n_large || Math.min(order.length, REST);

	for (let c = 0; c < n_coloured; c++) {
		colour[order[c]] = c;
		labels[c] = nameOfGroup(order[c]);
	}
	if (n_coloured < order.length)
		labels[REST] = restLabel(order.slice(n_coloured, n_coloured + REST_NAMED + 1)
			.map(nameOfGroup), n_coloured > 0);
	for (let i = 0; i < tasks.n; i++)
		tasks.colour[i] = colour[groupOf(i)];
	return labels;
}

/* Tasks of one name in one place: lines of one recipe. For recipes, the name alone. */
function colourTargets() {
	if (head.recipes)
		return colourGroups(tasks.names.length, i => tasks.name[i],
				    k => withoutPrefix(tasks.names[k]));
	const number = new Map(), of = new Int32Array(tasks.n), first = [];

	for (let i = 0; i < tasks.n; i++) {
		const key = (tasks.place[i] + 1) * tasks.names.length + tasks.name[i];
		let k = number.get(key);

		if (k === undefined) {
			k = first.length;
			number.set(key, k);
			first.push(i);
		}
		of[i] = k;
	}
	return colourGroups(first.length, i => of[i], k => labelOf(first[k]));
}

function colourShares() {
	const percents = SHARE_STEPS.map(v => Math.round(v * 100));
	const labels = percents.map((p, c) => c ? percents[c - 1] + " to " + p + " %" :
		"below " + p + " %");

	labels.push("more than " + percents[percents.length - 1] + " %");
	for (let i = 0; i < tasks.n; i++) {
		const share = shareOf(i);

		tasks.colour[i] = isNaN(share) ? REST : above(SHARE_STEPS, share, 0, SHARE_STEPS.length);
	}
	labels[REST] = "not known";
	return labels;
}

/* As in the static picture of two builds. */
function colourDifferences() {
	const labels = [];

	for (const { label, colour } of head.ghost.scale)
		labels[colour] = label;
	for (let i = 0; i < tasks.n; i++)
		tasks.colour[i] = head.ghost.scale[tasks.difference[i]].colour;
	return labels;
}

/* How much longer a task took than in the other build; all of it if that had none. */
function changeOf(i) {
	const other = tasks.ghosts.get(i), wall = tasks.end[i] - tasks.start[i];

	return other ? wall - (other[1] - other[0]) : wall;
}

function signedText(v) {
	return v ? (v > 0 ? "+" : "\u2212") + timeText(Math.abs(v) * head.unit_us) : "0";
}

/* Colour the tasks as view.colour asks for, and list what is used in the legend. */
function recolour() {
	const c = colourings.find(x => x.id === view.colour && x.there()) || colourings[0];
	const n = new Uint32Array(COLOURS), wall = new Float64Array(COLOURS);

	legend.own = legend.own || ownCosts(0, head.end);
	legend.now = c;
	view.colour = c.id;
	const labels = c.apply();

	for (let i = 0; i < tasks.n; i++) {
		n[tasks.colour[i]]++;
		wall[tasks.colour[i]] += c.value ? c.value(i) : legend.own.wall[i];
	}
	legend.entries = labels.map((label, colour) =>
		({ label, colour, n: n[colour], wall: wall[colour] })).filter(e => e.n);
	if (c.rank)
		legend.entries.sort((a, b) => c.rank(a.colour) - c.rank(b.colour));
	else if (!c.ordered)
		legend.entries.sort((a, b) =>
			(a.colour === REST) - (b.colour === REST) || b.wall - a.wall);
	for (const box of [waits.box, legend.row, lanes.row.box, page.range, page.detail,
			   page.table]) {
		for (const x of colourings)
			box.classList.toggle(x.scale || "colours-usual", x.scale === c.scale);
	}
	if (view.only >= 0 && !n[view.only])
		view.only = -1;
	legend.select.value = view.colour;
	renew(legend.keys, fillLegend);
	runSearch();
}

function setColouring(id) {
	view.colour = id;
	view.only = -1;
	recolour();
}

/* Only the tasks of one colour stand out; -1: all. */
function showOnly(colour) {
	view.only = view.only === colour ? -1 : colour;
	runSearch();
}

function fillLegend(keys) {
	for (const e of legend.entries) {
		const sum = legend.now.value ? signedText(e.wall) : timeText(e.wall * head.unit_us);
		const text = clean(e.label) + ", " + sum + " in " +
			countText(e.n) + (e.n === 1 ? " task" : " tasks");

		const key = button(keys, "", "Only " + text, () => showOnly(e.colour));

		key.classList.add("key");
		key.setAttribute("aria-pressed", e.colour === view.only);
		swatch(key, e.colour, "area");
		element("span", {}, key, clean(e.label));
		element("span", { "class": "faint" }, key, sum);
	}
}

/* Marks: those that the lanes have */

const MARK_WIDTH = 26, MARK_HEIGHT = 14;

function addMark(parent, parts_of, text) {
	const key = element("span", { "class": "key" }, parent);
	const svg = make(SVG, "svg", { "class": "plot", width: MARK_WIDTH, height: MARK_HEIGHT,
		"aria-hidden": "true" }, key);

	for (const [name, d] of parts_of)
		make(SVG, "path", { "class": name, d }, svg);
	element("span", {}, key, text);
}

function addMarks(parent) {
	const bar = ["bar c7", box(1, 1, MARK_WIDTH - 2, MARK_HEIGHT - 2)], middle = MARK_HEIGHT / 2;
	const has = state => tasks.marks.some(m => (m & STATE) === state);
	const x = MARK_WIDTH / 2, line = "M1 " + middle + "H" + (MARK_WIDTH - 1);

	if (tasks.cpu.some(v => v >= 0))
		addMark(parent, [bar, ["gauge c7", pulsePath([[1, 10, .8], [10, 18, 0], [18, MARK_WIDTH - 1, .5]],
							    MARK_HEIGHT - 1, MARK_HEIGHT - 4)]],
			"CPU of a task over time, or its mean as a line");
	if (has(FAILED))
		addMark(parent, [bar, ["failed", bar[1]], ["badge", sign("badge", x, middle)],
			 ["cross", sign("cross", x, middle)]], "failed");
	if (has(KILLED))
		addMark(parent, [bar, ["killed", bar[1]], ["badge", sign("badge", x, middle)],
			 ["bolt", sign("bolt", x, middle)]], "killed");
	if (has(UNFINISHED))
		addMark(parent, [bar, [endName(UNFINISHED), openEnd(1, 1, MARK_WIDTH - 3, MARK_HEIGHT - 2) +
			(head.running ? arrow(MARK_WIDTH - 8, middle) : "")]],
			endName(UNFINISHED));
	if (tasks.queued.some(v => v))
		addMark(parent, [["queue", box(1, middle - 1, MARK_WIDTH - 2, 2)]], "queued: waited for a free worker");
	if (tasks.path.length > 1)
		addMark(parent, [bar, ["onpath", "M1 5V1H" + (MARK_WIDTH - 1) + "v4"]],
			(head.running ? "the newest task" : "the end of the build") + " waited for it");
}

parts.push({
	make() {
		const row = legend.row = element("div", { id: "bb-legend" });
		const label = element("label", {}, row, "colour by ");

		lanes.row.box.before(row);
		legend.select = element("select", { id: "bb-colour" }, label);
		legend.select.addEventListener("change", guard(() => setColouring(legend.select.value)));
		legend.keys = element("span", { "class": "keys", role: "group",
			"aria-label": "Colours: show only one" }, row);
		legend.marks = element("div", { id: "bb-marks", "aria-label": "Marks", role: "group" });
		lanes.row.box.after(legend.marks);
	},
	fill() {
		legend.row.hidden = !tasks.n;
		renew(legend.select, select => colourings.filter(x => x.there())
			.forEach(c => element("option", { value: c.id }, select, c.title())));
		renew(legend.marks, addMarks);
		legend.own = null;
		recolour();
	},
	draw() {
		legend.entries.forEach((e, k) =>
			legend.keys.childNodes[k].setAttribute("aria-pressed", e.colour === view.only));
	},
});
