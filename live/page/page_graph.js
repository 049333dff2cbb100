/* SPDX-License-Identifier: MIT */
/*
 * What a task needs and what needs it, as a picture with the places that the server decided; or one
 * cycle of dependencies. Below it: cycles, processes that outlived their task, outputs that nobody
 * waited for.
 */

const GRAPH_KINDS = { target: "needs what it made", line: "the line before it in the recipe", host: "runs inside it",
		      worker: "waited for a free worker", more: "further tasks", recorded: "recorded",
		      reported: "reported by the build tool", assumed: "must exist, was not recorded" };
const GRAPH_CLICK_MS = 250, GRAPH_GROW_MS = 2000, GRAPH_LETTERS = 18;
const graph = { data: null, view: null, chosen: -1, nodes: [], timer: 0, asked: 0, drag: null };

function graphParam(key, otherwise) {
	const n = Number(core.params.get(key));

	return core.params.has(key) && n >= 0 ? n : otherwise;
}

async function graphLoad() {
	const number = ++graph.asked, cycle = core.params.get("cycle");
	const data = await api("/api/v1/graph", cycle !== null ? { cycle } : { task: core.params.get("task"),
		up: graphParam("up", 2), down: graphParam("down", 2), count: graphParam("count", 60) });

	if (number !== graph.asked)
		return;
	const before = graph.data, kept = graph.chosen >= 0 && before ? before.nodes[graph.chosen].task : null;
	const same = before && before.nodes.length === data.nodes.length && before.width === data.width &&
		before.nodes.every((n, i) => n.task === data.nodes[i].task);

	graph.data = data;
	graph.chosen = kept ? data.nodes.findIndex(n => n.task === kept) : -1;
	if (graph.chosen < 0)
		graph.chosen = 0;
	drawGraph();
	if (!same)
		graphFit();
}

function graphAround(task) {
	core.params.delete("cycle");
	keepParam("task", task);
	graph.chosen = -1;
	graphShow();
}

function graphShow() {
	graphLoad().then(() => worked(find("#main")), e => failed(find("#main"), e));
}

/* The picture */

function graphShort(text) {
	const shown = clean(text), at = Math.max(shown.lastIndexOf("/"), shown.lastIndexOf(": ") + 1);
	const end = shown.length > GRAPH_LETTERS && at > 0 ? "\u2026" + shown.slice(at) : shown;

	return end.length > GRAPH_LETTERS ? end.slice(0, GRAPH_LETTERS - 1) + "\u2026" : end;
}

function graphLabel(n) {
	if (n.more !== null)
		return "and " + countText(n.more) + " more";
	return n.task ? clean(n.name) + ", " + clean(n.kind) + ", " + n.state + (n.start_us === null ? "" :
		", " + timeText(n.wall_us)) + (n.path ? ", on the path" : "") : clean(n.name) + ", without a recorded task";
}

/* Between two points, first and last downwards. */
function graphCurve(points) {
	let d = "M" + points[0] + " " + points[1];

	for (let i = 2; i < points.length; i += 2) {
		const [x0, y0, x1, y1] = points.slice(i - 2, i + 2), middle = (y0 + y1) / 2;

		d += "C" + x0 + " " + middle + " " + x1 + " " + middle + " " + x1 + " " + y1;
	}
	return d;
}

function drawGraphEdge(e, group) {
	const loop = e.from === e.to, p = e.points;
	const d = loop ? "M" + p[0] + " " + p[1] + "C" + p[2] + " " + p[1] + " " + p[2] + " " + p[5] + " " + p[4] + " " + p[5] :
		graphCurve(p);
	const path = makeSvg("path", { "class": "edge " + e.kind + (e.path ? " path" : ""), d,
				   "marker-end": "url(#graph-arrow)" }, group);

	makeSvg("title", {}, path, GRAPH_KINDS[e.kind] || e.kind);
}

