/* SPDX-License-Identifier: MIT */
/* Pointer */

const pointers = new Map();
let drag = null;

function hover(at) {
	const inside = inPlots(at), p = inside && tasks.n ? pieceAt(at) : -1;

	geometry.cross.x = inside ? at.x - head.plot_x : -1;
	if (!view.pinned) {
		view.hover = p < 0 || piece.count[p] > 1 ? -1 : piece.task[p];
		if (p < 0)
			hideTip();
		else
			showTip(at, e => piece.count[p] > 1 ? tellPiece(e, p) : tellTask(e, piece.task[p]));
	}
	request(false);
}

function leave() {
	geometry.cross.x = -1;
	if (!view.pinned) {
		view.hover = -1;
		hideTip();
	}
	request(false);
}

/* Both fingers stay on the times they were put on. */
function pinch() {
	const [a, b] = Array.from(pointers.values());
	const xa = a.at.x - head.plot_x, xb = b.at.x - head.plot_x;

	if (Math.abs(xb - xa) < 8)
		return;
	const k = (b.time - a.time) / (xb - xa);

	if (k > 0)
		show(a.time - xa * k, a.time + (view.width - xa) * k);
}

function pointerDown(e) {
	const at = toPicture(e);

	if (e.button || !inPlots(at) || tip.box.contains(e.target))
		return;
	pointers.set(e.pointerId, { at, time: toTime(at.x - head.plot_x) });
	drag = pointers.size === 1 ? { x: at.x, from: view.from, moved: false } : null;
}

function pointerMove(e) {
	const at = toPicture(e), p = pointers.get(e.pointerId);

	if (p)
		p.at = at;
	if (pointers.size === 2) {
		pinch();
	} else if (p && drag && (drag.moved || Math.abs(at.x - drag.x) > 4)) {
		const span = view.until - view.from;
		const from = drag.from - (at.x - drag.x) * span / view.width;

		if (!drag.moved && root.setPointerCapture)
			root.setPointerCapture(e.pointerId);
		drag.moved = true;
		leave();
		show(from, from + span);
	} else if (!tip.box.contains(e.target)) {
		hover(at);
	}
}

function pointerUp(e) {
	const clicked = pointers.delete(e.pointerId) && drag && !drag.moved;

	drag = null;
	for (const p of pointers.values())
		drag = { x: p.at.x, from: view.from, moved: true };
	if (clicked && e.type === "pointerup")
		click(toPicture(e));
}

function click(at) {
	const p = tasks.n ? pieceAt(at) : -1;

	pin(false);
	choose(p < 0 || piece.count[p] > 1 ? -1 : piece.task[p]);
	hover(at);
	pin(view.task >= 0);
}

function doubleClick(e) {
	const at = toPicture(e), p = inPlots(at) && tasks.n ? pieceAt(at) : -1;

	if (!inPlots(at))
		return;
	e.preventDefault();
	hideTip();
	if (p >= 0 && piece.count[p] === 1)
		zoomToTask(piece.task[p]);
	else
		zoomAt(at.x - head.plot_x, .25);
}

/* The wheel zooms over the plots, with Shift it scrolls; zoomed out, it scrolls too. */
function wheel(e) {
	const at = toPicture(e), out = e.deltaY > 0;
	const scale = e.deltaMode === 1 ? 20 : e.deltaMode === 2 ? 400 : 1;

	if (!inPlots(at) || tip.box.contains(e.target) || (e.shiftKey && !e.deltaX && !e.deltaY))
		return;
	if (e.shiftKey) {
		e.preventDefault();
		window.scrollBy(0, (e.deltaY || e.deltaX) * scale);
		return;
	}
	if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
		e.preventDefault();
		pan(clamp(e.deltaX * scale / 1000, -.5, .5));
		return;
	}
	if (out && view.until - view.from >= head.end && !e.ctrlKey)
		return;
	e.preventDefault();
	zoomAt(at.x - head.plot_x, Math.exp(clamp(e.deltaY * scale / 400, -1, 1)));
	hover(at);
}

/* Search */

/* A test of a text: a part of it, /a pattern/ or nothing. Throws what is wrong with it. */
function tester(q) {
	const pattern = /^\/(.*)\/([iu]*)$/.exec(q);

	if (!q || q === "/")
		return null;
	if (q[0] === "/" && pattern && pattern[1]) {
		const re = new RegExp(pattern[1], pattern[2]);

		return (name, kind) => re.test(name) || re.test(kind);
	}
	if (/[A-Z]/.test(q))
		return (name, kind) => name.includes(q) || kind === q;
	return (name, kind) => name.toLowerCase().includes(q) || kind === q;
}

