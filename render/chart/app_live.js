/* SPDX-License-Identifier: MIT */
/*
 * A build that runs, in a page of buildbeat-serve. Its running tasks grow with the clock. Messages of
 * the stream are drawn before the next data has them: hear(o) gets the JSON of a message `task` of
 * buildbeat-api(7). The view follows the newest time until somebody zooms.
 *
 * links, of serve():
 *	task(id)	the address of the page of a task
 *	output(id)	that of its lines in the build's output
 *	lines(id)	a promise of {n, lines: [text]}: how many lines the task wrote, and the last ones
 */

const live = { links: null, follows: false, elapsed_us: -1, at_ms: 0, stopped: true, timer: 0, cost_ms: 0,
	next_ms: 0, changes: new Map(), more: new Map(), running: [], free: [], changed: false,
	counts: [], logs: new Map() };
const TICK_LEAST_MS = 50, TICK_OUTSIDE_MS = 1000;
const SHARE = 10;		/* drawing takes at most 1 of so many parts of the time */
const WAIT_MOST_MS = 400;	/* but on a busy machine no message waits longer */
const ENDED = { done: 0, failed: FAILED, killed: KILLED };
const TASK_ARRAYS = ["lane", "kind", "marks", "cpu", "system", "memory", "read", "written", "queued", "tool",
	"files", "cache", "difference", "start", "end", "place", "parent", "before", "why", "link", "name", "program",
	"colour", "ready", "seq", "instance"];

/* The present moment of the build, in units. */
function presentTime() {
	return Math.round(units((live.elapsed_us + (performance.now() - live.at_ms) * 1e3) / 1e6));
}

/* The build has run so long. */
function setClock(elapsed_us) {
	live.elapsed_us = elapsed_us;
	live.at_ms = performance.now();
	live.stopped = false;
	wake(0);
}

/* It is not known what happens: the picture stays as it is. */
function stopClock() {
	live.stopped = true;
	clearTimeout(live.timer);
	live.timer = 0;
}

/* A line above the facts; "": none. */
function say(text) {
	page.notice.textContent = clean(text);
	page.notice.hidden = !text;
}

function follow(on) {
	live.follows = on && !!head.running;
	if (live.follows)
		advance();
	request(true);
	wake(0);
}

/* Running tasks up to now, and the view with them. */
function advance() {
	const running = shown_panels.get("running"), span = view.until - view.from, whole_build = view.from <= 0;

	if (live.stopped || live.elapsed_us < 0)
		return;
	head.end = Math.max(head.end, presentTime());
	for (const i of live.running)
		tasks.end[i] = head.end;
	if (running && running.time.length)
		running.time[running.time.length - 1] = head.end;
	if (!live.follows)
		return;
	view.until = head.end;
	view.from = whole_build ? 0 : Math.max(0, head.end - span);
}

/* Messages */

function hear(o) {
	live.changes.set(o.task, o);
	if (!live.changed)
		wake(0);
	live.changed = true;
}

/* The task of a message: tasks of the data are by their start. -1: not there. */
function taskOfMessage(o) {
	const start = units(o.start_us / 1e6), n = live.of_data;
	const known = live.more.get(o.task);

	if (known !== undefined)
		return known;
	for (let i = above(tasks.start, start + 2, 0, n) - 1; i >= 0 && tasks.start[i] >= start - 2; i--) {
		if (idOf(i) === o.task)
			return i;
	}
	return -1;
}

/* A bar is in the lanes of its directory: its name is without it. */
function nameOfMessage(o) {
	const place = o.directory + ": ";

	return o.name.startsWith(place) ? o.name.slice(place.length) : o.name;
}

/* Room for another task. */
function addRoom() {
	for (const name of TASK_ARRAYS) {
		const list = tasks[name], { buffer, BYTES_PER_ELEMENT: size, byteOffset } = list;
		const Kind = list.constructor;

		if (byteOffset || (tasks.n + 1) * size > buffer.byteLength) {
			const larger = new Kind(Math.ceil(tasks.n * 1.25) + 64);

			larger.set(list);
			tasks[name] = larger.subarray(0, tasks.n + 1);
		} else {
			tasks[name] = new Kind(buffer, 0, tasks.n + 1);
		}
		tasks[name][tasks.n] = 0;
	}
	return tasks.n++;
}

function indexIn(list, item, same) {
	const at = list.findIndex(same || (x => x === item));

	return at < 0 ? list.push(item) - 1 : at;
}

/* In the first lane that is free; without one it waits for the next data, which has more lanes. */
function addTaskOf(o, start) {
	const lane = live.free.findIndex(until => until <= start), dot = o.task.lastIndexOf(".");

	if (lane < 0)
		return -1;
	const i = addRoom();

	tasks.lane[i] = lane;
	tasks.start[i] = tasks.end[i] = start;
	tasks.marks[i] = UNFINISHED | (o.hosting ? HOSTS : 0);
	tasks.kind[i] = indexIn(tasks.kinds, { name: o.kind, colour: REST }, k => k.name === o.kind);
	tasks.name[i] = tasks.names.push(nameOfMessage(o)) - 1;
	tasks.program[i] = indexIn(tasks.programs, "");
	tasks.cpu[i] = tasks.system[i] = NaN;
	tasks.place[i] = tasks.parent[i] = tasks.before[i] = tasks.ready[i] = -1;
	tasks.seq[i] = Number(o.task.slice(dot + 1));
	tasks.instance[i] = indexIn(head.instances, o.task.slice(0, dot));
	tasks.colour[i] = view.colour === "kind" ? tasks.kinds[tasks.kind[i]].colour : REST;
	live.more.set(o.task, i);
	live.free[lane] = NEVER;
	live.running.push(i);
	countRunning(start, 1, tasks.marks[i]);
	return i;
}