function drawGraphNode(n, i, group) {
	const d = graph.data, middle = n.x + d.node_width / 2;
	const g = makeSvg("g", { "class": "node " + (n.more !== null ? "more" : n.task ? n.state : "name") +
		(n.path ? " path" : "") + (d.around && d.around.task === n.task ? " middle" : "") }, group);

	makeSvg("title", {}, g, graphLabel(n));
	const box = makeSvg("rect", { x: n.x, y: n.y, width: d.node_width, height: d.node_height, rx: 4 }, g);

	if (n.colour !== undefined)
		box.style.setProperty("--d", "var(--c" + n.colour + ")");
	if (n.colour !== undefined)
		makeSvg("rect", { "class": "mark", x: n.x, y: n.y, width: 6, height: d.node_height, rx: 2 }, g).style.fill = "var(--c" + n.colour + ")";
	makeSvg("text", { x: middle, y: n.y + (n.task ? 17 : 25) }, g, n.more !== null ? graphLabel(n) : graphShort(n.name));
	if (n.task) {
		makeSvg("text", { "class": "small", x: middle, y: n.y + 32 }, g, graphShort(n.kind + ", " +
			(n.state === "done" ? timeText(n.wall_us) : n.state)));
	}
	g.addEventListener("click", () => {
		clearTimeout(graph.timer);
		if (graph.moved)
			return;
		graphChoose(i);
		graph.timer = setTimeout(() => graphEnter(i), GRAPH_CLICK_MS);
	});
	g.addEventListener("dblclick", () => {
		clearTimeout(graph.timer);
		if (n.task)
			visit(hrefOf("task", { task: n.task }));
	});
	return g;
}

/* Show the graph around it; more of them. */
function graphEnter(i) {
	const n = graph.data.nodes[i];

	if (n.more !== null) {
		keepParam("count", Math.min(300, graphParam("count", 60) * 2));
		graphShow();
	} else if (n.task) {
		graphAround(n.task);
	}
}

function drawGraph() {
	const d = graph.data, defs = makeSvg("defs");

	graph.svg.replaceChildren(defs);
	makeSvg("path", { d: "M0 0L7 3.5L0 7Z" }, makeSvg("marker", { id: "graph-arrow", viewBox: "0 0 7 7", refX: 7, refY: 3.5,
		markerWidth: 9, markerHeight: 9, markerUnits: "userSpaceOnUse", orient: "auto" }, defs));
	const edges = makeSvg("g", {}, graph.svg), nodes = makeSvg("g", {}, graph.svg);

	for (const e of d.edges)
		drawGraphEdge(e, edges);
	graph.nodes = d.nodes.map((n, i) => drawGraphNode(n, i, nodes));
	setText(graph.answer, graphSentence());
	graph.box.setAttribute("aria-label", "Graph. " + graph.answer.textContent + " Arrow keys choose a task, Enter shows what is around it, t its page, + and - zoom, 0 shows all.");
	graphSetView();
	graphChoose(graph.chosen);
}

function graphSentence() {
	const d = graph.data;

	if (d.around) {
		return clean(d.around.name) + " needs " + countOf(d.needs, "task") + " directly, and " +
			countOf(d.needed_by, "task") + (d.needed_by === 1 ? " needs it." : " need it.") +
			(d.hidden ? " " + countOf(d.hidden, "task") + " within these steps " + (d.hidden === 1 ? "is" : "are") + " not shown." : "") +
			(d.known ? "" : " No dependencies were recorded: the picture has only the lines of recipes.");
	}
	return "Cycle " + (d.cycle + 1) + ": " + countOf(d.nodes.length + d.hidden, "target") + "." +
		(d.hidden ? " " + countText(d.hidden) + " are not shown." : "") +
		(d.whole ? "" : " How it closes was not recorded: a target without a recipe has no task.");
}

/* Zoom and move: the part of the picture that is shown */

function graphSetView() {
	const v = graph.view;

	if (v)
		graph.svg.setAttribute("viewBox", v.x + " " + v.y + " " + v.width + " " + v.height);
}

function graphScaleBy(least) {
	const d = graph.data, width = Math.max(200, graph.box.clientWidth), height = graph.box.clientHeight;
	const scale = clamp(Math.min(width / (d.width + 16), height / (d.height + 16)), least, 1);

	graph.view = { x: d.width / 2 - width / scale / 2, y: d.height / 2 - height / scale / 2,
		       width: width / scale, height: height / scale };
}

/* Where a part of the picture begins: its middle in view, nothing but the picture when it is larger. */
function graphBegin(middle, shown, all) {
	return all <= shown ? all / 2 - shown / 2 : clamp(middle - shown / 2, -8, all + 8 - shown);
}

/* Small graphs keep their size; of large ones what is around the first task is shown, readable. */
function graphFit() {
	const d = graph.data, n = d.nodes[0];

	graphScaleBy(.85);
	if (n) {
		graph.view.x = graphBegin(n.x + d.node_width / 2, graph.view.width, d.width);
		graph.view.y = graphBegin(n.y + d.node_height / 2, graph.view.height, d.height);
	}
	graphSetView();
}

function graphShowAll() {
	graphScaleBy(0);
	graphSetView();
}

function graphZoom(factor, x, y) {
	const v = graph.view, width = clamp(v.width * factor, 100, 40000), k = width / v.width;

	v.x += (v.width - v.width * k) * x;
	v.y += (v.height - v.height * k) * y;
	v.width = width;
	v.height *= k;
	graphSetView();
}