function runSearch() {
	let test = null;

	search.error = "";
	search.match = null;
	search.n = search.time = 0;
	try {
		test = tester(view.q);
	} catch (e) {
		search.error = "not a pattern: " + e.message.replace(/^Invalid regular expression: /, "");
	}
	if (test) {
		search.match = new Uint8Array(tasks.n);
		for (let i = 0; i < tasks.n; i++) {
			if (!test(nameOf(i), tasks.kinds[tasks.kind[i]].name))
				continue;
			search.match[i] = 1;
			search.n++;
			search.time += tasks.end[i] - tasks.start[i];
		}
	}
	request(true);
}

/* The next match after the chosen task, or the one before it. */
function nextMatch(step) {
	if (!search.match || !search.n)
		return;
	let i = view.task < 0 ? (step > 0 ? -1 : tasks.n) : view.task;

	do
		i = (i + step + tasks.n) % tasks.n;
	while (!search.match[i]);
	choose(i);
	reveal(i);
}

/* The chosen task */

function choose(i) {
	view.task = i;
	tell(i < 0 ? "" : nameOf(i) + ", " + tasks.kinds[tasks.kind[i]].name + ", " + endText(i) +
	     ", from " + momentText(tasks.start[i] * head.unit_us, head.unit_us) + ", took " +
	     timeText((tasks.end[i] - tasks.start[i]) * head.unit_us));
	request(true);
}

/* Bring it into view, its lane too, and say what it is. */
function reveal(i) {
	const span = view.until - view.from, wall = tasks.end[i] - tasks.start[i];

	if (wall * view.width / span < 4)
		show(tasks.start[i] - wall * 20 - 1, tasks.end[i] + wall * 20 + 1);
	else if (tasks.end[i] < view.from || tasks.start[i] > view.until)
		show(tasks.start[i] - span / 3, tasks.start[i] + span * 2 / 3);
	const x = clamp(toX((tasks.start[i] + tasks.end[i]) / 2), 0, view.width);
	const lane = tasks.lane[i];

	view.hover = i;
	showTip({ x: head.plot_x + x, y: tasks.lanes.y[lane] + tasks.lanes.height[lane] },
		e => tellTask(e, i));
	pin(true);
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
	choose(starts[at]);
	reveal(starts[at]);
}

/* Tools */

const tools = { box: null };

function button(parent, text, label, act) {
	const b = make(HTML, "button", { type: "button", title: label, "aria-label": label }, parent);

	b.textContent = text;
	b.addEventListener("click", guard(act));
	return b;
}

function minOfSlider(v) {
	return v > 0 ? MIN_LEAST_S * Math.pow(MIN_MOST_S / MIN_LEAST_S, (v - 1) / 99) * 1e6 : 0;
}

function sliderOfMin(us) {
	return us > 0 ? clamp(1 + 99 * Math.log(us / 1e6 / MIN_LEAST_S) /
			      Math.log(MIN_MOST_S / MIN_LEAST_S), 0, 100) : 0;
}

function beginTools() {
	const g = make(SVG, "g", { id: "tools" }, root);

	tools.group = g;
	tools.box = make(SVG, "foreignObject", { x: 0, y: 0, width: WIDTH_LEAST,
		height: TOOLS_HEIGHT }, g);
	tools.bar = make(HTML, "div", { "class": "tools", role: "toolbar",
		"aria-label": "Chart" }, tools.box);
}

