/* SPDX-License-Identifier: MIT */
/*
 * The output of the build, of any number of lines: in the order in which they were written, or by task, the
 * failed ones first. Lines come from /api/v1/log in windows, of which the newest are kept.
 */

const OUTPUT_WINDOW = 200, OUTPUT_WINDOWS = 50, OUTPUT_WIDTH = 1000, OUTPUT_REQUESTS = 2;
const OUTPUT_ROW = 20;		/* pixels of a row, as in live.css */
const OUTPUT_FOLLOW_MS = 1000, OUTPUT_TASKS_MS = 4000, OUTPUT_SEARCH_MS = 250;
const OUTPUT_OPEN = 10, OUTPUT_OPEN_LINES = 5000;	/* failed tasks that are open at first */
const output = { n: 0, known: 0, running: false, errors: [], error: -1, task: "", line: 0, row: -1, byTask: false, follow: false,
		 q: "", found: 0, match: -1, tasks: { n: 0, failed: 0 }, opened: new Map(), windows: new Map(), wanted: new Map(),
		 busy: 0, list: null, box: {} };

/* Windows of lines and tasks */

/* What is in the windows: the lines of all ("") or of a task, or the tasks ("tasks"). */
function outputItem(of, index) {
	const w = Math.floor(index / OUTPUT_WINDOW), key = of + " " + w, known = output.windows.get(key);

	if (!known || known.stale)
		output.wanted.set(key, { of, w });
	if (!known)
		return null;
	output.windows.delete(key);	/* the newest is the last */
	output.windows.set(key, known);
	return known.items[index - w * OUTPUT_WINDOW] || null;
}

async function outputLoad(key, { of, w }) {
	const place = { from: w * OUTPUT_WINDOW, count: OUTPUT_WINDOW };

	output.busy++;
	try {
		const reply = of === "tasks" ? await api("/api/v1/log/tasks", place) :
			await api("/api/v1/log", { ...place, task: of, width: OUTPUT_WIDTH, colours: 1 });

		output.windows.delete(key);
		output.windows.set(key, { items: of === "tasks" ? reply.tasks : reply.lines, stale: false });
		for (const old of output.windows.keys()) {
			if (output.windows.size <= OUTPUT_WINDOWS)
				break;
			output.windows.delete(old);
		}
		output.list.refresh();
	} finally {
		output.busy--;
	}
}

/* What the rows in view need; what was passed by is not asked for. */
function outputAsk() {
	for (const [key, o] of output.wanted) {
		if (output.busy >= OUTPUT_REQUESTS)
			return;
		output.wanted.delete(key);
		outputLoad(key, o).then(outputAsk, e => failed(find("#main"), e));
	}
}

/* Those on both sides of the view are asked for before they are seen. */
function outputDrawn(from, until) {
	for (const at of [from - OUTPUT_WINDOW / 2, until + OUTPUT_WINDOW / 2].filter(at => at >= 0 && at < outputCount())) {
		const { of, index } = outputPlace(at);

		outputItem(of, index);
	}
	if (!output.busy && output.wanted.size)
		outputAsk();
}

/* Which rows there are */

/* Row `at`: {of, index} of a line, or of a task if `of` is "tasks". Those that are open have their lines below. */
function outputPlace(at) {
	let before = 0;

	if (!output.byTask)
		return { of: "", index: at };
	for (const [index, o] of output.opened) {
		const head = index + before;

		if (at <= head)
			break;
		if (at <= head + o.n)
			return { of: o.task, index: at - head - 1 };
		before += o.n;
	}
	return { of: "tasks", index: at - before };
}

function outputCount() {
	let n = output.tasks.n;

	if (!output.byTask)
		return output.n;
	for (const o of output.opened.values())
		n += o.n;
	return n;
}

/* Opened tasks stay in the order of their rows. */
function outputOpen(index, item) {
	output.opened.set(index, { task: item.task, n: item.n_lines });
	output.opened = new Map([...output.opened].sort((a, b) => a[0] - b[0]));
}

function outputToggle(at) {
	const { of, index } = outputPlace(at), item = of === "tasks" && outputTaskItem(index);

	if (!item)
		return;
	if (output.opened.has(index))
		output.opened.delete(index);
	else
		outputOpen(index, item);
	output.list.setCount(outputCount());
	output.list.refresh();
}

