/* SPDX-License-Identifier: MIT */
/* The table of all tasks */

const TABLE_ROW = 26;
const HELD_MS = 100;		/* not filled while a range is dragged */
const WIDE = ["name", "kind", "start", "wall", "cpu", "share", "memory", "disk", "waited", "result",
	      "difference"];
const SMALL_WINDOW = ["name", "wall", "share", "waited"];
const SMALL_COMPARED = ["name", "wall", "share", "difference"];
const grid = { table: null, columns: [], shown: [], stale: true, seen: false, folded: false,
	held: false, timer: 0 };

function diskOf(i) {
	return tasks.marks[i] & IO ? (sizeOf(tasks.read[i]) + sizeOf(tasks.written[i])) * 1024 : NaN;
}

/* How long it was ready before it started, in units. */
function waitedOf(i) {
	return tasks.ready[i] < 0 ? NaN : tasks.start[i] - tasks.ready[i];
}

/* Failed ones first. */
function resultOf(i) {
	return [STATE + 1, FAILED, KILLED, UNFINISHED][tasks.marks[i] & STATE];
}

/* Ranks of texts: their places in the order of the alphabet. */
function ranksOf(texts) {
	const n = texts.length, rank = new Int32Array(n);
	const sorted = texts.map((text, i) => text + "\u0000" + i).sort();

	sorted.forEach((text, at) => { rank[Number(text.slice(text.lastIndexOf("\u0000") + 1))] = at; });
	return rank;
}

/* By file and then directory; by recipe and then task. */
function nameKey() {
	const files = tasks.names.map(name => {
		const at = name.lastIndexOf("/") + 1;

		return name.slice(at) + "\u0001" + name.slice(0, at);
	});
	const name = ranksOf(files), place = ranksOf(tasks.places.concat(""));
	const placeOf = i => place[tasks.place[i] < 0 ? tasks.places.length : tasks.place[i]];

	return head.recipes ? i => placeOf(i) * name.length + name[tasks.name[i]] :
		i => name[tasks.name[i]] * place.length + placeOf(i);
}

/* A value that nothing is known of is empty. */
function told(v, text) {
	return isNaN(v) ? "" : text(v);
}

function timeOfUnits(v) {
	return lengthText(v * head.unit_us);
}

/* key(): what a column sorts by, made once; text(i): what it shows. */
const TABLE_COLUMNS = [
	{ id: "name", title: "task", rises: true, make_key: nameKey },
	{ id: "kind", title: "kind", rises: true, text: i => tasks.kinds[tasks.kind[i]].name,
		make_key() {
			const rank = ranksOf(tasks.kinds.map(k => k.name));

			return i => rank[tasks.kind[i]];
		} },
	{ id: "start", title: "start", rises: true, key: i => tasks.start[i],
		text: i => momentText(tasks.start[i] * head.unit_us, Math.max(stepOf(), 1e4)) },
	{ id: "wall", title: "time", hint: "sort by time from start to end",
		key: i => tasks.end[i] - tasks.start[i], text: wallText },
	{ id: "cpu", title: "CPU", hint: "sort by CPU time", key: i => tasks.cpu[i],
		text: i => tasks.cpu[i] >= 0 ? cpuTimeText(i) : "" },
	{ id: "share", title: "CPU %", hint: "sort by CPU time of its time",
		key: shareOf, text: i => told(shareOf(i), percentText) },
	{ id: "memory", title: "memory", key: i => tasks.memory[i] || NaN,
		text: i => tasks.memory[i] ? sizeText(tasks.memory[i]) : "" },
	{ id: "disk", title: "disk", hint: "sort by bytes read and written", key: diskOf,
		text: i => told(diskOf(i), bytesText) },
	{ id: "waited", title: "waited", hint: "sort by time from ready to start", key: waitedOf,
		text: i => told(waitedOf(i), v => v ? timeOfUnits(v) : "0") },
	{ id: "result", title: "result", rises: true, key: resultOf, text: endText },
	{ id: "difference", title: "difference", hint: "sort by time more than in the other build",
		key: i => tasks.ghosts.has(i) ? changeOf(i) : NaN,
		text: i => tasks.ghosts.has(i) ? signedText(changeOf(i)) : "" },
];

function fillCell(cell, column, i) {
	if (column.id !== "name") {
		cell.textContent = clean(column.text(i));
		return;
	}
	const [name, more] = namePartsOf(i, "");

	swatch(cell, tasks.colour[i], "stack");
	element("span", {}, cell, name);
	element("span", { "class": "faint" }, cell, more);
	cell.title = clean(nameOf(i));
}

