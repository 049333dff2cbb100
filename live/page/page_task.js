/* SPDX-License-Identifier: MIT */
/* One task: everything that was recorded of it, as /api/v1/task has it. */

const TASK_FEW = 12;		/* of a list, before "more" */
const TASK_NOW_MS = 5000;
const TASK_LOG_LINES = 200;

/* What a task waited for, as chain.h says */
const TASK_WHY = {
	target: "it needed what that made", line: "the line before it in its recipe", host: "it runs inside that",
	worker: "no worker was free until its end", unknown: "perhaps: it ended just before",
	shell: "a command of $(shell)", pool: "its pool was full until its end",
	load: "the load average was above the limit", order: "the build tool runs that first",
};

/* A list of facts; those without a value are left out. */
function taskFacts(parent, facts) {
	const list = make("dl", { "class": "task-facts" }, parent);

	for (const [label, text, element] of facts) {
		if (!text && !element)
			continue;
		const pair = make("div", {}, list);

		make("dt", {}, pair, label);
		make("dd", {}, pair, element ? undefined : clean(text)).append(...element ? [element] : []);
	}
	return list;
}

function taskTime(us) {
	return us === null || us === undefined || us < 0 ? "" : timeText(us);
}

function taskBytes(kb) {
	return kb === null || kb === undefined || kb < 0 ? "" : bytesText(kb * 1024);
}

function taskCount(n) {
	return n === null || n === undefined || n < 0 ? "" : countText(n);
}

function taskStateText(t) {
	return t.state === "failed" && t.exit_status > 0 ? "failed with exit status " + t.exit_status :
		t.state === "killed" && t.signal > 0 ? "killed by signal " + t.signal :
		t.state === "unfinished" && taskBuildRuns() ? "running" : t.state;
}

function taskBuildRuns() {
	const list = core.recordings, now = recording();

	return list.some(r => (now ? r.name === now : r === list[0]) && isRunning(r));
}

/* What it waited for: that which ended last, then what made the files it needs; each once. */
function taskNeeds(t) {
	const all = new Map();

	if (t.waited_for)
		all.set(t.waited_for.task, t.waited_for);
	for (const a of t.after) {
		if (a.made_by && !all.has(a.made_by.task))
			all.set(a.made_by.task, Object.assign({ why: "target" }, a.made_by));
	}
	return [...all.values()];
}

const TASK_LISTS = {
	needs: { title: "Waited for", label: "What it waited for: ", list: taskNeeds, more: t => Math.max(0, t.n_after - t.after.length) },
	unblocked: { title: "Unblocked", label: "What it unblocked: ", list: t => t.needed_by,
		     more: t => t.n_needed_by - t.needed_by.length },
};

/* The last lines of its output. */
async function taskLog(task) {
	const first = await api("/api/v1/log", { task, count: TASK_LOG_LINES });

	return first.n_lines <= TASK_LOG_LINES ? first :
		api("/api/v1/log", { task, count: TASK_LOG_LINES, from: first.n_lines - TASK_LOG_LINES });
}

function taskLogText(log) {
	return log.lines.map(l => clean(l.text) + (l.continues ? "" : "\n")).join("");
}

/* Waited for, and unblocked: lists that expand in place */

function taskLine(parent, t, what) {
	const head = make("span", { "class": "task-line" }, parent);
	const why = what === "needs" ? TASK_WHY[t.why] : t.needs_file ? "" : t.link && t.link !== "none" ? t.link : "";

	head.append(link("task", { task: t.task }, t.name || "(no name)"));
	make("span", { "class": "faint" }, head, " " + clean([t.kind, why].filter(s => s).join(", ")));
}

/*
 * tree: {what: "needs" or "unblocked", shown: Map of a task's id to its line}. A task that is in the tree
 * already is shown as a reference, so that a cycle ends and a diamond is shown once.
 */
