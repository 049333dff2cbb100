/* SPDX-License-Identifier: MIT */
/* The data, and the trees of functions with their values at a snapshot */

const view = { snapshot: 0, kind: "memory", metric: "rss", class: 0, up: false, q: "", node: -1,
	selected: new Set(), areas: { from: 0, until: 1 }, icicle: { from: 0, until: 1 } };
const PAGE_BYTES = 4096, LOW_PAGES = 2 ** 20;
const VALUE_TITLES = { size: "Size", rss: "RSS", pss: "PSS", shared_clean: "Shared clean",
	shared_dirty: "Shared dirty", private_clean: "Private clean", private_dirty: "Private dirty",
	anonymous: "Anonymous", huge: "Huge pages", swap: "Swap" };

let head, data, units;
const trees = {}, heap_bytes = [];

async function readAll() {
	head = JSON.parse(find("#head").textContent);
	data = await readData(find("#data").textContent);
	units = {};
	for (const [name, , , unit] of data.head.numbers)
		units[name] = unit;
	for (const name in data.texts)
		data.texts[name] = data.texts[name].map(clean);
	findBlamed();
	head.n = head.snapshots.length;
	view.snapshot = Math.max(0, head.snapshots.reduce((most, s, i) =>
		s.rss_kb > head.snapshots[most].rss_kb ? i : most, 0));
}

function number(name, i) {
	return (data.numbers[name][i] || 0) * units[name];
}

/* head.n: when the heap was largest, of which only the heap is known. */
function isPeak() {
	return view.snapshot === head.n;
}

/* The snapshot for what is not known of the peak: the one with the most live memory. */
function shownSnapshot() {
	return isPeak() ? largestHeap() : view.snapshot;
}

function largestHeap() {
	let most = 0;

	for (let s = 1; s < head.n; s++)
		most = heapBytes(s) > heapBytes(most) ? s : most;
	return most;
}

function rssBytes() {
	return head.n ? head.snapshots[shownSnapshot()].rss_kb * 1024 : 0;
}

function timeAt(s) {
	return head.snapshots[s].time_us;
}

/* Classes: of the memory by a value of its mappings, or of the heap by live bytes */

function classesOf() {
	return view.kind === "heap" ?
		{ item: head.heap_classes, column: "heap", scale: 1 } :
		{ item: head.memory_classes, column: "class" + head.values.indexOf(view.metric), scale: 1024 };
}

function classValue(c, s) {
	const { column, scale } = classesOf();

	return number(column, c * head.n + s) * scale;
}

/* Trees: node 0 is the whole, functions below it */

function rowCount() {
	return data.numbers.parent.length;
}

function parentOf(row) {
	return (data.numbers.parent[row] || 0) - 1;
}

function liveOf(row, s) {
	return number("live", row * (head.n + 1) + s);
}

/* The row of the innermost function at or above each row that does not allocate for its caller; -1
 * for what many small calls have. */
function findBlamed() {
	const allocates = row => data.numbers.allocates[data.numbers.function[row] - 1] > 0;

	data.blamed = new Int32Array(rowCount());
	for (let row = 0; row < rowCount(); row++) {
		let at = row;

		if (!data.numbers.function[row])
			at = parentOf(row) >= 0 && allocates(parentOf(row)) ? parentOf(row) : -1;
		while (at >= 0 && parentOf(at) >= 0 && allocates(at))
			at = parentOf(at);
		data.blamed[row] = at;
	}
}

/* As called: a node for each row of the data. */
function makeDown() {
	const n = rowCount() + 1, t = { n, parent: new Int32Array(n), row: new Int32Array(n), of: new Int32Array(n - 1) };

	t.parent[0] = t.row[0] = -1;
	for (let row = 0; row + 1 < n; row++) {
		t.parent[row + 1] = parentOf(row) + 1;
		t.row[row + 1] = row;
		t.of[row] = row + 1;
	}
	return t;
}

/* The other way round: the functions that allocate, below them their callers. */
function makeUp() {
	const parent = [-1], row = [-1], of = new Int32Array(rowCount()), known = new Map(), f = data.numbers.function;

	for (let r = 0; r < rowCount(); r++) {
		let node = 0, any = false;

		for (let s = 0; s <= head.n && !any; s++)
			any = liveOf(r, s) > 0;
		for (let at = r; any && at >= 0; at = parentOf(at)) {
			const key = node * (data.texts.function.length + 1) + (f[at] || 0);

			if (!known.has(key)) {
				known.set(key, parent.length);
				parent.push(node);
				row.push(at);
			}
			node = known.get(key);
		}
		of[r] = node;
	}
	return { n: parent.length, parent: Int32Array.from(parent), row: Int32Array.from(row), of };
}

