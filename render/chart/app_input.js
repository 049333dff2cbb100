/* SPDX-License-Identifier: MIT */
/* Pointer, wheel and keyboard over the plots */

const pointers = new Map();
let drag = null;

/* x in the plots, -1: beside them; row: the lanes' plot is below it. */
function placeOf(e) {
	const r = lanes.row.svg.getBoundingClientRect(), x = e.clientX - r.left;

	return x >= 0 && x <= view.width ? x : -1;
}

/* The task below the pointer, and how many it stands for; null: none. */
function under(e) {
	const p = pieceAt(e.clientX, e.clientY), above = p < 0 ? pathPieceAt(e.clientX, e.clientY) : null;

	return p >= 0 ? { task: piece.task[p], count: piece.count[p] } : above;
}

function hover(e) {
	const found = under(e), task = found ? found.task : -1;

	view.cross = placeOf(e);
	if (task !== view.hover)
		page.status.textContent = found ? hoverText(found) : "";
	view.hover = task;
	request(false);
}

function leave() {
	view.cross = view.hover = -1;
	page.status.textContent = "";
	request(false);
}

/* One line about a piece. */
function hoverText({ task, count }) {
	const [name, more] = namePartsOf(task), from_us = tasks.start[task] * head.unit_us;
	const state = tasks.marks[task] & STATE;

	return [name + " " + wallText(task), more, clean(tasks.kinds[tasks.kind[task]].name),
		state ? endName(state) : "",
		"from " + momentText(from_us, Math.max(head.unit_us, head.step_us || 1, 1e4)),
		shareOf(task) >= 0 ? "CPU " + percentText(shareOf(task)) : "",
		count > 1 ? "and " + countText(count - 1) + " shorter beside it" : ""]
		.filter(text => text).join(" \u00b7 ");
}

/* Both fingers stay on the times they were put on. */
function pinch() {
	const [a, b] = Array.from(pointers.values());

	if (Math.abs(b.x - a.x) < 8)
		return;
	const k = (b.time - a.time) / (b.x - a.x);

	if (k > 0)
		show(a.time - a.x * k, a.time + (view.width - a.x) * k);
}

/* With Shift a range is selected, without the view is moved. */
function pointerDown(e) {
	const x = placeOf(e);

	if (e.button || x < 0 || (e.target.closest && e.target.closest("button")))
		return;
	pointers.set(e.pointerId, { x, time: toTime(x) });
	drag = pointers.size === 1 ? { x, from: view.from, moved: false, selects: e.shiftKey || view.selects,
		id: e.pointerId } : null;
	if (drag && drag.selects)
		e.preventDefault();
}

function pointerMove(e) {
	const p = pointers.get(e.pointerId);
	const x = e.clientX - lanes.row.svg.getBoundingClientRect().left;

	if (p)
		p.x = x;
	if (pointers.size === 2) {
		pinch();
	} else if (p && drag && (drag.moved || Math.abs(x - drag.x) > 4)) {
		if (!drag.moved)
			page.chart.setPointerCapture(e.pointerId);
		drag.moved = true;
		if (drag.selects)
			selectRange(Math.min(toTime(drag.x), toTime(x)), Math.max(toTime(drag.x), toTime(x)));
		else
			movePlots(x);
	} else {
		hover(e);
	}
}

function movePlots(x) {
	const span = view.until - view.from, from = drag.from - (x - drag.x) * span / view.width;

	leave();
	show(from, from + span);
}

function pointerUp(e) {
	const clicked = pointers.delete(e.pointerId) && drag && !drag.moved;

	if (drag && drag.selects)
		view.selects = false;
	drag = null;
	for (const p of pointers.values())
		drag = { x: p.x, from: view.from, moved: true };
	if (clicked && e.type === "pointerup")
		click(e);
}

function click(e) {
	const found = under(e);

	choose(found ? found.task : -1);
	if (!found && view.range)
		selectRange(0, 0);
}

function doubleClick(e) {
	const found = under(e), x = placeOf(e);

	if (x < 0)
		return;
	e.preventDefault();
	if (found)
		zoomToTask(found.task);
	else
		zoomAt(x, .25);
}

