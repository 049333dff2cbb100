/* SPDX-License-Identifier: MIT */
/* Parts of pages that are updated in place: focus, selected text and scroll position stay. */

const SHEET_ROW = 27;		/* pixels of a row, as in page.css */
const SHEET_SEARCH_MS = 80;

/* Only if it differs: a selection in it stays. */
function setText(element, text) {
	if (element.textContent !== text)
		element.textContent = text;
	return element;
}

/* A link to a task whose name is shortened before the part that distinguishes it: its file. */
function taskLink(task, name) {
	const text = clean(name || "(no name)"), a = link("task", { task }, "");
	const at = Math.max(text.lastIndexOf(": ") + 2, text.lastIndexOf("/", text.length - 2) + 1);

	a.className = "path";
	a.title = text;
	if (at > 1)
		make("span", { "class": "before" }, a, text.slice(0, at));
	make("span", { "class": "last" }, a, at > 1 ? text.slice(at) : text);
	return a;
}

/*
 * The children of an element are those of a list: what stays is the same element. keyOf(item) is a
 * text; makeOne(item) makes an element; fill(element, item) updates it.
 */
function keyed(parent, list, keyOf, makeOne, fill) {
	const old = new Map([...parent.children].map(e => [e.dataset.key, e]));
	let at = parent.firstElementChild;

	for (const item of list) {
		const key = keyOf(item);
		let e = old.get(key);

		if (e) {
			old.delete(key);
		} else {
			e = makeOne(item);
			e.dataset.key = key;
		}
		fill(e, item);
		if (e === at)
			at = at.nextElementSibling;
		else
			parent.insertBefore(e, at);
	}
	for (const e of old.values())
		e.remove();
}

/*
 * A line of the newest values, drawn to the right. o: label ("CPU"), count (how many values fit: 120),
 * most (the largest value; absent: that of the values), text(value). update([values]) with null for what
 * is not known. The newest value is shown as text beside its label.
 */
function makeSpark(parent, o) {
	const box = make("div", { "class": "sparkline" }, parent);
	const count = o.count || 120;

	make("span", { "class": "label" }, box, o.label);
	const value = make("span", { "class": "value" }, box);
	const picture = makeSvg("svg", { viewBox: "0 0 " + count + " 40", preserveAspectRatio: "none",
				     "aria-hidden": "true" }, box);
	const area = makeSvg("path", { "class": "area" }, picture), line = makeSvg("path", { "class": "spark" }, picture);

	return {
		box,
		update(values) {
			const shown = values.slice(-count), known = shown.filter(v => v !== null && v >= 0);
			const most = o.most || Math.max(1e-9, ...known), from = count - shown.length;
			let d = "", below = "", begun = -1;

			shown.forEach((v, i) => {
				const there = v !== null && v >= 0, x = from + i;

				if (there)
					d += (begun < 0 ? "M" : "L") + x + " " + (39 - 37 * clamp(v / most, 0, 1)).toFixed(1);
				if (there && begun < 0)
					begun = x;
				if (begun >= 0 && (!there || i === shown.length - 1)) {
					below = d + "L" + (there ? x : x - 1) + " 40L" + begun + " 40Z";
					begun = there ? begun : -1;
				}
			});
			line.setAttribute("d", d);
			area.setAttribute("d", below);
			setText(value, known.length ? o.text(known[known.length - 1]) : "not known");
		},
	};
}

/*
 * A small table, which can be scrolled sideways. heads: titles of columns, [title, true] for those of
 * numbers; kind: a class for its style. Returns its <tbody>.
 */
function makeTable(parent, label, heads, kind) {
	const box = make("div", { "class": "scroll " + (kind || ""), tabindex: 0, role: "region", "aria-label": label }, parent);
	const table = make("table", { "aria-label": label }, box), row = make("tr", {}, make("thead", {}, table));

	for (const [title, number] of heads.map(h => [].concat(h)))
		make("th", { scope: "col", "class": number ? "number" : "" }, row, title);
	return make("tbody", {}, table);
}

