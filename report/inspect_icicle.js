/* SPDX-License-Identifier: MIT */
/* The live heap: a box for each function below its caller, as wide as its bytes */

const icicle = { boxes: [], width: 0 };
const ICICLE_ROW = 20, ICICLE_LEAST = 2, ICICLE_NAMED = 24, RANKED = 7;

function makeIcicle(section) {
	const tools = make("div", { "class": "tools" }, section);

	icicle.way = makeChoice(tools, "Direction", [
		["down", "top-down", "from the outermost function to those that allocate"],
		["up", "bottom-up", "from the functions that allocate to their callers"]], way => setWay(way === "up"));
	page.search = makeSearch(tools, { placeholder: "search functions", "aria-label": "Search functions" },
				 SEARCH_MS, text => {
					 view.q = text;
					 saveHash();
					 drawIcicle();
				 });
	make("button", { type: "button" }, tools, "whole heap").addEventListener("click", () => showNode(0));
	icicle.sum = make("span", { "class": "sum", role: "status" }, tools);
	icicle.box = make("div", { "class": "icicle", tabindex: 0, role: "tree", "aria-label":
		"Live allocations: arrow keys go to callers and callees, Enter zooms, Space selects" }, section);
	icicle.status = make("p", { "class": "status" }, section);
	icicle.keys = make("ul", { "class": "keys", "aria-label": "Colours" }, section);
	icicle.detail = make("section", { "class": "detail", "aria-label": "Chosen function" }, section);
	rankFunctions();
	icicle.zoom = makeZoom({
		box: icicle.box,
		plot: () => [icicle.box.getBoundingClientRect().left, icicle.width],
		range: view.icicle,
		least: () => 1e-6,
		draw: drawIcicle,
		hover: e => {
			const node = nodeAt(e);

			icicle.status.textContent = node < 0 ? "" : boxText(node);
		},
		leave: () => { icicle.status.textContent = ""; },
		click: clickBox,
		keys: {
			ArrowDown: () => step(n => largestChild(n)),
			ArrowUp: () => step(shownParent),
			ArrowLeft: () => step(n => sibling(n, -1)),
			ArrowRight: () => step(n => sibling(n, 1)),
			Enter: () => showNode(Math.max(0, view.node)),
			" ": () => view.node >= 0 && toggle(view.node),
			Escape: leaveNode,
			Backspace: () => showNode(view.node > 0 ? shownParent(view.node) : 0),
		},
	});
}

