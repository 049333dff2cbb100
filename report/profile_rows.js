/* SPDX-License-Identifier: MIT */
/* Snapshots: {n, key[], sum[], max[], sample[], unit[], known, task[], n_values[], first[], value[], times[],
 * text}. task: the columns with a bit, which is that of `known`; they are values of tasks, added up or the largest. */

const columns = [], tasks = [], snapshots = [];
let head = null;

/* Column `name` of a snapshot in units, less 1: -1 is unknown. A missing column has only zeros. */
function numbers(data, name, n) {
	const at = data.head.numbers.findIndex(c => c[0] === name);
	const low = data.numbers[name], high = data.numbers[name + "h"];
	const unit = data.head.numbers[at][3], out = new Float64Array(n);

	for (let i = 0; i < n; i++) {
		const coded = (low.length ? low[i] >>> 0 : 0) + (high.length ? high[i] * 2 ** 31 : 0);

		out[i] = coded ? (coded - 1) * unit : -1;
	}
	return out;
}

/* Small numbers, less 1. */
function small(data, name, n) {
	const c = data.numbers[name], out = new Int32Array(n).fill(-1);

	for (let i = 0; i < c.length; i++)
		out[i] = c[i] - 1;
	return out;
}

function known(values) {
	for (let i = 0; i < values.length; i++)
		values[i] = values[i] < 0 ? NaN : values[i];
	return values;
}

function range(n) {
	return Array.from({ length: n }, (_, i) => i);
}

/* How many values a row with this number has in the lists. */
function listed(n) {
	return n > 1 ? n - 1 : 0;
}

async function readSnapshot(i) {
	const e = find("#data-" + i), data = await readData(e.textContent.trimStart());
	const n = data.head.rows;
	const s = { n, text: data.texts.text.map(clean), change: false };

	e.remove();
	s.key = range(KEYS).map(k => {
		const c = data.numbers["key" + k];

		return c.length ? c : new Int32Array(n);
	});
	s.sum = range(SUMS).map(k => numbers(data, "sum" + k, n));
	s.max = range(MAXES).map(k => known(numbers(data, "max" + k, n)));
	s.sample = range(TIMES).map(k => known(numbers(data, "sample" + k, n)));
	s.n_values = range(TIMES).map(k => {
		const c = data.numbers["n" + k];

		return c.length ? c : new Int32Array(n);
	});
	s.first = s.n_values.map(c => {
		const first = new Int32Array(n);

		for (let row = 0, at = 0; row < n; row++) {
			first[row] = at;
			at += listed(c[row]);
		}
		return first;
	});
	s.unit = range(UNITS).map(k => small(data, "unit" + k, n));
	s.known = small(data, "known0", n);
	s.task = tasks.map((_, k) => numbers(data, "task" + k, n));
	/* how many there are */
	const counts = range(TIMES).map(k => s.n_values[k].reduce((a, b) => a + listed(b), 0));

	s.value = range(TIMES).map(k => numbers(data, "value" + k, counts[k]));
	s.times = range(TIMES).map(k => numbers(data, "times" + k, counts[k]));
	return s;
}

async function readAll() {
	head = JSON.parse(find("#head").textContent);
	head.columns.forEach(([id, title, unit, bit, largest, sampled], i) =>
		columns.push({ id, title, unit, i, bit, largest, sampled }));
	tasks.push(...columns.filter(c => c.bit !== undefined));
	for (let i = 0; i < head.snapshots.length; i++)
		snapshots.push(await readSnapshot(i));
}

/* Differences: what b has beyond a. Rows are the same if their texts are, without the pid, and their
 * units. */

const PID = 9;

/* "" if there is none. */
function unitText(s, own, row) {
	return s.unit[own][row] < 0 ? "" : s.text[s.unit[own][row]];
}

function keyText(s, row) {
	let text = "";

	for (let k = 0; k < KEYS; k++)
		text += k === PID ? "\n" : s.text[s.key[k][row]] + "\n";
	return text + unitText(s, 0, row) + "\n" + unitText(s, 1, row);
}

