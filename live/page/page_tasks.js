/* SPDX-License-Identifier: MIT */
/* Background tasks: how far each is, its messages, its result; cancel one or all. */

const TASKS_MS = 1000;
const tasks = { open: new Set() };

function tasksState(t) {
	return t.state === "running" ? t.percent + " %, " + timeText(t.duration_us) : t.state + " after " + timeText(t.duration_us);
}

function tasksOne(t) {
	const item = make("li", { "class": "tasks-one" }), head = make("div", { "class": "tools" }, item);

	make("strong", {}, head);
	make("span", { "class": "faint" }, head);
	make("button", { type: "button" }, head).addEventListener("click", () => tasksDelete(t.id));
	make("progress", { max: 100, "aria-label": "progress of " + clean(t.title) }, item);
	make("p", { "class": "tasks-message" }, item);
	make("p", { "class": "tasks-result" }, item);
	const details = make("details", {}, item);

	make("summary", {}, details, "Messages");
	make("ol", { "class": "tasks-log" }, details);
	details.addEventListener("toggle", () => {
		if (details.open)
			tasks.open.add(t.id);
		else
			tasks.open.delete(t.id);
		tasksLog(t.id, details).catch(e => failed(item, e));
	});
	return item;
}

function tasksFill(item, t) {
	const [title, state, button] = item.firstChild.children, result = item.querySelector(".tasks-result");

	setText(title, clean(t.title));
	setText(state, clean(tasksState(t)));
	setText(button, t.state === "running" ? "Cancel" : "Remove");
	button.setAttribute("aria-label", button.textContent + ": " + clean(t.title));
	item.querySelector("progress").value = t.percent;
	setText(item.querySelector(".tasks-message"), clean(t.message));
	if (!result.firstChild && t.state === "done" && t.archive)
		result.append(make("a", { href: "/inspection" + queryText({ rec: t.recording, archive: t.archive }) }, null,
			"Open the inspection"));
	else if (!result.firstChild && t.state !== "running" && t["do"] === "inspect" && !t.archive)
		result.append(link("inspections", {}, "Inspections of this build"));
	else if (!result.firstChild && t.state === "done" && t.result_name)
		result.append(make("a", { href: "/api/v1/tasks/" + t.id + "/result", download: t.result_name }, null,
			"Save " + t.result_name));
}

async function tasksLog(id, details) {
	if (!details.open)
		return;
	const t = await api("/api/v1/tasks/" + id, { rec: "" });
	let n = 0;

	keyed(details.querySelector("ol"), t.progress.map(p => [n++, p]), p => String(p[0]), () => make("li"),
		(item, p) => setText(item, p[1][0] + " %  " + clean(p[1][1])));
}

/* Starting charts, and the report about an archive; the list shows them. */

function tasksButton(parent, text, body) {
	const button = make("button", { type: "button" }, parent, text);

	button.addEventListener("click", async () => {
		button.disabled = true;
		try {
			await post("/api/v1/tasks", Object.assign({ rec: recording() }, body()));
			worked(find("#main"));
			await tasksUpdate();
		} catch (e) {
			failed(find("#main"), e);
		}
		button.disabled = false;
	});
}

function tasksSelect(parent, label, values) {
	const select = make("select", {}, make("label", {}, parent, label + " "));

	for (const value of values)
		make("option", { value }, select, value);
	return select;
}

function tasksStarts(parent, serves) {
	const tools = make("div", { "class": "tools", id: "tasks-starts" }, parent);

	if (serves === "archive") {
		tasksButton(tools, "Write the report about the archive", () => ({ "do": "report" }));
		return;
	}
	const chart = tasksSelect(tools, "Draw", ["bootchart", "cpu", "disk", "memory"]);
	const format = tasksSelect(tools, "as", ["svg", "png", "pdf"]);
	const fit = () => {
		format.disabled = chart.value === "bootchart";
		if (format.disabled)
			format.value = "svg";
	};

	chart.addEventListener("change", fit);
	fit();
	tasksButton(tools, "Draw the chart", () => ({ "do": "chart", chart: chart.value, format: format.value }));
}

async function tasksDelete(id) {
	try {
		await del("/api/v1/tasks" + (id ? "/" + id : ""));
		await tasksUpdate();
	} catch (e) {
		failed(find("#main"), e);
	}
}

async function tasksUpdate() {
	const list = (await api("/api/v1/tasks", { rec: "" })).tasks, running = list.filter(t => t.state === "running").length;

	keyed(find("#tasks-list"), list, t => String(t.id), tasksOne, tasksFill);
	setText(find("#tasks-answer"), !list.length ? "No background task was started here; pages of processes start inspections." :
		running ? countOf(running, "task") + " running." : "No task runs.");
	find("#tasks-cancel").disabled = !running;
	for (const t of list) {
		if (tasks.open.has(t.id))
			await tasksLog(t.id, find("#tasks-list > [data-key=\"" + t.id + "\"] details"));
	}
}

pages.tasks = {
	async make(main) {
		setTitle("Background tasks");
		const answer = make("p", { id: "tasks-answer", role: "status" }, main);

		const server = await api("/api/v1/", { rec: "" });

		if (!server.control) {
			setText(answer, "Background tasks are inspections of memory, call stacks, reports and large charts. " +
				"This server only reads: start buildbeat serve with --allow-control to begin them.");
			make("p", {}, main).append(link("inspections", {}, "Inspections that were made"));
			return;
		}
		const tools = make("div", { "class": "tools" }, main);
		const button = make("button", { type: "button", id: "tasks-cancel" }, tools, "Cancel all");

		button.addEventListener("click", () => tasksDelete(0));
		tools.append(link("inspections", {}, "Inspections"));
		tasksStarts(main, server.serves);
		make("ul", { id: "tasks-list" }, main);
		every(TASKS_MS, tasksUpdate);
	},
};