function endTask(i, o) {
	const end = Math.max(tasks.start[i], Math.round(units(o.end_us / 1e6)));

	tasks.end[i] = end;
	tasks.marks[i] = tasks.marks[i] & ~STATE | ENDED[o.state];
	if (o.state !== "done")
		tasks.status.set(i, o.state === "killed" ? o.signal : o.exit_status);
	live.free[tasks.lane[i]] = end;
	live.running.splice(live.running.indexOf(i), 1);
	countRunning(end, -1, tasks.marks[i]);
}

/* One more or less from a time on. */
function countRunning(time, by, marks) {
	if (!(marks & HOSTS))
		live.counts.push({ time, by });
}

/* In the panel of running tasks, all at once. */
function extendRunning() {
	const p = shown_panels.get("running"), n = p ? p.time.length : 0, counts = live.counts;
	const longer = list => {
		const out = new list.constructor(n + counts.length);

		out.set(list);
		return out;
	};

	live.counts = [];
	if (n < 2 || !counts.length)
		return;
	counts.sort((a, b) => a.time - b.time);
	p.time = longer(p.time);
	p.bands.forEach(b => b.value = longer(b.value));
	counts.forEach(({ time, by }, k) => {
		const at = n + k;

		p.time[at - 1] = clamp(time, p.time[at - 2], head.end);
		p.time[at] = head.end;
		p.bands.forEach((b, i) => b.value[at] = i ? b.value[at - 1] :
			Math.max(1, b.value[at - 1] + by * p.steps * 100 / p.ceiling));
	});
	p.total = stackTotal(p);
}

function takeMessage(o) {
	const start = Math.round(units(o.start_us / 1e6));
	let i = taskOfMessage(o);

	if (i < 0 && o.start_us >= 0 && o.state !== "queued")
		i = addTaskOf(o, start);
	if (i >= 0 && o.state in ENDED && grows(tasks, i))
		endTask(i, o);
}

/* By their start, as workers became free. */
function takeMessages() {
	const list = Array.from(live.changes.values()).sort((a, b) => a.start_us - b.start_us), before = tasks.n;

	live.changed = false;
	list.forEach(takeMessage);
	extendRunning();
	indexLanes(tasks);
	if (tasks.n > before && search.match)
		runSearch();
}

/* When data came: what it does not have yet is kept. */
function catchUp() {
	const end = Int32Array.from(tasks.lanes.row, r => head.rows[r].nest ? NEVER : 0);

	live.more.clear();
	live.counts = [];
	live.running = [];
	live.of_data = tasks.n;
	for (let i = 0; head.running && i < tasks.n; i++) {
		if (grows(tasks, i))
			live.running.push(i);
		end[tasks.lane[i]] = Math.max(end[tasks.lane[i]], grows(tasks, i) ? NEVER : tasks.end[i]);
	}
	live.free = Array.from(end);
	for (const [id, o] of live.changes) {
		const i = taskOfMessage(o);

		if (!head.running || (i >= 0 && !grows(tasks, i)))
			live.changes.delete(id);
	}
	live.changed = live.changes.size > 0;
	live.follows = live.follows && !!head.running;
}

/* Time */

/* Draw after ms, or later where that takes long. */
function wake(ms) {
	if (!head || !head.running || live.stopped || live.elapsed_us < 0 || (live.timer && ms))
		return;
	clearTimeout(live.timer);
	live.timer = setTimeout(() => requestAnimationFrame(guard(tick)),
				Math.max(ms, live.next_ms - performance.now()));
}

function tick() {
	const begin = performance.now(), inside = live.follows || view.until >= head.end;
	const wanted = live.changed;

	live.timer = 0;
	if (!head.running || live.stopped)
		return;
	if (live.changed)
		takeMessages();
	advance();
	if (inside || wanted)
		drawNow();
	else
		drawMap();
	setTimeout(() => {		/* behind the browser's own part of the frame */
		const pixel_ms = (view.until - view.from) * head.unit_us / 1e3 / view.width;

		live.cost_ms = performance.now() - begin;
		live.next_ms = begin + Math.min(live.cost_ms * SHARE, WAIT_MOST_MS);
		wake(Math.max(TICK_LEAST_MS, inside ? pixel_ms : TICK_OUTSIDE_MS));
	});
}

/* A page without a picture prints the chart itself, as wide as a sheet. */
const PRINT_WIDTH = 1040;

function printWide(width) {
	page.app.style.width = width;
	page.app.classList.toggle("printing", width !== "");
	layOut();
	drawNow();
}

parts.push({
	make() {
		if (!live.links)
			return;
		live.follows = !!head.running;
		catchUp();
		window.addEventListener("beforeprint", guard(() => printWide(PRINT_WIDTH + "px")));
		window.addEventListener("afterprint", guard(() => printWide("")));
	},
});