function addTaskNode(list, t, tree) {
	const item = make("li", {}, list), again = tree.shown.get(t.task);

	if (again) {
		taskLine(item, t, tree.what);
		make("span", { "class": "faint" }, item, " (shown above)");
		return;
	}
	tree.shown.set(t.task, item);
	const button = make("button", { type: "button", "class": "task-open", "aria-expanded": "false",
		"aria-label": TASK_LISTS[tree.what].label + clean(t.name) }, item);
	let below = null;

	taskLine(item, t, tree.what);
	button.addEventListener("click", async () => {
		const open = button.getAttribute("aria-expanded") === "true";

		button.setAttribute("aria-expanded", !open);
		if (below) {
			below.hidden = open;
			return;
		}
		below = make("ul", { "class": "task-tree" }, item);
		try {
			addTaskNodes(below, await api("/api/v1/task", { task: t.task }), tree);
		} catch (e) {
			failed(item, e);
			below.remove();
			below = null;
			button.setAttribute("aria-expanded", "false");
		}
	});
}

function addTaskNodes(list, t, tree) {
	const o = TASK_LISTS[tree.what], tasks = o.list(t), left = o.more(t);
	let at = 0;
	const more = make("button", { type: "button" });
	const add = () => {
		const from = at;

		at = Math.min(tasks.length, at + TASK_FEW * (at ? 4 : 1));
		tasks.slice(from, at).forEach(other => addTaskNode(list, other, tree));
		more.textContent = "show more of " + countText(tasks.length - at);
		more.hidden = at >= tasks.length;
	};

	add();
	if (!tasks.length)
		make("li", { "class": "faint" }, list, "nothing");
	if (left > 0)
		list.after(make("p", { "class": "faint" }, null, countText(left) + " more are not listed."));
	if (!more.hidden) {
		list.after(more);
		more.addEventListener("click", add);
	}
}

function addTaskLinks(main, t) {
	const pair = make("div", { "class": "task-pair" }, main);

	for (const what in TASK_LISTS) {
		const section = make("section", { id: "task-" + what }, pair), o = TASK_LISTS[what];
		const n = o.list(t).length + o.more(t);

		make("h2", {}, section, o.title + (n ? " (" + countText(n) + ")" : ""));
		addTaskNodes(make("ul", { "class": "task-tree" }, section), t, { what, shown: new Map([[t.task, section]]) });
	}
}

/* Its place in the chain */

function addTaskPlace(section, o, sentence) {
	const p = make("p", {}, section, sentence + ": number " + countText(o.place) + " of " + countText(o.of));

	for (const [other, text] of [[o.before, "; before it "], [o.next, "; after it "]]) {
		if (other)
			p.append(text, link("task", { task: other.task }, other.name));
	}
	p.append(".");
}

function addTaskPath(main, t) {
	const section = make("section", { id: "task-path" }, main);

	make("h2", {}, section, "Place in the chain");
	if (t.path.place)
		addTaskPlace(section, t.path, "The end of the build waited for it");
	else
		make("p", {}, section, "The end of the build did not wait for it.");
	if (t.longest_chain.place)
		addTaskPlace(section, t.longest_chain, "It is in the longest chain of dependencies");
}

/* What it wrote */

async function addTaskLog(main, t) {
	const section = make("section", { id: "task-log" }, main);

	make("h2", {}, section, "Output");
	const text = make("p", { "class": "faint" }, section, "Reading ...");

	try {
		const log = await taskLog(t.task);

		if (!log.lines.length) {
			text.textContent = !log.recorded ? "The output of this build was not recorded (record --log)." :
				"No line of the output is known to be its own.";
		} else {
			setText(make("pre", { tabindex: 0, role: "region", "aria-label": "Output" }, section), taskLogText(log));
			text.textContent = (log.from > 0 ? "The last " + countText(log.lines.length) + " of " : "") +
				countOf(log.n_lines, "line") + " \u2013 ";
			link("output", { task: t.task }, "show them among all lines", text);
		}
	} catch (e) {
		text.textContent = clean(e.message);
	}
	if (t.log)
		make("p", {}, section, clean("Its build tool keeps its output in " + t.log));
}

