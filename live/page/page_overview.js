/* SPDX-License-Identifier: MIT */
/*
 * The overview: is the build still running, how long yet, has something failed, what is it doing,
 * what limits it. One reply has all that of one moment. While the build runs, its messages say when
 * to ask again: at once after a rest, otherwise every few seconds.
 */

const OVERVIEW_BUSY_MS = 2000, OVERVIEW_CALM_MS = 10000, OVERVIEW_BUILDS_MS = 5000;
const OVERVIEW_LOG_LINES = 12, OVERVIEW_FAILURES = 10, OVERVIEW_RUNNING = 40, OVERVIEW_IDLE_US = 30e6;
const overview = { reply: null, now: null, at: 0, notify: false, live: null, row: null, box: {}, stops: [], over: false };

/* The clock of the build, which goes on between two replies. */
function overviewElapsed() {
	const { now } = overview;

	return now.ended || now.suspended ? now.elapsed_us : now.elapsed_us + (performance.now() - overview.at) * 1000;
}

/* What remains, less the time since it was predicted; null: not known, or the build has ended. */
function overviewLeft() {
	const { now, reply, at } = overview, left = reply.remaining;

	if (!left || !now || now.ended)
		return null;
	const later = now.suspended ? 0 : (performance.now() - at) * 1000, less = us => Math.max(0, us - later);

	return { us: less(left.us), low_us: less(left.low_us), high_us: less(left.high_us), builds: left.builds };
}

function overviewHow(t) {
	return t.signal ? "killed by signal " + t.signal : t.exit_status > 0 ? "exit status " + t.exit_status :
		t.state || "failed";
}

/* State, time, counts */

function overviewResult() {
	const { now } = overview, { summary } = overview.reply;

	if (now && now.suspended)
		return ["ended", "Suspended"];
	if (now && !now.ended)
		return now.tasks_failed + now.tasks_killed ? ["running", "Running, with failures"] : ["running", "Running"];
	const status = now && now.exit_status !== null ? now.exit_status : summary.exit_status;

	if (status === null && summary.result === "open")
		return ["bad", "Unfinished"];
	if (status === 0)
		return ["good", "Finished"];
	return status === null ? ["ended", "Ended"] : ["bad", "Failed"];
}

function overviewTimes() {
	const { now, reply } = overview;

	if (!now || now.ended)
		return "after " + timeText(reply.summary.totals.wall_us);
	const left = overviewLeft();

	return "for " + timeText(overviewElapsed()) + (left ? "; " +
		(left.us > 0 ? "about " + timeText(left.us) + " remain" : "about to end") : "") +
		(now.progress ? "; " + countText(now.progress.done) + " of " + countText(now.progress.total) + " tasks" : "");
}

/* Of the time if it is predicted, otherwise of the tasks; -1: not known. */
function overviewShare() {
	const { now } = overview, left = overviewLeft(), elapsed = now ? overviewElapsed() : 0;

	if (left)
		return elapsed / Math.max(1, elapsed + left.us);
	return now && !now.ended && now.progress ? now.progress.done / Math.max(1, now.progress.total) : -1;
}

function overviewInterval() {
	const { now } = overview, left = overviewLeft();

	if (!left)
		return now && !now.ended && overview.reply.has_learnt ? "The remaining time is not known: there are no earlier recordings of this build." +
			(now.progress ? "" : " The number of all tasks is not known either" + (now.tool === "make" ? ": make does not count them in advance." : ".")) : "";
	return "80 % interval: " + timeText(left.low_us) + " to " + timeText(left.high_us) +
		(left.builds ? ", from " + countOf(left.builds, "earlier build") : "");
}

function overviewCounts() {
	const { now, reply } = overview, running = now && !now.ended, t = running ? now : reply.summary.totals;

	return { done: t.tasks_done, failed: t.tasks_failed + t.tasks_killed, queued: t.tasks_queued,
		      [running ? "running" : "unfinished"]: running ? t.tasks_running : t.tasks_unfinished };
}

