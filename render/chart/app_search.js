/* SPDX-License-Identifier: MIT */
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

/* What matches the text, among the tasks of the colour that is shown alone. */
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
	if (test || view.only >= 0) {
		search.match = new Uint8Array(tasks.n);
		for (let i = 0; i < tasks.n; i++) {
			if ((view.only >= 0 && tasks.colour[i] !== view.only) ||
			    (test && !test(nameOf(i), tasks.kinds[tasks.kind[i]].name)))
				continue;
			search.match[i] = 1;
			search.n++;
			search.time += tasks.end[i] - tasks.start[i];
		}
	}
	all("searched");
	request(true);
}

/* A search begins from a view, to which leaving it returns. */
function setQuery(q) {
	if (q && !view.q)
		search.before = { from: view.from, until: view.until, task: view.task,
				  top: window.scrollY };
	view.q = q;
	runSearch();
}

/* False: there was no search to leave. */
function leaveSearch() {
	const before = search.before;

	clearTimeout(tools.timer);
	if (!view.q && !tools.search.value && view.only < 0)
		return false;
	view.q = tools.search.value = "";
	view.only = -1;
	search.before = null;
	runSearch();
	if (before) {
		show(before.from, before.until);
		choose(before.task);
		window.scrollTo(0, before.top);
	}
	return true;
}

/* The next match after the chosen task, or the one before it. */
function nextMatch(step) {
	if (!search.match || !search.n)
		return;
	let i = view.task < 0 ? (step > 0 ? -1 : tasks.n) : view.task;

	do
		i = (i + step + tasks.n) % tasks.n;
	while (!search.match[i]);
	reveal(i);
}

/* Tools */

const tools = { timer: 0 };

function minOfSlider(v) {
	return v > 0 ? MIN_LEAST_S * Math.pow(MIN_MOST_S / MIN_LEAST_S, (v - 1) / 99) * 1e6 : 0;
}

function sliderOfMin(us) {
	return us > 0 ? clamp(1 + 99 * Math.log(us / 1e6 / MIN_LEAST_S) /
			      Math.log(MIN_MOST_S / MIN_LEAST_S), 0, 100) : 0;
}

const SEARCH_MS = 120;

/* What was typed counts at once, also if its time has not come. */
function searchNow() {
	clearTimeout(tools.timer);
	if (tools.search.value !== view.q)
		setQuery(tools.search.value);
}

function searchKey(e) {
	if (e.key === "Enter") {
		searchNow();
		nextMatch(e.shiftKey ? -1 : 1);
	} else if (e.key !== "Escape" || !leaveSearch()) {
		return;
	}
	e.preventDefault();
	e.stopPropagation();
}

function makeSearch(bar) {
	tools.search = element("input", { id: "bb-search", type: "search", size: 22,
		"aria-label": "Search tasks",
		"aria-describedby": "bb-hint", title: "part of a name, a kind, or /a pattern/" }, bar);
	tools.search.addEventListener("input", guard(() => {
		clearTimeout(tools.timer);
		tools.timer = setTimeout(guard(searchNow), SEARCH_MS);
	}));
	tools.search.addEventListener("keydown", guard(searchKey));
	button(bar, "\u2039", "Previous match (N)", () => nextMatch(-1)).classList.add("step");
	button(bar, "\u203a", "Next match (n)", () => nextMatch(1)).classList.add("step");
}

function makeSlider(bar) {
	const label = element("label", {}, bar, "longer than ");

	tools.min = element("input", { id: "bb-min", type: "range", min: 0, max: 100, step: 1,
		value: 0 }, label);
	tools.min_text = element("output", { "for": "bb-min" }, label);
	tools.min.addEventListener("input", guard(() => {
		view.min_us = minOfSlider(Number(tools.min.value));
		all("searched");
		request(true);
	}));
}

function makeTools() {
	const bar = element("div", { id: "bb-tools", role: "toolbar", "aria-label": "Chart" }, page.top);

	makeSearch(bar);
	button(bar, "\u2212", "Zoom out (-)", () => zoomAt(view.width / 2, 2));
	button(bar, "+", "Zoom in (+)", () => zoomAt(view.width / 2, .5));
	button(bar, "all", "Show all (0)", reset);
	tools.path = button(bar, "path", "Show what the end of the build waited for (c)", togglePath);
	tools.follow = button(bar, "follow", "Follow the newest time (f)", () => follow(!live.follows));
	makeSlider(bar);
	tools.bar = bar;
	tools.count = element("span", { id: "bb-count", role: "status" }, bar);
	tools.hint = element("span", { id: "bb-hint" }, bar,
			     "Enter: next, Shift+Enter: previous, Esc: back");
	tools.live = element("span", { id: "bb-live", "class": "spoken", "aria-live": "polite" }, bar);
}

function togglePath() {
	view.path = !view.path;
	request(true);
}

function tell(text) {
	tools.live.textContent = clean(text);
}

/* "3 of 17 tasks, 12.4 s": the chosen one among those that match. */
function matchesText() {
	let text = countText(search.n) + (search.n === 1 ? " task" : " tasks");

	if (!search.n)
		return "no task";
	if (view.task >= 0 && search.match[view.task]) {
		let nth = 0;

		for (let i = 0; i <= view.task; i++)
			nth += search.match[i];
		text = countText(nth) + " of " + text;
	}
	return text + ", " + timeText(search.time * head.unit_us);
}

function tellCounts() {
	const texts = [], min = timeText(view.min_us);

	if (search.error)
		texts.push(search.error);
	else if (search.match)
		texts.push(matchesText());
	if (view.min_us)
		texts.push(countText(hidden.n) + " shorter in grey");
	if (tools.count.textContent !== texts.join("; "))	/* it is read aloud */
		tools.count.textContent = texts.join("; ");
	tools.count.classList.toggle("wrong", search.error !== "");
	tools.hint.hidden = !view.q;
	tools.bar.classList.toggle("found", search.match !== null);
	tools.search.setAttribute("aria-invalid", search.error !== "");
	tools.min_text.textContent = view.min_us ? min : "0 s";
	tools.min.setAttribute("aria-valuetext", view.min_us ? min : "0 s: all tasks");
	tools.path.setAttribute("aria-pressed", view.path);
	tools.follow.hidden = !head.running;
	tools.follow.setAttribute("aria-pressed", live.follows);
}

parts.push({
	make: makeTools,
	layOut() {
		tools.search.placeholder = page.room < NARROW ? "search" : "search, or /pattern/";
	},
	draw() {
		tools.search.value = document.activeElement === tools.search ? tools.search.value : view.q;
		tools.min.value = sliderOfMin(view.min_us);
	},
	over: tellCounts,	/* after the lanes have counted what is hidden */
	chosen() {
		const i = view.task;

		tell(i < 0 ? "" : nameOf(i) + ", " + tasks.kinds[tasks.kind[i]].name + ", " + endText(i) +
		     ", took " + wallText(i));
	},
});
