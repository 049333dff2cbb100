/* SPDX-License-Identifier: MIT */
/* What the end of the build waited for: two lanes above the others, and a table */

const waits = { box: null, row: null, dependency: null, pieces: [], lower: [], table: null };
const PATH_HEIGHT = 26, DEPENDENCY_HEIGHT = 18, STRIP = 5, PATH_ROWS = 100;
const LINKS = ["", "needed", "worker", "pool", "load", "order"];
const LINK_WORDS = { needed: "a dependency", worker: "a free worker", pool: "a pool", load: "the load limit",
	order: "the order of the build tool", "": "" };

/* What task k of the path waited for: a dependency, a free worker or a place in its pool; "": the
 * first one, or not known. */
function linkOf(k) {
	return LINKS[tasks.path_link[k]];
}

/* Tasks of a list one after the other, small neighbours as one. */
function pathPieces(list, y, height) {
	const pieces = [];
	let p = null;

	for (const i of list) {
		const x0 = toX(tasks.start[i]), x1 = toX(tasks.end[i]);
		const wall = tasks.end[i] - tasks.start[i];

		if (x1 < 0 || x0 > view.width)
			continue;
		if (!p || x0 - p.x1 >= CLOSE || (x1 - x0 >= SMALL && p.x1 - p.x0 >= SMALL)) {
			p = { x0: clipX(x0), x1: clipX(x1), y, height, task: i, count: 0, busy: 0,
			      longest: wall };
			pieces.push(p);
		}
		p.x1 = Math.max(p.x1, clipX(x1));
		p.count++;
		p.busy += wall;
		if (wall > p.longest) {
			p.longest = wall;
			p.task = i;
		}
	}
	return pieces;
}

function drawPieces(layer, pieces) {
	const bars = Array(COLOURS).fill("");

	for (const p of pieces) {
		p.colour = tasks.colour[p.task];
		bars[p.colour] += barBox(p.x0, p.y, p.x1 - p.x0, p.height);
	}
	bars.forEach((d, c) => layer.path("bar c" + c, d));
	drawBarNames(layer, pieces.filter(p => p.x1 - p.x0 >= LABEL_LEAST), "");
}

/* Above the bars: solid where the task waited for a dependency, dotted where for a free worker. */
function drawStrips(layer) {
	const d = { needed: "", worker: "", pool: "", load: "", order: "", "": "" }, { path: list, start, end } = tasks;
	const last = { link: "", x0: 0, x1: -1 };
	const flush = () => d[last.link] += "M" + px(last.x0) + " 2H" + px(Math.max(last.x1, last.x0 + 1));

	for (let k = 0; k < list.length; k++) {
		const x0 = toX(start[list[k]]), x1 = toX(end[list[k]]), link = linkOf(k);

		if (x1 < 0 || x0 > view.width)
			continue;
		if (link === last.link && x0 - last.x1 < 2) {
			last.x1 = Math.max(last.x1, clipX(x1));
			continue;
		}
		flush();
		Object.assign(last, { link, x0: clipX(x0), x1: clipX(x1) - 1 });
	}
	flush();
	layer.path("needed", d.needed);
	layer.path("worker", d.worker + d.pool + d.load + d.order);
}

function showPath() {
	waits.box.hidden = !view.path || !tasks.path.length;
}

function drawPath() {
	showPath();
	if (waits.box.hidden)
		return;
	waits.pieces = pathPieces(tasks.path, STRIP, PATH_HEIGHT - STRIP - 2);
	drawPieces(waits.row.layer, waits.pieces);
	if (head.has_dependencies)
		drawStrips(waits.row.layer);
	if (!waits.dependency.box.hidden)
		drawPieces(waits.dependency.layer,
			   waits.lower = pathPieces(tasks.dependency, 1, DEPENDENCY_HEIGHT - 3));
}

/* The piece of the path at a place of the window, or null. */
function pathPieceAt(client_x, client_y) {
	const within = (row, pieces) => {
		const r = row && row.svg.getBoundingClientRect(), x = r && client_x - r.left;

		return r && client_y >= r.top && client_y < r.bottom &&
			pieces.find(p => x >= p.x0 - 1 && x <= p.x1 + 1) || null;
	};

	if (waits.box.hidden)
		return null;
	return within(waits.row, waits.pieces) || within(waits.dependency, waits.lower);
}

/* The words above */

function strip(parent, name) {
	const svg = make(SVG, "svg", { "class": "swatch", width: 22, height: 8,
		"aria-hidden": "true" }, parent);

	make(SVG, "path", { "class": name, d: "M0 4h22" }, svg);
}