function drawOverviewState() {
	const { box, now } = overview, [kind, word] = overviewResult(), counts = overviewCounts();

	box.state.className = "overview-state " + kind;
	setText(box.word, word);
	setText(box.times, overviewTimes());
	setText(box.interval, overviewInterval());
	box.progress.hidden = overviewShare() < 0;
	if (!box.progress.hidden) {
		box.progress.value = overviewShare();
		box.progress.setAttribute("aria-label", overviewLeft() ? "Share of the predicted time" : "Share of the tasks");
	}
	const shown = [["failed", counts.failed], ["running", counts.running], ["unfinished", counts.unfinished],
		       ["done", counts.done], ["queued", counts.queued]]
		.filter(([id, n]) => n || id === "done" || (id === "running" && n === 0));

	keyed(box.counts, shown, ([id]) => id, ([id]) => {
		const item = make("li", { "class": id });

		make("a", { href: hrefOf("table", { state: id }) }, item);
		return item;
	}, (item, [id, n]) => {
		setText(item.firstChild, countText(n) + " " + id);
	});
}

/* It hangs: for how long, of which task, and the process to look at. */
function drawOverviewIdle() {
	const { box, now, reply } = overview, hangs = reply.idle, shown = hangs && now && !now.ended;

	box.hangs.hidden = !shown;
	if (!shown || box.hangs.dataset.text === hangs.words)
		return;
	box.hangs.dataset.text = hangs.words;
	box.hangs.replaceChildren(clean(hangs.words) + ". ");
	link("task", { task: hangs.first.task }, "Show the task", box.hangs);
	if (hangs.pid) {
		box.hangs.append(", ");
		link("process", { pid: hangs.pid, start: hangs.start_ticks }, "its process", box.hangs);
	}
}

/* When, where, and what it used */

function drawOverviewFacts() {
	const { box } = overview, { build, totals, parallelism, memory } = overview.reply.summary, facts = [];

	if (build.start)
		facts.push("started " + build.start.replace("T", " ").replace("Z", " UTC"));
	if (build.host)
		facts.push("on " + build.host + (build.cores > 0 ? ", " + countOf(build.cores, "core") : ""));
	if (totals.cpu_us !== null)
		facts.push("CPU time " + timeText(totals.cpu_us));
	if (parallelism.mean)
		facts.push(parallelism.mean.toFixed(1) + " tasks at once, " + parallelism.max + " at most");
	if (memory.tasks_peak_kb > 0)
		facts.push("peak memory of its tasks " + bytesText(memory.tasks_peak_kb * 1024));
	if (build.cwd)
		facts.push("in " + build.cwd);
	keyed(box.facts, facts, f => f, f => make("li", {}, null, clean(f)), () => {});
}

/* Failures */

/* What a task printed is in the recording later than its end: until there is some, and once more at the end.
 * Where no rule found its error, its last lines are shown. */
async function loadOverviewLogs() {
	for (const pre of overview.box.failures.querySelectorAll("pre")) {
		const { error } = overviewFailures().find(t => t.task === pre.dataset.task) || {};

		if (error) {
			drawError(pre, error);
			continue;
		}
		if (!pre.hidden && !overview.over)
			continue;
		const lines = taskLogText(await taskLog(pre.dataset.task)).trimEnd().split("\n");
		const text = lines.slice(-OVERVIEW_LOG_LINES).join("\n");

		setText(pre, text);
		pre.hidden = !text;
	}
}

/* The lines of a first error; that with the message stands out. */
function drawError(pre, error) {
	const text = error.lines.map(l => clean(l.text)).join("\n");

	if (pre.dataset.text === text)
		return;
	pre.dataset.text = text;
	pre.replaceChildren(...error.lines.flatMap(l => {
		const line = document.createElement(l.output_line === error.output_line ? "strong" : "span");

		line.textContent = clean(l.text);
		return [line, "\n"];
	}));
	if (error.while_ran)
		pre.prepend("Written while it ran, perhaps by another task:\n");
	pre.hidden = false;
}

function makeOverviewFailure(t) {
	const item = make("li"), head = make("p", {}, item);

	head.append(link("task", { task: t.task }, t.name));
	make("span", { "class": "how" }, head);
	make("pre", { tabindex: 0, role: "region", "aria-label": "Output of " + clean(t.name), hidden: "hidden",
		      "data-task": t.task }, item);
	return item;
}

/* The one with the first error comes first, those of tasks that host a build tool last. The present state
 * may have failures that are not yet among those with their errors. */
function overviewFailures() {
	const { now, reply } = overview, all = new Map();

	for (const t of [...now ? now.failures : [], ...reply.failures])
		all.set(t.task, t);
	const first = reply.first_error_task ? reply.first_error_task.task : "";

	return [...all.values()].sort((a, b) =>
		(b.task === first) - (a.task === first) || Boolean(a.hosting) - Boolean(b.hosting) || b.end_us - a.end_us);
}

