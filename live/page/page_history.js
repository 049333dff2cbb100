/* SPDX-License-Identifier: MIT */
/*
 * The history of an archive: when did a metric change, by how much, and is the change known? Changes can be
 * acknowledged or accepted where the server allows it; elsewhere the page shows the command that does it.
 */
const HISTORY_JOB_MS = 300, HISTORY_WIDTH = 600, HISTORY_HEIGHT = 120, HISTORY_EVENTS = 100;
const historyPage = { series: "", of: "", data: null, check: null, api: null, box: {} };

function historyDay(b) {
	return b.start_s >= 0 ? new Date(b.start_s * 1000).toISOString().slice(0, 10) : "unknown day";
}

function historyBuild(b) {
	return historyDay(b) + " " + b.id.slice(0, 12);
}

function historyWhat(c) {
	return c.of === "task" ? clean(c.task) : c.of === "host" ? "all tasks (the machine)" : "the build";
}

/* The builds from left to right, with a mark where a change begins. */
function historyChart(parent, metric, values, events) {
	const box = make("figure", { "class": "history-chart" }, parent);
	const known = values.filter(v => v !== null), most = Math.max(1e-9, ...known);
	const step = HISTORY_WIDTH / Math.max(1, values.length - 1), last = known.length ? known[known.length - 1] : null;
	const y = v => HISTORY_HEIGHT - 4 - (HISTORY_HEIGHT - 14) * v / most;
	let d = "", gap = true;

	make("figcaption", {}, box, metricTitle(metric) + ": " + metricText(metric, last) + " in the newest good build; at most " +
		metricText(metric, known.length ? most : null));
	const picture = makeSvg("svg", { viewBox: "0 0 " + HISTORY_WIDTH + " " + HISTORY_HEIGHT, preserveAspectRatio: "none",
				     role: "img", "aria-label": metricTitle(metric) + " of " + countOf(values.length, "build") }, box);

	for (const e of events) {
		const x = e.at.index * step;

		if (e.changes.some(c => c.metric === metric))
			makeSvg("title", {}, makeSvg("path", { "class": e.worse ? "history-worse" : "history-better",
						       d: "M" + x.toFixed(1) + " 0V" + HISTORY_HEIGHT }, picture),
			    (e.worse ? "Worse" : "Better") + " since " + historyBuild(e.at));
	}
	values.forEach((v, i) => {
		if (v !== null)
			d += (gap ? "M" : "L") + (i * step).toFixed(1) + " " + y(v).toFixed(1);
		gap = v === null;
	});
	makeSvg("path", { "class": "history-line", d }, picture);
}

/* Commands and requests */

