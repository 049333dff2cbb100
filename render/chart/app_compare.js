/* SPDX-License-Identifier: MIT */
/* The build to compare with: its lanes, and what differs most */

const ONLY = 5, COMPARE_LANE = 20, COMPARE_HEIGHT = 240, COMPARE_LIST = 10;
const theirs = { n: 0, row: null, over: null, table: null, pieces: [], pitch: 0 };

/* After our tasks: the names of those that ran there only follow ours. */
function readTheirs(data) {
	const c = data.numbers, n = theirs.n = data.head.ghost ? data.head.ghost.tasks : 0;
	const coded = c.other_name;
	let next = whole(c.name, tasks.n).reduce((sum, v) => sum + (v ? 0 : 1), 0), at = 0;

	for (const name of ["start", "wall", "lane", "task"])
		theirs[name] = whole(c["other_" + name], n);
	theirs.name = new Int32Array(n).fill(-1);
	for (let k = 0; k < n; k++) {
		if (!theirs.task[k]) {
			const v = coded.length ? coded[at++] : 0;

			theirs.name[k] = v ? v - 1 : next++;
		}
		theirs.task[k]--;
	}
}

function theirBarName(k) {
	const i = theirs.task[k];

	return i >= 0 ? barPartsOf(i)[0] : barFile(clean(tasks.names[theirs.name[k]]));
}

function theirColour(k) {
	const i = theirs.task[k];

	return i >= 0 ? tasks.colour[i] : view.colour === "difference" ? head.ghost.scale[ONLY].colour : REST;
}

/* Their lanes: small neighbours are one piece. */
function theirPieces() {
	const last = new Array(head.ghost.lanes).fill(null), pieces = [];

	for (let k = 0; k < theirs.n; k++) {
		const x0 = toX(theirs.start[k]), x1 = toX(theirs.start[k] + theirs.wall[k]);
		let p = last[theirs.lane[k]];

		if (x1 < 0 || x0 > view.width)
			continue;
		if (!p || x0 - p.x1 >= CLOSE || (x1 - x0 >= SMALL && p.x1 - p.x0 >= SMALL)) {
			p = last[theirs.lane[k]] = { x0: clipX(x0), x1: clipX(x1), lane: theirs.lane[k], k,
						     count: 0, busy: 0 };
			pieces.push(p);
		}
		p.x1 = Math.max(p.x1, clipX(x1));
		p.count++;
		p.busy += theirs.wall[k];
		if (theirs.wall[k] > theirs.wall[p.k])
			p.k = k;
	}
	return pieces;
}

function drawTheirNames(layer, height) {
	const named = theirs.pieces.filter(p => p.x1 - p.x0 >= LABEL_LEAST);
	let n = 0;

	if (named.length > LABELS_MAX)
		named.sort((a, b) => b.x1 - b.x0 - a.x1 + a.x0).length = LABELS_MAX;
	for (const p of height >= 10 ? named : []) {
		const name = theirBarName(p.k), texts = p.count > 1 && 2 * theirs.wall[p.k] < p.busy ?
			["\u00d7" + countText(p.count)] : [name + " " + timeText(theirs.wall[p.k] * head.unit_us), name];
		const text = firstThatFits(texts, p.x1 - p.x0 - 2 * BAR_PAD, 11);

		if (text)
			layer.text(n++, "name c" + theirColour(p.k), p.x0 + BAR_PAD,
				   p.lane * theirs.pitch + height / 2 + 5, text);
	}
	layer.cut(n);
}

function theirHeight() {
	return Math.max(1, theirs.pitch - (theirs.pitch >= 6 ? 2 : 0));
}

function drawTheirs() {
	const bars = Array(COLOURS).fill(""), height = theirHeight(), layer = theirs.row.layer;

	theirs.pieces = theirPieces();
	for (const p of theirs.pieces)
		bars[theirColour(p.k)] += barBox(p.x0, p.lane * theirs.pitch + 1, p.x1 - p.x0, height);
	layer.path("grid", gridPath(theirs.row.height));
	bars.forEach((d, c) => layer.path("bar c" + c, d));
	drawTheirNames(layer, height);
}

/* The same task there. */
function drawTheirChosen() {
	let d = "";

	for (let k = 0; k < theirs.n && view.task >= 0; k++) {
		const x0 = clipX(toX(theirs.start[k])), x1 = clipX(toX(theirs.start[k] + theirs.wall[k]));

		if (theirs.task[k] === view.task && x1 > 0)
			d += box(x0, theirs.lane[k] * theirs.pitch + 1, Math.max(2, x1 - x0 - 1.8), theirHeight());
	}
	theirs.over.path("chosen", d);
}

