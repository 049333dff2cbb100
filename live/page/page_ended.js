/* SPDX-License-Identifier: MIT */
/*
 * What the overview has of a build that has ended, besides how it ended: what it used over time, the
 * slowest tasks, what is different from the build before, the builds before, and the end of its output.
 * Each part says what is missing where it has nothing to show.
 */

const ENDED_SLOWEST = 8, ENDED_CHANGES = 5, ENDED_BUILDS = 20, ENDED_LINES = 12, ENDED_POINTS = 240;
const ENDED_CURVES = [
	["running", "Running tasks", v => v.toFixed(v < 10 && v % 1 ? 1 : 0)],
	["cpu", "CPU of the tasks", v => v.toFixed(1) + " cores"],
	["memory", "Memory of the tasks", bytesText],
];

/* Those with it of the same thing, the newest first, up to this one. */
function endedBuilds(now) {
	const list = core.recordings.filter(r => isSameBuild(r, now) && (r.name === now.name || !isRunning(r)));

	return list.slice(list.findIndex(r => r.name === now.name)).slice(0, ENDED_BUILDS);
}

/* Over time */

async function endedCurves(box) {
	const picture = make("div", { "class": "ended-curves" }, box);
	let any = false;

	for (const [metric, label, text] of ENDED_CURVES) {
		const d = await api("/api/v1/tracker", { metric, points: ENDED_POINTS });
		const values = d.known ? d.total : [], most = Math.max(0, ...values);

		if (!most)
			continue;
		any = true;
		const spark = makeSpark(picture, { label, count: values.length, most, text: () => "at most " + text(most) });

		spark.update(values);
		spark.box.querySelector("svg").setAttribute("aria-label", label + ": at most " + text(most));
	}
	if (!any)
		make("p", { "class": "faint" }, picture, "No task with known times ran.");
	link("chart", {}, "The whole chart", make("p", {}, box));
}

/* The slowest tasks */

async function endedSlowest(box) {
	const { tasks: rows } = await api("/api/v1/table", { sort: "-wall", count: ENDED_SLOWEST });
	const most = Math.max(1, ...rows.map(t => t.wall_us || 0));

	if (!rows.length) {
		make("p", { "class": "faint" }, box, "The build ran no task.");
		return;
	}
	const body = makeTable(box, "The slowest tasks", ["Task", "Kind", ["Time", true], ["CPU time", true]], "ended-table");

	for (const t of rows) {
		const row = make("tr", {}, body), name = make("th", { scope: "row", "class": "name" }, row);

		name.append(taskLink(t.task, t.name));
		make("td", { "class": "kind" }, row, clean(t.kind));
		const time = make("td", { "class": "number" }, row, t.wall_us === null ? "" : timeText(t.wall_us));

		time.style.setProperty("--share", ((t.wall_us || 0) / most).toFixed(3));
		make("td", { "class": "number" }, row, t.cpu_us === null ? "not known" : timeText(t.cpu_us));
	}
	link("table", { sort: "-wall" }, "All tasks", make("p", {}, box));
}

/* The build before */

function endedChange(t) {
	const v = t.wall_us || {};

	return t["in"] === "new" ? "new, " + metricText("wall", v["new"]) : t["in"] === "gone" ? "gone, was " + metricText("wall", v.base) :
		metricText("wall", v.base) + " \u2192 " + metricText("wall", v["new"]);
}

async function endedBefore(box, builds) {
	const [now, ...others] = builds, before = others.find(r => r.result === "ok");

	if (!before) {
		make("p", { "class": "faint" }, box, others.length ? "No earlier build of this command succeeded: there is nothing to compare with." :
			"This is the first build of this command here: the next one will be compared with it.");
		return;
	}
	const d = await api("/api/v1/compare", { rec: "", a: before.name, b: now.name, top: ENDED_CHANGES, tasks: 1 });
	const wall = d.build.wall_us, much = t => Math.abs(t.wall_us && t.wall_us.change || 0);

	make("p", {}, box, !wall || wall.change === null ? "The wall time of one of the two builds is not known." :
		capital(timeText(Math.abs(wall.change)) + (wall.change > 0 ? " longer" : " shorter") + " (" + shareText(wall.share) + ") than " +
			timeText(wall.base) + " before" + (stateOf(now) === "failed" ? "; this build failed, and may have skipped tasks" : "") + "."));
	const tasks = (d.tasks || []).sort((a, b) => much(b) - much(a)).slice(0, ENDED_CHANGES);

	if (tasks.length) {
		const body = makeTable(box, "Tasks that differ most", ["Task", ["Time", true], ["Change", true]], "ended-table");

		for (const t of tasks) {
			const row = make("tr", {}, body), v = t.wall_us || {};

			make("th", { scope: "row", "class": "name" }, row, clean(t.name));
			make("td", { "class": "number" }, row, endedChange(t));
			make("td", { "class": "number" }, row, t["in"] === "both" ? shareText(v.share) : "");
		}
	}
	make("a", { href: "/compare" + queryText({ a: before.name, b: now.name, rec: recording() }) }, make("p", {}, box), "The whole comparison");
}