/* Over its time */

function addTaskSamples(main, t) {
	const list = t.samples;

	if (list.length < 2)
		return;
	const section = make("section", { id: "task-samples" }, main);

	make("h2", {}, section, "While it ran");
	const box = make("div", { "class": "overview-sparks" }, section);
	const rate = key => list.map((s, i) => i && s.time_ms > list[i - 1].time_ms ?
		Math.max(0, s[key] - list[i - 1][key]) / (s.time_ms - list[i - 1].time_ms) : null);
	const o = { count: Math.max(2, list.length) };

	makeSpark(box, Object.assign({ label: "Memory", text: v => bytesText(v * 1024) }, o)).update(list.map(s => s.rss_kb));
	makeSpark(box, Object.assign({ label: "CPU", text: v => percentText(v) }, o)).update(rate("cpu_ms"));
	makeSpark(box, Object.assign({ label: "Read", text: v => bytesText(v * 1024 * 1000) + "/s" }, o)).update(rate("read_kb"));
	makeSpark(box, Object.assign({ label: "Written", text: v => bytesText(v * 1024 * 1000) + "/s" }, o)).update(rate("written_kb"));
	makeSpark(box, Object.assign({ label: "Processes", text: countText }, o)).update(list.map(s => s.processes));
}

/* Tables of what is small */

/* heads: [title, function to a text or an element, number]; nothing without rows. n: how many there are. */
function addTaskTable(main, id, title, rows, n, heads) {
	if (!rows.length)
		return;
	const section = make("section", { id: "task-" + id }, main);

	make("h2", {}, section, title + " (" + countText(n) + ")");
	const body = makeTable(section, title, heads.map(([text, , number]) => [text, number]));

	body.parentNode.className = "short";
	for (const row of rows) {
		const tr = make("tr", {}, body);

		for (const [, value, number] of heads) {
			const v = value(row), cell = make("td", { "class": number ? "number" : "name" }, tr);

			cell.append(v instanceof Node ? v : clean(String(v)));
		}
	}
	if (rows.length > 20) {
		const all = make("button", { type: "button" }, section, "show all");

		all.addEventListener("click", () => {
			body.parentNode.className = "";
			all.remove();
		});
	}
}

function addTaskTables(main, t) {
	addTaskTable(main, "children", "Tasks that ran inside it", t.children, t.n_children, [
		["Task", c => link("task", { task: c.task }, c.name)], ["Kind", c => c.kind], ["State", c => c.state],
		["Time", c => c.end_us >= 0 && c.end_us !== null ? timeText(c.end_us - c.start_us) : "", true],
	]);
	addTaskTable(main, "processes", "Processes", t.processes, t.n_processes, [
		["Command", p => p.command || "?"], ["Process", p => p.pid, true], ["Parent", p => p.parent_pid > 0 ? p.parent_pid : "", true],
		["Start", p => taskTime(p.start_us), true],
		["Time", p => p.end_us !== null ? timeText(p.end_us - p.start_us) : "runs", true], ["CPU", p => taskTime(p.cpu_us), true],
		["Memory", p => taskBytes(p.max_rss_kb), true], ["Outlived it by", p => taskTime(p.outlived_us), true],
	]);
	addTaskTable(main, "after", "Files it waited for", t.after, t.n_after, [
		["File", f => f.file], ["Made by", f => f.made_by ? link("task", { task: f.made_by.task }, f.made_by.name) :
			"not made in this build"],
	]);
	addTaskTable(main, "outputs", "Further files it made", t.outputs, t.n_outputs, [["File", f => f]]);
	addTaskTable(main, "spans", "Spans", t.spans, t.n_spans, [
		["Span", p => p.name], ["Begin", p => taskTime(p.begin_us), true],
		["Time", p => p.end_us !== null ? timeText(p.end_us - p.begin_us) : "", true], ["Place", p => p.place || ""],
	]);
	addTaskTable(main, "notes", "Notes", t.notes, t.n_notes, [
		["Time", n => taskTime(n.time_us), true], ["Note", n => n.text],
	]);
	addTaskTable(main, "inspections", "Inspections of its memory", t.inspected, t.inspected.length, [
		["Program", i => i.program], ["Process", i => i.pid, true], ["Snapshots", i => taskCount(i.snapshots), true],
		["", i => make("a", { href: "/inspection" + queryText({ rec: recording(), archive: i.archive }) }, null, "open")],
	]);
}