function makeGraphPointer() {
	const { box } = graph, fingers = new Map();
	const spot = e => {
		const r = box.getBoundingClientRect();

		return [(e.clientX - r.left) / Math.max(1, r.width), (e.clientY - r.top) / Math.max(1, r.height)];
	};

	box.addEventListener("wheel", e => {
		e.preventDefault();
		graphZoom(Math.exp(clamp(e.deltaY / 400, -1, 1)), ...spot(e));
	}, { passive: false });
	box.addEventListener("pointerdown", e => {
		fingers.set(e.pointerId, spot(e));
		graph.moved = false;
	});
	box.addEventListener("pointermove", e => {
		const before = fingers.get(e.pointerId), now = spot(e), v = graph.view;

		if (!before || !v)
			return;
		if (fingers.size === 2) {
			const other = [...fingers].find(([id]) => id !== e.pointerId)[1];
			const apart = (a, b) => Math.hypot((a[0] - b[0]) * v.width, (a[1] - b[1]) * v.height);

			graphZoom(clamp(apart(before, other) / Math.max(1, apart(now, other)), .5, 2), ...other);
			graph.moved = true;
		} else if (graph.moved || Math.hypot(...now.map((p, i) => (p - before[i]) * 500)) > 4) {
			if (!graph.moved)
				box.setPointerCapture(e.pointerId);
			graph.moved = true;
			v.x -= (now[0] - before[0]) * v.width;
			v.y -= (now[1] - before[1]) * v.height;
			graphSetView();
		} else {
			return;
		}
		fingers.set(e.pointerId, now);
	});
	for (const type of ["pointerup", "pointercancel"])
		box.addEventListener(type, e => fingers.delete(e.pointerId));
}

/* Keys */

function graphChoose(i) {
	const d = graph.data, n = d.nodes[i];

	graph.chosen = i;
	graph.nodes.forEach((g, k) => g.classList.toggle("chosen", k === i));
	for (const [k, e] of d.edges.entries())
		graph.svg.children[1].children[k].classList.toggle("near", e.from === i || e.to === i);
	setText(graph.status, n ? graphLabel(n) : "");
	graph.open.hidden = !n || !n.task;
	if (n && n.task)
		graph.open.href = hrefOf("task", { task: n.task });
}

/* The nearest node in a direction; the picture follows. */
function graphMove(dx, dy) {
	const d = graph.data, here = d.nodes[graph.chosen] || d.nodes[0], v = graph.view;
	let best = -1, least = Infinity;

	d.nodes.forEach((n, i) => {
		const along = (n.x - here.x) * dx + (n.y - here.y) * dy;
		const aside = Math.abs((n.x - here.x) * dy) + Math.abs((n.y - here.y) * dx);

		if (along > 0 && along + 2 * aside < least) {
			least = along + 2 * aside;
			best = i;
		}
	});
	if (best < 0)
		return;
	graphChoose(best);
	const n = d.nodes[best];

	v.x = clamp(v.x, n.x + d.node_width + 8 - v.width, n.x - 8);
	v.y = clamp(v.y, n.y + d.node_height + 8 - v.height, n.y - 8);
	graphSetView();
}

function graphKey(e) {
	const n = graph.data && graph.data.nodes[graph.chosen];
	const act = { ArrowUp: () => graphMove(0, -1), ArrowDown: () => graphMove(0, 1), ArrowLeft: () => graphMove(-1, 0),
		ArrowRight: () => graphMove(1, 0), "+": () => graphZoom(.7, .5, .5), "=": () => graphZoom(.7, .5, .5),
		"-": () => graphZoom(1.4, .5, .5), "0": graphShowAll, Enter: () => n && graphEnter(graph.chosen),
		t: () => n && n.task && visit(hrefOf("task", { task: n.task })) }[e.key];

	if (!act || !graph.data || e.ctrlKey || e.altKey || e.metaKey)
		return;
	e.preventDefault();
	e.stopPropagation();
	act();
}

/* What need not be */

function graphRow(body, cells) {
	const row = make("tr", {}, body);

	cells.forEach((c, i) => {
		const cell = make(i ? "td" : "th", i ? {} : { scope: "row", "class": "name" }, row, typeof c === "string" ? c : undefined);

		if (typeof c !== "string")
			cell.appendChild(c);
	});
}

