/* SPDX-License-Identifier: MIT */
/* The parts of the page, the slider, and what the address keeps */

const page = {};

/* Buttons of which one is pressed: options are [value, text]. */
function makeChoice(parent, label, options, apply) {
	const group = make("span", { "class": "choice", role: "group", "aria-label": label }, parent);
	const buttons = options.map(([value, text, hint]) => {
		const b = make("button", { type: "button", "aria-pressed": "false", title: hint || text }, group, text);

		b.addEventListener("click", () => apply(value));
		return b;
	});

	return value => options.forEach(([v], i) => buttons[i].setAttribute("aria-pressed", v === value));
}

function addSection(id, title) {
	const section = make("section", { id, "aria-labelledby": id + "-title" }, find("#inspection"));

	make("h2", { id: id + "-title" }, section, title);
	return section;
}

function makePage() {
	if (!head.n)
		return;
	makeAreas(addSection("areas", "Memory over time"));
	makeSlider();
	if (rowCount()) {
		makeIcicle(addSection("heap", "Live allocations by call stack"));
		makeSites(addSection("sites", "Call sites"));
	} else if (head.heap === "off") {
		make("p", { "class": "faint" }, find("#inspection"),
		     "The heap was not counted: buildbeat inspect run --heap records it.");
	}
	makeMaps(addSection("maps", "Mappings"));
	window.addEventListener("hashchange", () => {
		loadHash();
		drawAll();
	});
	window.addEventListener("resize", drawAll);
	document.addEventListener("keydown", e => {
		if (e.key === "/" && page.search && !/^(input|select)$/.test(e.target.localName)) {
			e.preventDefault();
			page.search.focus();
		}
	});
}

/* The snapshot: a slider below the chart, as wide as its plot. */
function makeSlider() {
	const bar = make("div", { "class": "times" }, find("#areas"));

	page.slider = make("input", { type: "range", id: "snapshot", min: 0, max: head.n - 1, step: 1,
		"aria-label": "Snapshot" }, bar);
	page.moment = make("p", { "class": "moment", role: "status" }, bar);
	page.slider.addEventListener("input", () => setSnapshot(Number(page.slider.value)));
	if (rowCount()) {
		page.peak = make("button", { type: "button", "aria-pressed": "false",
			title: "the allocations that were live when the heap was largest, which may be between two snapshots" },
			bar, "largest heap");
		page.peak.addEventListener("click", () => setSnapshot(isPeak() ? largestHeap() : head.n));
	}
}

function setSnapshot(s) {
	view.snapshot = clamp(s, 0, rowCount() ? head.n : head.n - 1);
	saveHash();
	drawSnapshot();
}

function drawSlider() {
	const s = shownSnapshot(), heap = rowCount() ? heapBytes(view.snapshot) : 0, rss = rssBytes();
	const ended = s && !head.snapshots[s].rss_kb;
	const words = ["snapshot " + (s + 1) + " of " + head.n, timeText(timeAt(s)),
		ended ? "the process had ended" : bytesText(rss) + " RSS"];

	if (s && !ended)
		words.push(signedText(rss - head.snapshots[s - 1].rss_kb * 1024) + " since the one before");
	if (rowCount())
		words.push((ended ? "left in the heap " : "heap ") + bytesText(heap));
	page.slider.value = s;
	page.slider.setAttribute("aria-valuetext", words.slice(0, 3).join(", "));
	if (page.peak)
		page.peak.setAttribute("aria-pressed", isPeak());
	page.moment.textContent = isPeak() ? "when the heap was largest: " + bytesText(heap) : words.join(" \u00b7 ");
}

function drawSnapshot() {
	if (!head.n)
		return;
	drawSlider();
	drawAreas();
	if (rowCount()) {
		drawIcicle();
		drawSites();
	}
	drawMaps();
}

function drawAll() {
	drawSnapshot();
}

/* The address */

function saveHash() {
	const p = new URLSearchParams();

	p.set("snapshot", view.snapshot);
	if (view.kind !== "memory")
		p.set("kind", view.kind);
	if (view.metric !== "rss")
		p.set("metric", view.metric);
	if (view.class)
		p.set("class", view.class);
	if (view.up)
		p.set("up", 1);
	if (view.q)
		p.set("q", view.q);
	history.replaceState(null, "", "#" + p);
}

function loadHash() {
	const p = new URLSearchParams(location.hash.slice(1));
	const at = p.has("snapshot") ? Number(p.get("snapshot")) : view.snapshot;

	view.snapshot = Number.isInteger(at) ? clamp(at, 0, rowCount() ? head.n : Math.max(0, head.n - 1)) : view.snapshot;
	view.kind = p.get("kind") === "heap" && head.heap_classes.length ? "heap" : "memory";
	view.metric = head.values.includes(p.get("metric")) ? p.get("metric") : "rss";
	view.class = clamp(Number(p.get("class")) | 0, 0, Math.max(0, classesOf().item.length - 1));
	view.up = p.get("up") === "1";
	view.q = p.get("q") || "";
	if (page.search)
		page.search.value = view.q;
}