/* Over the builds */

/* The newest last. An archive has the values of all its builds, a directory those of the newest. */
async function taskTrend(t) {
	const { serves } = await api("/api/v1/", { rec: "" });

	if (serves === "archive") {
		const h = await api("/api/v1/history", { rec: "", of: t.name });

		return h.builds.map((b, i) => ({ wall_us: (h.values.wall || [])[i], cpu_us: (h.values.cpu || [])[i],
						 memory_kb: (h.values.memory || [])[i] }));
	}
	return serves === "directory" ? (await api("/api/v1/trend", { task: t.task })).builds.reverse() : [];
}

async function addTaskTrend(main, t) {
	const section = make("section", { id: "task-trend", hidden: "hidden" }, main);

	make("h2", {}, section, "Over the builds");
	try {
		const list = (await taskTrend(t)).filter(b => b.wall_us >= 0);

		if (list.length < 2)
			return;
		section.hidden = false;
		const box = make("div", { "class": "overview-sparks" }, section);

		for (const [label, key, text] of [["Time", "wall_us", timeText], ["CPU time", "cpu_us", timeText],
						  ["Memory", "memory_kb", v => bytesText(v * 1024)]]) {
			if (list.some(b => b[key] >= 0 && b[key] !== null))
				makeSpark(box, { label, text, count: list.length }).update(list.map(b => b[key] === undefined ? null : b[key]));
		}
		make("p", { "class": "faint" }, section, countOf(list.length, "build") + ", the newest at the right");
	} catch (e) {
		section.remove();
	}
}

/* The page */

/* For what a task waited after it was ready. */
function taskQueueText(t) {
	const words = { worker_us: "a worker", pool_us: "its pool", load_us: "the load limit",
			delayed_us: "its build tool", other_us: "its start", order_us: "the order of the build tool" };
	const parts = Object.entries(t.queue || {}).filter(([, us]) => us >= 1000);

	return parts.map(([key, us]) => timeText(us) + " for " + words[key]).join(", ");
}

function taskWaitText(t) {
	const text = taskQueueText(t);

	return !(t.queue_us >= 0) ? "" : text ? timeText(t.queue_us) + ": " + text : "at once when it was ready";
}

/* The files that it made, the largest first. */
function taskFilesText(t) {
	const files = (t.files || []).slice().sort((a, b) => b.bytes - a.bytes);
	const some = files.slice(0, TASK_FEW).map(f => f.path + " " + bytesText(f.bytes));

	return some.concat(files.length > TASK_FEW ? ["and " + countText(files.length - TASK_FEW) + " more"] : []).join(", ");
}

/* Values with facts of their own. */
const TASK_OWN = ["wall", "queue", "files"];

/* How long it runs already; null: it does not run. */
async function makeTaskClock(t) {
	if (taskStateText(t) !== "running" || t.start_us === null)
		return null;
	const clock = document.createElement("span");
	let now = await api("/api/v1/now"), at = performance.now();

	every(TASK_NOW_MS, async () => {
		now = await api("/api/v1/now");
		at = performance.now();
	});
	every(1000, () => setText(clock, timeText(now.elapsed_us - t.start_us +
		(now.suspended ? 0 : (performance.now() - at) * 1000))));
	return clock;
}

