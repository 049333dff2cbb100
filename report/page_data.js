/* SPDX-License-Identifier: MIT */
/* The data */

const data = {};

function planes(bytes, at, n) {
	const bits = new Uint32Array(n);

	for (let i = 0; i < n; i++)
		bits[i] = bytes[at + i] << 24 | bytes[at + n + i] << 16 |
			bytes[at + 2 * n + i] << 8 | bytes[at + 3 * n + i];
	return bits;
}

/* The values of codes, which are differences to those of `base` if there is one. */
function values(codes, bits, base) {
	const shift = 23 - bits;

	for (let i = 0; base && i < codes.length; i++)
		codes[i] = base[i] + (codes[i] >>> 1 ^ -(codes[i] & 1));
	return new Float32Array(codes.map(code => code << shift).buffer);
}

/* Each name begins as the one before it. */
function readNames(head, bytes) {
	const all = new Uint8Array(head.names);
	let from = head.tasks, n = 0, before = 0;

	for (let i = 0; i < head.tasks; i++) {
		const at = n;

		all.copyWithin(n, before, before + bytes[i]);
		n += bytes[i];
		do
			all[n++] = bytes[from];
		while (bytes[from++] !== 10);
		before = at;
	}
	const names = new TextDecoder().decode(all).split("\n");

	names[head.tasks] = "the build";
	names.length = head.tasks + 1;
	data.kind = bytes.subarray(from);
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

/* Of a coarse value, as a share of the base. */
function shares(head) {
	const share = new Float64Array(256), even = head.even / head.octave;

	for (let code = 2; code < 256; code++) {
		const steps = Math.abs(code - 128);
		const octaves = steps <= head.even ? steps / head.octave : even + (steps - head.even) / 2;

		share[code] = 2 ** (code < 128 ? -octaves : octaves);
	}
	return share;
}

/* The lowest and highest value of each coarse series. */
function findEnds() {
	const n = data.n_coarse, low = new Uint8Array(n).fill(255), high = new Uint8Array(n);

	for (let at = 0; at < data.coarse.length; at += n) {
		for (let k = 0; k < n; k++) {
			const code = data.coarse[at + k];

			low[k] = code && code < low[k] ? code : low[k];
			high[k] = code > high[k] ? code : high[k];
		}
	}
	for (let series = 0; series < data.place.length; series++) {
		const k = -1 - data.place[series];

		if (k >= 0 && high[k]) {
			data.low[series] = coarseValue(series, low[k]);
			data.high[series] = coarseValue(series, high[k]);
		}
	}
}

function coarseValue(series, code) {
	return code > 1 ? data.base[series] * data.share[code] : 0;
}

function readNumbers(head, bytes) {
	const n = data.rows * head.metrics.length;
	let at = 0;
	const next = count => planes(bytes, (at += 4 * count) - 4 * count, count);
	const base = next(n);

	data.usual = values(next(n), head.bits, base);
	data.newest = values(next(n), head.bits, base);
	data.base = values(base, head.bits);
	const fine = next(head.fine);

	data.low = new Float32Array(n).fill(NaN);
	data.high = new Float32Array(n).fill(NaN);
	for (const to of [data.usual, data.newest, data.low, data.high])
		values(next(head.fine), head.fine_bits).forEach((v, i) => { to[fine[i]] = v; });
	data.place = placeSeries(n, fine);
	data.fine = bytes.subarray(at, at + head.fine * head.builds.length);
	data.coarse = bytes.subarray(at + head.fine * head.builds.length);
	data.n_coarse = n - head.fine;
	data.share = shares(head);
	findEnds();
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
	const packed = bytesOf(find("#columns").textContent, 0), texts = head.deflated[0];

	data.head = head;
	data.rows = head.tasks + 1;
	data.changes = group(head.changes.map(([metric, row, at, first, last, before, after, creep]) =>
		Object.assign([metric, row], { at, first, last, before, after, creep })));
	for (const list of data.changes.values())
		list.sort((a, b) => a.at - b.at);
	data.findings = group(head.findings.map(([metric, row, state, worse, since, before, now]) =>
		Object.assign([metric, row], { state, worse, since, before, now })));
	data.names = readNames(head, await inflate(packed.subarray(0, texts)));
	data.lower = data.names.map(name => name.toLowerCase());
	readNumbers(head, await inflate(packed.subarray(texts, texts + head.deflated[1])));
	view.metric = view.first = head.findings.length ? head.findings[0][0] : 0;
}

/* Ranges of builds [from, until) with a value: where the series is coarse, their median. */
function pointsOf(series) {
	const place = data.place[series], n_builds = data.head.builds.length, points = [];
	const low = data.low[series], step = (data.high[series] - low) / data.head.fine_steps;
	const is_fine = place >= 0, starts = data.head.points;
	const n = is_fine ? n_builds : starts.length, codes = is_fine ? data.fine : data.coarse;
	const at = is_fine ? place * n : -1 - place, stride = is_fine ? 1 : data.n_coarse;

	for (let i = 0; i < n; i++) {
		const code = codes[at + i * stride];

		if (code)
			points.push({ about: !is_fine, from: is_fine ? i : starts[i],
				      until: is_fine ? i + 1 : i + 1 < n ? starts[i + 1] : n_builds,
				      value: is_fine ? low + (code - 1) * step :
					     coarseValue(series, code) });
	}
	return points;
}

/* The range of a picture, in which a step of coarse values is not a large one. */
function rangeOf(series) {
	const low = data.low[series], high = data.high[series];
	const least = data.place[series] < 0 ? 2 ** (COARSE_STEPS / data.head.octave) : 1;

	if (!(low > 0 && high / low < least))
		return [low, high];
	const wider = Math.sqrt(least * low / high);

	return [low / wider, high * wider];
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