function historyQuote(text) {
	return /^[A-Za-z0-9_\/.:=@%+,-]+$/.test(text) ? text : "'" + text.replace(/'/g, "'\\''") + "'";
}

/* The name of a task as a pattern that fits nothing else. */
function historyPattern(task) {
	return task.replace(/[*?[\\]/g, "\\$&");
}

/* The words of the command for a kind of request. */
const historyVerb = { accept: ["accept"], ack: ["accept", "--known"] };

function historyCommand(verb, c, event, reason, undo) {
	const words = ["buildbeat", ...historyVerb[verb], "--repo=" + historyPage.api.path, "--ref=" + historyPage.data.ref, "--metrics=" + c.metric,
		       "--build=" + event.at.id, undo ? "--undo" : "--message=" + reason];

	return [...words, ...(c.of === "build" ? ["--total"] : ["--", c.of === "host" ? "*" : historyPattern(c.task)])]
		.map(historyQuote).join(" ");
}

async function historySend(verb, c, event, reason, undo, status) {
	setText(status, "Writing the note ...");
	const { id } = await post("/api/v1/tasks", { do: verb, series: historyPage.data.ref, metric: c.metric,
		build: event.at.id, reason, undo, total: c.of === "build", task: c.of === "build" ? "" : c.task });
	let job;

	do {
		await new Promise(done => setTimeout(done, HISTORY_JOB_MS));
		job = await api("/api/v1/tasks/" + id, { rec: "" });
	} while (job.state === "running");
	if (job.state !== "done")
		throw new Error(job.message || "the note was not written");
	await post("/api/v1/refresh");
	await historyLoad();
}

function historyForm(parent, verb, c, event) {
	const form = make("form", { "class": "history-form" }, parent);
	const status = make("p", { role: "status" }), label = make("label", {}, form, "Reason ");
	const reason = make("input", { type: "text", required: "required", maxlength: 1000, size: 40 }, label);
	const command = make("code"), send = make("button", { type: "submit" });

	if (historyPage.api.control) {
		setText(send, verb === "ack" ? "Acknowledge" : "Accept");
		form.append(" ", send);
	} else {
		make("p", {}, form, "This server only reads. Start it with --allow-control, or run:");
		form.append(command);
	}
	const show = () => setText(command, historyCommand(verb, c, event, reason.value || "REASON", false));

	form.append(status);
	reason.addEventListener("input", show);
	show();
	form.addEventListener("submit", async e => {
		e.preventDefault();
		if (!historyPage.api.control || !reason.value.trim())
			return;
		send.disabled = true;
		try {
			await historySend(verb, c, event, reason.value.trim(), false, status);
		} catch (error) {
			setText(status, clean(error.message));
			send.disabled = false;
		}
	});
	return reason;
}

/* Events */

function historyButtons(cell, c, event) {
	const slot = make("div", {}, cell);

	if (c.known) {
		const undo = make("button", { type: "button" }, null, "Withdraw"), status = make("p", { role: "status" }, slot);

		cell.insertBefore(undo, slot);
		undo.addEventListener("click", async () => {
			const verb = c.known.kind === "accepted" ? "accept" : "ack";

			if (!historyPage.api.control) {
				slot.replaceChildren(make("p", {}, null, "This server only reads; run:"),
						     make("code", {}, null, historyCommand(verb, c, event, "", true)));
				return;
			}
			undo.disabled = true;
			try {
				await historySend(verb, c, event, "", true, status);
			} catch (error) {
				setText(status, clean(error.message));
				undo.disabled = false;
			}
		});
		return;
	}
	if (c.of === "host")
		return;
	for (const [verb, text] of [["ack", "Acknowledge"], ["accept", "Accept"]]) {
		const b = make("button", { type: "button", "aria-expanded": "false" }, null, text);

		cell.insertBefore(b, slot);
		b.addEventListener("click", () => {
			const open = b.getAttribute("aria-expanded") !== "true";

			for (const other of cell.querySelectorAll("button[aria-expanded]"))
				other.setAttribute("aria-expanded", String(open && other === b));
			slot.replaceChildren();
			if (open)
				historyForm(slot, verb, c, event).focus();
		});
	}
}

/* Who handles a change; a note is anybody's, so only URLs of the web become links. */
function historyHandling(parent, known, fix) {
	if (known.owner)
		make("span", {}, parent, "; owner " + clean(known.owner));
	if (known.bug) {
		make("span", {}, parent, "; ");
		make(/^https?:\/\/[^\s/"<>]/.test(known.bug) ? "a" : "span",
		     /^https?:\/\/[^\s/"<>]/.test(known.bug) ? { href: known.bug, rel: "noreferrer" } : {}, parent, clean(known.bug));
	}
	if (known.fixed_by)
		make("span", {}, parent, "; " + fix + " fixed by " + clean(known.fixed_by.slice(0, 12)));
}

function historyState(cell, c) {
	if (c.known)
		make("span", {}, cell, (c.known.invalid ? "invalid" : c.known.kind) + " by " + clean(c.known.by) + ": " + clean(c.known.reason));
	else
		make("span", {}, cell, c.state || "");
	if (c.known || c.overdue)
		historyHandling(cell, c.known || c.overdue, c.known ? "to be" : "not");
}

function historyRow(body, c, event) {
	const row = make("tr", {}, body), name = make("th", { scope: "row" }, row);

	if (c.of === "task")
		make("a", { href: "/history" + queryText({ series: historyPage.data.ref, of: c.task }) }, name, clean(c.task));
	else
		setText(name, historyWhat(c));
	make("td", {}, row, metricTitle(c.metric));
	make("td", { "class": "number" }, row, metricText(c.metric, c.before));
	make("td", { "class": "number" }, row, metricText(c.metric, c.after));
	make("td", { "class": "number" }, row, shareText(c.effect));
	historyState(make("td", {}, row), c);
	historyButtons(make("td", { "class": "history-do" }, row), c, event);
}

function historyEvent(parent, e) {
	const item = make("section", { "class": "history-event" }, parent);
	const from = e.first.index !== e.last.index ? ", between " + historyDay(e.first) + " and " + historyDay(e.last) : "";

	make("h3", { "class": e.worse ? "worse" : "better" }, item, (e.worse ? "Worse" : "Better") + (e.creep ? ", slowly," : "") + " since " + historyBuild(e.at) + from);
	if (e.host)
		make("p", {}, item, "The machine itself changed, or nearly all tasks did.");
	for (const r of e.revisions || [])
		make("p", { "class": "faint" }, item, clean(r.source) + ": " + (r.from || "?").slice(0, 12) + " to " +
		     (r.to || "?").slice(0, 12) + (r.dirty ? ", with uncommitted changes" : ""));
	const body = makeTable(item, "Changes since " + historyDay(e.at), ["What", "Metric", ["Before", true],
			       ["After", true], ["Change", true], "State", "Note"], "compare-wide");

	e.changes.forEach(c => historyRow(body, c, e));
}

function historySentence() {
	const { check, data } = historyPage, builds = countOf(data.builds.length, "build");

	if (!check)
		return builds + ".";
	const word = { regression: "The newest build has regressions", ok: "The newest build is as the ones before it",
		       failed: "The newest build failed", not_judged: "The newest build failed and was not judged" }[check.verdict] || "The newest build: " + check.verdict;

	return word + (check.confirmed ? ": " + countOf(check.confirmed, "confirmed change") : "") +
		(check.known ? ", " + countText(check.known) + " known" : "") + ". " + builds + " in this series.";
}

function drawHistory() {
	const { box, data, of } = historyPage;

	setTitle(of ? "History of " + of : "History");
	setText(box.answer, historySentence());
	box.all.hidden = !of;
	box.charts.replaceChildren();
	for (const metric in data.values)
		historyChart(box.charts, metric, data.values[metric], data.events);
	box.events.replaceChildren();
	data.events.slice(0, HISTORY_EVENTS).forEach(e => historyEvent(box.events, e));
	if (!data.events.length)
		make("p", {}, box.events, "No metric changed beyond the noise.");
	else if (data.events.length > HISTORY_EVENTS)
		make("p", {}, box.events, "and " + countText(data.events.length - HISTORY_EVENTS) + " earlier ones: buildbeat history");
}

async function historyLoad() {
	const { series, of } = historyPage, query = { rec: "", series };

	[historyPage.data, historyPage.check] = await Promise.all([
		api("/api/v1/history", { ...query, of }), api("/api/v1/check", query).catch(() => null)]);
	drawHistory();
}

pages.history = {
	async make(main, params) {
		const { box } = historyPage;

		setTitle("History");
		historyPage.api = await api("/api/v1/", { rec: "" });
		await core.loaded;
		if (historyPage.api.serves !== "archive") {
			make("p", {}, main, "Only builds in an archive have a history: store them with buildbeat archive, and serve the archive.");
			return;
		}
		const names = [...new Set(core.recordings.map(r => r.series).filter(Boolean))].sort();

		historyPage.series = params.get("series") || names[0] || "";
		historyPage.of = params.get("of") || "";
		if (names.length > 1) {
			const label = make("label", {}, make("p", {}, main), "Series "), select = make("select", {}, label);

			names.forEach(n => make("option", { value: n }, select, clean(n)));
			select.value = historyPage.series;
			select.addEventListener("change", () => {
				location.href = "/history" + queryText({ series: select.value });
			});
		}
		box.answer = make("p", { "class": "tracker-answer", role: "status" }, main);
		box.all = make("p", {}, main);
		make("a", { href: "/history" + queryText({ series: historyPage.series }) }, box.all, "All changes of the series");
		make("h2", {}, main, "Values");
		box.charts = make("div", { "class": "process-charts" }, main);
		make("h2", {}, main, "Changes, the newest first");
		box.events = make("div", {}, main);
		await historyLoad();
	},
};
