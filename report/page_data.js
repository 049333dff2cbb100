/* SPDX-License-Identifier: MIT */
/* The data */

const data = {};

function planes(bytes, at, n) {
	const bits = new Uint32Array(n);

	for (let i = 0; i < n; i++)
		bits[i] = bytes[at + i] << 24 | bytes[at + n + i] << 16 |
			bytes[at + 2 * n + i] << 8 | bytes[at + 3 * n + i];
	return new Float32Array(bits.buffer);
}

function readNames(head, bytes) {
	const names = new TextDecoder().decode(bytes.subarray(0, head.names)).split("\n");

	names[head.tasks] = "the build";
	names.length = head.tasks + 1;
	return names.map(clean);
}

/* Where the values of each series begin: from 0 the fine ones, below 0 the coarse. */
function placeSeries(n, fine) {
	const at = new Int32Array(n);
	let coarse = 0;

	fine.forEach((series, i) => { at[series] = i + 1; });
	for (let i = 0; i < n; i++)
		at[i] = at[i] ? at[i] - 1 : -1 - coarse++;
	return at;
}

function readColumns(head, bytes) {
	const n = data.rows * head.metrics.length, end = head.names + head.tasks;
	const fine = new Uint32Array(head.fine);
	let at = end + 16 * n;

	data.names = readNames(head, bytes);
	data.lower = data.names.map(name => name.toLowerCase());
	data.kind = bytes.subarray(head.names, end);
	data.newest = planes(bytes, end, n);
	data.usual = planes(bytes, end + 4 * n, n);
	data.low = planes(bytes, end + 8 * n, n);
	data.high = planes(bytes, end + 12 * n, n);
	for (let i = 0; i < head.fine; i++, at += 4)
		fine[i] = bytes[at] | bytes[at + 1] << 8 | bytes[at + 2] << 16 | bytes[at + 3] << 24;
	data.place = placeSeries(n, fine);
	data.fine = bytes.subarray(at, at + head.fine * head.builds.length);
	data.coarse = bytes.subarray(at + head.fine * head.builds.length);
}

function group(list) {
	const of = new Map();

	for (const item of list) {
		const series = item[0] * data.rows + item[1];

		of.has(series) ? of.get(series).push(item) : of.set(series, [item]);
	}
	return of;
}

async function readData() {
	const head = JSON.parse(find("#head").textContent);
	const packed = bytesOf(find("#columns").textContent, 0).subarray(0, head.deflated);

	data.head = head;
	data.rows = head.tasks + 1;
	data.changes = group(head.changes.map(([metric, row, at, first, last, before, after, creep]) =>
		Object.assign([metric, row], { at, first, last, before, after, creep })));
	for (const list of data.changes.values())
		list.sort((a, b) => a.at - b.at);
	data.findings = group(head.findings.map(([metric, row, state, worse, since, before, now]) =>
		Object.assign([metric, row], { state, worse, since, before, now })));
	readColumns(head, await inflate(packed));
	view.metric = view.first = head.findings.length ? head.findings[0][0] : 0;
}

/* Ranges of builds [from, until) with a value: where the series is coarse, their median. */
function pointsOf(series) {
	const place = data.place[series], n_builds = data.head.builds.length;
	const low = data.low[series], span = data.high[series] - low, points = [];
	const is_fine = place >= 0, starts = data.head.points;
	const steps = is_fine ? data.head.fine_steps : data.head.coarse_steps;
	const n = is_fine ? n_builds : starts.length, values = is_fine ? data.fine : data.coarse;
	const at = is_fine ? place * n : (-1 - place) * n;

	for (let i = 0; i < n; i++) {
		const step = values[at + i];

		if (step)
			points.push({ from: is_fine ? i : starts[i],
				      until: is_fine ? i + 1 : i + 1 < n ? starts[i + 1] : n_builds,
				      value: low + (step - 1) / steps * span });
	}
	return points;
}

function changesOf(series) {
	return data.changes.get(series) || [];
}

function findingOf(series) {
	return (data.findings.get(series) || [])[0];
}

/* What is shown */

const view = { q: "", metric: 0, first: 0, show: "all", sort: "state", down: true, row: -1,
	       rows: null, match: null, error: "" };
const table = {}, trend = {};

function seriesOf(row) {
	return view.metric * data.rows + row;
}

function unitNow() {
	return data.head.metrics[view.metric].unit;
}

function stateOf(row) {
	const f = findingOf(seriesOf(row));

	return !f ? NOTHING : !f.worse ? BETTER : f.state;
}

/* The build since which the metric has its present level, -1: always. */
function sinceOf(row) {
	const changes = changesOf(seriesOf(row)), f = findingOf(seriesOf(row));

	return Math.max(f ? f.since : -1, changes.length ? changes[changes.length - 1].at : -1);
}

const columns = [
	{ id: "task", title: "task", text: row => data.names[row] },
	{ id: "kind", title: "kind", text: row => data.head.kinds[data.kind[row]] || "" },
	{ id: "newest", title: "newest", number: row => data.newest[seriesOf(row)],
	  words: v => amountText(unitNow(), v) },
	{ id: "usual", title: "usual", number: row => data.usual[seriesOf(row)],
	  words: v => amountText(unitNow(), v) },
	{ id: "change", title: "change", mark: true,
	  number: row => data.newest[seriesOf(row)] / data.usual[seriesOf(row)] - 1,
	  words: shareText },
	{ id: "difference", title: "difference",
	  number: row => data.newest[seriesOf(row)] - data.usual[seriesOf(row)],
	  words: v => differenceText(unitNow(), v) },
	{ id: "trend", title: "trend", spark: true,
	  number: row => data.high[seriesOf(row)] / data.low[seriesOf(row)] },
	{ id: "since", title: "since", number: sinceOf,
	  words: v => v < 0 ? "" : data.head.builds[v][0] },
	{ id: "state", title: "state", number: row => -stateOf(row),
	  words: v => v === -BETTER ? "better" : STATES[-v] || "" },
];

function columnNow() {
	return columns.find(c => c.id === view.sort) || columns[0];
}
