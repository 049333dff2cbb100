/* SPDX-License-Identifier: MIT */
/* Where the time went: boxes below those that contain them, as wide as their time */

const icicle = { box: null, plot: null, layer: null, over: null, crumbs: null, tree: null, weights: null,
	key: "", match: null, root: 0, cursor: -1, of_cpu: false, seen: false, folded: false, boxes: [],
	width: 0, timer: 0 };
const ICICLE_ROW = 22, ICICLE_ROWS = 9, ICICLE_NAMED = 30, ICICLE_LEAST = 1;

/* Children with time, the most first. */
function childrenOf(node, least) {
	const { child, next } = icicle.tree, { sum } = icicle.weights, list = [];

	for (let c = child[node]; c >= 0; c = next[c]) {
		if (sum[c] > least)
			list.push(c);
	}
	return list.sort((a, b) => sum[b] - sum[a] || a - b);
}

/* A directory that holds only another one is one box with it. */
function wholeDirectory(node) {
	const { tree, weights } = icicle;

	for (let name = tree.name[node]; ;) {
		const only = tree.kind[node] === DIRECTORY ? childrenOf(node, 0) : [];

		if (only.length !== 1 || tree.kind[only[0]] !== DIRECTORY || weights.sum[only[0]] < weights.sum[node])
			return { node, name };
		node = only[0];
		name = (name ? name + "/" : "") + tree.name[node];
	}
}

function nameOfNode(node) {
	const { tree } = icicle;

	return !node ? "all" : tree.kind[node] !== TARGET ? clean(tree.name[node]) : head.recipes ?
		clean(withoutPrefix(tree.name[node])) : fileParts(clean(tree.name[node]))[0];
}

/* From the root to a node. */
function nodesTo(node) {
	const list = [];

	for (; node > 0; node = icicle.tree.parent[node])
		list.push(node);
	return list.concat(0).reverse();
}

function sumText(v) {
	const all = icicle.weights.sum[0];

	return lengthText(v * head.unit_us) + " (" + percentText(all ? v / all : 0) + ")";
}

function shareText(node) {
	return sumText(icicle.weights.sum[node]);
}

function textOfNode(node) {
	const { tree, weights } = icicle, task = weights.task[node];
	const kind = tree.kind[node] === TARGET && task >= 0 ? ", " + tasks.kinds[tasks.kind[task]].name : "";

	return nodesTo(node).slice(node ? 1 : 0).map(nameOfNode).join(" \u203a ") + kind + " \u00b7 " +
		shareText(node);
}

/* The only program of a target. */
function programOf(node) {
	const { tree, weights } = icicle, task = weights.task[node];

	return tree.kind[node] === TARGET && task >= 0 && !(tasks.marks[task] & HOSTS) ?
		clean(tasks.programs[tasks.program[task]]) : "";
}

/* What is drawn: {node, name, row, x0, x1}; node -1: the rest of the node "of", too small to see
 * one by one; under: the program of the node above. */
function placeBoxes(width) {
	const { sum } = icicle.weights, scale = width / sum[icicle.root];
	const boxes = [], whole = wholeDirectory(icicle.root);
	const place = (node, name, row, x0) => {
		const least = ICICLE_LEAST / scale, b = { node, name, row, x0, x1: x0 + sum[node] * scale };

		boxes.push(b);
		if (row + 1 >= ICICLE_ROWS)
			return;
		const list = childrenOf(node, 0), small = list.findIndex(c => sum[c] < least);
		let x = x0, rest = 0;

		for (const c of small < 0 ? list : list.slice(0, small)) {
			const inner = wholeDirectory(c);

			place(inner.node, inner.node === c ? nameOfNode(c) : clean(inner.name), row + 1, x);
			x += sum[c] * scale;
		}
		for (const c of small < 0 ? [] : list.slice(small))
			rest += sum[c];
		if (!list.length && programOf(node))
			boxes.push({ node, name: programOf(node), row: row + 1, x0, x1: b.x1, under: true });
		if (rest >= least)
			boxes.push({ node: -1, name: countText(list.length - small) + " smaller", row: row + 1, x0: x,
				     x1: x + rest * scale, rest, of: node });
	};

	place(whole.node, whole.node === icicle.root ? nameOfNode(icicle.root) : clean(whole.name), 0, 0);
	return boxes;
}

