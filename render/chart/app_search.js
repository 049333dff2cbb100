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
	reveal(i);
}

/* Tools */

const tools = {};

function minOfSlider(v) {
	return v > 0 ? MIN_LEAST_S * Math.pow(MIN_MOST_S / MIN_LEAST_S, (v - 1) / 99) * 1e6 : 0;
}

function sliderOfMin(us) {
	return us > 0 ? clamp(1 + 99 * Math.log(us / 1e6 / MIN_LEAST_S) /
			      Math.log(MIN_MOST_S / MIN_LEAST_S), 0, 100) : 0;
}

function makeTools() {
	const bar = element("div", { id: "bb-tools", role: "toolbar", "aria-label": "Chart" }, page.top);
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
	label.textContent = "longer than ";
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
	tools.path = button(bar, "path", "What the end waited for (c)", togglePath);
	tools.count = make(HTML, "span", { id: "bb-count", role: "status" }, bar);
	tools.live = make(HTML, "span", { id: "bb-live", "class": "live", "aria-live": "polite" }, bar);
}

function togglePath() {
	view.path = !view.path;
	request(true);
}

function tell(text) {
	tools.live.textContent = clean(text);
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
	tools.path.setAttribute("aria-pressed", view.path);
}

parts.push({
	make: makeTools,
	draw() {
		tools.search.value = document.activeElement === tools.search ? tools.search.value : view.q;
		tools.min.value = sliderOfMin(view.min_us);
		tellCounts();
	},
	chosen() {
		const i = view.task;

		tell(i < 0 ? "" : nameOf(i) + ", " + tasks.kinds[tasks.kind[i]].name + ", " + endText(i) +
		     ", took " + wallText(i));
	},
});