/* Of a column with values only; few in a small window. */
function chooseColumns() {
	const few = head.ghost ? SMALL_COMPARED : SMALL_WINDOW;
	const ids = page.app.clientWidth < NARROW ? few : WIDE;
	const columns = ids.map(id => grid.columns.find(c => c.id === id)).filter(c => c);

	if (columns.length === grid.shown.length && columns.every((c, k) => c === grid.shown[k]))
		return;
	grid.shown = columns;
	grid.table.setColumns(columns);
	grid.table.box.style.setProperty("--columns", "minmax(140px,3fr) " + columns.slice(1).map(c =>
		c.id === "kind" || c.id === "result" ? "minmax(64px,1fr)" :
			c.id === "difference" ? "minmax(92px,.8fr)" : "minmax(60px,.8fr)").join(" "));
	grid.stale = true;
}

/* The tasks that match the search, are long enough and within the range. */
function tableTasks() {
	const list = new Int32Array(tasks.n), { match } = search, min = view.min_us / head.unit_us;
	const { from, until } = view.range || { from: -1, until: Infinity };
	let n = 0;

	for (let i = 0; i < tasks.n; i++) {
		const start = tasks.start[i], end = tasks.end[i];

		if ((!match || match[i]) && end - start >= min && start < until && end > from)
			list[n++] = i;
	}
	return list.subarray(0, n);
}

function fillTable() {
	const c = TABLE_COLUMNS.find(x => x.id === view.sort), list = tableTasks();
	const why = [search.match ? "search" : "",
		     view.min_us ? "longer than " + timeText(view.min_us) : "",
		     view.range ? "within the range" : ""].filter(text => text).join(", ");

	grid.stale = false;
	c.key = c.key || c.make_key();
	grid.table.show(sortByKey(list, c.key, view.down), c.id, view.down);
	grid.count.textContent = list.length === tasks.n ? countText(tasks.n) + " tasks" :
		countText(list.length) + " of " + countText(tasks.n) + " tasks: " + why;
}

function sortTable(c) {
	view.down = view.sort === c.id ? !view.down : !c.rises;
	view.sort = c.id;
	grid.stale = true;
	grid.table.box.scrollTop = 0;
	request(false);
}

/* "-wall": as in the address. */
function loadSort(text) {
	const id = text.replace(/^-/, "");

	view.down = text[0] === "-";
	view.sort = grid.columns.some(c => c.id === id) ? id : "wall";
	grid.stale = true;
}

/* The table stays where it is in the window, also if the panel of the task makes the chart
 * narrower; Enter and a double click go to the bar. */
function chooseRow(i, how) {
	const { box } = grid.table, { top } = box.getBoundingClientRect();

	if (how === "Enter") {
		reveal(i);
		return;
	}
	revealTime(i);
	window.scrollBy(0, box.getBoundingClientRect().top - top);
}

parts.push({
	make() {
		const title = element("h2", {}, page.table);

		grid.fold = button(title, "All tasks", "All tasks: fold or unfold", () => {
			grid.folded = !grid.folded;
			grid.table.box.hidden = grid.folded;
			grid.fold.setAttribute("aria-expanded", !grid.folded);
			request(false);
		});
		grid.fold.setAttribute("class", "fold");
		grid.fold.setAttribute("aria-expanded", true);
		grid.count = element("span", { "class": "faint", role: "status" }, title);
		element("span", { "class": "faint" }, title, "Enter or double click: to its bar");
		grid.table = new Table({ make: element, parent: page.table, id: "bb-tasks",
			label: "All tasks",
			row: TABLE_ROW, columns: [], cell: fillCell, choose: guard(chooseRow),
			sort: guard(sortTable) });
		new IntersectionObserver(guard(entries => {
			grid.seen = entries.some(e => e.isIntersecting);
			request(false);
		}), { rootMargin: "200px" }).observe(page.table);
	},
	fill() {
		for (const c of TABLE_COLUMNS) {
			if (c.make_key)
				c.key = undefined;
		}
		grid.columns = TABLE_COLUMNS.filter(c => !c.key || c.id === "start" || c.id === "wall" ||
			(c.id === "result" ? tasks.marks.some(m => m & STATE) :
			 Array.prototype.some.call(tasks.start, (_, i) => c.key(i) > 0 || c.key(i) < 0)));
		grid.stale = true;
		page.table.hidden = !tasks.n;
		grid.table.space.style.height = tasks.n * TABLE_ROW + "px";
	},
	layOut() {
		chooseColumns();
		grid.table.draw(false);
	},
	searched() {
		grid.stale = true;
	},
	ranged() {
		grid.stale = grid.held = true;
		clearTimeout(grid.timer);
		grid.timer = setTimeout(guard(() => {
			grid.held = false;
			request(false);
		}), HELD_MS);
	},
	chosen() {
		if (!grid.stale)
			grid.table.choose(view.task);
		grid.table.chosen = view.task;
	},
	over() {
		if (grid.stale && grid.seen && !grid.folded && !grid.held) {
			fillTable();
			grid.table.choose(view.task);
		}
	},
});