/* With Control the wheel zooms, and over the lanes; with Shift it scrolls the page. */
function wheel(e) {
	const x = placeOf(e), out = e.deltaY > 0;
	const scale = e.deltaMode === 1 ? 20 : e.deltaMode === 2 ? 400 : 1;

	if (x < 0 || (e.shiftKey && !e.ctrlKey))
		return;
	if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
		e.preventDefault();
		pan(clamp(e.deltaX * scale / 1000, -.5, .5));
		return;
	}
	if (out && view.until - view.from >= head.end && !e.ctrlKey)
		return;
	e.preventDefault();
	zoomAt(x, Math.exp(clamp(e.deltaY * scale / 400, -1, 1)));
	hover(e);
}

/* The task beside the chosen one: along its lane, or the nearest in another lane. */
function stepTask(along, across) {
	const { first, tasks: list } = tasks.lanes, from = view.task;
	let lane = from < 0 ? 0 : tasks.lane[from];
	const t = from < 0 ? view.from : tasks.start[from];

	do
		lane += across;
	while (across && lane >= 0 && lane < first.length - 1 && first[lane] === first[lane + 1]);
	while (from < 0 && lane < first.length - 2 && first[lane] === first[lane + 1])
		lane++;
	if (lane < 0 || lane >= first.length - 1 || first[lane] === first[lane + 1])
		return;
	const starts = list.subarray(first[lane], first[lane + 1]);
	let at = from >= 0 && !across ? starts.indexOf(from) + along :
		above(starts.map(i => tasks.start[i]), t, 0, starts.length) - (from < 0 ? 0 : 1);

	at = clamp(at, 0, starts.length - 1);
	reveal(starts[at]);
}

/* Keyboard */

const keys = {
	"+": () => zoomAt(view.width / 2, .5),
	"=": () => zoomAt(view.width / 2, .5),
	"-": () => zoomAt(view.width / 2, 2),
	"0": reset,
	"Home": reset,
	"ArrowLeft": () => pan(-.15),
	"ArrowRight": () => pan(.15),
	"/": () => tools.search.focus(),
	"Escape": () => {
		if (leaveSearch())
			return;
		selectRange(0, 0);
		choose(-1);
	},
	"n": () => nextMatch(1),
	"N": () => nextMatch(-1),
	"c": togglePath,
	"r": selectShown,
	"f": () => head.running && follow(!live.follows),
};

const shift_keys = {
	"ArrowLeft": () => stepRange(-1),
	"ArrowRight": () => stepRange(1),
};

/* With the focus on the lanes: from task to task. */
const lane_keys = {
	"ArrowLeft": () => stepTask(-1, 0),
	"ArrowRight": () => stepTask(1, 0),
	"ArrowUp": () => stepTask(0, -1),
	"ArrowDown": () => stepTask(0, 1),
	"Enter": () => view.task >= 0 && zoomToTask(view.task),
};

function keyDown(e) {
	const input = e.target && e.target.localName === "input";
	const lanes = e.target && e.target.id === "bb-lanes" && tasks.n;

	if (e.ctrlKey || e.altKey || e.metaKey)
		return;
	if (live.links && e.target !== document.body && !page.app.contains(e.target))
		return;		/* the navigation's */
	if (input && e.key === "Escape")
		e.target.blur();
	if (input || (e.target && e.target.localName === "button" && e.key.length > 1 &&
		      e.key !== "Escape"))
		return;
	const act = e.shiftKey ? shift_keys[e.key] || keys[e.key] :
		lanes && lane_keys[e.key] || keys[e.key];

	if (!act)
		return;
	e.preventDefault();
	act();
}

/* A chart in a page of others hears no keys of theirs. */
parts.push({
	make() {
		const on = (target, type, f, options) => target.addEventListener(type, guard(f), options);

		on(page.chart, "wheel", wheel, { passive: false });
		on(page.chart, "pointerdown", pointerDown);
		on(page.chart, "pointermove", pointerMove);
		on(page.chart, "pointerup", pointerUp);
		on(page.chart, "pointercancel", pointerUp);
		on(page.chart, "pointerleave", leave);
		on(page.chart, "dblclick", doubleClick);
		on(live.links ? window : page.html ? document : page.app, "keydown", keyDown, !!live.links);
		on(window, "resize", layOut);
		on(window, "hashchange", loadHash);
	},
});
