/* SPDX-License-Identifier: MIT */
/* Searching, sorting */

/* Part of a name; with * or ? all of it; or /a regular expression/. */
function matcher(q) {
	const wanted = q.toLowerCase();

	view.error = "";
	if (q.length > 1 && q[0] === "/" && q[q.length - 1] === "/") {
		try {
			const re = new RegExp(q.slice(1, -1), "i");
			return row => re.test(data.names[row]);
		} catch (e) {
			view.error = "not a regular expression";
			return () => false;
		}
	}
	if (/[*?]/.test(q)) {
		const re = new RegExp("^" + wanted.replace(/[.+^${}()|[\]\\]/g, "\\$&")
			.replace(/\*/g, ".*").replace(/\?/g, ".") + "$");
		return row => re.test(data.lower[row]);
	}
	return row => data.lower[row].includes(wanted);
}

const shows = {
	all: ["all tasks", () => true],
	told: ["changes found by check", row => stateOf(row) !== NOTHING],
	changed: ["all that ever changed", row => sinceOf(row) >= 0],
	worse: ["above their usual value", row => data.newest[seriesOf(row)] > data.usual[seriesOf(row)]],
};

/* What is not known comes last, whichever way; what is alike by the difference, then as
 * the tasks are. */
function order() {
	const c = columnNow(), n = data.rows, sign = view.down ? -1 : 1;
	const key = c.number ? Float64Array.from({ length: n }, (_, row) => c.number(row)) : null;
	const second = Float64Array.from({ length: n }, (_, row) =>
		Math.abs(data.newest[seriesOf(row)] - data.usual[seriesOf(row)]) || 0);
	const text = key ? null : Array.from({ length: n }, (_, row) => c.text(row));

	return (a, b) => {
		if (key) {
			const x = key[a], y = key[b];

			if (x !== y && !(isNaN(x) && isNaN(y)))
				return isNaN(x) ? 1 : isNaN(y) ? -1 : (x - y) * sign;
		} else if (text[a] !== text[b]) {
			return (text[a] < text[b] ? -1 : 1) * sign;
		}
		return second[b] - second[a] || a - b;
	};
}

function select() {
	const fits = matcher(view.q), shown = shows[view.show][1], rows = [];

	for (let row = 0; row < data.rows; row++) {
		if (shown(row) && fits(row))
			rows.push(row);
	}
	view.rows = rows.sort(order());
	table.count.textContent = view.error || countText(rows.length) + " of " +
		countText(data.rows) + " rows";
	table.search.setAttribute("aria-invalid", view.error !== "");
	for (const b of table.metrics)
		b.setAttribute("aria-pressed", Number(b.dataset.metric) === view.metric);
	table.show.value = view.show;
	if (table.search.value !== view.q)
		table.search.value = view.q;
	table.rows.chosen = view.row;
	table.rows.show(rows, view.sort, view.down);
}

/* Rows */

/* The same rule in every row: noise of a few percent stays flat, and a large change is high. */
function sparkRange(series) {
	const [low, high] = rangeOf(series), least = SPARK.least * data.usual[series];
	const more = Math.max(0, (least || high * SPARK.least) - (high - low)) / 2;

	return [low - more, high - low + 2 * more || 1];
}

function addSpark(cell, series) {
	const svg = makeSvg("svg", { viewBox: "0 0 " + SPARK.width + " " + SPARK.height, height: SPARK.height,
		width: "100%", preserveAspectRatio: "none", "aria-hidden": "true" }, cell);
	const points = pointsOf(series), n = data.head.builds.length;
	const [low, span] = sparkRange(series);
	const x = build => 1 + build / n * (SPARK.width - 2);
	const y = v => SPARK.height - 2 - (v - low) / span * (SPARK.height - 4);
	let d = "", last = -1;

	for (const p of points) {
		d += (p.from === last ? "L" : "M") + px(x((p.from + p.until) / 2)) + " " + px(y(p.value));
		last = p.until;
	}
	for (const c of changesOf(series))
		makeSvg("path", { "class": c.after > c.before ? "mark up" : "mark down",
			       d: "M" + px(x(c.at)) + " 0V" + SPARK.height }, svg);
	makeSvg("path", { "class": "spark", d }, svg);
}

/* The part after the recipe or the directory is what distinguishes a task: it is shortened last. */
function addName(cell, name) {
	const at = Math.max(name.lastIndexOf(": ") + 2, name.lastIndexOf("/", name.length - 2) + 1);

	cell.title = name;
	if (at > 1)
		make("span", { "class": "before" }, cell, name.slice(0, at));
	make("span", { "class": "last" }, cell, at > 1 ? name.slice(at) : name);
}

function fillCell(cell, c, row) {
	if (c.spark) {
		addSpark(cell, seriesOf(row));
	} else if (c.id === "task") {
		addName(cell, c.text(row));
	} else if (c.text) {
		cell.textContent = cell.title = c.text(row);
	} else {
		const v = c.number(row);

		cell.textContent = c.words(v);
		if (c.mark && sinceOf(row) >= 0)
			cell.classList.add(v > 0 ? "worse" : v < 0 ? "better" : "same");
	}
}