/* Phases and programs look as in the lanes. */
function classOf({ node, under }) {
	const { tree, weights } = icicle;

	if (under || (node >= 0 && tree.kind[node] === PHASE))
		return "span";
	return node < 0 || tree.kind[node] === DIRECTORY || weights.task[node] < 0 ? "directory" :
		"c" + tasks.colour[weights.task[node]];
}

function drawBoxes() {
	const paths = new Map(), { layer, boxes } = icicle;
	let n = 0;

	for (const b of boxes) {
		const name = classOf(b);

		paths.set(name, (paths.get(name) || "") + barBox(b.x0, b.row * ICICLE_ROW, b.x1 - b.x0, ICICLE_ROW - 2));
	}
	for (const name of ["directory", "span", ...Array.from({ length: COLOURS }, (_, c) => "c" + c)])
		layer.path("bar " + name, paths.get(name) || "");
	for (const b of boxes) {
		const room = b.x1 - b.x0 - 8;

		if (b.x1 - b.x0 < ICICLE_NAMED)
			continue;
		const sum = b.node < 0 ? b.rest : icicle.weights.sum[b.node], time = lengthText(sum * head.unit_us);
		const text = firstThatFits([b.name + "  " + sumText(sum), b.name + "  " + time, b.name], room, 11.5);

		if (text)
			layer.text(n++, "name " + classOf(b), b.x0 + 4, b.row * ICICLE_ROW + 14.5, text);
	}
	layer.cut(n);
}

function drawCrumbs() {
	const { crumbs, root, tree } = icicle, focused = crumbs.contains(document.activeElement);

	crumbs.replaceChildren();
	for (const node of nodesTo(root)) {
		if (node === root) {
			element("span", { "aria-current": "true" }, crumbs, nameOfNode(node) + " \u00b7 " + shareText(node));
		} else {
			button(crumbs, nameOfNode(node), "Back to " + nameOfNode(node), () => openNode(node));
			element("span", { "aria-hidden": true }, crumbs, "\u203a");
		}
	}
	if (root && tree.kind[root] === DIRECTORY)
		button(crumbs, "search for these", "Search for the tasks of this directory", searchForNode);
	if (focused)
		icicle.plot.focus({ preventScroll: true });
}