/* What the build tool itself failed of: no task has it. */
function overviewOwnError() {
	const { reply } = overview;

	return reply.first_error && !reply.first_error_task ? reply.first_error : null;
}

function drawOverviewFailures() {
	const { box } = overview, list = overviewFailures(), own = overviewOwnError();

	box.own.hidden = !own;
	if (own)
		drawError(box.own, own);
	box.failed.hidden = !list.length && !own;
	keyed(box.failures, list.slice(0, OVERVIEW_FAILURES), t => t.task, makeOverviewFailure, (item, t) => {
		const at = t.end_us > 0 ? " at " + timeText(t.end_us) : "";

		setText(item.querySelector(".how"), " " + overviewHow(t) +
			(t.start_us !== null && t.end_us > 0 ? " after " + timeText(t.end_us - t.start_us) : "") + at +
			(t.hosting ? "; it runs a build tool" : ""));
	});
	box.more.hidden = list.length <= OVERVIEW_FAILURES;
}

/* What runs now */

function makeOverviewRow(t) {
	const row = make("tr"), name = make("th", { scope: "row", "class": "name" }, row);

	name.append(link("task", { task: t.task }, t.name));
	make("td", { "class": "kind" }, row, clean(t.kind || ""));
	make("td", { "class": "number" }, row);
	make("td", {}, row);
	make("td", { "class": "name" }, row);
	return row;
}

function fillOverviewRow(row, t) {
	const [, , time, waited, after] = row.children, w = overview.reply.running.find(e => e.task === t.task);
	const for_ = w && w.waited_for;

	setText(time, timeText(Math.max(0, overviewElapsed() - t.start_us)) +
		(w && w.idle_us >= OVERVIEW_IDLE_US ? ", idle for " + timeText(w.idle_us) : ""));
	setText(waited, w ? taskQueueText(w) || "nothing" : "");
	if (!for_)
		setText(after, w ? "nothing" : "");
	else if (after.dataset.task !== for_.task)
		after.replaceChildren(link("task", { task: for_.task }, for_.name));
	after.dataset.task = for_ ? for_.task : "";
}

function drawOverviewRunning() {
	const { box, now } = overview, live = now && !now.ended;

	box.running.hidden = !live;
	if (!live)
		return;
	const list = now.running.filter(t => !t.hosting).sort((a, b) => a.start_us - b.start_us);

	box.idle.hidden = list.length > 0;
	box.table.hidden = !list.length;
	keyed(box.rows, list.slice(0, OVERVIEW_RUNNING), t => t.task, makeOverviewRow, fillOverviewRow);
	box.others.hidden = list.length <= OVERVIEW_RUNNING;
	setText(box.others, "and " + countText(list.length - OVERVIEW_RUNNING) + " more");
}

/* The machine */

const OVERVIEW_HOST = [
	["cpu", "CPU", s => s.cpu_permille, v => percentText(v / 1000), () => 1000],
	["memory", "Memory in use", s => s.memory_kb < 0 || s.available_kb < 0 ? -1 : s.memory_kb - s.available_kb,
	 v => bytesText(v * 1024), s => s.memory_kb],
	["tasks", "Memory of the tasks", s => s.tasks_kb, v => bytesText(v * 1024), s => s.memory_kb],
	["read", "Disk, read", s => s.read_kb_s, v => bytesText(v * 1024) + "/s"],
	["written", "Disk, written", s => s.written_kb_s, v => bytesText(v * 1024) + "/s"],
	["load", "Load average", s => s.load_centi, v => (v / 100).toFixed(2)],
];

/* Of the machine of the server, while the page is open: samples of the recording have no pressure. */
const OVERVIEW_PRESSURE = [["cpu", "Waiting for CPU"], ["memory", "Waiting for memory"], ["io", "Waiting for disks"]];

function takeOverviewPressure(pressure) {
	const { box } = overview;

	for (const [id, label] of pressure ? OVERVIEW_PRESSURE : []) {
		const key = "pressure-" + id, value = pressure[id + "_some_percent"];

		if (!(value >= 0))
			continue;
		box.sparks[key] = box.sparks[key] || Object.assign(makeSpark(box.pressure, {
			label, most: 100, text: v => percentText(v / 100) }), { values: [] });
		box.sparks[key].values = [...box.sparks[key].values, value].slice(-120);
		box.sparks[key].update(box.sparks[key].values);
	}
}