function subtract(a, b) {
	const text = [], index = new Map(), at = new Map(), rows = [];
	const number = t => {
		let i = index.get(t);

		if (i === undefined) {
			index.set(t, i = text.length);
			text.push(t);
		}
		return i;
	};

	for (const [s, sign] of [[b, 1], [a, -1]]) {
		for (let row = 0; row < s.n; row++) {
			const key = keyText(s, row);
			let r = at.get(key);

			if (!r) {
				at.set(key, r = { key: [], sum: new Float64Array(SUMS), known: 0,
						task: new Float64Array(tasks.length) });
				r.unit = range(UNITS).map(k => s.unit[k][row] < 0 ? -1 :
							  number(unitText(s, k, row)));
				for (let k = 0; k < KEYS; k++)
					r.key.push(number(k === PID ? "" : s.text[s.key[k][row]]));
				rows.push(r);
			}
			r.known |= s.known[row];
			for (let k = 0; k < SUMS; k++)
				r.sum[k] += sign * s.sum[k][row];
			for (let k = 0; k < tasks.length; k++)
				r.task[k] += tasks[k].largest ? 0 : sign * s.task[k][row];
		}
	}
	const news = rows.filter(r => r.sum.some(v => v) || r.task.some(v => v)), n = news.length, none = new Int32Array(n);

	return { n, text, change: true,
		 key: range(KEYS).map(k => Int32Array.from(news, r => r.key[k])),
		 sum: range(SUMS).map(k => Float64Array.from(news, r => r.sum[k])),
		 max: range(MAXES).map(() => new Float64Array(n).fill(NaN)),
		 sample: range(TIMES).map(() => new Float64Array(n).fill(NaN)),
		 unit: range(UNITS).map(k => Int32Array.from(news, r => r.unit[k])),
		 known: Int32Array.from(news, r => r.known),
		 task: tasks.map((_, k) => Float64Array.from(news, r => r.task[k])),
		 n_values: [none, none], first: [none, none], value: [[], []], times: [[], []] };
}

/* What is shown */

const view = { q: "", snapshots: [], group: [], sort: [], merged: new Set(), similar: true,
	       shown: new Set(), limits: new Map(), groups: GROUPS };
const shown = { s: null, rows: null, thread: null, error: "" };
/* A row of the table is a list of rows of the snapshot that nothing keeps apart. */

function choose() {
	const [a, b] = view.snapshots;

	shown.s = b === undefined ? snapshots[a] : subtract(snapshots[a], snapshots[b]);
	shown.seconds = b === undefined ? head.snapshots[a].seconds :
		Math.abs(head.snapshots[b].seconds - head.snapshots[a].seconds) ||
		head.snapshots[b].seconds;
	const last = head.snapshots[view.snapshots[view.snapshots.length - 1]];

	shown.dir = last.dir;
	shown.lost = last.lost;
	shown.unfinished = last.unfinished;
	shown.incomplete = last.incomplete;
	shown.atLeast = view.snapshots.reduce((sum, i) => sum + head.snapshots[i].at_least, 0);
	shown.thread = null;
}

/* Digits of threads become "*": the number of the merged name. Tasks were born in no thread. */
function mergeThreads() {
	const s = shown.s, index = new Map(), of = new Int32Array(s.text.length).fill(-1);
	const tally = s.text.indexOf("tally");

	for (const k of [BORN, DIED]) {
		for (let row = 0; row < s.n; row++) {
			const t = s.key[k][row];

			if (of[t] >= 0)
				continue;
			const thread = k === DIED || s.key[KIND][row] === tally;
			const name = thread ? s.text[t].replace(/[0-9]+/g, "*").replace(/\*+/g, "*") :
				     s.text[t];

			if (!index.has(name))
				index.set(name, t);
			of[t] = index.get(name);
		}
	}
	shown.thread = { of, name: new Map([...index].map(([name, t]) => [t, name])) };
}

function keyOf(k, row) {
	const t = shown.s.key[k][row];

	return view.similar && (k === BORN || k === DIED) ? shown.thread.of[t] : t;
}

function textOf(k, row) {
	const t = keyOf(k, row);

	return view.similar && (k === BORN || k === DIED) ? shown.thread.name.get(t) : shown.s.text[t];
}

function matcher() {
	const q = view.q, wanted = q.toLowerCase();

	shown.error = "";
	if (q.length > 1 && q[0] === "/" && q[q.length - 1] === "/") {
		try {
			const re = new RegExp(q.slice(1, -1), "i");

			return text => re.test(text);
		} catch (e) {
			shown.error = "not a regular expression";
			return () => false;
		}
	}
	return text => text.toLowerCase().includes(wanted);
}

/* The rows that fit: a text is tried once. */
function filter() {
	const s = shown.s, fits = matcher(), rows = [], numbers = /[0-9/]/.test(view.q);
	const tried = new Int8Array(s.text.length);

	if (!view.q)
		return range(s.n);
	for (let row = 0; row < s.n; row++) {
		let found = false;

		for (let k = 0; k < KEYS && !found; k++) {
			const t = s.key[k][row];

			tried[t] = tried[t] || (fits(s.text[t]) ? 1 : -1);
			found = tried[t] > 0;
		}
		for (let c = KEYS; numbers && !found && c < columns.length; c++)
			found = view.shown.has(c) && fits(words(c, [row]));
		if (found)
			rows.push(row);
	}
	return rows;
}