function graphCycles(parent, c) {
	make("h2", {}, parent, "Cycles of dependencies");
	if (!c.n_items) {
		make("p", {}, parent, c.has_output ? "The output of the build reports none." :
			"Not known: build tools report cycles in their output, which was not recorded (record --log).");
		return;
	}
	make("p", {}, parent, countOf(c.n_items, "cycle") + ". The build tool dropped a dependency of each, or gave up.");
	const body = makeTable(parent, "Cycles", ["Targets", "Number", "Dependencies", "Tasks", "Wall time of these"], "class-wide");

	for (const item of c.items) {
		const show = make("a", { href: hrefOf("graph", { cycle: item.cycle }) }, null,
			item.names.map(clean).join(", ") + (item.n_objects > item.names.length ? " ..." : ""));

		graphRow(body, [show, countText(item.n_objects), countText(item.n_edges), countText(item.n_tasks), timeText(item.wall_us)]);
	}
}

function graphProcesses(parent, p) {
	make("h2", {}, parent, "Processes that outlived their task");
	if (!p.n_items) {
		make("p", {}, parent, p.n_recorded ? "None of " + countOf(p.n_recorded, "recorded process").replace("processs", "processes") + "." :
			"Not known: processes were not recorded (record --processes).");
		return;
	}
	const body = makeTable(parent, "Processes", ["Command", "Process", "Lived on for", "Largest memory", "Of the task"], "class-wide");

	for (const x of p.items) {
		graphRow(body, [clean(x.command), String(x.pid), timeText(x.outlived_us) + (x.running ? " and still ran" : ""),
			x.max_rss_kb === null ? "not known" : bytesText(x.max_rss_kb * 1024),
			x.of ? link("task", { task: x.of.task }, x.of.name) : ""]);
	}
}

function graphOutputs(parent, o, running) {
	const rest = o.items.filter(x => !x.goal);

	make("h2", {}, parent, "Outputs that nobody waited for");
	if (!o.known) {
		make("p", {}, parent, running ? "Not known before the build has ended: tasks that wait for them may not have begun." :
			"Not known: no dependencies were recorded.");
		return;
	}
	make("p", {}, parent, "No recorded task waited for " + (o.n_items === 1 ? "this target. It is a goal of the build, " : "these " +
		countOf(o.n_items, "target") + ". They are goals of the build, ") +
		"or work that nobody needed. What reads a file without waiting for it was not recorded, nor what a target without a recipe needs.");
	const body = makeTable(parent, "Outputs", ["Target", "Kind", "Tasks", "Wall time"], "class-wide");

	for (const x of rest)
		graphRow(body, [link("task", { task: x.task }, x.name), clean(x.kind), countText(x.n_tasks), timeText(x.wall_us)]);
	if (rest.length < o.items.length)
		make("p", { "class": "faint" }, parent, countOf(o.items.length - rest.length, "further target") + ": the command line names them.");
}

async function graphGarbage() {
	const g = await api("/api/v1/garbage", { count: 100 });

	graph.garbage.replaceChildren();
	graphCycles(graph.garbage, g.cycles);
	graphProcesses(graph.garbage, g.processes);
	graphOutputs(graph.garbage, g.outputs, g.is_running);
}

function makeGraphSteps(parent, key, text) {
	const label = make("label", {}, parent, text + " ");
	const field = make("input", { type: "number", min: 0, max: 50, value: graphParam(key, 2) }, label);

	field.addEventListener("change", () => {
		keepParam(key, clamp(Math.round(Number(field.value)) || 0, 0, 50));
		graphShow();
	});
}

pages.graph = {
	async make(main) {
		graph.answer = make("p", { "class": "tracker-answer", role: "status" }, main);
		const tools = make("div", { "class": "tools" }, main);

		makeGraphSteps(tools, "up", "Steps up");
		makeGraphSteps(tools, "down", "down");
		make("button", { type: "button" }, tools, "Whole picture").addEventListener("click", graphShowAll);
		graph.box = make("div", { "class": "graph-box", tabindex: 0, role: "application" }, main);
		graph.svg = makeSvg("svg", { role: "img", "aria-label": "Dependencies" }, graph.box);
		graph.box.addEventListener("keydown", graphKey);
		makeGraphPointer();
		const line = make("p", { "class": "graph-status" }, main);

		graph.status = make("span", { role: "status" }, line);
		make("span", {}, line, " ");
		graph.open = make("a", { href: "#", hidden: "" }, line, "its page");
		make("p", { "class": "faint" }, main, "A click shows what is around a task, a double click its page. Thick lines are the path that the end of the build waited for.");
		graph.garbage = make("div", {}, main);
		await graphLoad();
		new ResizeObserver(() => graph.data && graphFit()).observe(graph.box);
		graphGarbage().catch(e => failed(graph.garbage, e));
		if (graph.data.is_running) {
			const stop = every(GRAPH_GROW_MS, async () => {
				await graphLoad();
				if (!graph.data.is_running)
					stop();
			});
		}
	},
};
