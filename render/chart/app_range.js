/* SPDX-License-Identifier: MIT */
/* A range of time that is selected: what happened in it */

const RANGE_TASKS = 7, RANGE_STEP = .02;
const range = { changed: false, anchor: 0, edge: 0 };

/* What a band adds up to between two times: value times time, of how much time it is known, and
 * the largest value. */
function bandBetween(p, value, from, until) {
	const { time } = p, last = time.length, found = { sum: 0, known: 0, most: -1 };

	for (let i = Math.max(1, above(time, from, 0, last)); i < last && time[i - 1] < until; i++) {
		const took = Math.min(time[i], until) - Math.max(time[i - 1], from), v = value[i] - 1;

		if (v < 0)
			continue;
		found.sum += v * took;
		found.known += took;
		if (v > found.most)
			found.most = v;
	}
	return found;
}

/* Values are drawn in steps; what the whole band adds up to is known better: by how much. */
function correction(p, b) {
	if (b.correction === undefined) {
		const all = bandBetween(p, b.value, 0, head.end), scale = p.ceiling / p.steps;
		const sum = all.sum * scale, exact = b.total > 0 ? b.total / head.unit_us * 1e6 :
			b.id === "build" && head.cpu_us && head.cores > 0 ?
				head.cpu_us / head.unit_us / head.cores * 1e4 : b.mean * all.known;

		b.correction = sum > 0 && exact > 0 ? exact / sum : 1;
	}
	return b.correction;
}

function bytesBetween(p, b, from, until) {
	return bandBetween(p, b.value, from, until).sum * p.ceiling / p.steps * correction(p, b) *
		head.unit_us / 1e6;
}

function coreSecondsText(s) {
	return (s < .095 ? String(Number(s.toFixed(s < .0095 ? 3 : 2))) : meanText(s)) + " core-seconds";
}

/* A share of the time of the cores, in core-seconds too. */
function cpuShareText(share, all_s) {
	const text = percentText(clamp(share, 0, 1));

	return head.cores > 0 ?
		coreSecondsText(Math.max(0, share * all_s * head.cores)) + ", " + text : text;
}

/* Time of the cores by whose it was. A core that waits for I/O is idle, as in the verdict. */
function addCpu(facts, p, from, until) {
	const unit_s = head.unit_us / 1e6;
	let busy = 0, waits = 0, known = 0;

	for (const b of p.bands.filter(x => x.mark === "stack")) {
		const found = bandBetween(p, b.value, from, until);
		const share = found.known ? found.sum * p.ceiling / p.steps / 1e4 / found.known *
			correction(p, b) : 0;

		known = Math.max(known, found.known);
		if (b.id === "iowait")
			waits = share;
		else
			busy += share;
		if (b.id !== "iowait" && share >= .0005)
			facts.push(["CPU, " + b.label, cpuShareText(share, found.known * unit_s)]);
	}
	if (known)
		facts.push(["CPU, idle", cpuShareText(1 - busy, known * unit_s) +
			    (waits >= .0005 ? ", " + percentText(waits) + " waiting for I/O" : "")]);
}

function meanText(v) {
	return v < 99.95 ? v.toFixed(1) : countText(Math.round(v));
}

function addCounts(facts, p, from, until) {
	for (const b of p.bands) {
		const found = bandBetween(p, b.value, from, until), right = b.right && p.right_ceiling;
		const scale = (right || p.ceiling) / p.steps;

		if (found.known && found.most > 0)
			facts.push([b.label, meanText(found.sum / (until - from) * scale / 100) +
				    " on average, " + countText(Math.round(found.most * scale / 100)) +
				    " at most"]);
	}
}

function addBytes(facts, p, from, until) {
	const texts = p.bands.filter(b => b.mark === "stack").map(b => {
		const bytes = bytesBetween(p, b, from, until);

		return bytes >= 512 ? bytesText(bytes) + " " + b.label : "";
	}).filter(text => text);

	if (texts.length)
		facts.push([p.title.toLowerCase(), texts.join(", ")]);
}

/* The largest amount: of a stack, of all of it. */
function addMost(facts, p, from, until) {
	const value = p.total || p.bands[0].value, found = bandBetween(p, value, from, until);

	if (found.most > 0)
		facts.push([p.title.toLowerCase(),
			    bytesText(found.most * p.ceiling / p.steps) + " at most"]);
}

const RANGE_PANELS = { cpu: addCpu, running: addCounts, memory: addMost, disk: addBytes,
		       net: addBytes };

/* [label, text] each, of what the panels show. */
function rangeFacts(from, until) {
	const facts = [];

	for (const p of panels) {
		if (RANGE_PANELS[p.word])
			RANGE_PANELS[p.word](facts, p, from, until);
	}
	return facts;
}

/* The n largest of a list of numbers, the largest first: their indices. */
function largestOf(list, n) {
	const top = [];

	for (let i = 0; i < list.length; i++) {
		if (!list[i] || (top.length === n && list[i] <= list[top[n - 1]]))
			continue;
		let k = Math.min(top.length, n - 1);

		for (; k > 0 && list[top[k - 1]] < list[i]; k--)
			top[k] = top[k - 1];
		top[k] = i;
	}
	return top;
}

