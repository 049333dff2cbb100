/* SPDX-License-Identifier: MIT */
/* A table of many rows: only those in view are in the document */

const TABLE_SPARE = 6;		/* rows drawn beyond the view */

/*
 * o has:
 *	make		(name, attributes, parent, text): a new element of HTML
 *	parent, id, label	where the table is made, what it is called
 *	row		the height of a row in pixels, as its style has it
 *	columns		a list of {id, title, hint}: set by setColumns() too
 *	cell(cell, column, item)	fill a cell
 *	choose(item, how, event)	a row was chosen by "click", "key", "Space" or "Enter", which is
 *			also the second click
 *	selected(item)	if several rows can be chosen at a time
 *	sort(column)	the button in a head was pressed
 * An item is a number: the row's element has the id "row-" + item.
 */
function Table(o) {
	const attributes = { id: o.id, "class": "sheet", role: "grid", tabindex: 0,
			     "aria-label": o.label };

	this.o = o;
	this.list = [];
	this.chosen = -1;
	this.box = o.make("div", attributes, o.parent);
	this.head = o.make("div", { role: "row", "class": "entry head", "aria-rowindex": 1 },
			   o.make("div", { role: "rowgroup", "class": "top" }, this.box));
	this.space = o.make("div", { "class": "space", role: "rowgroup" }, this.box);
	this.setColumns(o.columns);
	this.box.addEventListener("scroll", () => this.draw(false), { passive: true });
	this.box.addEventListener("keydown", e => this.key(e));
	this.space.addEventListener("click", e => {
		const line = e.target.closest(".entry");

		if (line && !e.target.closest("a"))
			this.o.choose(this.list[Number(line.dataset.at)], e.detail > 1 ? "Enter" : "click", e);
	});
}

Table.prototype.setColumns = function (columns) {
	this.columns = columns;
	this.box.setAttribute("aria-colcount", columns.length);
	this.head.replaceChildren();
	for (const c of columns) {
		c.kind = "cell " + c.id + (c.numeric ? " number" : "");
		c.head = this.o.make("span", { role: "columnheader", "class": c.kind }, this.head);
		const attributes = { type: "button", title: c.hint || "sort by " + c.title };

		this.o.make("button", attributes, c.head, c.title)
			.addEventListener("click", () => this.o.sort(c));
	}
	this.first = -1;
};

/* Show these items; the marks of the column that sorts. */
Table.prototype.show = function (list, id, down) {
	this.list = list;
	this.box.setAttribute("aria-rowcount", list.length + 1);
	this.space.style.height = list.length * this.o.row + "px";
	for (const c of this.columns)
		c.head.setAttribute("aria-sort", c.id !== id ? "none" : down ? "descending" : "ascending");
	this.draw(true);
};

Table.prototype.entry = function (at) {
	const item = this.list[at], line = this.o.make("div", { role: "row", "class": "entry",
		id: "row-" + item, "aria-rowindex": at + 2, "data-at": at,
		"aria-selected": this.o.selected ? this.o.selected(item) : item === this.chosen });

	line.style.top = at * this.o.row + "px";
	for (const c of this.columns) {
		const cell = this.o.make("span", { role: "gridcell", "class": c.kind }, line);

		this.o.cell(cell, c, item);
	}
	return line;
};

Table.prototype.room = function () {
	return Math.max(this.o.row, this.box.clientHeight - this.head.offsetHeight);
};

Table.prototype.draw = function (anew) {
	const { scrollTop } = this.box, { row } = this.o;
	const first = Math.max(0, Math.floor(scrollTop / row) - TABLE_SPARE);
	const last = Math.min(this.list.length, Math.ceil((scrollTop + this.room()) / row) + TABLE_SPARE);

	if (!anew && first === this.first && last === this.last)
		return;
	this.first = first;
	this.last = last;
	const lines = Array.from({ length: Math.max(0, last - first) }, (_, i) => this.entry(first + i));

	/* A line that is as before stays the same element, with what is selected in it. */
	if (lines.length === this.space.childElementCount)
		lines.forEach((line, i) => {
			if (!line.isEqualNode(this.space.children[i]))
				this.space.children[i].replaceWith(line);
		});
	else
		this.space.replaceChildren(...lines);
	if (this.chosen >= 0 && document.getElementById("row-" + this.chosen))
		this.box.setAttribute("aria-activedescendant", "row-" + this.chosen);
	else
		this.box.removeAttribute("aria-activedescendant");
};

/* Mark an item, -1: none, and scroll to it within the table. */
Table.prototype.choose = function (item) {
	const at = item < 0 ? -1 : this.list.indexOf(item), { row } = this.o;

	this.chosen = item;
	if (at >= 0 && at * row < this.box.scrollTop)
		this.box.scrollTop = at * row;
	else if (at >= 0 && (at + 1) * row > this.box.scrollTop + this.room())
		this.box.scrollTop = (at + 1) * row - this.room();
	this.draw(true);
};

Table.prototype.key = function (e) {
	const page = Math.max(1, Math.floor(this.room() / this.o.row) - 1);
	const by = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page,
		     Home: -Infinity, End: Infinity }[e.key];

	if (e.ctrlKey || e.altKey || e.metaKey || !this.list.length || e.target !== this.box)
		return;
	if (by) {
		const at = clamp(this.list.indexOf(this.chosen) + by, 0, this.list.length - 1);

		this.o.choose(this.list[at], "key");
	} else if (e.key === " " && this.o.selected && this.chosen >= 0) {
		this.o.choose(this.chosen, "Space");
	} else if (e.key === "Enter" && this.chosen >= 0) {
		this.o.choose(this.chosen, "Enter");
	} else {
		return;
	}
	e.preventDefault();
	e.stopPropagation();
};

/*
 * The items of a list by their keys, largest first if `down`; those of one key stay in order,
 * and those without (NaN) come last. Numbers sort ten times as fast without a function that
 * compares: the place in the list is put into the digits below the key.
 */
function sortByKey(list, key, down) {
	const n = list.length, keys = new Float64Array(n), packed = new Float64Array(n);
	const out = new Int32Array(n);
	let least = Infinity, most = -Infinity, count = 0, none = n;

	for (let i = 0; i < n; i++) {
		const k = keys[i] = key(list[i]);

		least = k < least ? k : least;
		most = k > most ? k : most;
	}
	/* A double has 53 bits. */
	const unit = Math.min(1, 2 ** 52 / n / Math.max(1, most - least));

	for (let i = 0; i < n; i++) {
		const k = down ? most - keys[i] : keys[i] - least;

		if (!isNaN(k))
			packed[count++] = Math.round(k * unit) * n + i;
	}
	packed.subarray(0, count).sort();
	for (let i = 0; i < count; i++)
		out[i] = list[packed[i] % n];
	for (let i = n; i-- > 0 && none > count;) {
		if (isNaN(keys[i]))
			out[--none] = list[i];
	}
	return out;
}
