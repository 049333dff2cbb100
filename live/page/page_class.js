/* SPDX-License-Identifier: MIT */
/* One class of tasks: how many, how long, how much of everything, and each of them. */

/* The start is in the list of tasks only. */
const CLASS_VALUES = VALUES.filter(v => v.joined !== "first");
const CLASS_ROWS = 100, CLASS_GROW_MS = 3000;
const classPage = { from: 0, sort: "start", data: null, bands: [] };

async function classLoad() {
	const { params } = core;
	const data = await api("/api/v1/class", { by: params.get("by"), name: params.get("name"), metric: params.get("metric"),
		sort: classPage.sort, from: classPage.from, count: CLASS_ROWS, points: TRACKER_POINTS });

	classPage.data = data;
	drawClass();
}

function drawClass() {
	const d = classPage.data, { name, by } = d, wall = d.values.wall_us;

	setTitle(name ? by + " " + name : "no " + by);
	setText(classPage.answer, countOf(d.n_tasks, "task") + (wall.count ? ", " + timeText(wall.sum) +
		" in all: " + timeText(wall.min) + " to " + timeText(wall.max) + ", half of them at most " +
		timeText(wall.median) + "." : "."));
	keyed(classPage.stats, CLASS_VALUES.filter(v => !v.needs || d.values[v.key].count), v => v.key, () => {
		const row = make("tr");

		make("th", { scope: "row" }, row);
		for (let i = 0; i < 6; i++)
			make("td", {}, row);
		return row;
	}, (row, value) => {
		const v = d.values[value.key];

		setText(row.firstChild, valueTitle(value));
		["min", "median", "mean", "max", "sum"].forEach((what, i) => setText(row.children[i + 1],
			value.joined !== "sum" && what === "sum" ? "" : valueText(value, v[what]) || "not known"));
		setText(row.children[6], v.count === d.n_tasks ? "all" : "of " + countOf(v.count, "task"));
	});
	drawClassAreas();
	drawClassTasks();
}

function drawClassAreas() {
	const d = classPage.data;

	if (!d)
		return;
	const unit = TRACKER_METRICS[d.metric], n = d.over_time.length;
	const edges = trackerEdges({ from_us: d.from_us, until_us: d.until_us, points: n });

	classPage.edges = edges;
	classPage.bands = [{ name: d.name, value: d.over_time.map(p => p.total), colour: 0 },
			   { name: "all other classes", colour: 7,
			     value: d.over_time.map(p => Math.max(0, p.all - p.total)) }];
	drawStack({ root: classPage.svg, width: classPage.box.clientWidth, edge_us: edges, bands: classPage.bands,
		from_us: d.from_us, until_us: d.until_us, text: unit.text, step: unit.step, least: unit.least,
		label: unit.title + " of this class over time" });
	classPage.metric.value = d.metric;
	if (!d.known)
		setText(classPage.status, "It was not recorded: " + unit.title + ".");
}

function classRead(x) {
	const d = classPage.data, i = stackIndex(classPage.edges, d.from_us + clamp(x, 0, 1) * (d.until_us - d.from_us));
	const p = d.over_time[i];

	setText(classPage.status, timeText(p.time_us) + " \u00b7 " + countOf(p.n_tasks, "task") + " \u00b7 " +
		TRACKER_METRICS[d.metric].text(p.total) + " in total, " + percentText(p.share) + " of the build's" +
		(p.n_tasks ? ", " + TRACKER_METRICS[d.metric].text(p.total / p.n_tasks) + " each" : ""));
}

function drawClassTasks() {
	const d = classPage.data;

	keyed(classPage.tasks, d.tasks, t => t.task, t => {
		const row = make("tr"), cell = make("th", { scope: "row", "class": "name" }, row);

		link("task", { task: t.task }, t.name, cell);
		for (let i = 0; i < CLASS_VALUES.length + 3; i++)
			make("td", {}, row);
		return row;
	}, (row, t) => {
		[t.state === "failed" ? "failed" : t.state, timeText(t.start_us), timeText(t.end_us),
			...CLASS_VALUES.map(v => valueText(v, t[v.key]))]
			.forEach((text, i) => setText(row.children[i + 1], text));
	});
	setText(classPage.where, d.n_tasks ? countText(d.from + 1) + " to " + countText(d.from + d.tasks.length) +
		" of " + countText(d.n_tasks) : "none");
	classPage.back.disabled = !d.from;
	classPage.next.disabled = d.from + d.tasks.length >= d.n_tasks;
	for (const b of classPage.heads) {
		const key = classPage.sort.replace("-", ""), here = b.dataset.key === key;

		b.parentNode.setAttribute("aria-sort", !here ? "none" : classPage.sort[0] === "-" ? "descending" : "ascending");
	}
}

function classShow() {
	classLoad().then(() => worked(find("#main")), e => failed(find("#main"), e));
}

function classHead(cell, key, title) {
	const b = make("button", { type: "button" }, cell, title);

	b.dataset.key = key;
	b.addEventListener("click", () => {
		const down = classPage.sort === "-" + key ? "" : classPage.sort === key ? "-" : key === "start" ? "" : "-";

		classPage.sort = down + key;
		classPage.from = 0;
		classShow();
	});
	return b;
}

pages["class"] = {
	async make(main) {
		classPage.answer = make("p", { "class": "tracker-answer" }, main);
		classPage.stats = makeTable(main, "Values", ["Value", "Least", "Median", "Mean", "Most", "Sum", "Known"],
					    "class-wide");
		make("h2", {}, main, "Over time");
		classPage.metric = makeTrackerChoice(make("div", { "class": "tools" }, main), "Show",
			Object.entries(TRACKER_METRICS).map(([k, m]) => [k, m.title]), v => {
				keepParam("metric", v);
				classShow();
			});
		classPage.box = make("div", { "class": "areas" }, main);
		classPage.svg = makeSvg("svg", { role: "img", "aria-label": "Over time" }, classPage.box);
		classPage.box.addEventListener("pointermove", e => {
			const box = classPage.svg.getBoundingClientRect();

			classRead((e.clientX - box.left - AREA_LEFT) / Math.max(1, box.width - AREA_LEFT - AREA_RIGHT));
		});
		classPage.status = make("p", { "class": "status faint" }, main, "Point at the areas to read them.");
		make("h2", {}, main, "Tasks");
		const tools = make("div", { "class": "tools" }, main);

		classPage.back = make("button", { type: "button" }, tools, "Previous");
		classPage.next = make("button", { type: "button" }, tools, "Next");
		classPage.where = make("span", { role: "status", "class": "faint" }, tools);
		classPage.back.addEventListener("click", () => {
			classPage.from = Math.max(0, classPage.from - CLASS_ROWS);
			classShow();
		});
		classPage.next.addEventListener("click", () => {
			classPage.from += CLASS_ROWS;
			classShow();
		});
		classPage.tasks = makeTable(main, "Tasks", ["Task", "State", "", "End"], "class-wide class-tasks");
		const row = classPage.tasks.parentNode.tHead.rows[0];

		classPage.heads = [classHead(row.cells[2], "start", "Start")];
		for (const v of CLASS_VALUES)
			classPage.heads.push(classHead(make("th", { scope: "col" }, row), v.word, valueTitle(v)));
		await classLoad();
		new ResizeObserver(drawClassAreas).observe(classPage.box);
	},
};
