/* SPDX-License-Identifier: MIT */
/*
 * All tasks of a build: the server sorts and filters them (/api/v1/table), and the page has the parts that
 * were looked at. A row is an item of the table by its place in that order.
 */

const TABLE_PART = 100, TABLE_PARTS_MAX = 60, TABLE_RUNNING_MS = 5000;
const tableOf = { sheet: null, parts: new Map(), asked: new Map(), matches: 0, all: 0, sort: "-wall", q: "", state: "",
		  turn: 0, chosen: "", known: [], room: [], arranged: "", box: {} };

const TABLE_PAGE_COLUMNS = [
	{ id: "name", title: "Task", width: "minmax(140px,3fr)", text: t => t.name || "(no name)" },
	{ id: "kind", title: "Kind", width: "minmax(64px,100px)", text: t => t.kind },
	{ id: "state", title: "State", width: "minmax(64px,90px)", text: t => t.state },
	...VALUES.map(v => ({ id: v.word, title: valueTitle(v), numeric: true, width: "80px", hint: "sort by " + v.name,
			      words: t => valueText(v, t[v.key]), usual: v.usual })),
];
const TABLE_PAGE_NARROW = ["name", "state", "wall", "cpu"], TABLE_PAGE_MIDDLE = ["name", "kind", "state", "start", "queue"];
const TABLE_STATES = [["", "all tasks"], ["failed", "failed and killed"], ["running", "running"],
		      ["unfinished", "unfinished"], ["queued", "queued"], ["done", "done"]];

function tableRow(i) {
	const part = tableOf.parts.get(Math.floor(i / TABLE_PART));

	return part && part[i % TABLE_PART];
}

/* Ask for a part once; an older order's reply is thrown away. */
async function askTablePart(n) {
	const { turn, asked } = tableOf;

	if (tableOf.parts.has(n) || asked.has(n))
		return;
	asked.set(n, true);
	try {
		const o = await api("/api/v1/table", { filter: tableOf.q, state: tableOf.state, sort: tableOf.sort,
						    from: n * TABLE_PART, count: TABLE_PART });

		if (turn !== tableOf.turn)
			return;
		takeTablePart(n, o);
		worked(find("#main"));
	} catch (e) {
		failed(find("#main"), e);
	}
	if (turn === tableOf.turn)
		asked.delete(n);
}

function takeTablePart(n, o) {
	const { sheet, parts, box } = tableOf;

	tableOf.known = o.known;
	arrangeTable();
	parts.delete(n);
	parts.set(n, o.tasks);
	if (parts.size > TABLE_PARTS_MAX)
		parts.delete(parts.keys().next().value);
	if (o.n_tasks !== tableOf.matches || sheet.list.length !== o.n_tasks) {
		tableOf.matches = o.n_tasks;
		sheet.list = Array.from({ length: o.n_tasks }, (_, i) => i);
	}
	setText(box.count, countOf(o.n_tasks, "task") + (o.n_tasks < o.n_all ? " of " + countText(o.n_all) : ""));
	showTableList();
}

function showTableList() {
	const { sheet } = tableOf;

	sheet.show(sheet.list, tableOf.sort.replace("-", ""), tableOf.sort[0] === "-");
}

/* Another order or filter: from the beginning. */
function changeTable() {
	tableOf.turn++;
	tableOf.parts.clear();
	tableOf.asked.clear();
	tableOf.sheet.chosen = -1;
	tableOf.sheet.box.scrollTop = 0;
	keepParam("sort", tableOf.sort);
	keepParam("q", tableOf.q);
	keepParam("state", tableOf.state);
	return askTablePart(0);
}

function fillTableCell(cell, column, i) {
	const t = tableRow(i);

	if (!t) {
		cell.textContent = column.id === "name" ? "\u2026" : "";
		askTablePart(Math.floor(i / TABLE_PART));
	} else if (column.id === "name") {
		cell.append(taskLink(t.task, t.name));
	} else if (column.numeric) {
		cell.textContent = column.words(t);
	} else {
		cell.textContent = clean(column.text(t));
		if (column.id === "state" && (t.state === "failed" || t.state === "killed"))
			cell.classList.add("alarm");
	}
}