function pathWords(parent) {
	const n = { needed: 0, worker: 0, pool: 0, load: 0, order: 0, "": 0 }, time = { ...n };
	const key = (name, text, meaning) => {
		const e = element("span", { "class": "key", title: meaning }, n[name] ? parent : null);

		strip(e, name === "needed" ? name : "worker");
		element("span", {}, e, countText(n[name]) + text);
		element("span", { "class": "values" }, e, timeText(time[name] * head.unit_us));
	};

	tasks.path.forEach((i, k) => {
		n[linkOf(k)]++;
		time[linkOf(k)] += tasks.end[i] - tasks.start[i];
	});
	if (head.has_dependencies) {
		key("needed", " waited for a dependency",
		    "tasks that needed the result of another one, and their time");
		key("worker", " waited for a free worker",
		    "tasks that could have begun earlier with more workers, and their time");
		key("pool", " waited for a pool", "tasks whose pool was full, and their time");
		key("load", " waited for the load limit", "tasks for which the load average was too high, and their time");
		key("order", " by the host's order", "tasks that the build tool runs after others in any case, and their time");
	}
	element("span", { "class": "bound" }, parent, !head.has_dependencies ?
		"no dependencies were recorded" : head.dependency_us === null ? "" :
		head.bound + " at least " + timeText(head.dependency_us));
}

/* As a table: the longest tasks of the path in the order of time. */
function fillPathTable(parent) {
	const list = Array.from(tasks.path, (i, k) => ({ i, k }));
	const wall = i => tasks.end[i] - tasks.start[i];

	if (list.length > PATH_ROWS)
		list.sort((a, b) => wall(b.i) - wall(a.i)).length = PATH_ROWS;
	list.sort((a, b) => a.k - b.k);
	const table = element("table", {}, parent);
	const top = element("tr", {}, element("thead", {}, table));
	const body = element("tbody", {}, table);

	for (const text of ["start", "time", "task", "waited for"])
		element("th", { scope: "col" }, top, text);
	for (const { i, k } of list) {
		const tr = element("tr", {}, body);

		element("td", {}, tr, momentText(tasks.start[i] * head.unit_us, 1e5));
		element("td", {}, tr, wallText(i));
		const held = hold(i);

		button(element("td", {}, tr), clean(nameOf(i)), "Choose " + clean(nameOf(i)),
		       () => reveal(held()));
		element("td", {}, tr, LINK_WORDS[linkOf(k)]);
	}
	if (list.length < tasks.path.length)
		element("p", {}, parent, "The " + PATH_ROWS + " longest of " +
			countText(tasks.path.length) + " tasks.");
}

function foldPathTable() {
	const folded = !waits.table.hidden;

	if (!waits.table.firstChild)
		fillPathTable(waits.table);
	waits.table.hidden = folded;
	waits.fold.setAttribute("aria-expanded", !folded);
}

parts.push({
	make() {
		waits.box = element("section", { id: "bb-waits", "class": "panel" }, page.chart);
		const title = element("h2", {}, waits.box);

		waits.fold = button(title, "",
				    "What the end of the build waited for: as a table", foldPathTable);
		waits.fold.setAttribute("class", "fold");
		waits.fold.setAttribute("aria-expanded", false);
		waits.words = element("span", { "class": "words" }, title);
		waits.row = makeRow(waits.box, "bb-path", "What the end of the build waited for");
		element("div", { "class": "label", title: "what the end of the build waited for" },
			waits.row.gutter, "path");
		waits.dependency = makeRow(waits.box, "bb-dependency", "The longest chain of dependencies");
		element("div", { "class": "label", title: "the longest chain of dependencies: " +
			"a lower bound with any number of workers" }, waits.dependency.gutter, "depends");
		waits.table = element("div", { "class": "path-table" }, waits.box);
		waits.table.hidden = true;
	},
	fill() {
		waits.fold.textContent = head.running ? "What the newest task waited for" : "What the end waited for";
		renew(waits.words, pathWords);
		waits.dependency.box.hidden = !tasks.dependency.length ||
			tasks.dependency.join() === tasks.path.join();
		if (waits.table.hidden)
			waits.table.replaceChildren();
		else
			renew(waits.table, fillPathTable);
		tools.path.hidden = !tasks.path.length;
		showPath();		/* before the layout */
	},
	layOut() {
		sizeRow(waits.row, PATH_HEIGHT);
		sizeRow(waits.dependency, DEPENDENCY_HEIGHT);
	},
	draw: drawPath,
});
