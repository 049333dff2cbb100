/* SPDX-License-Identifier: MIT */
/* New data in the place of the old. The view, the search and what was chosen stay: tasks are found
 * again by their ids, as their numbers change; without ids the numbers are those of before. */

const UP_MS = 20;		/* after a button of the pointer is up, its click is over */
const pressed = { down: false, waiting: [] };

/* INSTANCE.NUMBER, as in tasks.log; "": the data has no ids. */
function idOf(i) {
	return i >= 0 && tasks.seq.length ? head.instances[tasks.instance[i]] + "." + tasks.seq[i] : "";
}

/* -1: there is none. */
function taskOf(id) {
	const dot = id.lastIndexOf("."), seq = Number(id.slice(dot + 1));
	const instance = (head.instances || []).indexOf(id.slice(0, dot));
	let i = dot < 1 || instance < 0 ? -1 : tasks.seq.length - 1;

	while (i >= 0 && (tasks.seq[i] !== seq || tasks.instance[i] !== instance))
		i--;
	return i;
}

/* A function that returns the number of a task later. */
function hold(i) {
	const id = idOf(i);

	return id ? () => taskOf(id) : () => i;
}

/* Elements must not change between the two halves of a click. */
function watchPointer() {
	const up = () => {
		pressed.down = false;
		setTimeout(() => pressed.waiting.splice(0).forEach(f => f()), UP_MS);
	};

	window.addEventListener("pointerdown", () => pressed.down = true, true);
	window.addEventListener("pointerup", up, true);
	window.addEventListener("pointercancel", up, true);
}

function untilUp() {
	return new Promise(f => pressed.down ? pressed.waiting.push(f) : f());
}

/* Times of the view are in units, which grow with the build. */
function rescale(k) {
	for (const o of [view, view.range, search.before].filter(x => x)) {
		o.from *= k;
		o.until *= k;
	}
	range.anchor *= k;
	range.edge *= k;
}

function putData(data) {
	const chosen = hold(view.task), had = view.task >= 0, unit_us = head.unit_us;
	const whole_build = view.from <= 0 && view.until >= head.end;

	take(data);
	rescale(unit_us / head.unit_us);
	if (whole_build || view.from >= head.end) {
		view.from = 0;
		view.until = head.end;
	}
	view.hover = -1;
	view.task = had ? chosen() : -1;
	if (view.task >= tasks.n)
		view.task = -1;
	detail.task = view.task;
	catchUp();
	all("fill");
	if (had && view.task < 0)
		choose(-1);
	layOut();
	drawNow();
}

/* text: as in pack_chart.h. Resolves when it is drawn. */
async function update(text) {
	const data = await readData(text);

	if (page.gone)
		return;
	await untilUp();
	guard(putData)(data);
}

parts.push({ make: watchPointer });