/* The functions that allocate most have colours of their own. */
function rankFunctions() {
	const sum = new Float64Array(data.texts.function.length), most = largestHeap();
	const of = row => data.blamed[row] < 0 ? -1 : (data.numbers.function[data.blamed[row]] || 0) - 1;

	for (let row = 0; row < rowCount(); row++) {
		if (of(row) >= 0)
			sum[of(row)] += liveOf(row, most);
	}
	icicle.ranked = Array.from(sum.keys()).filter(f => sum[f] > 0).sort((a, b) => sum[b] - sum[a]).slice(0, RANKED);
	icicle.rank = Int32Array.from({ length: rowCount() }, (_, row) => icicle.ranked.indexOf(of(row)));
	make("li", { "class": "title" }, icicle.keys, "More than half of it is allocated by");
	icicle.ranked.forEach((f, i) => make("li", { style: "--d:var(--c" + i + ")", title: data.texts.function[f] },
		icicle.keys, data.texts.function[f].replace(/\(.*/, "") || data.texts.function[f]));
}

/* The colour of each node: the rank of the function that allocated more than half of it, or -1. */
function colourNodes() {
	const t = tree(), n = icicle.ranked.length, sum = new Float64Array(t.n * n);

	icicle.colour = new Int8Array(t.n).fill(-1);
	for (let row = 0; row < t.of.length; row++) {
		if (icicle.rank[row] >= 0)
			sum[t.of[row] * n + icicle.rank[row]] += liveOf(row, view.snapshot);
	}
	for (let node = t.n; node-- > 0;) {
		for (let i = 0; i < n; i++) {
			if (node)
				sum[t.parent[node] * n + i] += sum[node * n + i];
			if (sum[node * n + i] > t.value[node] / 2)
				icicle.colour[node] = i;
		}
	}
}

/* Functions without names are of interest only where none with a name is near: each run of them is
 * one box, below which are the named functions that they call. */
function isUnnamed(node) {
	return node > 0 && /!0x[0-9a-f]+$|^0x[0-9a-f]+$/.test(nameOf(node));
}

function isFolded(node) {
	return isUnnamed(node) && isUnnamed(tree().parent[node]);
}

function shownParent(node) {
	do
		node = tree().parent[node];
	while (isFolded(node));
	return node;
}

function shownChildren(node) {
	return tree().children[node].flatMap(c => isFolded(c) ? shownChildren(c) : [c]);
}

function setWay(up) {
	view.up = up;
	view.node = -1;
	view.selected.clear();
	icicle.zoom.set(0, 1);
	saveHash();
	drawIcicle();
}

/* Boxes */

/* Where a node begins and ends in the whole, 0 to 1. */
function placeOfNode(node) {
	const t = tree(), all = t.value[0] || 1;
	let from = 0;

	for (let at = node; at > 0; at = t.parent[at]) {
		for (const c of t.children[t.parent[at]]) {
			if (c === at)
				break;
			from += t.value[c];
		}
	}
	return [from / all, (from + t.value[node]) / all];
}

function showNode(node) {
	const [from, until] = placeOfNode(node);

	if (until > from || !node)
		icicle.zoom.set(from, node ? until : 1);
	chooseNode(node || -1);
}

/* A list of {node, from, width, depth} in pixels: those in view that are wide enough. */
function layOut() {
	const t = tree(), all = t.value[0], { from, until } = view.icicle, k = icicle.width / (until - from) / (all || 1);
	const boxes = [], stack = [[0, 0, 0]];

	while (all && stack.length) {
		const [node, begin, depth] = stack.pop(), left = (begin - from * all) * k, width = t.value[node] * k;

		if (width < ICICLE_LEAST || left >= icicle.width || left + width <= 0)
			continue;
		const x = Math.max(0, left), folded = isFolded(node);

		if (!folded)
			boxes.push({ node, depth, x, width: Math.min(icicle.width, left + width) - x });
		let at = begin;

		for (const c of t.children[node]) {
			stack.push([c, at, folded ? depth : depth + 1]);
			at += t.value[c];
		}
	}
	return boxes;
}

function boxText(node) {
	const bytes = tree().value[node], words = [nameOf(node), bytesText(bytes),
		shareText(bytes, tree().value[0]) + " of the heap", shareText(bytes, rssBytes()) + " of RSS"];

	if (sourceOf(node))
		words.splice(1, 0, sourceOf(node));
	return words.join(" \u00b7 ");
}

function drawIcicle() {
	const pattern = patternOf(view.q), t = tree();

	icicle.width = icicle.box.clientWidth;
	icicle.boxes = layOut();
	colourNodes();
	const deepest = icicle.boxes.reduce((most, b) => Math.max(most, b.depth), 0);
	const found = pattern ? new Set(matching(n => pattern.test(nameOf(n)))) : null;
	const inner = document.createElement("div");

	inner.setAttribute("role", "none");
	inner.className = "boxes";
	inner.style.height = (deepest + 1) * ICICLE_ROW + "px";
	for (const b of icicle.boxes) {
		const colour = icicle.colour[b.node], box = document.createElement("div"), bytes = t.value[b.node];
		const name = b.node ? nameOf(b.node) : "all " + bytesText(bytes);

		box.className = "box" + (colour < 0 ? " rest" : "") + (isUnnamed(b.node) ? " unnamed" : "") +
			(found && !found.has(b.node) ? " dim" : "") +
			(view.selected.has(b.node) ? " selected" : "") + (b.node === view.node ? " chosen" : "");
		/* in parts of the whole, so that it fits paper too */
		box.style.cssText = "left:" + (100 * b.x / icicle.width).toFixed(3) + "%;width:" +
			(100 * Math.max(1, b.width - .5) / icicle.width).toFixed(3) + "%;top:" + b.depth * ICICLE_ROW + "px" +
			(colour < 0 ? "" : ";--d:var(--c" + colour + ");--t:var(--t" + colour + ")");
		box.dataset.node = b.node;
		box.id = "node-" + b.node;
		box.setAttribute("role", "treeitem");
		box.setAttribute("aria-level", b.depth + 1);
		box.setAttribute("aria-selected", view.selected.has(b.node));
		box.setAttribute("aria-label", name + (b.node ? " " + bytesText(bytes) : ""));
		if (b.width >= ICICLE_NAMED)
			box.textContent = name;
		inner.appendChild(box);
	}
	icicle.box.replaceChildren(inner);
	if (view.node >= 0 && inner.querySelector(".chosen"))
		icicle.box.setAttribute("aria-activedescendant", "node-" + view.node);
	else
		icicle.box.removeAttribute("aria-activedescendant");
	icicle.way(view.up ? "up" : "down");
	drawSum(found);
	drawDetail();
}

/* What is found, otherwise what is selected. Those inside another one count once. */
function drawSum(found) {
	const list = found ? topmost(found) : topmost([...view.selected]), bytes = sumOf(list);
	const what = found ? countOf(found.size, "call") + " found" : countOf(view.selected.size, "function") + " selected";

	icicle.sum.textContent = found || list.length ? what + ": " + bytesText(bytes) + ", " +
		shareText(bytes, tree().value[0]) + " of the heap, " + shareText(bytes, rssBytes()) + " of RSS" : "";
}

/* The chosen function */

function fact(list, title, text) {
	make("dt", {}, list, title);
	make("dd", {}, list, text);
}

function addPath(parent, node) {
	const path = pathTo(node), list = make("ol", { "class": "path" }, parent);

	for (const at of path) {
		const line = make("li", {}, list);

		make("button", { type: "button" }, line, nameOf(at)).addEventListener("click", () => showNode(at));
		if (sourceOf(at))
			make("span", { "class": "faint" }, line, " " + sourceOf(at));
	}
}

function drawDetail() {
	const node = view.node, t = tree();

	icicle.detail.replaceChildren();
	icicle.detail.hidden = node < 0;
	if (node < 0)
		return;
	make("h3", {}, icicle.detail, nameOf(node));
	const list = make("dl", {}, icicle.detail), bytes = t.value[node], error = errorOf(node), m = moduleOf(node);

	fact(list, "Live", bytesText(bytes) + (error ? " \u00b1 " + bytesText(error) : "") + ", " +
		shareText(bytes, t.value[0]) + " of the heap, " + shareText(bytes, rssBytes()) + " of RSS");
	fact(list, view.up ? "Called by none" : "Itself", bytesText(selfOf(node)));
	if (m >= 0)
		fact(list, "Module", data.texts.module[m]);
	if (sourceOf(node))
		fact(list, "Source", sourceOf(node));
	make("h4", {}, icicle.detail, view.up ? "Allocates for" : "Called through");
	addPath(icicle.detail, node);
}

function chooseNode(node) {
	view.node = node;
	drawIcicle();
	if (node > 0)
		icicle.status.textContent = boxText(node);
}

function toggle(node) {
	if (!view.selected.delete(node))
		view.selected.add(node);
	drawIcicle();
}

/* Pointer and keys */

function nodeAt(e) {
	const box = e.target.closest && e.target.closest(".box");

	return box ? Number(box.dataset.node) : -1;
}

function clickBox(e, x, twice) {
	const node = nodeAt(e);

	if (twice)
		showNode(Math.max(0, node));
	else if (node > 0 && (e.ctrlKey || e.shiftKey || e.metaKey))
		toggle(node);
	else
		chooseNode(node || -1);
}

function leaveNode() {
	if (view.selected.size) {
		view.selected.clear();
		drawIcicle();
	} else {
		showNode(0);
	}
}

function largestChild(node) {
	return shownChildren(node).reduce((most, c) => most < 0 || tree().value[c] > tree().value[most] ? c : most, -1);
}

function sibling(node, by) {
	const list = node > 0 ? shownChildren(shownParent(node)).filter(c => tree().value[c] > 0) : [];

	return list[list.indexOf(node) + by] || -1;
}

/* Go to a node; it is zoomed to if it is not in view. */
function step(to) {
	const next = view.node < 0 ? 0 : to(view.node);

	if (next < 0 || (next > 0 && !tree().value[next]))
		return;
	view.node = next;
	drawIcicle();
	if (!icicle.boxes.some(b => b.node === next)) {
		showNode(shownParent(next));
		chooseNode(next);
	}
	const box = icicle.box.querySelector(".chosen");

	if (box)
		box.scrollIntoView({ block: "nearest", inline: "nearest" });
	icicle.status.textContent = boxText(next);
}
