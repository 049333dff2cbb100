/* SPDX-License-Identifier: MIT */
/* The processes of a build that runs, as a tree; or all of the machine; or those that were recorded. */

const PROCESSES_MS = 2000;
const PROCESSES_STATES = { R: "running", S: "sleeping", D: "waiting for a device", Z: "ended", T: "stopped",
			   t: "stopped by a debugger", I: "idle", X: "ended" };
const processes = { rows: new Map(), order: [], sheet: null, all: false, format: "", control: false };

function processesKnown(n) {
	return n === null || n === undefined ? NaN : n;
}

function processesBytes(kb) {
	return kb === null || kb === undefined ? "" : bytesText(kb * 1024);
}

/* Their depths in the tree and their order in it; keyOf() is what parentOf() names. */
function processesArrange(list, keyOf, parentOf) {
	const children = new Map(), keys = new Set(list.map(keyOf)), order = [];
	const walk = (key, depth) => {
		for (const p of children.get(key) || []) {
			p.depth = depth;
			p.order = order.push(p);
			/* numbers of processes come again, so a circle is possible in a damaged list */
			if (depth < 100 && keyOf(p) !== key)
				walk(keyOf(p), depth + 1);
		}
	};

	for (const p of list) {
		const parent = keys.has(parentOf(p)) ? parentOf(p) : null;

		children.set(parent, [...children.get(parent) || [], p]);
	}
	walk(null, 0);
	return order;
}

function processesName(p) {
	return p.program || (p.command || "?").split(" ")[0].split("/").pop();
}

function processesFillName(cell, p) {
	const live = p.start_ticks !== undefined;
	const a = live ? link("process", { pid: p.pid, start: p.start_ticks }, processesName(p)) :
		make("span", {}, null, clean(processesName(p)));

	cell.textContent = "";
	cell.style.textAlign = "left";
	cell.style.paddingLeft = 6 + 14 * Math.min(p.depth || 0, 12) + "px";
	cell.title = clean(p.command || p.program || "");
	cell.appendChild(a);
}

function processesRow(item) {
	return processes.rows.get(item) || {};
}

function processesColumn(id, title, width, key, text, more) {
	return Object.assign({ id, title, width, numeric: true, key: item => processesKnown(key(processesRow(item))),
			       text: item => text(processesRow(item)) || "" }, more);
}

function processesText(id, title, width, text, hint) {
	return { id, title, width, hint, text: item => text(processesRow(item)) || "" };
}

/* Of a list that runs, or that was recorded */
function processesColumns(recorded) {
	const tree = processesColumn("process", "Process", "minmax(150px,1.1fr)", p => p.order, processesName,
		{ fill: (cell, item) => processesFillName(cell, processesRow(item)) });
	const pid = processesColumn("pid", "PID", "76px", p => p.pid, p => String(p.pid));
	const command = processesText("command", "Command", "minmax(160px,3fr)", p => p.command);
	const task = processesText("task", "Task", "minmax(90px,1fr)", p => p.task);

	return recorded ? [
		tree, pid,
		processesColumn("start", "Start", "80px", p => p.start_us, p => timeText(p.start_us)),
		processesColumn("wall", "Time", "80px", p => p.wall_us, p => timeText(p.wall_us)),
		processesColumn("cpu", "CPU time", "80px", p => p.cpu_us, p => p.cpu_us === null ? "" : timeText(p.cpu_us)),
		processesColumn("rss", "Max RSS", "80px", p => p.max_rss_kb, p => processesBytes(p.max_rss_kb)),
		processesText("state", "State", "72px", p => p.state),
		processesColumn("outlived", "Outlived its task", "132px", p => p.outlived_us,
			p => p.outlived_us ? "by " + timeText(p.outlived_us) : ""),
		task, command,
	] : [
		tree, pid,
		processesColumn("cpu", "CPU", "66px", p => p.cpu_percent, p => p.cpu_percent === undefined ? "" :
			p.cpu_percent.toFixed(p.cpu_percent < 10 ? 1 : 0) + " %"),
		processesColumn("rss", "RSS", "80px", p => p.rss_kb, p => processesBytes(p.rss_kb)),
		processesColumn("threads", "Threads", "72px", p => p.threads, p => String(p.threads)),
		processesColumn("read", "Read", "80px", p => p.read_kb, p => processesBytes(p.read_kb)),
		processesColumn("written", "Written", "80px", p => p.written_kb, p => processesBytes(p.written_kb)),
		processesText("state", "State", "84px", p => PROCESSES_STATES[p.state] || p.state),
		processesText("waits", "Waits in", "minmax(80px,.8fr)", p => p.wait_channel, "the function of the kernel"),
		processesColumn("age", "Age", "76px", p => p.age_us, p => timeText(p.age_us)),
		task, command,
	];
}

function processesSheet(main, recorded) {
	find("#processes-table").replaceChildren();
	processes.sheet = makeSheet({
		id: "processes", parent: find("#processes-table"), label: "Processes", what: "process",
		columns: processesColumns(recorded), start: "process", down: false,
		all: () => processes.order,
		words: item => [processesName(processesRow(item)), processesRow(item).pid, processesRow(item).task,
				processesRow(item).command].join("\n"),
		choose: processesChosen,
		narrow: recorded ? ["process", "wall", "rss"] : ["process", "cpu", "rss"],
	});
}