/*
 * A table whose rows are sorted, filtered and updated, with only the rows in view in the document.
 * o has:
 *	id, parent, label	as Table's
 *	what		"task": of the count, "1,234 tasks"
 *	columns		a list of {id, title, hint, width}: width is a track of CSS's grid, "90px"; and either
 *			numeric: true, key(item): a number, NaN if not known, text(item); or text(item) only.
 *			fill(cell, item): in place of the text
 *	start, down	the column that sorts at first; numeric columns begin with the largest
 *	all()		the items that there are: numbers from 0, a pid for example
 *	words(item)	what the filter looks at; absent: the texts of all columns
 *	choose(item, how)	a row was chosen (Table's choose()); absent: rows are only marked
 *	narrow		ids of the columns in a window below 640 pixels
 * Filter and order are in the address. Returns {update(), table, chosen()}; call update() when the data has
 * changed: order, filter, scroll position and chosen row stay.
 */
function makeSheet(o) {
	const sheet = { q: core.params.get("q") || "", column: null, down: true, items: [] };
	const tools = make("div", { "class": "tools" }, o.parent);
	const narrow = matchMedia("(max-width:640px)");
	const search = makeSearch(tools, { "aria-label": "Filter rows (/)", placeholder: "filter, /pattern/" },
		SHEET_SEARCH_MS, text => {
			sheet.q = text;
			keepParam("q", text);
			sheet.update();
		});
	const count = make("span", { role: "status", "class": "faint" }, tools);
	const [, turned, sorted] = /^(-?)(.*)$/.exec(core.params.get("sort") || "");

	search.id = o.id + "-search";
	search.value = sheet.q;
	sheet.tools = tools;
	sheet.column = o.columns.find(c => c.id === sorted) || o.columns.find(c => c.id === o.start) || o.columns[0];
	sheet.down = sorted ? turned === "-" : o.down !== undefined ? o.down : Boolean(sheet.column.numeric);
	sheet.table = new Table({
		make, parent: o.parent, id: o.id, label: o.label, row: SHEET_ROW, columns: o.columns,
		cell: (cell, column, item) => {
			if (column.fill) {
				column.fill(cell, item);
				return;
			}
			cell.textContent = clean(column.text(item));
			cell.title = cell.textContent;
		},
		choose: (item, how) => {
			sheet.table.choose(item);
			if (o.choose)
				o.choose(item, how);
		},
		sort: column => {
			sheet.down = sheet.column === column ? !sheet.down : Boolean(column.numeric);
			sheet.column = column;
			keepParam("sort", (sheet.down ? "-" : "") + column.id);
			sheet.update();
		},
	});
	const arrange = () => {
		const shown = narrow.matches && o.narrow ? o.columns.filter(c => o.narrow.includes(c.id)) : o.columns;

		sheet.table.setColumns(shown);
		sheet.table.box.style.setProperty("--columns", shown.map(c => c.width || "minmax(80px,1fr)").join(" "));
		sheet.table.show(sheet.items, sheet.column.id, sheet.down);
	};

	sheet.update = () => {
		const fits = sheetFilter(sheet.q), words = o.words || (item => o.columns.map(c => c.text(item)).join("\n"));
		const all = o.all(), items = sheet.q && fits ? all.filter(item => fits(words(item))) : all;
		const { column, down } = sheet;

		search.setAttribute("aria-invalid", !fits);
		if (column.numeric) {
			sheet.items = Array.from(sortByKey(items, column.key, down));
		} else {
			const text = new Map(items.map(item => [item, column.text(item)]));
			const order = new Intl.Collator(undefined, { numeric: true }).compare;

			sheet.items = [...items].sort((a, b) =>
				(down ? -1 : 1) * order(text.get(a), text.get(b)) || a - b);
		}
		sheet.table.show(sheet.items, column.id, down);
		setText(count, !fits ? "not a regular expression" : countOf(items.length, o.what) +
			(items.length < all.length ? " of " + countText(all.length) : ""));
	};
	sheet.chosen = () => sheet.table.chosen;
	narrow.addEventListener("change", arrange);
	arrange();
	return sheet;
}

/* Part of a text, or /a regular expression/; null: not one. */
function sheetFilter(q) {
	if (q.length > 1 && q[0] === "/" && q[q.length - 1] === "/") {
		try {
			const re = new RegExp(q.slice(1, -1), "i");

			return text => re.test(text);
		} catch (e) {
			return null;
		}
	}
	const wanted = q.toLowerCase();

	return text => text.toLowerCase().includes(wanted);
}
