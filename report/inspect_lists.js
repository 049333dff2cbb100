/* SPDX-License-Identifier: MIT */
/* The tables: call sites and mappings */

const lists = {};
const LIST_ROW = 27, MAP_ITEMS = 1e7;	/* items of mappings begin there: a row's id is its item */

/*
 * A table below its tools. o: id, parent, label, columns with key(item) and text(item), all() its
 * items, fits(item), sums(items) a text, choose(item), start: the column that sorts.
 */
function makeList(o) {
	const list = lists[o.id] = { o, column: o.columns.find(c => c.id === o.start), down: true, items: [], selected: new Set() };

	list.tools = make("div", { "class": "tools" }, o.parent);
	list.sums = make("p", { "class": "rule", role: "status" }, o.parent);
	list.table = new Table({
		make, parent: o.parent, id: o.id + "-table", label: o.label, row: LIST_ROW, columns: o.columns,
		cell: (cell, column, item) => {
			cell.textContent = column.text(item);
			cell.title = cell.textContent;
		},
		selected: item => list.selected.has(item),
		choose: (item, how, e) => {
			const more = how === "Space" || (e && (e.ctrlKey || e.shiftKey || e.metaKey));

			if (!more)
				list.selected.clear();
			if (how === "key" || !list.selected.delete(item))
				list.selected.add(item);
			list.table.choose(item);
			drawSums(list);
			if (!more && o.choose)
				o.choose(item, how);
		},
		sort: column => {
			list.down = list.column === column ? !list.down : column.numeric;
			list.column = column;
			drawList(list);
		},
	});
	list.table.box.setAttribute("aria-multiselectable", "true");
	return list;
}

function drawList(list) {
	const { column, down, o } = list, items = o.all().filter(o.fits);

	if (column.numeric) {
		list.items = Array.from(sortByKey(items, column.key, down));
	} else {
		const order = new Intl.Collator().compare;

		list.items = items.sort((a, b) => (down ? -1 : 1) * order(column.text(a), column.text(b)) || a - b);
	}
	list.table.show(list.items, column.id, down);
	drawSums(list);
}

function drawSums(list) {
	const selected = [...list.selected], { o } = list;

	list.sums.textContent = countOf(list.items.length, o.what) + " shown: " + o.sums(list.items) +
		(selected.length > 1 ? "; " + selected.length + " selected: " + o.sums(selected) : "") +
		(list.note ? "; " + list.note : "");
}

/* Call sites: the rows of the tree that allocated themselves */

function functionText(row) {
	const f = (data.numbers.function[row] || 0) - 1;

	return f < 0 ? "(less than 0.1 %)" : data.texts.function[f] || "?";
}

/* The first function that says something: not the one that allocates for it. */
function siteOfText(row) {
	return functionText(data.blamed[row] < 0 ? row : data.blamed[row]);
}

function siteCallers(row) {
	const names = [];

	for (let at = parentOf(data.blamed[row] < 0 ? row : data.blamed[row]); at >= 0; at = parentOf(at))
		names.push(functionText(at));
	return names.join(" \u2190 ");
}

function siteColumn(id, title, value, text, hint) {
	return { id, title, hint, numeric: true, key: value, text: item => text(value(item)) };
}

function makeSites(section) {
	const whole = name => row => number(name, row), bytes = n => n ? bytesText(n) : "0";
	const live = row => liveOf(row, view.snapshot), before = row => shownSnapshot() && !isPeak() ?
		live(row) - liveOf(row, view.snapshot - 1) : 0;
	const list = makeList({
		id: "sites", parent: section, label: "Call sites", start: "live", what: "call site",
		columns: [
			siteColumn("live", "Live", live, bytes, "live bytes at the snapshot"),
			siteColumn("share", "Share", row => live(row) / Math.max(1, heapBytes(view.snapshot)), percentText,
				   "of the live heap"),
			siteColumn("growth", "Growth", before, n => n ? signedText(n) : "0", "since the snapshot before"),
			siteColumn("allocations", "Allocations", whole("allocations"), n => countText(Math.round(n)),
				   "in all, up to the last snapshot"),
			siteColumn("allocated", "Allocated", whole("allocated"), bytes, "in all, up to the last snapshot"),
			siteColumn("temporary", "Temporary", whole("temporary"), n => countText(Math.round(n)),
				   "allocations freed before the thread allocated again"),
			{ id: "name", title: "Function", text: siteOfText },
			{ id: "callers", title: "Called by", text: siteCallers },
		],
		all: () => {
			const all = [];

			for (let row = 0; row < rowCount(); row++) {
				if (live(row) > 0 || number("allocations", row) > 0)
					all.push(row);
			}
			return all;
		},
		fits: row => !lists.sites.pattern || lists.sites.pattern.test(siteOfText(row) + " \u2190 " + siteCallers(row)),
		sums: rows => {
			const sum = rows.reduce((n, row) => n + live(row), 0);

			return bytesText(sum) + ", " + shareText(sum, heapBytes(view.snapshot)) + " of the heap, " +
				shareText(sum, rssBytes()) + " of RSS";
		},
		choose: (row, how) => {
			if (view.up)
				setWay(false);
			if (how === "Enter")
				showNode(row + 1);
			else
				chooseNode(row + 1);
		},
	});

	makeSearch(list.tools, { id: "find-sites", placeholder: "filter: a function of the stack",
		"aria-label": "Filter call sites" }, SEARCH_MS, text => {
			list.pattern = patternOf(text);
			drawList(list);
		});
}