/* Rows */

/* Numbers behind ESC [, ended by m: the colour 0 to 15 or -1, and whether it is bold. */
function outputStyle(style, numbers) {
	const n = numbers.split(/[;:]/).map(Number);
	const next = { ...style };

	for (let i = 0; i < n.length; i++) {
		const v = n[i];

		if (!v)
			Object.assign(next, { colour: -1, bold: false });
		else if (v === 1 || v === 22)
			next.bold = v === 1;
		else if (v >= 30 && v <= 37 || v >= 90 && v <= 97)
			next.colour = v % 10;
		else if (v === 39)
			next.colour = -1;
		else if (v === 38 || v === 48) {
			if (v === 38 && n[i + 1] === 5)
				next.colour = n[i + 2] < 16 ? n[i + 2] % 8 : -1;
			i += n[i + 1] === 5 ? 2 : 4;
		}
	}
	return next;
}

/* Pieces of one style: [{text, colour, bold}] */
function outputPieces(text) {
	const pieces = [];
	let style = { colour: -1, bold: false };

	text.split(/\u001b\[([\d;:]*)m/).forEach((part, i) => {
		if (i % 2)
			style = outputStyle(style, part);
		else if (part)
			pieces.push({ ...style, text: part.split("\t").map(clean).join("\t") });
	});
	return pieces;
}

/* Where the searched text is in a plain one. */
function outputHits(text) {
	const hits = [], wanted = output.q.toLowerCase(), all = text.toLowerCase();

	for (let at = wanted ? all.indexOf(wanted) : -1; at >= 0; at = all.indexOf(wanted, at + wanted.length))
		hits.push([at, at + wanted.length]);
	return hits;
}

function outputText(cell, text) {
	const pieces = outputPieces(text), hits = outputHits(pieces.map(p => p.text).join(""));
	let at = 0;

	for (const p of pieces) {
		const kind = [p.colour >= 0 ? "k" + p.colour : "", p.bold ? "s" : ""].filter(k => k).join(" ");
		const into = kind ? make("span", { "class": kind }, cell) : cell;
		const end = at + p.text.length;
		let from = at;

		for (const [begin, stop] of hits.filter(h => h[0] < end && h[1] > at)) {
			const first = Math.max(begin, at), last = Math.min(stop, end);

			into.append(p.text.slice(from - at, first - at));
			make("mark", {}, into, p.text.slice(first - at, last - at));
			from = last;
		}
		into.append(p.text.slice(from - at));
		at = end;
	}
}

const OUTPUT_MARKS = { error: "\u2717", warning: "!", report: "\u2717" };

function outputFillLine(row, item, of) {
	const number = make("span", { role: "gridcell", "class": "output-number" }, row);
	const who = make("span", { role: "gridcell", "class": "output-who" }, row);
	const text = make("span", { role: "gridcell", "class": "output-text" }, row);

	row.dataset.line = item.line;
	make("span", { "class": "output-mark" }, number, OUTPUT_MARKS[item.is] || "");
	if (OUTPUT_MARKS[item.is])
		row.classList.add(item.is);
	if (item.line === output.errors[0])
		row.classList.add("first");
	make("a", { tabindex: -1, href: hrefOf("output", { line: item.line }) }, number, String(item.line));
	if (item.task && !of) {
		const a = link("chart", { task: item.task.task }, item.task.name, who);

		a.tabIndex = -1;
		a.title = clean(item.task.name) + ": show it in the chart";
	}
	if (item.task && item.task.task === output.task)
		row.classList.add("on");
	outputText(text, item.text);
	if (item.continues)
		make("span", { "class": "faint" }, text, " \u2026");
}

function outputFillTask(row, item, index) {
	const open = output.opened.has(index), head = make("span", { role: "gridcell", "class": "output-head" }, row);
	const bad = item.state === "failed" || item.state === "killed";

	row.setAttribute("aria-expanded", open);
	row.classList.toggle("bad", bad);
	make("span", { "class": "output-fold", "aria-hidden": "true" }, head, open ? "\u2212" : "+");
	make("strong", {}, head, item.task === "-" ? "Lines of no known task" : clean(item.name || "(no name)"));
	make("span", { "class": bad ? "output-bad" : "faint" }, head, " " +
		[item.task === "-" ? "" : taskStateText(item), countOf(item.n_lines, "line")].filter(s => s).join(", "));
	if (item.task !== "-") {
		const a = link("chart", { task: item.task }, "chart", head);

		a.tabIndex = -1;
		a.setAttribute("aria-label", clean(item.name) + " in the chart");
	}
}

/* Behind the last task: what belongs to none. */
function outputTaskItem(index) {
	if (index === output.tasks.n - 1 && output.n > output.known)
		return { task: "-", name: "", n_lines: output.n - output.known };
	return outputItem("tasks", index);
}

function outputMakeRow(at) {
	const { of, index } = outputPlace(at), isTask = of === "tasks";
	const item = isTask ? outputTaskItem(index) : outputItem(of, index);
	const row = make("div", { role: "row", "class": "output-row", id: "output-" + at, "aria-rowindex": at + 1, "data-at": at });

	if (output.byTask)
		row.setAttribute("aria-level", isTask ? 1 : 2);
	if (at === output.row)
		row.setAttribute("aria-selected", "true");
	if (!item)
		make("span", { role: "gridcell", "class": "output-wait" }, row, "\u2026");
	else if (isTask)
		outputFillTask(row, item, index);
	else
		outputFillLine(row, item, of);
	return row;
}

/* The chosen line, and going to one */

/* Its whole text, its time, and links to its task. */
async function outputDetail() {
	const { box, line } = output, { detail } = box;

	detail.hidden = !line;
	if (!line)
		return;
	const { lines } = await api("/api/v1/log", { from: line - 1, count: 1 }), [first] = lines;

	if (!first || line !== output.line)
		return;
	const p = make("p", {}, null, "Line " + countText(line) + (first.time_us > 0 ? " at " + timeText(first.time_us) : "") +
		(first.stream === "both" ? "" : " on " + first.stream));

	if (first.task) {
		p.append(", of ", link("task", { task: first.task.task }, first.task.name), " \u2013 ",
			 link("chart", { task: first.task.task }, "show it in the chart"), " \u2013 ",
			 link("output", { task: first.task.task, line }, "mark its lines"));
	} else {
		p.append(", of no known task");
	}
	const text = clean(lines.filter(l => l.line === line).map(l => l.text).join(""));

	detail.replaceChildren(p);
	make("pre", { tabindex: 0, role: "region", "aria-label": "The line" }, detail, text);
}

function outputChoose(at, line) {
	output.row = at;
	output.line = line || 0;
	keepParam("line", line ? String(line) : "");
	output.list.refresh();
	if (at >= 0)
		output.box.grid.setAttribute("aria-activedescendant", "output-" + at);
	outputDetail().catch(e => failed(find("#main"), e));
}

function outputGo(line) {
	if (output.byTask)
		outputArrange(false);
	outputFollow(false);
	output.row = line - 1;
	output.list.show(line - 1);
	outputChoose(line - 1, line);
}

/* The first error, then the other ones. */
function outputNextError() {
	const { errors } = output;

	if (!errors.length)
		return;
	output.error = (output.error + 1) % errors.length;
	outputGo(errors[output.error]);
}

function outputFollow(on) {
	output.follow = on && output.running && !output.byTask;
	output.box.follow.setAttribute("aria-pressed", output.follow);
	if (output.follow)
		output.list.end();
}

/* In the order of the lines, or by task. */
function outputArrange(byTask) {
	const { box } = output;

	output.byTask = byTask;
	output.row = -1;
	output.line = 0;
	box.detail.hidden = true;
	keepParam("line", "");
	keepParam("by", byTask ? "task" : "");
	box.byTask.setAttribute("aria-pressed", byTask);
	box.grid.setAttribute("role", byTask ? "treegrid" : "grid");
	box.grid.classList.toggle("by-task", byTask);
	if (byTask)
		outputFollow(false);
	output.list.reset(outputCount());
}

/* Search */

function outputSaySearch() {
	const { box, q, found, match } = output;

	setText(box.found, !q ? "" : !found ? "no line" : match < 0 ? countOf(found, "line") :
		countText(match + 1) + " of " + countOf(found, "line"));
	box.next.disabled = box.previous.disabled = !found;
}

async function outputSearch(q) {
	output.q = q;
	output.match = -1;
	keepParam("q", q);
	output.found = q ? (await api("/api/v1/log", { filter: q, count: 1 })).n_lines : 0;
	if (output.q !== q)
		return;
	outputSaySearch();
	output.list.refresh();
}

async function outputNextMatch(by) {
	const { found, q } = output;

	if (!found)
		return;
	output.match = output.match < 0 ? (by > 0 ? 0 : found - 1) : (output.match + by + found) % found;
	outputSaySearch();
	const { lines } = await api("/api/v1/log", { filter: q, from: output.match, count: 1, width: 1 });

	if (lines.length)
		outputGo(lines[0].line);
}

/* While the build runs */

async function outputLoadHead() {
	const o = await api("/api/v1/log/tasks", { count: 1 });

	output.running = o.is_running;
	output.known = o.n_with_task;
	output.errors = o.error_lines;
	output.recorded = o.recorded;
	output.n = Math.max(output.n, o.n_lines);
	output.tasks = { n: o.n_tasks + (o.n_lines > o.n_with_task ? 1 : 0), failed: o.n_failed };
	await outputSayHead();
}

async function outputSayHead() {
	const { box, errors } = output, [first] = errors;

	box.none.hidden = output.recorded;
	box.error.hidden = !errors.length;
	box.follow.hidden = !output.running;
	setText(box.count, countOf(output.n, "line"));
	if (!first || box.error.dataset.line === String(first))
		return;
	const { lines } = await api("/api/v1/log", { from: first - 1, count: 1, width: OUTPUT_WIDTH });

	box.error.dataset.line = first;
	setText(box.error, "First error" + (lines.length ? ": " + clean(lines[0].text) : ""));
}

/* New lines, at once; their tasks come later. */
async function outputGrow() {
	const { n_lines } = await api("/api/v1/log", { from: output.n, count: 1, width: 1 });

	if (n_lines === output.n)
		return;
	for (const [key, w] of output.windows)
		w.stale = key.startsWith(" ") ? w.items.length < OUTPUT_WINDOW : w.stale;
	output.n = n_lines;
	outputShowCount();
}

function outputShowCount() {
	setText(output.box.count, countOf(output.n, "line"));
	output.list.setCount(outputCount());
	output.list.refresh();
	if (output.follow)
		output.list.end();
}

async function outputRenew() {
	const { known } = output, n_tasks = output.tasks.n;

	await outputLoadHead();
	if (known === output.known && n_tasks === output.tasks.n && output.running)
		return;
	for (const w of output.windows.values())
		w.stale = true;
	/* a task that fails comes first */
	output.opened.clear();
	outputShowCount();
}

function outputWatch() {
	const stops = [every(OUTPUT_FOLLOW_MS, outputGrow), every(OUTPUT_TASKS_MS, async () => {
		await outputRenew();
		if (output.running)
			return;
		stops.forEach(stop => stop());
		await outputGrow();
		outputFollow(false);
		await loadRecordings();
	})];
}

/* The page */

function outputKey(e) {
	const { list, row, byTask } = output, last = outputCount() - 1;
	const page = Math.max(1, Math.floor(list.view() / OUTPUT_ROW) - 1);
	const by = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity }[e.key];

	if (e.ctrlKey || e.altKey || e.metaKey || e.target !== output.box.grid)
		return;
	if (by) {
		const at = clamp((row < 0 ? list.at - 1 : row) + by, 0, last);

		outputFollow(e.key === "End");
		output.row = at;
		list.show(at);
		outputPick(at);
	} else if (row >= 0 && byTask && (e.key === "Enter" || e.key === " " || e.key === "ArrowRight" || e.key === "ArrowLeft")) {
		outputToggle(row);
	} else if (row >= 0 && e.key === "Enter") {
		output.box.detail.querySelectorAll("a")[1]?.click();
	} else {
		return;
	}
	e.preventDefault();
	e.stopPropagation();
}