function addColours(parent, wall) {
	const time = new Float64Array(COLOURS), title = legend.select.selectedOptions[0].textContent;
	const list = element("ul", { "aria-label": "Time by " + title }, parent);
	let all_time = 0;

	for (let i = 0; i < tasks.n; i++) {
		time[tasks.colour[i]] += wall[i];
		all_time += wall[i];
	}
	const used = legend.entries.filter(e => time[e.colour]);

	if (!legend.now.ordered)
		used.sort((a, b) => time[b.colour] - time[a.colour]);
	for (const e of used) {
		const item = element("li", { "class": "key" }, list);

		swatch(item, e.colour, "area");
		element("span", { "class": "what" }, item, clean(e.label));
		element("span", { "class": "faint" }, item, timeText(time[e.colour] * head.unit_us) +
			", " + percentText(time[e.colour] / all_time));
	}
}

function addLongest(parent, wall) {
	const list = element("ol", { "aria-label": "Longest tasks" }, parent);

	for (const i of largestOf(wall, RANGE_TASKS))
		addTask(element("li", {}, list), i, timeText(wall[i] * head.unit_us));
}

function fillRange({ from, until }) {
	const title = element("h2"), took_us = (until - from) * head.unit_us;
	const fine = Math.max(head.unit_us, took_us / 1e3);
	const body = element("div", { "class": "columns" }), { wall } = ownCosts(from, until);
	const list = element("dl", {}, body);

	element("span", {}, title, timeText(took_us) + " selected");
	element("span", { "class": "faint" }, title, momentText(from * head.unit_us, fine) + " to " +
		momentText(until * head.unit_us, fine));
	button(title, "zoom to it", "Zoom to the selected range", () => show(from, until));
	button(title, "clear", "Clear the selection (Esc)", () => selectRange(0, 0));
	for (const [label, text] of rangeFacts(from, until)) {
		const pair = element("div", {}, list);

		element("dt", {}, pair, label);
		element("dd", {}, pair, text);
	}
	addColours(body, wall);
	addLongest(body, wall);
	const focus = page.range.contains(document.activeElement);

	page.range.replaceChildren(title, body);
	if (focus)
		title.querySelector("button").focus();
}

/* Over all plots, and in the axis. */
function drawRange() {
	const r = view.range, from = r ? clamp(toX(r.from), 0, view.width) : 0;
	const until = r ? clamp(toX(r.until), 0, view.width) : 0;

	for (const e of [range.brush, range.mark]) {
		e.hidden = !r || until <= 0 || from >= view.width;
		e.style.left = page.gutter + from + "px";
		e.style.width = Math.max(1, until - from) + "px";
	}
	if (page.range.hidden !== !r)
		range.changed = true;
	page.range.hidden = !r;
	tools.select.setAttribute("aria-pressed", view.selects);
	if (!range.changed)
		return;
	range.changed = false;
	if (r)
		fillRange(r);
	coverBelow();
}

/* The next drag in the plots selects. */
function toggleSelecting() {
	view.selects = !view.selects;
	request(false);
}

/* What the view or the chosen task shows. */
function selectShown() {
	const i = view.task;

	range.anchor = i < 0 ? view.from : tasks.start[i];
	range.edge = i < 0 ? view.until : tasks.end[i];
	selectRange(range.anchor, range.edge);
}

/* Move one end of the range, by the keyboard. */
function stepRange(by) {
	const r = view.range, i = view.task, step = by * RANGE_STEP * (view.until - view.from);

	if (!r) {
		range.anchor = i >= 0 && tasks.end[i] >= view.from && tasks.start[i] <= view.until ?
			tasks.start[i] : (view.from + view.until) / 2;
		range.edge = range.anchor;
	} else if (Math.min(range.anchor, range.edge) !== r.from ||
		   Math.max(range.anchor, range.edge) !== r.until) {
		range.anchor = r.from;
		range.edge = r.until;
	}
	range.edge = clamp(range.edge + step, 0, head.end);
	if (range.edge === range.anchor)
		range.edge += step;
	selectRange(Math.min(range.anchor, range.edge), Math.max(range.anchor, range.edge));
	if (view.range)
		tell("selected " + timeText((view.range.until - view.range.from) * head.unit_us));
}

parts.push({
	make() {
		range.brush = element("div", { id: "bb-brush", hidden: "" }, page.chart);
		range.mark = element("div", { "class": "brushed", hidden: "" }, axis.row.box);
		tools.select = button(tools.bar, "select",
				      "The next drag selects a range of time; so does one with Shift",
				      toggleSelecting);
		tools.path.after(tools.select);
	},
	fill() {
		range.changed = true;
	},
	layOut() {
		range.changed = true;
	},
	searched() {
		range.changed = true;	/* the colours may have another meaning */
	},
	ranged() {
		range.changed = true;
	},
	over: drawRange,
});
