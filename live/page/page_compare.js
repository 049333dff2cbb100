/* SPDX-License-Identifier: MIT */
/*
 * Choose two recordings: is the second one slower, and which tasks explain it? The whole comparison is the
 * page /diff, which buildbeat diff --html writes, too.
 */
const COMPARE_ROWS = 15;
const comparePage = { a: "", b: "", turn: 0, box: {} };

/* "+12 %", "-0.4 %" */
function shareText(share) {
	if (share === null || share === undefined || !Number.isFinite(share))
		return "";
	return (share < 0 ? "\u2212" : "+") + (100 * Math.abs(share)).toFixed(Math.abs(share) < 0.1 ? 1 : 0) + " %";
}

function compareChoice(parent, side, label) {
	const p = make("p", { "class": "compare-side" }, parent), id = "compare-" + side;

	make("label", { "for": id }, p, label);
	const select = make("select", { id }, p);

	core.recordings.forEach(r => make("option", { value: r.name }, select, recordingTitle(r)));
	select.value = comparePage[side];
	select.addEventListener("change", () => {
		comparePage[side] = select.value;
		keepParam(side, select.value);
		compareLoad();
	});
}

/* An earlier build of the same thing if there is one, otherwise the one before. */
function compareEarlier(b) {
	const list = core.recordings, at = list.findIndex(r => r.name === b), now = list[at];
	const before = list.slice(at + 1).filter(r => !isRunning(r));
	const same = before.find(r => isSameBuild(r, now) && r.result === "ok");

	return (same || before[0] || list.find(r => r.name !== b) || now).name;
}

function compareRow(texts, parent) {
	const row = make("tr", {}, parent);

	texts.forEach((text, i) => make(i ? "td" : "th", i ? { "class": "number" } : { scope: "row" }, row, clean(text)));
	return row;
}

/* The values of two builds, and their difference */
function compareTable(parent, label, what) {
	return makeTable(parent, label, [what, ["First", true], ["Second", true], ["Change", true]], "compare-wide");
}

function compareSentence(d) {
	const wall = d.build.wall_us, c = d.counts, more = [];

	for (const [n, what] of [[c.new_tasks, "new"], [c.gone_tasks, "gone"], [c.renamed_tasks, "renamed"],
				 [c.failing_tasks, "failing"], [c.fixed_tasks, "fixed"]]) {
		if (n)
			more.push(countText(n) + " " + what);
	}
	const tasks = countOf(c.tasks, "task") + (more.length ? ": " + more.join(", ") : "") + ".";

	if (!wall || wall.change === null)
		return "The wall time of a build is not known. " + tasks;
	return "The second build took " + timeText(Math.abs(wall.change)) + (wall.change > 0 ? " longer" : " less") +
		" (" + shareText(wall.share) + "). " + tasks + (d.tested ? "" :
		" One build on each side: differences may be noise.");
}

function drawCompare(d) {
	const { box } = comparePage;

	setText(box.answer, compareSentence(d));
	box.totals.replaceChildren();
	box.tasks.replaceChildren();
	for (const key in d.build) {
		const m = key.replace(/_(us|kb|bytes)$/, ""), v = d.build[key];

		compareRow([metricTitle(m), metricText(m, v.base), metricText(m, v["new"]), shareText(v.share)], box.totals);
	}
	const much = t => Math.abs(t.wall_us ? t.wall_us.change === null ? t.wall_us["new"] || t.wall_us.base : t.wall_us.change : 0);
	const tasks = (d.tasks || []).sort((a, b) => much(b) - much(a));

	for (const t of tasks.slice(0, COMPARE_ROWS)) {
		const v = t.wall_us || {}, side = (name, other) => t["in"] === other ? "" : metricText("wall", v[name]);
		const row = compareRow(["", side("base", "new"), side("new", "gone"),
			t["in"] === "both" ? shareText(v.share) : t["in"] === "new" ? "new" : "gone"], box.tasks);

		row.firstChild.replaceChildren(make("span", {}, null, clean(t.name)));
	}
	box.list.hidden = !box.tasks.children.length;
}

async function compareLoad() {
	const { box, a, b } = comparePage, turn = ++comparePage.turn;

	box.whole.href = "/diff" + queryText({ a, b });
	try {
		const d = await api("/api/v1/compare", { rec: "", a, b, top: COMPARE_ROWS, tasks: 1 });

		if (turn === comparePage.turn)
			drawCompare(d);
		worked(box.main);
	} catch (e) {
		failed(box.main, e);
	}
}

pages.compare = {
	async make(main, params) {
		const { box } = comparePage;

		setTitle("Compare");
		await core.loaded;
		if (core.recordings.length < 2) {
			make("p", {}, main, "Two recordings are needed for a comparison: serve a directory of them, or an archive.");
			return;
		}
		comparePage.b = params.get("b") || recording() || core.recordings[0].name;
		comparePage.a = params.get("a") || compareEarlier(comparePage.b);
		box.main = main;
		const form = make("div", { "class": "compare-choice" }, main);

		compareChoice(form, "a", "First (base)");
		compareChoice(form, "b", "Second (new)");
		box.answer = make("p", { "class": "tracker-answer", role: "status" }, main);
		box.whole = make("a", {}, make("p", {}, main), "All differences: tasks, packages, circumstances");
		make("h2", {}, main, "The build");
		box.totals = compareTable(main, "Values of both builds", "Metric");
		box.list = make("section", {}, main);
		make("h2", {}, box.list, "Tasks with the largest changes");
		box.tasks = compareTable(box.list, "Tasks with the largest changes", "Task");
		await compareLoad();
	},
};