function makeTableTools(main) {
	const tools = make("div", { "class": "tools" }, main), { box } = tableOf;

	box.search = makeSearch(tools, { "aria-label": "Filter tasks (/)", placeholder: "part of name, kind or program" }, 150,
		text => {
			tableOf.q = text;
			changeTable();
		});
	box.search.value = tableOf.q;
	box.state = make("select", { "aria-label": "State" }, tools);
	for (const [value, text] of TABLE_STATES)
		make("option", { value }, box.state, text);
	box.state.value = tableOf.state;
	box.state.addEventListener("change", () => {
		tableOf.state = box.state.value;
		changeTable();
	});
	box.count = make("span", { role: "status", "class": "faint" }, tools);
}

/* Columns of values that some tasks have, as many as there is room for, and that by which tasks are sorted. */
function arrangeTable() {
	const { known, sheet, sort, room } = tableOf, by = sort.replace("-", "");
	const shown = TABLE_PAGE_COLUMNS.filter(c => c.id === by || ((!c.numeric || known.includes(c.id)) &&
		(room[0].matches ? TABLE_PAGE_NARROW.includes(c.id) :
		 !room[1].matches || c.usual || TABLE_PAGE_MIDDLE.includes(c.id))));

	if (shown.map(c => c.id).join() === tableOf.arranged)
		return;
	tableOf.arranged = shown.map(c => c.id).join();
	sheet.setColumns(shown);
	sheet.box.style.setProperty("--columns", shown.map(c => c.width).join(" "));
	showTableList();
}

/* While the build runs, the parts in view are read again; the rest when it comes into view. */
async function renewTable() {
	const { sheet } = tableOf, first = Math.floor(Math.max(0, sheet.first) / TABLE_PART);
	const last = Math.floor(Math.max(0, sheet.last - 1) / TABLE_PART);
	const { turn } = tableOf;

	for (const n of new Set([first, last])) {
		const o = await api("/api/v1/table", { filter: tableOf.q, state: tableOf.state, sort: tableOf.sort,
						    from: n * TABLE_PART, count: TABLE_PART });

		if (turn !== tableOf.turn)
			return true;
		for (const other of [...tableOf.parts.keys()]) {
			if (other < first || other > last)
				tableOf.parts.delete(other);
		}
		takeTablePart(n, o);
		if (!o.is_running)
			return false;
	}
	return true;
}

pages.table = {
	async make(main, params) {
		const sort = params.get("sort") || "-wall";

		setTitle("Tasks");
		tableOf.q = params.get("q") || "";
		tableOf.state = params.get("state") || "";
		tableOf.sort = TABLE_PAGE_COLUMNS.some(c => c.id === sort.replace("-", "")) ? sort : "-wall";
		makeTableTools(main);
		tableOf.sheet = new Table({
			make, parent: main, id: "tasks-table", label: "Tasks", row: SHEET_ROW, columns: TABLE_PAGE_COLUMNS,
			cell: fillTableCell,
			choose: (item, how) => {
				tableOf.sheet.choose(item);
				if (how === "Enter" && tableRow(item))
					visit(hrefOf("task", { task: tableRow(item).task }));
			},
			sort: column => {
				const now = tableOf.sort.replace("-", "");

				tableOf.sort = column.id === now ? (tableOf.sort[0] === "-" ? "" : "-") + now :
					(column.numeric ? "-" : "") + column.id;
				changeTable();
			},
		});
		tableOf.room = ["(max-width:640px)", "(max-width:1280px)"].map(width => matchMedia(width));
		for (const m of tableOf.room)
			m.addEventListener("change", arrangeTable);
		tableOf.known = TABLE_PAGE_MIDDLE.concat(VALUES.filter(v => v.usual && !v.needs).map(v => v.word));
		arrangeTable();
		await askTablePart(0);
		const stop = every(TABLE_RUNNING_MS, async () => {
			if (!await renewTable())
				stop();
		});
	},
};
