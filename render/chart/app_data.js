/* SPDX-License-Identifier: MIT */
/* Tasks */

function whole(column, n) {
	return column && column.length === n ? column : new Int32Array(n);
}

/* Times in microseconds, of which a column has the lower 32 bits; NaN: not known. */
function readTimes(low, high) {
	return Float64Array.from(low, (v, i) => v || high[i] ? high[i] * 2 ** 32 + (v >>> 0) - 1 : NaN);
}

/* The size of a code, as pack_chart.h says. */
function sizeOf(code) {
	const at = (code - 1000) % 3700, unit = Math.pow(1024, Math.floor((code - 1000) / 3700) + 1);

	return code < 1000 ? code :
		unit * (at < 1000 ? Math.max(999.5 / 1024, (at + .5) / 100) : at < 1900 ? (at - 899.5) / 10 : (at - 1699.5) / 2);
}

/* Indices of first appearances, coded as 0, others as 1 + the index. */
function readNames(coded) {
	const index = new Int32Array(coded.length);

	for (let i = 0, n = 0; i < index.length; i++)
		index[i] = coded[i] ? coded[i] - 1 : n++;
	return index;
}

/* Values that are stored as a change from the previous task in the lane. */
function readAlongLanes(t, c) {
	const n_lanes = t.lanes.y.length, last = new Int32Array(n_lanes).fill(-1);
	const place = new Int32Array(n_lanes).fill(-1), parent = new Int32Array(n_lanes).fill(-1);
	let before = 0;

	for (let i = 0; i < t.n; i++) {
		const lane = t.lane[i], how = c.wait[i] >> 4;

		t.start[i] = c.start[i] + (last[lane] < 0 ? 0 : t.end[last[lane]]);
		t.end[i] = t.start[i] + c.wall[i];
		if (c.place[i])
			place[lane] = c.place[i] - 1;
		if (c.parent[i])
			parent[lane] = c.parent[i] - 2;
		t.place[i] = place[lane];
		t.parent[i] = parent[lane];
		t.why[i] = c.wait[i] & 15;
		t.before[i] = !how ? -1 : how === 1 ? parent[lane] : how === 2 ? last[lane] :
			i - c.before[before++];
		last[lane] = i;
	}
}

/* Statuses, the other build's times, commands: of some tasks only. */
function readOfSome(t, data) {
	const c = data.numbers;
	let status = 0, ghost = 0;

	for (let i = 0; i < t.n; i++) {
		const state = t.marks[i] & STATE;

		if (state === FAILED || state === KILLED)
			t.status.set(i, c.status.length ? c.status[status++] : 0);
		if (t.marks[i] & GHOST) {
			const start = t.start[i] + (c.ghost_start.length ? c.ghost_start[ghost] : 0);

			t.ghosts.set(i, [start, start + t.end[i] - t.start[i] +
				(c.ghost_wall.length ? c.ghost_wall[ghost] : 0)]);
			ghost++;
		}
	}
	data.texts.commands.forEach((text, i) => t.commands.set(c.command_task[i] || 0, text));
	data.texts.log.forEach((text, i) => {
		const task = c.log_task[i] || 0;

		t.log.set(task, (t.log.get(task) || []).concat(text));
	});
	c.lines.forEach((n, i) => t.lines.set(c.lines_task[i] || 0, n));
	c.waited_task.forEach((task, i) => t.waits.set(task, ["worker", "pool", "load", "delayed", "other", "order"].map(
		cause => c["waited_" + cause].length ? c["waited_" + cause][i] : 0)));
	for (let i = 0, at = 0; i < c.depend_length.length; at += c.depend_length[i++]) {
		const task = c.depend_task[i] || 0;

		t.depends.set(task, { all: c.depend_all[i], list: Array.from(
			c.depend.subarray(at, at + c.depend_length[i]), back => task - back) });
	}
	const pulse = whole(c.pulse, c.pulse_length.reduce((sum, n) => sum + n, 0));

	for (let i = 0, at = 0; i < c.pulse_length.length; at += c.pulse_length[i++])
		t.pulses.set(c.pulse_task[i] || 0, pulse.subarray(at, at + c.pulse_length[i]));
	for (let i = 0, at = 0; i < c.spark_length.length; at += c.spark_length[i++])
		t.sparks.set(c.spark_task[i] || 0, c.spark.subarray(at, at + c.spark_length[i]));
}

const NEVER = 2 ** 31 - 1;

/* A task that runs, in a build that runs. */
function grows(t, i) {
	return head.running && (t.marks[i] & STATE) === UNFINISHED;
}

