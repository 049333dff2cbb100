/* SPDX-License-Identifier: MIT */
/* The view, and one drawing a frame */

const search = { match: null, n: 0, time: 0, error: "", before: null };
const hidden = { n: 0 };

function toX(t) {
	return (t - view.from) * view.width / (view.until - view.from);
}

function toTime(x) {
	return view.from + x * (view.until - view.from) / view.width;
}

/* The least stretch shown: a thousandth of a unit of time a pixel would be air. */
function show(from, until) {
	const least = Math.min(head.end, Math.max(10, 1000 / head.unit_us));
	const span = clamp(until - from, least, head.end);

	if (until - from !== span)
		from = (from + until - span) / 2;
	view.from = clamp(from, 0, head.end - span);
	view.until = view.from + span;
	live.follows = !!head.running && view.from <= 0 && view.until >= head.end;
	request(true);
}

/* Around a place of the plots that stays where it is. */
function zoomAt(x, factor) {
	const t = toTime(x), span = (view.until - view.from) * factor;

	show(t - span * x / view.width, t + span * (1 - x / view.width));
}

function pan(share) {
	const by = (view.until - view.from) * share;

	show(view.from + by, view.until + by);
}

function reset() {
	show(0, head.end);
}

function zoomToTask(i) {
	const wall = Math.max(tasks.end[i] - tasks.start[i], 4);

	show(tasks.start[i] - wall * .25, tasks.end[i] + wall * .25);
}

/* Choose a task, -1: none. The lanes stay as they are; what is drawn over them changes. */
function choose(i) {
	view.task = i;
	all("chosen");
	request(false);
}

/* Choose it and bring its time into view. */
function revealTime(i) {
	const span = view.until - view.from, wall = tasks.end[i] - tasks.start[i];

	choose(i);
	if (wall * view.width / span < 4)
		show(tasks.start[i] - wall * 20 - 1, tasks.end[i] + wall * 20 + 1);
	else if (tasks.end[i] < view.from || tasks.start[i] > view.until)
		show(tasks.start[i] - span / 3, tasks.start[i] + span * 2 / 3);
}

/* Its lane as well. */
function reveal(i) {
	revealTime(i);
	scrollToLane(tasks.lane[i]);
}

/* Select a range of time; an empty one: none. */
function selectRange(from, until) {
	view.range = until > from ? { from: clamp(from, 0, head.end),
				      until: clamp(until, 0, head.end) } : null;
	all("ranged");
	request(false);
}

const frame = { id: 0, all: false };

/* Not after the static picture came back. */
function request(everything) {
	frame.all = frame.all || everything;
	if (!frame.id && page.app)
		frame.id = requestAnimationFrame(guard(drawFrame));
}

function drawFrame() {
	const everything = frame.all;

	frame.id = 0;
	frame.all = false;
	if (everything)
		all("draw");
	all("over");
	saveHash();
}

function drawNow() {
	frame.all = true;
	cancelAnimationFrame(frame.id);
	drawFrame();
}

/* The view in the URL: #t=12.5-80 (or, where it follows a build that runs, last=30)&q=...&min=...&task=...&range=10-20&colour=...&only=3&sort=-cpu&path=0 */

const hash = { timer: 0, last: "" };

function secondsText(t) {
	return String(Math.round(t * head.unit_us) / 1e6);
}

function usualColour() {
	return head.ghost ? "difference" : "kind";
}

function hashText() {
	const list = [];

	if (live.follows && view.from > 0)
		list.push("last=" + Math.round(seconds(view.until - view.from)));
	else if (!live.follows && (view.from > 0 || view.until < head.end))
		list.push("t=" + secondsText(view.from) + "-" + secondsText(view.until));
	if (view.q)
		list.push("q=" + encodeURIComponent(view.q));
	if (view.min_us)
		list.push("min=" + String(Math.round(view.min_us / 1000) / 1000));
	if (view.task >= 0)
		list.push("task=" + (idOf(view.task) || view.task));
	if (view.range)
		list.push("range=" + secondsText(view.range.from) + "-" + secondsText(view.range.until));
	if (view.colour !== usualColour())
		list.push("colour=" + view.colour);
	if (view.only >= 0)
		list.push("only=" + view.only);
	if (view.sort !== "wall" || !view.down)
		list.push("sort=" + (view.down ? "-" : "") + view.sort);
	if (!view.path)
		list.push("path=0");
	return list.join("&");
}

function saveHash() {
	clearTimeout(hash.timer);
	hash.timer = setTimeout(guard(() => {
		const text = hashText();

		if (text === hash.last)
			return;
		hash.last = text;
		try {
			history.replaceState(history.state, "", text ? "#" + text :
				location.pathname + location.search);
		} catch (e) {
			/* Some places forbid a page to change its address: the view still works. */
		}
	}), 200);
}

/* "12.5-80" in units, or NULL. */
function rangeOf(text) {
	const t = /^([\d.e-]+?)-([\d.]+)$/.exec(text || "");
	const from = t ? units(Number(t[1])) : NaN, until = t ? units(Number(t[2])) : NaN;

	return until > from ? { from, until } : null;
}

function loadHash() {
	const got = new URLSearchParams(location.hash.slice(1));
	const t = rangeOf(got.get("t")), range = rangeOf(got.get("range"));
	const task = tasks.seq.length ? taskOf(got.get("task") || "") : parseInt(got.get("task"), 10);
	const min = Number(got.get("min")), last = units(Number(got.get("last")));
	const only = parseInt(got.get("only"), 10);

	view.q = (got.get("q") || "").slice(0, 1000);
	view.min_us = min > 0 ? Math.min(min, MIN_MOST_S) * 1e6 : 0;
	view.colour = got.get("colour") || usualColour();
	view.only = only >= 0 && only < COLOURS ? only : -1;
	loadSort(got.get("sort") || "-wall");
	view.path = got.get("path") !== "0";
	search.before = null;
	hash.last = location.hash.slice(1);
	show(t ? t.from : last > 0 ? head.end - last : 0, t ? t.until : head.end);
	if (!t && last > 0)
		follow(true);
	recolour();
	choose(task >= 0 && task < tasks.n ? task : -1);
	selectRange(range ? range.from : 0, range ? range.until : 0);
}