/* The row was chosen. */
function outputPick(at) {
	const { of, index } = outputPlace(at), item = of === "tasks" ? null : outputItem(of, index);

	outputChoose(at, item ? item.line : of ? 0 : index + 1);
}

function outputClick(e) {
	const row = e.target.closest(".output-row"), at = row ? Number(row.dataset.at) : -1;

	if (!row || e.target.closest("a") || !getSelection().isCollapsed)
		return;
	outputPick(at);
	if (outputPlace(at).of === "tasks")
		outputToggle(at);
}

function outputMakeTools(main) {
	const { box } = output, tools = make("div", { "class": "tools output-tools" }, main);
	const button = (text, title, press) => {
		const b = make("button", { type: "button", title }, tools, text);

		b.addEventListener("click", press);
		return b;
	};
	const search = makeSearch(tools, { "aria-label": "Search the output (/)", placeholder: "search" }, OUTPUT_SEARCH_MS,
				  q => outputSearch(q).catch(e => failed(main, e)));

	search.value = output.q;
	search.addEventListener("keydown", e => {
		if (e.key === "Enter")
			outputNextMatch(e.shiftKey ? -1 : 1);
	});
	box.previous = button("\u2191", "Previous match (N)", () => outputNextMatch(-1));
	box.previous.setAttribute("aria-label", "Previous match");
	box.next = button("\u2193", "Next match (n)", () => outputNextMatch(1));
	box.next.setAttribute("aria-label", "Next match");
	box.found = make("span", { role: "status", "class": "faint" }, tools);
	box.byTask = button("By task", "Fold the lines by task, failed ones first (b)", () => outputArrange(!output.byTask));
	box.follow = button("Follow", "Stay at the end (f)", () => outputFollow(!output.follow));
	box.follow.hidden = true;
	box.count = make("span", { "class": "faint" }, tools);
	box.error = make("button", { type: "button", "class": "output-error", title: "Go to the first error, then to the next (e)",
				     hidden: "hidden" }, main);
	box.error.addEventListener("click", outputNextError);
	outputSaySearch();
}