function choose(row, how) {
	if (how === "Enter") {
		trend.box.querySelector("h3").focus();
		return;
	}
	view.row = row;
	table.rows.choose(row);
	drawTrend();
	saveHash();
}

/* The row of a task of any name; without one, what the search finds for it. */
function showTrendOf(name) {
	const row = data.names.indexOf(name);

	view.q = row < 0 ? name.slice(name.lastIndexOf("/") + 1) : "";
	view.show = "all";
	select();
	if (row >= 0)
		choose(row);
	find("#tasks").scrollIntoView();
}

/* State in the address */

const hash = { text: "" };

function hashText() {
	const p = new URLSearchParams();

	if (view.q)
		p.set("q", view.q);
	if (view.metric !== view.first)
		p.set("metric", data.head.metrics[view.metric].name);
	if (view.show !== "all")
		p.set("show", view.show);
	if (view.sort !== "state" || !view.down)
		p.set("sort", (view.down ? "-" : "") + view.sort);
	if (view.row >= 0)
		p.set("task", data.names[view.row]);
	return p.toString();
}

function saveHash() {
	const text = hashText();

	if (text === hash.text)
		return;
	hash.text = text;
	history.replaceState(null, "", text ? "#" + text : location.pathname + location.search);
}

function loadHash() {
	const text = location.hash.slice(1), p = new URLSearchParams(text);

	if (text && !text.includes("="))
		return;		/* the name of a part of the page */
	hash.text = text;
	const metric = data.head.metrics.findIndex(m => m.name === p.get("metric"));
	const sort = p.get("sort") || "-state", id = sort.replace(/^-/, "");

	view.q = p.get("q") || "";
	view.metric = metric < 0 ? view.first : metric;
	view.show = p.get("show") in shows ? p.get("show") : "all";
	view.sort = columns.some(c => c.id === id) ? id : "state";
	view.down = sort[0] === "-";
	view.row = p.has("task") ? data.names.indexOf(p.get("task")) :
		data.head.findings.length ? data.head.findings[0][1] : -1;
	select();
	table.rows.choose(view.row);
	drawTrend();
}

/* Making the table */

function sortBy(c) {
	view.down = view.sort === c.id ? !view.down : !c.text;
	view.sort = c.id;
	table.box.scrollTop = 0;
	select();
	saveHash();
}

function setMetric(metric) {
	view.metric = metric;
	select();
	saveHash();
}

function makeTools(parent) {
	const bar = make("div", { "class": "tools", role: "toolbar", "aria-label": "Tasks" }, parent);
	const metrics = make("span", { "class": "metrics", role: "group", "aria-label": "Metric" }, bar);

	table.metrics = data.head.metrics.map((m, i) => {
		const b = make("button", { type: "button", "data-metric": i }, metrics, m.title);

		b.addEventListener("click", () => setMetric(i));
		return b;
	});
	table.search = makeSearch(bar, { placeholder: "part of a name, do_c*, /pattern/",
		"aria-label": "Search tasks (/)" }, SEARCH_MS, text => {
		view.q = text;
		table.box.scrollTop = 0;
		select();
		saveHash();
	});
	table.show = make("select", { id: "show", "aria-label": "Rows" }, bar);
	for (const id in shows)
		make("option", { value: id }, table.show, shows[id][0]);
	table.show.addEventListener("change", () => {
		view.show = table.show.value;
		table.box.scrollTop = 0;
		select();
		saveHash();
	});
	table.count = make("span", { id: "count", role: "status" }, bar);
}

function makeTable(parent) {
	table.rows = new Table({ make, parent, id: "rows", label: "Tasks", row: ROW, columns,
		cell: fillCell, choose, sort: sortBy });
	table.box = table.rows.box;
}

/* A task's name in the verdict and the events leads here. */
function follows(e) {
	const a = e.target.closest("a.task");
	const row = a ? Number(a.dataset.row) : -1;

	if (row < 0 || e.ctrlKey || e.metaKey || e.shiftKey)
		return;
	e.preventDefault();
	view.metric = Math.max(0, data.head.metrics.findIndex(m => m.name === a.dataset.metric));
	view.q = "";
	view.show = "all";
	select();
	choose(row);
	find("#tasks").scrollIntoView();
	table.box.focus({ preventScroll: true });
}

function pageKey(e) {
	if (e.key !== "/" || e.ctrlKey || e.metaKey || e.altKey ||
	    /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName))
		return;
	e.preventDefault();
	table.search.focus();
}

function makeTasks() {
	const section = find("#tasks");

	makeTools(section);
	const panes = make("div", { "class": "panes" }, section);

	make("p", { "class": "faint rule" }, section, "The scale of each trend spans at least " +
		SPARK.least * 100 + " % of the usual value.");
	section.insertBefore(section.lastChild, panes);
	makeTable(panes);
	trend.box = make("div", { id: "trend", role: "region", "aria-label": "Trends" }, panes);
	document.addEventListener("click", follows);
	document.addEventListener("keydown", pageKey);
	window.addEventListener("hashchange", loadHash);
	window.addEventListener("resize", () => {
		table.rows.draw(false);
		if (trend.box.clientWidth !== trend.width)
			drawTrend();
	});
}
