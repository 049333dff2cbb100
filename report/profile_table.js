/* SPDX-License-Identifier: MIT */
/* The tables: one for each group of the last level */

const page = {};

/* The name comes first: it stays in view when the table is scrolled. */
function shownColumns() {
	const order = c => columns[c].id === "name" ? -2 : c < KEYS ? 100 + c : c;

	return [...view.shown].sort((a, b) => order(a) - order(b));
}

function address(path) {
	return "file://" + encodeURI(path).replace(/[?#]/g, encodeURIComponent);
}

function addText(cell, c, list) {
	const [text, n] = textsOf(c, list);

	if (n > 1) {
		cell.textContent = "(" + countText(n) + " unique)";
		cell.classList.add("faint");
		return;
	}
	const file = columns[c].id === "file" && text, dir = shown.dir;

	/* A browser refuses links from a server to files. */
	if (file && location.protocol === "file:" && (text[0] === "/" || dir)) {
		const path = text[0] === "/" ? text : dir + "/" + text;

		make("a", { href: address(path) }, cell, text);
	} else {
		cell.textContent = text;
	}
	cell.title = text;
}

function addCells(line, list) {
	for (const c of shownColumns()) {
		const number = c >= KEYS;
		const cell = make("td", { "class": number ? "number" : columns[c].id }, line);

		if (number)
			cell.textContent = words(c, list);
		else
			addText(cell, c, list);
	}
}

function sortedBy(c) {
	return view.sort.findIndex(s => s.column === c);
}

/* With the alt key: the second key. */
function sortBy(c, second) {
	const at = sortedBy(c), again = at === (second ? 1 : 0);
	const down = again ? !view.sort[at].down : c >= KEYS;
	const key = { column: c, down };

	if (second && view.sort.length && view.sort[0].column !== c)
		view.sort = [view.sort[0], key];
	else
		view.sort = [key, ...view.sort.filter(s => s.column !== c && !second)].slice(0, 2);
	draw();
}

function addHead(table) {
	const line = make("tr", {}, make("thead", {}, table));

	for (const c of shownColumns()) {
		const at = sortedBy(c);
		const cell = make("th", { scope: "col", "class": c >= KEYS ? "number" : columns[c].id,
			"aria-sort": at < 0 ? "none" : view.sort[at].down ? "descending" : "ascending" },
			line);
		const button = make("button", { type: "button", "data-column": columns[c].id,
			title: "sort; with Alt: second key" }, cell, columns[c].title);

		if (at > 0)
			button.classList.add("second");
		button.addEventListener("click", e => sortBy(c, e.altKey || e.shiftKey));
	}
}

/* "n rows (m hidden)" and the buttons that change it */
function addLimits(parent, id, n, limit) {
	const bar = make("p", { "class": "limits" }, parent);
	const usual = view.group.length ? ROWS_OF_GROUP : ROWS, hidden = n - Math.min(n, limit);
	const set = (name, value, enabled) => {
		const b = make("button", { type: "button" }, bar, name);

		b.disabled = !enabled;
		b.addEventListener("click", () => {
			view.limits.set(id, value);
			draw();
		});
	};

	make("span", {}, bar, countOf(n, "row") +
	     (hidden ? " (" + countText(hidden) + " hidden)" : ""));
	if (n <= usual && limit >= n)
		return;
	set("show more", Math.max(usual, limit * 2), hidden);
	set("less", Math.max(usual, limit >> 1), limit > usual);
	set("all", Math.min(n, ROWS_MOST), hidden && limit < ROWS_MOST);
	set("none", 0, limit);
}

function addTable(parent, id, lists, all) {
	const usual = view.group.length ? ROWS_OF_GROUP : ROWS;
	const limit = view.limits.has(id) ? view.limits.get(id) : usual;
	const table = make("table", { "class": "profile", "aria-label": "Profile" },
			   make("div", { "class": "scroll" }, parent));

	addHead(table);
	const body = make("tbody", {}, table), sum = make("tr", { "class": "sum" }, body);

	addCells(sum, all);
	for (const list of first(lists, list => list, limit))
		addCells(make("tr", {}, body), list);
	addLimits(parent, id, lists.length, limit);
}

/* Groups */

function split(lists, c) {
	const of = new Map();

	for (const list of lists) {
		/* rows that are merged over this column are in several groups */
		for (const row of list) {
			const key = keyOf(c, row);

			if (!of.has(key))
				of.set(key, new Map());
			if (!of.get(key).has(list))
				of.get(key).set(list, []);
			of.get(key).get(list).push(row);
		}
	}
	return [...of.values()].map(group => [...group.values()]);
}

function addGroups(parent, lists, depth, title, id) {
	const all = lists.length === 1 ? lists[0] : [].concat(...lists);

	if (depth === view.group.length) {
		addTable(parent, id, lists, all);
		return;
	}
	const groups = split(lists, view.group[depth]).map(g => ({ lists: g, all: [].concat(...g) }));

	for (const g of first(groups, g => g.all, view.groups)) {
		const c = view.group[depth], text = textOf(c, g.all[0]);
		const name = (title ? title + " and " : "") + columns[c].id + " = " + (text || "(none)");
		const box = make("section", { "class": "group" }, parent);

		make(depth ? "h3" : "h2", {}, box, name);
		if (depth + 1 < view.group.length) {
			const table = make("table", { "class": "profile", "aria-label": name },
					   make("div", { "class": "scroll" }, box));

			addHead(table);
			addCells(make("tr", { "class": "sum" }, make("tbody", {}, table)), g.all);
		}
		addGroups(box, g.lists, depth + 1, name, id + "/" + text);
	}
	if (groups.length > view.groups) {
		const more = make("button", { type: "button" }, make("p", { "class": "limits" }, parent),
			"show more of " + countText(groups.length) + " groups");

		more.addEventListener("click", () => {
			view.groups *= 2;
			draw();
		});
	}
}

/* Columns of all tables are as wide as the widest of each, so that they are below each other. */
function alignTables() {
	const tables = [...page.tables.querySelectorAll("table")];

	page.tables.classList.add("measured");
	const rows = tables.map(t => [...t.tHead.rows[0].cells].map(c => c.getBoundingClientRect().width));
	const widths = rows.length ? rows[0].map((_, i) => Math.ceil(Math.max(...rows.map(row => row[i])))) : [];
	const whole = widths.reduce((sum, width) => sum + width, 0);

	page.tables.classList.remove("measured");
	for (const table of whole ? tables : []) {
		[...table.tHead.rows[0].cells].forEach((cell, i) => { cell.style.width = widths[i] + "px"; });
		table.style.minWidth = whole + "px";
		table.style.tableLayout = "fixed";
	}
}

function draw() {
	const box = document.createElement("div");
	const focused = document.activeElement && document.activeElement.dataset.column;

	if (shown.rows.length)
		addGroups(box, shown.rows, 0, "", "");
	else
		make("p", { "class": "faint" }, box, shown.s.n ? "No row fits." : shown.s.change ?
		     "No difference." : "No rows.");
	page.tables.replaceChildren(...box.childNodes);
	alignTables();
	page.count.textContent = shown.error || (countOf(shown.rows.length, "row") + ", " +
		countOf(total(shown.rows, COUNT), "run") + ", " +
		(shown.seconds < 100 ? shown.seconds.toPrecision(3) :
		 countText(Math.round(shown.seconds))) + " seconds worth of data" +
		(shown.lost ? "; " + countOf(shown.lost, "run") + " lost: no room in the tallies" : "") +
		(shown.unfinished ? "; " + countOf(shown.unfinished, "unfinished host") : "") +
		(shown.incomplete ? ", " + countText(shown.incomplete) + " without their last runs" : "") +
		(shown.atLeast ? "; CPU time and storage are " + (shown.s.change ? "not exact" : "at least as shown") +
		 ": of " + countOf(shown.atLeast, "task") + ", they are the last sample" : ""));
	page.search.setAttribute("aria-invalid", shown.error !== "");
	drawTools();
	saveHash();
	if (focused)
		find("[data-column=" + focused + "]").focus();
}

function compute() {
	if (!shown.s)
		choose();
	if (!shown.thread)
		mergeThreads();
	shown.rows = merge(filter());
	draw();
}

/* State in the address */

const hash = { text: "" };

function ids(list) {
	return [...list].map(c => columns[c].id).join(",");
}

function hashText() {
	const p = new URLSearchParams();

	if (view.q)
		p.set("q", view.q);
	p.set("group", ids(view.group));
	p.set("sort", view.sort.map(s => (s.down ? "-" : "") + columns[s.column].id).join(","));
	p.set("columns", ids(view.shown));
	p.set("merge", ids(view.merged));
	p.set("threads", view.similar ? 0 : 1);
	p.set("show", view.snapshots.join(","));
	return p.toString();
}

function saveHash() {
	const text = hashText();

	if (text === hash.text)
		return;
	const before = hash.text;

	hash.text = text;
	if (before)
		history.replaceState(null, "", "#" + text);
}

function columnsOf(text) {
	return (text || "").split(",").map(id => columns.findIndex(c => c.id === id.replace(/^-/, "")))
		.filter(c => c >= 0);
}

function loadHash() {
	const p = new URLSearchParams(location.hash.slice(1)), last = snapshots.length - 1;
	const list = (name, words) => columnsOf(p.has(name) ? p.get(name) : words.join(","));
	const sort = p.has("sort") ? p.get("sort").split(",") : head.sort.map((id, i) => {
		const c = columns.findIndex(column => column.id === id);

		return ((c >= KEYS) !== (head.reverse && !i) ? "-" : "") + id;
	});

	view.q = p.has("q") ? p.get("q") : head.filter;
	view.group = list("group", head.group).filter(c => c < KEYS);
	view.merged = new Set(list("merge", head.merged).filter(c => c < KEYS));
	const s = snapshots[last], differ = k => s.key[k].some(t => t !== s.key[k][0]);
	const optional = [[differ(DIR), "dir"], [differ(PHASE), "phase"],
			  [s.sum[LIVING].some(n => n), "living"],
			  [s.known.some(has => has >> head.amount & 1), "amount"]];

	view.shown = new Set(list("columns", [...optional.filter(o => o[0]).map(o => o[1]),
					      "name", "count", "run", "mean", "max", "p95", "queue",
					      "queue-mean", "cpu", "memory", "born", "died"]));
	view.similar = p.has("threads") ? p.get("threads") !== "1" : head.similar;
	view.sort = sort.map(id => ({ column: columnsOf(id)[0], down: id[0] === "-" }))
		.filter(s => s.column !== undefined).slice(0, 2);
	view.snapshots = (p.get("show") || "").split(",").map(Number)
		.filter((n, i) => p.get("show") && n >= 0 && n <= last).slice(0, 2);
	if (!view.snapshots.length)
		view.snapshots = [last];
	page.search.value = view.q;
	shown.s = null;
}

/* Tools */

function addOption(select, value, text, chosen) {
	const o = make("option", { value }, select, text);

	o.selected = chosen;
}

function drawGroupTools() {
	page.group.replaceChildren(document.createTextNode("Group by "));
	for (let i = 0; i <= view.group.length && i < KEYS; i++) {
		const select = make("select", { "aria-label": "Group by, level " + (i + 1) }, page.group);

		addOption(select, "", i ? "..." : "nothing", i === view.group.length);
		for (let c = 0; c < KEYS; c++) {
			if (!view.group.includes(c) || view.group[i] === c)
				addOption(select, c, columns[c].title, view.group[i] === c);
		}
		select.addEventListener("change", () => {
			view.group = view.group.slice(0, i);
			if (select.value)
				view.group.push(Number(select.value));
			view.limits.clear();
			view.groups = GROUPS;
			compute();
		});
	}
}

function drawSortTools() {
	page.sort.replaceChildren(document.createTextNode("Sort by "));
	for (let i = 0; i <= view.sort.length && i < 2; i++) {
		const select = make("select", { "aria-label": "Sort by, key " + (i + 1) }, page.sort);
		const now = view.sort[i];

		if (i)
			addOption(select, "", "...", !now);
		for (const c of columns) {
			for (const down of c.i < KEYS ? [false, true] : [true, false])
				addOption(select, (down ? "-" : "") + c.id,
					  c.title + (down ? " (DESC)" : ""),
					  now && now.column === c.i && now.down === down);
		}
		select.addEventListener("change", () => {
			view.sort = view.sort.slice(0, i);
			if (select.value)
				view.sort.push({ column: columnsOf(select.value)[0],
						 down: select.value[0] === "-" });
			draw();
		});
	}
}

/* The bootchart and the output of the builds that are shown. */
function drawLinks() {
	page.links.replaceChildren();
	for (const i of view.snapshots) {
		for (const [key, text] of [["chart", "bootchart"], ["log", "output"]]) {
			if (head.snapshots[i][key]) {
				page.links.append(" ");
				make("a", { href: address(head.snapshots[i][key]) }, page.links, text +
				     (view.snapshots.length > 1 ? " of " + head.snapshots[i].title : ""));
			}
		}
	}
}

function drawTools() {
	drawLinks();
	drawGroupTools();
	drawSortTools();
	page.boxes.forEach(({ box, set, c }) => { box.checked = view[set].has(c); });
	page.similar.checked = view.similar;
	page.snapshots.forEach((box, i) => { box.checked = view.snapshots.includes(i); });
}

function addBox(parent, text, change) {
	const label = make("label", {}, parent), box = make("input", { type: "checkbox" }, label);

	label.appendChild(document.createTextNode(" " + text));
	box.addEventListener("change", () => change(box.checked));
	return box;
}

function toggle(set, c, on) {
	if (on)
		view[set].add(c);
	else
		view[set].delete(c);
	if (set === "shown" && !view.shown.size)
		view.shown.add(0);
	compute();
}

function makeColumnTools(parent) {
	const details = make("details", { "class": "columns" }, parent);

	make("summary", {}, details, "Columns");
	const lists = make("div", { "class": "boxes" }, details);

	page.boxes = [];
	for (const [set, title, n] of [["shown", "show", columns.length], ["merged", "merge", KEYS]]) {
		const fields = make("fieldset", {}, lists);

		make("legend", {}, fields, title);
		for (let c = 0; c < n; c++) {
			const box = addBox(fields, columns[c].title, on => toggle(set, c, on));

			box.dataset[set] = columns[c].id;
			page.boxes.push({ box, set, c });
		}
	}
	page.similar = addBox(lists, "merge similar threads", on => {
		view.similar = on;
		compute();
	});
	page.similar.id = "similar";
}

/* One is shown; of two, what the later one in the list has beyond the earlier one. */
function selectSnapshot(i, on) {
	const others = view.snapshots.filter(s => s !== i);

	view.snapshots = on ? [...others.slice(-1), i].sort((a, b) => a - b) :
		others.length ? others : [i];
	shown.s = null;
	compute();
}

function makeSnapshots(parent) {
	const box = make("fieldset", { "class": "snapshots", "aria-label": "Snapshots" }, parent);

	make("legend", {}, box, "Snapshots: select 1 to show it, 2 for the difference");
	page.snapshots = head.snapshots.map((s, i) => addBox(box, s.title, on => selectSnapshot(i, on)));
	box.hidden = head.snapshots.length < 2;
}

function makePage() {
	const section = find("#profile");

	makeSnapshots(section);
	const bar = make("div", { "class": "tools", role: "toolbar", "aria-label": "Rows" }, section);

	page.search = makeSearch(bar, { placeholder: "part of any column, /pattern/",
		"aria-label": "Filter rows (/)" }, SEARCH_MS, text => {
		view.q = text;
		compute();
	});
	page.group = make("span", { "class": "choice" }, bar);
	page.sort = make("span", { "class": "choice" }, bar);
	makeColumnTools(bar);
	page.count = make("p", { id: "count", role: "status", "class": "faint" }, section);
	page.links = make("p", { id: "links" }, section);
	page.tables = make("div", { id: "tables" }, section);
	window.addEventListener("hashchange", () => {
		if (location.hash.slice(1) !== hash.text) {
			loadHash();
			compute();
		}
	});
	document.addEventListener("keydown", e => {
		if (e.key === "/" && !e.ctrlKey && !e.metaKey && !e.altKey &&
		    !/^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) {
			e.preventDefault();
			page.search.focus();
		}
	});
}