function makeTools() {
	const bar = tools.bar;
	let timer = 0;

	tools.search = make(HTML, "input", { id: "bb-search", type: "search", size: 26,
		placeholder: "search, or /pattern/", "aria-label": "Search tasks" }, bar);
	tools.search.addEventListener("input", guard(() => {
		clearTimeout(timer);
		timer = setTimeout(guard(() => {
			view.q = tools.search.value;
			runSearch();
		}), 120);
	}));
	button(bar, "\u2039", "Previous match (N)", () => nextMatch(-1));
	button(bar, "\u203a", "Next match (n)", () => nextMatch(1));
	const label = make(HTML, "label", {}, bar);
	label.textContent = "at least ";
	tools.min = make(HTML, "input", { id: "bb-min", type: "range", min: 0, max: 100, step: 1,
		value: 0, "aria-label": "Shortest task shown by itself" }, label);
	tools.min_text = make(HTML, "output", {}, label);
	tools.min.addEventListener("input", guard(() => {
		view.min_us = minOfSlider(Number(tools.min.value));
		request(true);
	}));
	button(bar, "\u2212", "Zoom out (-)", () => zoomAt(view.width / 2, 2));
	button(bar, "+", "Zoom in (+)", () => zoomAt(view.width / 2, .5));
	button(bar, "all", "Show all (0)", reset);
	tools.critical = button(bar, "critical path", "Critical path (c)", toggleCritical);
	tools.count = make(HTML, "span", { id: "bb-count", role: "status" }, bar);
	tools.live = make(HTML, "span", { id: "bb-live", "class": "live", "aria-live": "polite" }, bar);
}

function reset() {
	show(0, head.end);
}

function toggleCritical() {
	view.critical = !view.critical;
	request(true);
}

function tell(text) {
	tools.live.textContent = clean(text);
}

/* They stay at the top of the window. */
function placeTools() {
	const r = root.getBoundingClientRect(), k = geometry.width / r.width;

	if (tools.group)
		tools.group.setAttribute("transform", "translate(0 " +
			(Math.max(0, Math.min(-r.top, r.height - 80)) * k - TOOLS_HEIGHT) + ")");
}

function tellCounts() {
	const texts = [];

	if (search.error)
		texts.push(search.error);
	else if (search.match)
		texts.push(countText(search.n) + " of " + countText(tasks.n) + " tasks, " +
			   timeText(search.time * head.unit_us));
	if (view.min_us)
		texts.push(countText(hidden.n) + " shorter in grey");
	tools.count.textContent = texts.join("; ");
	tools.count.classList.toggle("wrong", search.error !== "");
	tools.search.setAttribute("aria-invalid", search.error !== "");
	tools.min_text.textContent = view.min_us ? timeText(view.min_us) : "any";
	tools.critical.setAttribute("aria-pressed", view.critical);
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
		hideTip();
		view.hover = -1;
		choose(-1);
	},
	"n": () => nextMatch(1),
	"N": () => nextMatch(-1),
	"c": toggleCritical,
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
	const lanes = e.target && e.target.id === "lanes" && tasks.n;

	if (e.ctrlKey || e.altKey || e.metaKey)
		return;
	if (input && e.key === "Escape")
		e.target.blur();
	if (input || (e.target && e.target.localName === "button" && e.key.length > 1 &&
		      e.key !== "Escape"))
		return;
	const act = lanes && !e.shiftKey && lane_keys[e.key] || keys[e.key];

	if (!act)
		return;
	e.preventDefault();
	act();
}

/* The state in the URL: #t=12.5-80&q=...&min=...&task=...&critical=0 */

const hash = { timer: 0, last: "" };

function seconds(t) {
	return String(Math.round(t * head.unit_us) / 1e6);
}

function hashText() {
	const parts = [];

	if (view.from > 0 || view.until < head.end)
		parts.push("t=" + seconds(view.from) + "-" + seconds(view.until));
	if (view.q)
		parts.push("q=" + encodeURIComponent(view.q));
	if (view.min_us)
		parts.push("min=" + String(Math.round(view.min_us / 1000) / 1000));
	if (view.task >= 0)
		parts.push("task=" + view.task);
	if (!view.critical)
		parts.push("critical=0");
	return parts.join("&");
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

function loadHash() {
	const got = new URLSearchParams(location.hash.slice(1));
	const t = /^([\d.e-]+?)-([\d.]+)$/.exec(got.get("t") || "");
	const from = t ? Number(t[1]) * 1e6 / head.unit_us : 0;
	const until = t ? Number(t[2]) * 1e6 / head.unit_us : head.end;
	const task = parseInt(got.get("task"), 10), min = Number(got.get("min"));

	view.q = (got.get("q") || "").slice(0, 1000);
	view.min_us = min > 0 ? Math.min(min, MIN_MOST_S) * 1e6 : 0;
	view.task = task >= 0 && task < tasks.n ? task : -1;
	view.critical = got.get("critical") !== "0";
	tools.search.value = view.q;
	tools.min.value = sliderOfMin(view.min_us);
	hash.last = location.hash.slice(1);
	show(until > from ? from : 0, until > from ? until : head.end);
	runSearch();
}