function drawSites() {
	drawList(lists.sites);
}

/* Mappings; those of the snapshot */

function mapAddress(i) {
	return ((data.numbers.high[i] >>> 0) * LOW_PAGES + (data.numbers.low[i] || 0)) * PAGE_BYTES;
}

function mapKb(value, i) {
	return data.numbers["kb" + value][i * head.n + shownSnapshot()] || 0;
}

function mapText(name, i) {
	return data.texts[name][data.numbers[name][i] || 0];
}

function makeMaps(section) {
	const value = id => {
		const at = head.values.indexOf(id);

		return { id, title: VALUE_TITLES[id], numeric: true, key: item => mapKb(at, item - MAP_ITEMS),
			text: item => mapKb(at, item - MAP_ITEMS) ? bytesText(mapKb(at, item - MAP_ITEMS) * 1024) : "0" };
	};
	const list = makeList({
		id: "maps", parent: section, label: "Mappings", start: "rss", what: "mapping",
		columns: [
			{ id: "address", title: "Address", numeric: true, key: item => mapAddress(item - MAP_ITEMS),
				text: item => hexText(mapAddress(item - MAP_ITEMS)) },
			...["size", "rss", "pss", "private_dirty", "private_clean", "shared_clean", "shared_dirty", "swap"].map(value),
			{ id: "permissions", title: "Mode", text: item => mapText("permissions", item - MAP_ITEMS) },
			{ id: "offset", title: "Offset", numeric: true, key: item => data.numbers.offset[item - MAP_ITEMS] || 0,
				text: item => hexText((data.numbers.offset[item - MAP_ITEMS] || 0) * PAGE_BYTES) },
			{ id: "file", title: "File", text: item => mapText("file", item - MAP_ITEMS) || "(anonymous)" },
		],
		all: () => {
			const all = [];

			for (let i = 0; i < data.numbers.low.length || i < data.numbers.high.length; i++) {
				if (mapKb(0, i))
					all.push(i + MAP_ITEMS);
			}
			return all;
		},
		fits: item => (!list_of.file || list_of.file.test(mapText("file", item - MAP_ITEMS) || "(anonymous)")) &&
			(!list_of.mode || list_of.mode.test(mapText("permissions", item - MAP_ITEMS))),
		sums: items => ["size", "rss", "pss", "private_dirty"].map(id => VALUE_TITLES[id] + " " +
			bytesText(items.reduce((n, item) => n + mapKb(head.values.indexOf(id), item - MAP_ITEMS), 0) * 1024))
			.join(", "),
	});
	const list_of = list;

	makeSearch(list.tools, { id: "find-file", placeholder: "filter: file", "aria-label": "Filter mappings by file" },
		   SEARCH_MS, text => {
			   list.file = patternOf(text);
			   drawList(list);
		   });
	makeSearch(list.tools, { id: "find-mode", size: 8, placeholder: "mode: r-x", "aria-label": "Filter mappings by mode" },
		   SEARCH_MS, text => {
			   list.mode = patternOf(text);
			   drawList(list);
		   });
	makeSearch(list.tools, { id: "find-address", size: 18, placeholder: "find address 0x...",
		"aria-label": "Find the mapping of an address" }, SEARCH_MS, findAddress);
}

/* The row that has an address, and the offset in it. */
function findAddress(text) {
	const list = lists.maps, digits = text.trim().replace(/^0x/i, "");
	const address = /^[0-9a-f]+$/i.test(digits) ? parseInt(digits, 16) : -1;
	const item = address < 0 ? undefined : list.o.all().find(i => mapAddress(i - MAP_ITEMS) <= address &&
		address < mapAddress(i - MAP_ITEMS) + mapKb(0, i - MAP_ITEMS) * 1024);

	list.note = !digits ? "" : address < 0 ? "not an address: " + digits : item === undefined ?
		"no mapping has " + hexText(address) : hexText(address) + " is " + hexText(address - mapAddress(item - MAP_ITEMS)) +
		" bytes into " + hexText(mapAddress(item - MAP_ITEMS)) + " " + (mapText("file", item - MAP_ITEMS) || "(anonymous)");
	list.selected = new Set(item === undefined ? [] : [item]);
	list.table.choose(item === undefined ? -1 : item);
	drawSums(list);
}

function drawMaps() {
	drawList(lists.maps);
}