function theirTaskAt(e) {
	const r = theirs.row.svg.getBoundingClientRect(), x = e.clientX - r.left;
	const lane = Math.floor((e.clientY - r.top) / theirs.pitch);
	const p = theirs.pieces.find(q => q.lane === lane && x >= q.x0 - 1 && x <= q.x1 + 1);

	return p ? theirs.task[p.k] : -1;
}

/* What differs most: a bar to the left is faster here, one to the right slower. */
function fillTop(parent) {
	const top = head.ghost.top.slice(0, COMPARE_LIST);
	const low = Math.max(0, ...top.map(t => -t.change_us)), all = low + Math.max(0, ...top.map(t => t.change_us));
	const table = element("table", {}, parent), line = element("tr", {}, element("thead", {}, table));
	const body = element("tbody", {}, table);

	for (const text of ["task", "there", "here", "difference", "faster or slower"])
		element("th", { scope: "col" }, line, text);
	for (const t of top) {
		const tr = element("tr", {}, body), cell = element("td", {}, tr);
		const i = t.task, there = t.other === null ? null : theirs.wall[t.other];

		const held = i === null ? null : hold(i);

		if (i === null)
			cell.textContent = fileParts(clean(tasks.names[theirs.name[t.other]]))[0];
		else
			button(cell, clean(labelOf(i)), "Choose " + clean(nameOf(i)), () => reveal(held()));
		element("td", {}, tr, there === null ? "new" : timeText(there * head.unit_us));
		element("td", {}, tr, i === null ? "gone" : wallText(i));
		element("td", {}, tr, signedText(t.change_us / head.unit_us));
		const svg = make(SVG, "svg", { "class": "plot", viewBox: "0 0 100 12", width: "100%", height: 12,
			preserveAspectRatio: "none", "aria-hidden": "true" }, element("td", { "class": "by" }, tr));
		const zero = 100 * low / all, width = 100 * Math.abs(t.change_us) / all;
		const colour = head.ghost.scale[i === null ? ONLY : tasks.difference[i]].colour;

		make(SVG, "path", { "class": "bar c" + colour,
			d: box(t.change_us < 0 ? zero - width : zero, 1, width, 10) }, svg);
		make(SVG, "path", { "class": "tick-line", d: "M" + px(zero) + " 0v12" }, svg);
	}
}

function compareWords(parent) {
	const there = head.ghost.wall_us, fact = head.facts.find(f => f.label === "compared with");

	element("span", {}, parent, fact ? fact.text : timeText(there) + " there");
	if (head.ghost.warning)
		element("span", { "class": "alarm" }, parent, "\u25b2 " + head.ghost.warning);
}

parts.push({
	make() {
		if (!head.ghost)
			return;
		const panel = element("section", { id: "bb-compare", "class": "panel" });
		const title = element("h2", {}, panel);
		const fold = button(title, "The other build", "The largest differences: as a table", () => {
			theirs.table.hidden = !theirs.table.hidden;
			fold.setAttribute("aria-expanded", !theirs.table.hidden);
		});

		fold.setAttribute("class", "fold");
		fold.setAttribute("aria-expanded", true);
		theirs.words = element("span", { "class": "words" }, title);
		legend.marks.after(panel);
		theirs.row = makeRow(panel, "bb-theirs", "Tasks of the other build");
		theirs.over = new Layer(make(SVG, "g", { "class": "over" }, theirs.row.svg));
		element("div", { "class": "label", title: "the other build" }, theirs.row.gutter, "there");
		theirs.row.svg.addEventListener("click", guard(e => {
			const i = theirTaskAt(e);

			if (i >= 0)
				reveal(i);
		}));
		theirs.table = element("div", { "class": "path-table compare-table" }, panel);
	},
	fill() {
		if (!head.ghost)
			return;
		renew(theirs.words, compareWords);
		renew(theirs.table, fillTop);
	},
	layOut() {
		const n = Math.max(1, head.ghost ? head.ghost.lanes : 1);

		theirs.pitch = Math.min(COMPARE_LANE, COMPARE_HEIGHT / n);
		if (head.ghost)
			sizeRow(theirs.row, Math.ceil(n * theirs.pitch) + 2);
	},
	draw() {
		if (head.ghost)
			drawTheirs();
	},
	over() {
		if (head.ghost)
			drawTheirChosen();
	},
});