function addTaskFacts(main, t, clock) {
	const u = t.self || t, wall = t.start_us !== null && t.end_us !== null ? t.end_us - t.start_us : -1;
	const { directory, instance } = t;
	const where = [directory && directory !== "." ? "in " + directory : "", instance.tool ? "run by " + instance.tool : ""];
	const chart = link("chart", { task: t.task }, "show it in the chart");
	const p = make("p", { "class": t.state === "failed" || t.state === "killed" ? "alarm" : "" }, main,
		clean([t.kind, t.program && t.program !== t.kind ? "by " + t.program : ""].filter(s => s).join(" ") + ", ") );

	make("strong", {}, p, taskStateText(t));
	p.append(clean(where.filter(s => s).map(s => ", " + s).join("")), " \u2013 ", chart);
	taskFacts(main, [
		["Runs for", "", clock], ["Time", taskTime(wall)],
		["CPU time of users and system", u.cpu_user_us > 0 || u.cpu_system_us > 0 ?
			timeText(u.cpu_user_us) + ", " + timeText(u.cpu_system_us) : ""],
		["Largest process", taskBytes(t.max_rss_kb)], ["Peak memory", taskBytes(t.memory_peak_kb)],
		...VALUES.filter(v => v.joined === "sum" && !TASK_OWN.includes(v.word)).map(v =>
			[capital(v.name), valueText(v, u[v.key])]),
		["Compiler cache", t.cache], ["Files", taskFilesText(t)],
		["Start", taskTime(t.start_us)], ["End", taskTime(t.end_us)],
		["Waited when ready", taskWaitText(t)],
		["Runs inside", "", t.parent_task ? link("task", { task: t.parent_task.task }, t.parent_task.name) : null],
		["Rule", t.file ? t.file + (t.line > 0 ? ":" + t.line : "") : ""],
		["Pool", t.pool], ["Build tool", [instance.tool, instance.version].filter(v => v).join(" ")],
		["Process", t.pid > 0 ? String(t.pid) : "", clock && t.pid > 0 ? link("process", { pid: t.pid }, String(t.pid)) : null],
		["Worker", t.slot >= 0 && t.slot !== null ? String(t.slot) : ""],
		["Page faults from disk", t.major_faults > 0 ? countText(t.major_faults) : ""],
		["Context switches", t.voluntary_switches >= 0 && t.voluntary_switches !== null ?
			countText(t.voluntary_switches) + " voluntary, " + countText(t.involuntary_switches) + " forced" : ""],
		["Id", t.task],
	]);
}

function fillTask(main, t, clock) {
	setTitle(t.name || "(no name)");
	addTaskFacts(main, t, clock);
	if (t.command) {
		make("h2", {}, main, "Command");
		setText(make("pre", { tabindex: 0, role: "region", "aria-label": "Command" }, main), clean(t.command));
	}
}

pages.task = {
	async make(main, params) {
		if (!params.get("task"))
			throw new ServerError(400, "The address names no task: choose one in the list of tasks.");
		const t = await api("/api/v1/task", { task: params.get("task") });
		const body = make("div", {}, main);

		await core.loaded;
		fillTask(body, t, await makeTaskClock(t));
		const log = addTaskLog(body, t);

		addTaskLinks(body, t);
		addTaskPath(body, t);
		addTaskSamples(body, t);
		addTaskTables(body, t);
		await Promise.all([log, addTaskTrend(body, t)]);
		/* A task that runs is shown again when it has ended. */
		if (t.end_us === null && taskBuildRuns()) {
			const live = stream({
				task: o => {
					if (o.task === t.task && o.state !== "running" && o.state !== "queued") {
						live.close();
						location.reload();
					}
				},
				gap: async () => {
					if ((await api("/api/v1/task", { task: t.task })).end_us !== null)
						location.reload();
				},
			});
		}
	},
};