/* The last builds, as bars: height is time, colour and mark the result */

function endedTrend(box, builds) {
	const shown = [...builds].reverse(), most = Math.max(1, ...shown.map(r => r.wall_us || 0));

	if (shown.length < 2) {
		make("p", { "class": "faint" }, box, "This is the only build of this command here. Later builds will be shown beside it.");
		return;
	}
	const list = make("ol", { "class": "ended-trend", "aria-label": "Builds, the oldest first" }, box);

	for (const r of shown) {
		const state = stateOf(r), item = make("li", { "class": state }, list);
		const text = clean((r.start || r.name).replace("T", " ").replace(/(\.\d+)?Z$/, " UTC") + ": " +
			(r.result || state) + (r.wall_us > 0 ? ", " + timeText(r.wall_us) : ""));
		const bar = make("a", { href: hrefOf("overview", { rec: r.name }), title: text, "aria-label": text }, item);

		if (r === builds[0])
			bar.setAttribute("aria-current", "true");
		make("span", { "class": "bar" }, bar).style.height = Math.max(4, 100 * (r.wall_us || 0) / most).toFixed(1) + "%";
		make("span", { "class": "mark", "aria-hidden": "true" }, bar, state === "finished" ? "\u2713" : state === "failed" ? "\u2717" : "\u25a0");
	}
	const failed = shown.filter(r => stateOf(r) === "failed").length;

	make("p", { "class": "faint" }, box, countOf(shown.length, "build") + ", the newest at the right; at most " + timeText(most) +
		(failed ? "; " + countText(failed) + " failed" : "; none failed") + ".");
}

/* The end of the output */

async function endedOutput(box) {
	const first = await api("/api/v1/log", { count: 1 });

	if (!first.recorded) {
		make("p", { "class": "faint" }, box, "The output of this build was not recorded: record it with --log.");
		return;
	}
	const from = Math.max(0, first.n_lines - ENDED_LINES);
	const { lines } = await api("/api/v1/log", { from, count: ENDED_LINES });

	if (!lines.length) {
		make("p", { "class": "faint" }, box, "The build wrote nothing.");
		return;
	}
	make("pre", { tabindex: 0, role: "region", "aria-label": "The last lines of the output" }, box,
	     lines.map(l => clean(l.text)).join("\n"));
	link("output", {}, first.n_lines > ENDED_LINES ? "All " + countOf(first.n_lines, "line") : "The output", make("p", {}, box));
}

/* The parts, behind those that are in the parent already; r: the row of the list. What is read again replaces
 * the earlier parts at once. */
async function makeEnded(parent, r) {
	const builds = endedBuilds(r), old = [...parent.querySelectorAll(".ended-part")];
	const to = old.length ? document.createDocumentFragment() : parent;
	const part = (id, title, fill) => {
		const box = make("section", { id: "ended-" + id, "class": "ended-part", "aria-label": title }, to);

		make("h2", {}, box, title);
		return Promise.resolve(fill(box)).catch(e => failed(box, e));
	};

	await Promise.all([
		part("curves", "Over time", endedCurves),
		part("slowest", "Slowest tasks", endedSlowest),
		part("before", "Compared with the build before", box => endedBefore(box, builds)),
		part("trend", "The last builds", box => endedTrend(box, builds)),
		part("output", "End of the output", endedOutput),
	]);
	old.forEach(e => e.remove());
	if (old.length)
		parent.append(to);
}