/* The process of the row that is marked, null: none. */
function processesMarked() {
	const p = processes.sheet ? processes.rows.get(processes.sheet.chosen()) : null;

	return p && p.start_ticks !== undefined ? p : null;
}

/* The marked process, otherwise the one with the most memory. */
function processesTarget() {
	const living = [...processes.rows.values()].filter(p => p.start_ticks !== undefined && p.rss_kb > 0);

	return processesMarked() || living.reduce((most, p) => !most || p.rss_kb > most.rss_kb ? p : most, null);
}

function processesChosen() {
	const button = find("#processes-snapshot"), p = processesTarget();

	setText(button, processesMarked() ? "Snapshot of its memory" : "Snapshot of the heaviest");
	button.disabled = !processes.control || !p;
	button.title = p ? clean("of " + p.program + " (" + p.pid + ")") : "there is no process";
}

async function processesInspect(what) {
	try {
		await post("/api/v1/tasks", { "do": "inspect", rec: recording(), ...what });
		location.href = hrefOf("tasks");
	} catch (e) {
		failed(find("#main"), e);
	}
}

function processesSnapshot() {
	const p = processesTarget();

	return processesInspect({ pid: p.pid, start: p.start_ticks, count: 1, period_s: 0.01 });
}

/* Every process of a program, also those that start later */
function processesFollow(tools) {
	const form = make("form", { id: "processes-follow" }, tools), label = make("label", {}, form, "Inspect every ");
	const name = make("input", { size: 12, maxlength: 100, required: "", placeholder: "cc1plus", pattern: "[^,\\/]+" }, label);
	const begin = make("button", { type: "submit" }, form, "Follow");

	begin.disabled = name.disabled = !processes.control;
	begin.title = "until you cancel it";
	if (!processes.control)
		addReadsOnly(form);
	form.addEventListener("submit", e => {
		e.preventDefault();
		processesInspect({ follow: name.value });
	});
	return form;
}

function processesSummary(o, list) {
	const sum = key => list.reduce((n, p) => n + (p[key] || 0), 0);

	if (o.format !== "buildbeat ps 1") {
		return !o.n_processes ? "No processes were recorded: record them with buildbeat record --processes." :
			countText(o.n_processes) + " processes were recorded" +
			(list.length < o.n_processes ? ", of which the first " + countText(list.length) + " are shown" : "") + ". " +
			(o.n_outlived ? countOf(o.n_outlived, "process") + " lived longer than " +
			 "the task for which they worked: sort by that column to see them." : "None outlived its task.");
	}
	return (processes.all ? "All processes of the machine: " : "The build uses ") +
		(sum("cpu_percent") / 100).toFixed(1) + " CPUs and " + bytesText(sum("rss_kb") * 1024) +
		" in " + countText(list.length) + " processes." +
		(processes.all && !processes.control ? " Command lines are shown of processes of the build only." : "");
}

async function processesUpdate(main) {
	const o = await api("/api/v1/ps", { all: processes.all ? 1 : "" }), recorded = o.format !== "buildbeat ps 1";
	const list = o.processes;

	if (recorded) {
		list.forEach((p, i) => {
			p.row = i;
		});
		processesArrange(list, p => p.row, p => p.parent_row);
	} else {
		processesArrange(list, p => p.pid, p => p.parent);
	}
	processes.rows = new Map(list.map(p => [recorded ? p.row : p.pid, p]));
	processes.order = [...processes.rows.keys()];
	if (processes.format !== o.format) {
		processes.format = o.format;
		processesSheet(main, recorded);
	}
	setText(find("#processes-answer"), processesSummary(o, list));
	processes.sheet.update();
	processesChosen();
	return recorded;
}

pages.processes = {
	async make(main) {
		const tools = make("div", { "class": "tools" }, main);
		const label = make("label", {}, tools), all = make("input", { type: "checkbox", id: "processes-all" }, label);
		const button = make("button", { type: "button", id: "processes-snapshot" }, tools, "Snapshot of its memory");

		label.append(" all processes of the machine");
		make("p", { id: "processes-answer", role: "status" }, main);
		make("div", { id: "processes-table" }, main);
		all.checked = processes.all = core.params.get("all") === "1";
		button.addEventListener("click", processesSnapshot);
		processes.control = (await api("/api/v1/", { rec: "" })).control;
		button.disabled = true;
		const follow = processesFollow(tools);
		let stop = every(PROCESSES_MS, async () => {
			/* what was recorded does not change any more */
			if (await processesUpdate(main) && !processes.all) {
				stop();
				button.hidden = follow.hidden = true;
			}
		});

		all.addEventListener("change", () => {
			processes.all = all.checked;
			keepParam("all", all.checked ? "1" : "");
			stop();
			button.hidden = follow.hidden = false;
			stop = every(PROCESSES_MS, () => processesUpdate(main));
		});
	},
};