const TABLE_MOST = 1 << 23;

/* Numbers from 0 for the different pairs of an old number, of which there are n, and a key. Returns
 * how many there are. */
function numberPairs(id, n, rows, keyOfRow) {
	const number = new Int32Array(shown.s.text.length + 1).fill(-1);
	const key = new Int32Array(rows.length);
	let different = 0, next = 0;

	for (let i = 0; i < rows.length; i++) {
		const t = keyOfRow(rows[i]);

		if (number[t] < 0)
			number[t] = different++;
		key[i] = number[t];
	}
	if (different < 2)
		return n;
	const table = n * different <= TABLE_MOST ? new Int32Array(n * different).fill(-1) : null;
	const index = new Map();

	for (let i = 0; i < rows.length; i++) {
		const v = id[i] * different + key[i];
		let found = table ? table[v] : index.has(v) ? index.get(v) : -1;

		if (found < 0) {
			found = next++;
			if (table)
				table[v] = found;
			else
				index.set(v, found);
		}
		id[i] = found;
	}
	return next;
}

/* Lists of rows that nothing keeps apart. Rows with different units cannot be added up. */
function merge(rows) {
	const id = new Int32Array(rows.length);
	let n = 1;

	for (const unit of shown.s.unit)
		n = numberPairs(id, n, rows, row => unit[row] + 1);

	for (let k = 0; k < KEYS && n < rows.length; k++) {
		if (!view.merged.has(k))
			n = numberPairs(id, n, rows, row => keyOf(k, row));
	}
	if (n === rows.length)
		return rows.map(row => [row]);
	const lists = range(rows.length ? n : 0).map(() => []);

	for (let i = 0; i < rows.length; i++)
		lists[id[i]].push(rows[i]);
	return lists;
}

/* Numbers of a list of rows */

function total(lists, k) {
	let sum = 0;

	for (const list of lists)
		for (const row of list)
			sum += shown.s.sum[k][row];
	return sum;
}

function sumOf(k, list) {
	const sum = shown.s.sum[k];
	let n = 0;

	for (const row of list)
		n += sum[row];
	return n;
}

function mostOf(values, list) {
	let most = NaN;

	for (const row of list)
		most = values[row] <= most ? most : isNaN(values[row]) ? most : values[row];
	return most;
}

/* The times of all runs, sorted; how often each comes, or null if each comes once. */
function timesOf(which, list) {
	const s = shown.s, of = s.n_values[which], sum = s.sum[which ? QUEUE : RUN];
	let n = 0, once = true, at = 0;

	for (const row of list) {
		n += listed(of[row]) || of[row];
		once = once && of[row] < 2;
	}
	const value = new Float64Array(n), times = once ? null : new Float64Array(n).fill(1);

	for (const row of list) {
		if (of[row] === 1)
			value[at++] = sum[row];
		for (let i = s.first[which][row]; i < s.first[which][row] + listed(of[row]); i++) {
			value[at] = s.value[which][i];
			times[at++] = s.times[which][i];
		}
	}
	if (once || times.every(t => t === 1))
		return [value.sort(), null];
	const order = Uint32Array.from(value, (_, i) => i).sort((a, b) => value[a] - value[b]);

	return [Float64Array.from(order, i => value[i]), Float64Array.from(order, i => times[i])];
}

/* The smallest value that a share q of them does not exceed; as profile_quantile(). */
function quantile(which, q, list) {
	const [value, times] = timesOf(which, list);
	let so_far = 0, i = 0;

	if (!value.length)
		return NaN;
	if (!times)
		return value[Math.max(0, Math.ceil(q * value.length) - 1)];
	for (const wanted = q * times.reduce((a, b) => a + b); i < value.length - 1; i++) {
		so_far += times[i];
		if (so_far >= wanted)
			break;
	}
	return value[i];
}

/* As value_is_at_least(). A difference of bounds is not a bound. */
function isAtLeast(column, v, list) {
	return column.sampled && !shown.s.change && (column.id === "cpu" || v > 0) &&
	       list.some(row => shown.s.known[row] >> head.amount + column.sampled & 1);
}

/* Only some rows have it; a largest value says nothing of a difference. */
function knownOf(column, values, list) {
	if (!list.some(row => shown.s.known[row] >> column.bit & 1) || (column.largest && shown.s.change))
		return NaN;
	return column.largest ? mostOf(values, list) : list.reduce((sum, row) => sum + values[row], 0);
}

function queueSum(k, list) {
	return sumOf(QUEUED, list) || !sumOf(COUNT, list) ? sumOf(k, list) : NaN;
}