/* A directory is a place, a directory within the names, or some of both. */
function searchForNode() {
	const words = nodesTo(icicle.root).slice(1).map(node => icicle.tree.name[node]);

	setQuery(head.recipes ? words[0] : "/^" + words.map(w => w.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&"))
		.join("(?:\\/|: )") + "(?:\\/|:)/");
}

function openNode(node) {
	const { tree, weights } = icicle;

	icicle.root = node;
	icicle.cursor = node;
	icicle.key = "";
	if (node && tree.kind[node] !== DIRECTORY && weights.task[node] >= 0)
		choose(weights.task[node]);
	request(true);
}

/* Search, range, colours and the window change what is drawn; the view does not. */
function iciclesKey() {
	const range = view.range ? view.range.from + "-" + view.range.until : "";

	return [range, icicle.of_cpu, view.colour, icicle.root, icicle.width].join(" ");
}

/* The nodes that are shown and pointed at stay, by their names. */
function growIcicle() {
	const named = node => !icicle.tree || node < 0 ? [] : nodesTo(node).slice(1)
		.map(k => [icicle.tree.kind[k], icicle.tree.name[k]]);
	const root = named(icicle.root), cursor = named(icicle.cursor), { tree } = icicle;

	icicle.stale = false;
	icicle.tree = growTree();
	icicle.root = nodeNamed(root);
	icicle.cursor = icicle.cursor < 0 || !tree ? -1 : nodeNamed(cursor);
}

/* As far as there are nodes of these names. */
function nodeNamed(path) {
	const { tree } = icicle;
	let at = 0;

	for (const [kind, name] of path) {
		let c = tree.child[at];

		while (c >= 0 && (tree.kind[c] !== kind || tree.name[c] !== name))
			c = tree.next[c];
		if (c < 0)
			break;
		at = c;
	}
	return at;
}

function weighIcicle() {
	const range = view.range || { from: 0, until: head.end };

	if (icicle.stale)
		growIcicle();
	icicle.weights = weighTree(icicle.tree, range.from, range.until, icicle.of_cpu);
	while (icicle.root && !(icicle.weights.sum[icicle.root] > 0))
		icicle.root = icicle.tree.parent[icicle.root];
}

function drawIcicle() {
	const width = Math.max(200, icicle.plot.clientWidth);

	icicle.width = width;
	if (!icicle.stale && iciclesKey() === icicle.key && search.match === icicle.match)
		return;
	icicle.match = search.match;
	weighIcicle();
	icicle.key = iciclesKey();
	icicle.boxes = icicle.weights.sum[icicle.root] > 0 ? placeBoxes(width) : [];
	const rows = icicle.boxes.reduce((most, b) => Math.max(most, b.row + 1), 1);

	icicle.svg.setAttribute("width", width);
	icicle.svg.setAttribute("height", rows * ICICLE_ROW);
	icicle.none.hidden = icicle.boxes.length > 0;
	drawBoxes();
	drawCrumbs();
	drawCursor();
	icicle.note.textContent = (icicle.of_cpu ? "CPU time" : "wall time, summed over the tasks") +
		(view.range ? ", in the selected range" : "") + (search.match ? ", of the tasks found" : "");
	for (const b of icicle.measures)
		b.setAttribute("aria-pressed", (b === icicle.measures[1]) === icicle.of_cpu);
}

function boxOf(node) {
	return icicle.boxes.find(b => b.node === node && !b.under) || null;
}

function drawCursor() {
	const b = document.activeElement === icicle.plot && boxOf(icicle.cursor);
	const mine = icicle.boxes.filter(x => x.node > 0 && !x.under && view.task >= 0 &&
		icicle.tree.kind[x.node] === TARGET && icicle.tree.at[view.task] === x.node);
	const outline = x => box(x.x0 + 1, x.row * ICICLE_ROW + 1, Math.max(1, x.x1 - x.x0 - 3), ICICLE_ROW - 4);

	icicle.over.path("chosen", mine.map(outline).join(""));
	icicle.over.path("cursor", b ? outline(b) : "");
}

function boxAt(e) {
	const r = icicle.svg.getBoundingClientRect(), row = Math.floor((e.clientY - r.top) / ICICLE_ROW);
	const x = e.clientX - r.left;

	return icicle.boxes.find(b => b.row === row && b.x0 <= x && b.x1 > x) || null;
}

/* Up to what contains the box, down into it, and along its row. */
function moveCursor(key) {
	const boxes = icicle.boxes.filter(x => x.node >= 0 && !x.under);
	const b = boxOf(icicle.cursor) || boxes[0];

	if (!b)
		return;
	const middle = (b.x0 + b.x1) / 2;
	const row = boxes.filter(x => x.row === b.row).sort((p, q) => p.x0 - q.x0);
	const to = key === "ArrowUp" ?
		boxes.find(x => x.row === b.row - 1 && x.x0 <= middle && x.x1 > middle) :
		key === "ArrowDown" ?
		boxes.find(x => x.row === b.row + 1 && x.x0 >= b.x0 - .01 && x.x1 <= b.x1 + .01) :
		row[row.indexOf(b) + (key === "ArrowLeft" ? -1 : 1)];

	if (key === "ArrowUp" && !b.row && icicle.root) {
		openNode(icicle.tree.parent[icicle.root]);
		return;
	}
	icicle.cursor = (to || b).node;
	page.status.textContent = textOfNode(icicle.cursor);
	tell(page.status.textContent);
	drawCursor();
}

function icicleKey(e) {
	if (e.ctrlKey || e.altKey || e.metaKey)
		return;
	if (/^Arrow/.test(e.key))
		moveCursor(e.key);
	else if (e.key === "Enter" && icicle.cursor >= 0)
		openNode(icicle.cursor);
	else if (e.key === "Backspace" && icicle.root)
		openNode(icicle.tree.parent[icicle.root]);
	else
		return;
	e.preventDefault();
	e.stopPropagation();
}

function makeIcicle() {
	const title = element("h2", {}, icicle.box);

	icicle.fold = button(title, "Where the time went", "Where the time went: fold or unfold", () => {
		icicle.folded = !icicle.folded;
		icicle.inside.hidden = icicle.folded;
		icicle.fold.setAttribute("aria-expanded", !icicle.folded);
		icicle.key = "";
		request(true);
	});
	icicle.fold.setAttribute("class", "fold");
	icicle.fold.setAttribute("aria-expanded", true);
	icicle.inside = element("div", { "class": "inside" }, icicle.box);
	const bar = element("div", { "class": "bar" }, icicle.inside);

	icicle.measures = ["wall time", "CPU time"].map((text, k) => button(bar, text, "Widths are " + text, () => {
		icicle.of_cpu = k === 1;
		request(true);
	}));
	icicle.crumbs = element("nav", { "aria-label": "Place in the tree" }, bar);
	icicle.note = element("span", { "class": "note" }, bar);
	icicle.plot = element("div", { "class": "plot-box", tabindex: 0, role: "group",
		"aria-label": "Where the time went: arrow keys move, Enter opens, Backspace goes back" }, icicle.inside);
	icicle.svg = make(SVG, "svg", { "class": "plot", role: "img",
		"aria-label": "Time by directory, target and program" }, icicle.plot);
	icicle.layer = new Layer(make(SVG, "g", {}, icicle.svg));
	icicle.over = new Layer(make(SVG, "g", {}, icicle.svg));
	icicle.none = element("p", { hidden: "" }, icicle.plot, "No task was found.");
	icicle.plot.addEventListener("pointermove", guard(e => {
		const b = boxAt(e);

		page.status.textContent = !b ? "" : b.node < 0 ? b.name + " in " + nameOfNode(b.of) + " \u00b7 " +
			sumText(b.rest) : textOfNode(b.node);
	}));
	icicle.plot.addEventListener("pointerleave", () => page.status.textContent = "");
	icicle.plot.addEventListener("click", guard(e => {
		const b = boxAt(e);

		if (b && b.node >= 0)
			openNode(b.node === icicle.root && b.node ? icicle.tree.parent[b.node] : b.node);
	}));
	icicle.plot.addEventListener("keydown", guard(icicleKey));
	icicle.plot.addEventListener("focus", guard(drawCursor));
	icicle.plot.addEventListener("blur", guard(drawCursor));
}

/* Not before somebody looks there. */
parts.push({
	make() {
		icicle.box = element("section", { id: "bb-icicle", "class": "panel", "aria-label": "Where the time went" });
		page.chart.after(icicle.box);
		makeIcicle();
		icicle.watch = new IntersectionObserver(guard(list => {
			if (!list.some(e => e.isIntersecting))
				return;
			icicle.watch.disconnect();
			icicle.seen = true;
			request(true);
		}), { rootMargin: "300px" });
	},
	fill() {
		icicle.box.hidden = !tasks.n;
		icicle.stale = true;
		icicle.seen = false;
		icicle.watch.disconnect();
		icicle.watch.observe(icicle.box);
	},
	layOut() {
		icicle.key = "";
	},
	draw() {
		if (icicle.seen && !icicle.folded)
			drawIcicle();
	},
	/* Not at each step of a drag. */
	ranged() {
		clearTimeout(icicle.timer);
		icicle.timer = setTimeout(guard(() => {
			if (icicle.seen && !icicle.folded)
				drawIcicle();
		}), 100);
	},
	over() {
		if (icicle.seen && !icicle.folded && icicle.weights)
			drawCursor();
	},
});