/* Tasks of each lane by their start, and how far any up to one of them reaches. */
function indexLanes(t) {
	const n_lanes = t.lanes.y.length, first = new Int32Array(n_lanes + 1);
	const tasks = new Int32Array(t.n), reach = new Int32Array(t.n);

	for (let i = 0; i < t.n; i++)
		first[t.lane[i] + 1]++;
	for (let l = 0; l < n_lanes; l++)
		first[l + 1] += first[l];
	const at = first.slice();
	for (let i = 0; i < t.n; i++)
		tasks[at[t.lane[i]]++] = i;
	for (let l = 0; l < n_lanes; l++) {
		for (let j = first[l], most = 0; j < first[l + 1]; j++) {
			most = Math.max(most, grows(t, tasks[j]) ? NEVER : t.end[tasks[j]]);
			reach[j] = most;
		}
	}
	Object.assign(t.lanes, { first, tasks, reach });
}

/* Which row each lane is of; their places are the layout's. */
function readLanes(head) {
	const lanes = { y: [], height: [], row: [] };

	head.rows.forEach((row, i) => {
		row.first = lanes.row.length;
		for (let l = 0; l < row.lanes; l++) {
			lanes.y.push(0);
			lanes.height.push(0);
			lanes.row.push(i);
		}
	});
	return lanes;
}

/* When each task could have started, -1: not known. */
function readReady(t, coded) {
	const ready = new Int32Array(t.n), waited = [0];

	for (let code = 1; code < 256; code++)
		waited.push(Math.round(2 ** ((code - 1) / 8)) - 1);
	for (let i = 0; i < t.n; i++)
		ready[i] = coded[i] ? Math.max(0, t.start[i] - waited[coded[i]]) : -1;
	return ready;
}

/* How a task ended; one without an end runs as long as its build does. */
function endName(state) {
	return state === UNFINISHED && head.running ? "running" : STATES[state];
}

function readTasks(data) {
	const n = data.head.tasks, c = {}, t = { n, lanes: readLanes(data.head) };

	for (const name in data.numbers)
		c[name] = name.indexOf(".") < 0 ? whole(data.numbers[name], n) : null;
	c.before = data.numbers.before;
	for (const name of ["lane", "kind", "marks", "memory", "read", "written",
			    "queued", "tool", "files", "cache", "difference"])
		t[name] = c[name];
	for (const name of ["start", "end", "place", "parent", "before", "why"])
		t[name] = new Int32Array(n);
	for (const name of ["path", "path_link", "dependency"])
		t[name] = data.numbers[name];
	t.cpu = readTimes(c.cpu, c.cpu_high);
	t.system = readTimes(c.system, c.system_high);
	t.seq = data.numbers.seq || new Int32Array(0);
	t.instance = whole(data.numbers.instance, n);
	t.path_link = whole(t.path_link, t.path.length);
	t.link = new Uint8Array(n);	/* 1: on the path, 2: there for want of a worker or pool */
	t.path.forEach((i, k) => t.link[i] = t.path_link[k] >= LINK_WORKER ? 2 : 1);
	t.name = readNames(c.name);
	t.program = readNames(c.program);
	t.programs = data.texts.programs;
	t.names = data.texts.names;
	t.places = data.texts.places;
	t.kinds = data.head.kinds;
	t.colour = new Uint8Array(n);
	for (let i = 0; i < n; i++)
		t.colour[i] = t.kinds[t.kind[i]].colour;
	t.status = new Map();
	t.ghosts = new Map();
	t.commands = new Map();
	t.sparks = new Map();
	t.pulses = new Map();
	t.lines = new Map();
	t.log = new Map();
	t.waits = new Map();
	t.depends = new Map();
	readAlongLanes(t, c);
	t.ready = readReady(t, c.ready);
	readOfSome(t, data);
	indexLanes(t);
	return t;
}

function readPhases(data) {
	const c = data.numbers, names = data.texts.phases, n = phasesOf(c, names);
	const at = readNames(whole(c.phase_name, n));
	const task = whole(c.phase_task, n), start = whole(c.phase_start, n);
	const wall = whole(c.phase_wall, n), phases = [];

	for (let i = 0; i < n; i++)
		phases.push({ task: task[i], from: start[i], until: start[i] + wall[i],
			      name: names[at[i]] });
	return phases;
}

/* A column of zeros is absent: the longest column gives the number. */
function phasesOf(c, names) {
	return Math.max(names.length, c.phase_task.length, c.phase_start.length,
			c.phase_wall.length, c.phase_name.length);
}

/* "dir: name", as in the rest of buildbeat; not yet clean. */
function nameOf(i) {
	const place = tasks.place[i] < 0 ? "" : tasks.places[tasks.place[i]];

	return place ? place + ": " + tasks.names[tasks.name[i]] : tasks.names[tasks.name[i]];
}