function drawOverviewHost() {
	const { box, now } = overview, samples = now ? now.samples || [] : [];

	box.host.hidden = !samples.length;
	for (const [id, label, value, text, most] of OVERVIEW_HOST) {
		const values = samples.map(s => { const v = value(s); return v === undefined || v < 0 ? null : v; });

		if (!values.some(v => v !== null))
			continue;
		box.sparks[id] = box.sparks[id] || makeSpark(box.machine, {
			label, text, most: most ? most(samples[samples.length - 1]) : 0 });
		box.sparks[id].update(values);
	}
}

/* What limits it: the sentences of the verdict */

function drawOverviewAnswer() {
	const { box, now, reply } = overview, runs = now && !now.ended;
	/* that a running build hangs stands above, newer */
	const list = reply.summary.answer.filter(s => !runs || s.about !== "idle");

	box.answer.hidden = !list.length;
	setText(box.answer.firstChild, runs ? "What limits it" : "Verdict");
	keyed(box.sentences, list, s => s.about + s.text, s => {
		const item = make("li"), query = { from_us: s.from_us, until_us: s.until_us, task: s.task };

		link("chart", query, s.text, item);
		return item;
	}, () => {});
}

/* Builds */

function drawOverviewBuilds() {
	const { box } = overview, list = core.recordings, now = recording() || (list.length ? list[0].name : "");

	box.builds.hidden = list.length < 2;
	keyed(box.list, list, r => r.name, r => {
		const row = make("tr"), name = make("th", { scope: "row", "class": "name" }, row);

		make("a", { href: hrefOf("overview", { rec: r.name }) }, name);
		make("td", { "class": "name" }, row, clean(r.command || ""));
		make("td", {}, row);
		make("td", {}, row);
		make("td", { "class": "number" }, row);
		return row;
	}, (row, r) => {
		const [name, , start, state, wall] = row.children;

		if (r.name === now)
			name.firstChild.setAttribute("aria-current", "true");
		setText(name.firstChild, recordingName(r));
		setText(start, r.start ? r.start.replace("T", " ").replace(/(\.\d+)?Z$/, " UTC") : "");
		setText(state, isRunning(r) ? "running" : r.result || "");
		setText(wall, r.wall_us > 0 ? timeText(r.wall_us) : "");
	});
}

function drawOverview() {
	if (!overview.reply)
		return;
	drawOverviewState();
	drawOverviewIdle();
	drawOverviewFacts();
	drawOverviewFailures();
	drawOverviewRunning();
	drawOverviewHost();
	drawOverviewAnswer();
}

/* Data */

async function loadOverview() {
	const o = await api("/api/v1/overview", { count: 2 * OVERVIEW_FAILURES }), { now, summary } = o;

	Object.assign(overview, { reply: o, now, at: performance.now() });
	setTitle((now && now.command || summary.build.command || overview.row.name).slice(0, 200));
	if (o.pressure)
		takeOverviewPressure(o.pressure);
	if (o.output_recorded && !overview.box.output)
		overview.box.output = link("output", {}, "output", overview.box.links);
	drawOverview();
}

async function loadOverviewEnd() {
	await loadOverview();
	overview.box.parts.classList.add("ended");
	await Promise.all([loadOverviewLogs(), makeEnded(overview.box.parts, overview.row)]);
}

/* The build has ended: everything is read, and again a little later, as its recorder writes on for a moment. */
async function endOverview() {
	if (overview.over)
		return;
	overview.over = true;
	overview.stops.forEach(stop => stop());
	overview.live.close();
	await loadOverviewEnd();
	await loadRecordings();
	overview.row = core.recordings.find(e => e.name === overview.row.name) || overview.row;
	notifyOverviewEnd();
	setTimeout(() => loadOverviewEnd().catch(e => failed(find("#main"), e)), OVERVIEW_BUSY_MS);
}

function followOverview() {
	const load = async () => {
		await loadOverview();
		if (!overview.now || overview.now.ended) {
			await endOverview();
			return;
		}
		if (!overview.reply.has_learnt)
			again();
		await loadOverviewLogs();
	};
	const stop = every(OVERVIEW_CALM_MS, load), again = () => stop.soon(OVERVIEW_BUSY_MS);

	overview.stops = [stop, every(1000, drawOverview)];
	overview.live = stream({ task: again, sample: again, gap: again, end: again });
}

/* The page */