function addUp(t, s, value) {
	value.fill(0);
	for (let row = 0; row < t.of.length; row++)
		value[t.of[row]] += liveOf(row, s);
	for (let i = t.n; i-- > 1;)
		value[t.parent[i]] += value[i];
}

/* Children in an order that does not change with the snapshot: the largest of all first. */
function orderChildren(t) {
	const sum = new Float64Array(t.n), value = new Float64Array(t.n);

	for (let s = 0; s <= head.n; s++) {
		addUp(t, s, value);
		for (let i = 0; i < t.n; i++)
			sum[i] += value[i];
	}
	t.children = Array.from({ length: t.n }, () => []);
	for (let i = 1; i < t.n; i++)
		t.children[t.parent[i]].push(i);
	for (const list of t.children)
		list.sort((a, b) => sum[b] - sum[a] || a - b);
}

/* The tree that is shown, with the values of the snapshot. */
function tree() {
	const key = view.up ? "up" : "down";

	if (!trees[key]) {
		trees[key] = view.up ? makeUp() : makeDown();
		orderChildren(trees[key]);
		trees[key].value = new Float64Array(trees[key].n);
		trees[key].at = -1;
	}
	if (trees[key].at !== view.snapshot)
		addUp(trees[key], view.snapshot, trees[key].value);
	trees[key].at = view.snapshot;
	return trees[key];
}

function heapBytes(s) {
	if (heap_bytes[s] === undefined) {
		heap_bytes[s] = 0;
		for (let row = 0; row < rowCount(); row++)
			heap_bytes[s] += liveOf(row, s);
	}
	return heap_bytes[s];
}

function functionOf(node) {
	return node > 0 ? (data.numbers.function[tree().row[node]] || 0) - 1 : -1;
}

function nameOf(node) {
	const f = functionOf(node);

	return !node ? "all" : f < 0 ? "(less than 0.1 %)" : data.texts.function[f] || "?";
}

function moduleOf(node) {
	const f = functionOf(node);

	return f < 0 ? -1 : (data.numbers.module[f] || 0) - 1;
}

/* "source:line", "" if it is not known. */
function sourceOf(node) {
	const f = functionOf(node), source = f < 0 ? 0 : data.numbers.source[f];

	return source ? data.texts.source[source - 1] + ":" + (data.numbers.line[f] || 0) : "";
}

/* The nodes from the one below the whole to this. */
function pathTo(node) {
	const path = [], t = tree();

	for (; node > 0; node = t.parent[node])
		path.push(node);
	return path.reverse();
}

/* What a node has itself: of the tree as called, and of the other tree its own function. */
function selfOf(node) {
	const t = tree();

	return t.value[node] - t.children[node].reduce((sum, c) => sum + t.value[c], 0);
}

/* Standard error of the bytes of a node, from those of the calls in it. */
function errorOf(node) {
	const t = tree();
	let variance = 0;

	if (head.heap !== "sampled")
		return 0;
	for (let row = 0; row < rowCount(); row++) {
		let at = t.of[row];

		while (at > node)	/* parents have smaller numbers */
			at = t.parent[at];
		if (at === node)
			variance += number("spread", row) * liveOf(row, view.snapshot);
	}
	return Math.sqrt(variance);
}

/* Without those that are inside another one of them. */
function topmost(nodes) {
	const t = tree(), all = new Set(nodes);

	return [...all].filter(node => {
		for (let at = t.parent[node]; at > 0; at = t.parent[at]) {
			if (all.has(at))
				return false;
		}
		return true;
	});
}

function sumOf(nodes) {
	return nodes.reduce((sum, node) => sum + tree().value[node], 0);
}

function matching(test) {
	const found = [];

	for (let node = 1; node < tree().n; node++) {
		if (tree().value[node] > 0 && test(node))
			found.push(node);
	}
	return found;
}

/* A regular expression of the user, or its plain text if it is not valid. null: everything fits. */
function patternOf(text) {
	if (!text)
		return null;
	try {
		return new RegExp(text, "i");
	} catch (e) {
		return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i");
	}
}

/* Words */

function shareText(part, whole) {
	return percentText(whole > 0 ? part / whole : 0);
}

function signedText(n) {
	return (n < 0 ? "\u2212" : "+") + bytesText(Math.abs(n));
}

function hexText(n) {
	return "0x" + n.toString(16);
}