function wallOf(i) {
	return (tasks.end[i] - tasks.start[i]) * head.unit_us;
}

/* CPU time in its wall time; NaN: not known. */
function shareOf(i) {
	return tasks.end[i] > tasks.start[i] ? tasks.cpu[i] / wallOf(i) : NaN;
}

/* How fine the times of tasks are. */
function stepOf() {
	return Math.max(head.step_us, head.unit_us);
}

/* A length of time, no finer than the clock it was measured with. */
function lengthText(us) {
	const step = stepOf();

	if (!us && step === 1)
		return "0 s";
	if (us < step)
		return "< " + lengthText(step);
	if (step < 1e3 || us >= 59950000)
		return timeText(us);
	if (step < 1e4)
		return us < 9950 ? Math.round(us / 1e3) + " ms" : timeText(us);
	return (us / 1e6).toFixed(Math.min(Math.round(6 - Math.log10(step)), us < 9995000 ? 2 : 1)) + " s";
}

function cpuTimeText(i) {
	return (tasks.marks[i] & AT_LEAST ? "at least " : "") + timeText(tasks.cpu[i]);
}

function wallText(i) {
	return (tasks.marks[i] & END_AT_MOST ? "at most " : "") +
		lengthText(wallOf(i));
}

/* Panels: points over time. value[i] holds from time[i - 1] to time[i]; 0: unknown,
 * otherwise 1 + the value in 1/steps of its axis. */

function runningCurve() {
	const start = tasks.start.filter((_, i) => !(tasks.marks[i] & HOSTS)), n = start.length;
	const end = tasks.end.filter((_, i) => !(tasks.marks[i] & HOSTS) && !grows(tasks, i)).sort();
	const time = new Int32Array(2 * n + 2), value = new Float32Array(2 * n + 2);
	let count = 0, at = 1;

	for (let s = 0, e = 0; s < n || e < end.length; at++) {
		const starting = s < n && (e === end.length || start[s] < end[e]);

		time[at] = starting ? start[s++] : end[e++];
		value[at] = count;
		count += starting ? 1 : -1;
	}
	time[at] = head.end;
	value[at] = count;
	return { time: time.subarray(0, at + 1), value: value.subarray(0, at + 1) };
}

/* All of a stack: what is known of its bands added up. */
function stackTotal(panel) {
	const n = panel.time.length, total = new Float32Array(n);
	const stacked = panel.bands.filter(b => b.mark === "stack");

	for (const { value } of stacked) {
		for (let i = 0; i < n; i++) {
			if (value[i])
				total[i] = total[i] ? total[i] + value[i] - 1 : value[i];
		}
	}
	return stacked.length ? total : null;
}

/* Two curves of steps as one: value[i] holds from time[i - 1] until time[i]. */
function joinSteps(a, b) {
	const n = a.time.length + b.time.length, last = Math.max(a.time.at(-1), b.time.at(-1));
	const time = new Int32Array(n), values = [new Float32Array(n), new Float32Array(n)];
	let at = 0;

	for (let i = 0, k = 0; at < n; at++) {
		const t = Math.min(a.time[i] ?? last, b.time[k] ?? last);

		time[at] = t;
		values[0][at] = a.value[i] ?? 0;
		values[1][at] = b.value[k] ?? 0;
		if (t === last)
			break;
		for (; a.time[i] <= t; i++)
			;
		for (; b.time[k] <= t; k++)
			;
	}
	return { time: time.subarray(0, at + 1), values: values.map(v => v.subarray(0, at + 1)) };
}

function readPanel(panel, c) {
	if (panel.word === "running") {
		const curve = runningCurve(), scale = panel.steps * 100 / panel.ceiling;
		const value = curve.value.map(v => 1 + v * scale);
		const time = panel.bands[1] ? c["running.time"] : [0, head.end];
		const waiting = panel.bands[1] ? whole(c["running.waiting"], time.length) : [0, 0];
		const both = joinSteps({ time: curve.time, value }, { time, value: waiting });

		panel.time = both.time;
		panel.bands.forEach((b, i) => b.value = both.values[i]);
	} else {
		panel.time = c[panel.word + ".time"];
		for (const b of panel.bands)
			b.value = new Float32Array(whole(c[panel.word + "." + b.id],
							 panel.time.length));
		panel.gaps = Array.from(c[panel.word + ".gap"]);
		for (const i of panel.gaps)
			panel.bands.forEach(b => b.value[i] = 0);
	}
	panel.total = stackTotal(panel);
}