function makeOverviewSections(main) {
	const section = (id, title, parent) => {
		const s = make("section", { id: "overview-" + id, "aria-label": title, hidden: "hidden" }, parent || main);

		make("h2", {}, s, title);
		return s;
	};
	const box = overview.box = { sparks: {} };

	box.state = make("div", { "class": "overview-state" }, main);
	const line = make("p", {}, box.state);

	box.word = make("strong", { role: "status" }, line);
	line.append(" ");
	box.times = make("span", { "class": "times" }, line);
	box.progress = make("progress", { max: 1, hidden: "hidden" }, box.state);
	box.interval = make("p", { "class": "faint" }, box.state);
	box.hangs = make("p", { "class": "alarm", role: "status", hidden: "hidden" }, box.state);
	box.counts = make("ul", { "class": "overview-counts", "aria-label": "Tasks by state" }, box.state);

	box.facts = make("ul", { "class": "overview-facts", "aria-label": "About the build" }, box.state);
	box.links = make("p", { "class": "overview-links" }, box.state);
	for (const [path, text] of [["/chart", "chart"], ["/profile", "profile"], ["/table", "all tasks"]])
		make("a", { href: path + queryText({ rec: recording() }) }, box.links, text);
	box.failed = section("failed", "Failures");
	box.own = make("pre", { tabindex: 0, role: "region", "aria-label": "First error", hidden: "hidden" }, box.failed);
	box.failures = make("ul", { "class": "overview-failures" }, box.failed);
	box.more = make("p", {}, box.failed);
	link("table", { state: "failed" }, "all failures", box.more);
	box.parts = make("div", { "class": "overview-parts" }, main);
	box.answer = section("answer", "What limits it", box.parts);
	box.sentences = make("ul", { "class": "overview-sentences" }, box.answer);
	box.running = section("running", "Running now");
	box.idle = make("p", {}, box.running, "No task is running.");
	box.rows = makeTable(box.running, "Tasks that run", ["Task", "Kind", ["For", true], "Waited, ready", "After"]);
	box.table = box.rows.closest(".scroll");
	box.others = make("p", {}, box.running);
	box.host = section("host", "Machine");
	const sparks = make("div", { "class": "overview-sparks" }, box.host);

	/* in this order, whichever reply comes first */
	box.machine = make("div", { "class": "group" }, sparks);
	box.pressure = make("div", { "class": "group" }, sparks);
	box.builds = section("builds", "Builds");
	box.list = makeTable(box.builds, "Builds", ["Build", "Command", "Start", "Result", ["Time", true]]);
}

/* Only if a person asks for it, and without a sound. */
function makeOverviewNotice(parent) {
	if (!window.Notification || Notification.permission === "denied")
		return;
	const button = overview.box.notice = make("button", { type: "button" }, parent, "Notify me at the end");

	button.addEventListener("click", async () => {
		overview.notify = await Notification.requestPermission() === "granted";
		button.disabled = true;
		setText(button, overview.notify ? "A notification will say how it ended" : "The browser shows no notifications");
	});
}

function notifyOverviewEnd() {
	const { box, notify, reply } = overview, error = reply.first_error;

	if (box.notice)
		box.notice.hidden = true;
	if (!notify)
		return;
	overview.notify = false;
	new Notification(core.state + ": " + core.title, {
		body: error ? clean(error.message) : "after " + timeText(reply.summary.totals.wall_us),
		tag: "buildbeat " + core.title, silent: true,
	});
}

pages.overview = {
	async make(main, params) {
		if (params.has("wall"))
			return wallMake(main);
		makeOverviewSections(main);
		await core.loaded;
		const now = recording(), list = core.recordings;
		const r = list.find(e => e.name === now) || (now ? null : list[0]);

		overview.row = r;
		window.addEventListener("recordings", drawOverviewBuilds);
		drawOverviewBuilds();
		if (r && isRunning(r)) {
			makeOverviewNotice(overview.box.links);
			followOverview();
		}
		every(OVERVIEW_BUILDS_MS, async () => {
			/* The stream says when it ends. */
			if (overview.live && !overview.over)
				return;
			await loadRecordings();
			if (!r && core.recordings.some(e => !now || e.name === now))
				location.reload();
			/* It was read before its first line was written. */
			if (r && !overview.live && core.recordings.some(e => e.name === r.name && isRunning(e)))
				followOverview();
		});
		if (!r)
			make("p", { "class": "answer" }, main, now ? "There is no recording '" + clean(now) + "'." :
			     "There is no recording yet: this page shows the first one when it begins.");
		else if (!overview.live)
			await loadOverviewEnd();
	},
};