function outputMake(main) {
	const { box } = output;

	document.body.classList.add("output-page");
	outputMakeTools(main);
	box.none = make("p", { "class": "answer", hidden: "hidden" }, main,
			"The output of this build is not recorded: buildbeat record --log keeps it.");
	box.grid = make("div", { "class": "output-box", role: "grid", tabindex: 0, "aria-label": "Lines of the output" }, main);
	box.detail = make("div", { "class": "output-detail", hidden: "hidden" }, main);
	output.list = new LongList({ box: box.grid, row: OUTPUT_ROW, make: outputMakeRow, drawn: outputDrawn });
	box.grid.addEventListener("keydown", outputKey);
	box.grid.addEventListener("click", outputClick);
	/* scrolling away from the end stops following it */
	box.grid.addEventListener("wheel", e => e.deltaY < 0 && outputFollow(false), { passive: true });
	box.grid.addEventListener("touchmove", () => outputFollow(false), { passive: true });
	addKey("e", outputNextError);
	addKey("n", () => outputNextMatch(1));
	addKey("N", () => outputNextMatch(-1));
	addKey("f", () => outputFollow(!output.follow));
	addKey("b", () => outputArrange(!output.byTask));
}

/* Failed tasks are open at first. */
async function outputOpenFailed() {
	const { tasks } = await api("/api/v1/log/tasks", { count: OUTPUT_OPEN });

	tasks.slice(0, output.tasks.failed).forEach((t, i) => {
		if (t.n_lines <= OUTPUT_OPEN_LINES)
			outputOpen(i, t);
	});
}

/* Where the page begins: a line, the lines of a task, the end of a running build. */
async function outputBegin(params) {
	const line = Number(params.get("line"));

	if (output.task) {
		const { lines } = await api("/api/v1/log", { task: output.task, count: 1, width: 1 });

		if (!line && lines.length) {
			outputGo(lines[0].line);
			return;
		}
	}
	if (line > 0)
		outputGo(Math.min(line, Math.max(1, output.n)));
	else if (params.get("by") === "task")
		outputArrange(true);
	else
		outputFollow(true);
}

pages.output = {
	async make(main, params) {
		output.task = params.get("task") || "";
		output.q = params.get("q") || "";
		outputMake(main);
		await core.loaded;
		await outputLoadHead();
		await outputOpenFailed();
		output.list.setCount(outputCount());
		output.list.draw();
		if (output.q)
			await outputSearch(output.q);
		await outputBegin(params);
		if (output.running)
			outputWatch();
	},
};