const COLUMN = {
	count: list => sumOf(COUNT, list), living: list => sumOf(LIVING, list), run: list => sumOf(RUN, list),
	mean: list => sumOf(RUN, list) / sumOf(COUNT, list), max: list => mostOf(shown.s.max[0], list),
	p50: list => quantile(0, .5, list), p95: list => quantile(0, .95, list),
	sample: list => shown.s.sample[0][list[0]], self: list => sumOf(SELF, list),
	queue: list => queueSum(QUEUE, list),
	"queue-mean": list => sumOf(QUEUE, list) / sumOf(QUEUED, list),
	"queue-max": list => mostOf(shown.s.max[1], list), "queue-p50": list => quantile(1, .5, list),
	"queue-p95": list => quantile(1, .95, list), "queue-sample": list => shown.s.sample[1][list[0]],
	worker: list => queueSum(WAIT, list), pool: list => queueSum(WAIT + 1, list),
	load: list => queueSum(WAIT + 2, list), delayed: list => queueSum(WAIT + 3, list),
	other: list => queueSum(WAIT + 4, list), order: list => queueSum(WAIT + 5, list),
	amount: list => knownOf({ bit: head.amount }, shown.s.sum[AMOUNT], list),
	"amount-max": list => mostOf(shown.s.max[2], list),
};

/* The unit of a number of rows; undefined: theirs differ, and there is no number. */
function unitOf(c, list) {
	const unit = columns[c].unit;

	if (unit !== "run" && unit !== "amount")
		return unit === "count" ? "" : unit;
	const of = shown.s.unit[unit === "run" ? 0 : 1];
	let found = -1;

	for (const row of list) {
		if (found >= 0 && of[row] >= 0 && of[row] !== found)
			return undefined;
		found = of[row] >= 0 ? of[row] : found;
	}
	return found < 0 ? "ns" : shown.s.text[found];
}

function numberOf(c, list) {
	const column = columns[c];
	const v = unitOf(c, list) === undefined ? NaN : COLUMN[column.id] ? COLUMN[column.id](list) :
		knownOf(column, shown.s.task[tasks.indexOf(column)], list);

	return isFinite(v) ? v : NaN;
}

function nsText(n) {
	const whole = Math.round(n);

	return whole && whole < 1000 ? whole + " ns" : timeText(n / 1000);
}

function words(c, list) {
	const v = numberOf(c, list), unit = unitOf(c, list), n = Math.abs(v);

	if (isNaN(v))
		return "-";
	return (isAtLeast(columns[c], v, list) ? ">" : v < 0 ? "-" : "") +
	       (unit === "ns" ? nsText(n) : unit === "bytes" ? bytesText(n) :
		countText(Math.round(n)) + (unit ? " " + unit : ""));
}

/* [text, how many different ones] */
function textsOf(c, list) {
	const first = keyOf(c, list[0]);

	if (list.every(row => keyOf(c, row) === first))
		return [textOf(c, list[0]), 1];
	return ["", new Set(list.map(row => keyOf(c, row))).size];
}

/* Sorting */

const NUMERIC_TEXT = { line: true, pid: true };

function sortValue(c, list) {
	if (c >= KEYS)
		return numberOf(c, list);
	const text = textOf(c, list[0]);

	return NUMERIC_TEXT[columns[c].id] ? Number(text) : text;
}

function compare(a, b, down) {
	if (a === b)
		return 0;
	if (typeof a === "number" && (isNaN(a) || isNaN(b)))
		return isNaN(a) && isNaN(b) ? 0 : isNaN(a) ? 1 : -1;
	return (a < b) === down ? 1 : -1;
}

/* The first `most` of some items with a list of rows, in order. Only those are sorted. */
function first(items, listOf, most) {
	const keys = items.map((item, i) => [i, ...view.sort.map(s => sortValue(s.column, listOf(item)))]);
	const order = (a, b) => {
		for (let i = 0; i < view.sort.length; i++) {
			const r = compare(a[i + 1], b[i + 1], view.sort[i].down);

			if (r)
				return r;
		}
		return a[0] - b[0];
	};
	let best = keys;

	if (most * 8 < keys.length) {
		best = keys.slice(0, most).sort(order);
		for (let i = most; i < keys.length && most; i++) {
			if (order(keys[i], best[most - 1]) >= 0)
				continue;
			let low = 0, high = most - 1;

			while (low < high) {
				const middle = low + high >> 1;

				if (order(best[middle], keys[i]) <= 0)
					low = middle + 1;
				else
					high = middle;
			}
			best.pop();
			best.splice(low, 0, keys[i]);
		}
	} else {
		best = keys.sort(order).slice(0, most);
	}
	return best.map(key => items[key[0]]);
}
