/* SPDX-License-Identifier: MIT */
/* The archives of inspections of a recording: opened, two snapshots compared, removed. */

const INSPECTIONS_MS = 5000;
const INSPECTIONS_RULES = ["gcc", "clang", "lld", "mold", "ld", "rustc", "jvm", "python", "default"];
const inspections = { list: [], sheet: null, control: false, rules: "" };

function inspectionsName(i) {
	return i.archive.split("/").pop();
}

function inspectionsState(i) {
	return i.runs ? "running" : i.end || "killed";
}

function inspectionsAt(item) {
	return inspections.list[item] || { archive: "", program: "" };
}

function inspectionsOpen(cell, item) {
	const i = inspectionsAt(item);

	cell.textContent = "";
	cell.append(make("a", { href: "/inspection" + queryText({ rec: recording(), archive: inspectionsName(i), rules: inspections.rules }) }, null,
		clean(i.program + " (" + i.pid + ")")));
}

/* What is done with the marked one */
function inspectionsChosen() {
	const i = inspections.list[inspections.sheet.chosen()], n = i ? i.snapshots || 0 : 0;

	find("#inspections-remove").disabled = !i || i.runs || !inspections.control;
	find("#inspections-compare").hidden = n < 2;
	for (const field of document.querySelectorAll("#inspections-compare input"))
		field.max = n;
	if (n)
		find("#inspections-last").value = n;
}

async function inspectionsRemove() {
	const i = inspections.list[inspections.sheet.chosen()];

	if (!i || !confirm("Remove the archive " + inspectionsName(i) + "?"))
		return;
	try {
		await del("/api/v1/inspection/" + encodeURIComponent(inspectionsName(i)) + queryText({ rec: recording() }));
		inspections.sheet.table.choose(-1);
		await inspectionsUpdate();
	} catch (e) {
		failed(find("#main"), e);
	}
}

/* Classes of memory in two snapshots */

function inspectionsClass(body, c, depth, base, shown) {
	const row = make("tr", {}, body), name = make("th", { scope: "row" }, row, clean(c.name));
	const [was, is] = [base, shown].map(n => c.snapshots[n - 1].rss_kb);

	name.style.paddingLeft = 6 + 16 * depth + "px";
	make("td", {}, row, bytesText(was * 1024));
	make("td", {}, row, bytesText(is * 1024));
	make("td", {}, row, (is < was ? "\u2212" : "+") + bytesText(Math.abs(is - was) * 1024));
	c.classes.forEach(below => inspectionsClass(body, below, depth + 1, base, shown));
}

async function inspectionsCompare(base, shown) {
	const archive = inspectionsName(inspectionsAt(inspections.sheet.chosen())), box = find("#inspections-growth");
	const o = await api("/api/v1/inspection", { archive, base, snapshot: shown, rules: inspections.rules });

	box.replaceChildren(make("h2", {}, null, clean("What grew in " + o.process.program + " (" + o.process.pid + ")")),
		make("p", {}, null, clean(o.summary)));
	const body = makeTable(box, "What grew", ["Class of memory", "RSS in snapshot " + base,
			       "in snapshot " + shown, "Growth"], "class-wide");

	o.memory_classes.forEach(c => inspectionsClass(body, c, 0, base, shown));
}

async function inspectionsUpdate() {
	const o = await api("/api/v1/inspections");

	inspections.list = o.inspections;
	setText(find("#inspections-answer"), !o.n_inspections ?
		"The memory of no process of this build was inspected. Begin with a process, or record with --inspect." :
		countOf(o.n_inspections, "inspection") + ", the newest first.");
	inspections.sheet.update();
}

pages.inspections = {
	async make(main) {
		setTitle("Inspections");
		make("p", { id: "inspections-answer", role: "status" }, main);
		const tools = make("div", { "class": "tools" }, main);
		const remove = make("button", { type: "button", id: "inspections-remove", disabled: "" }, tools, "Remove");
		const compare = make("form", { id: "inspections-compare", hidden: "" }, tools);
		const fields = ["first", "last"].map(name => {
			const label = make("label", {}, compare, name === "first" ? "Compare snapshot " : " with ");

			return make("input", { type: "number", id: "inspections-" + name, min: 1, value: 1, required: "" }, label);
		});

		make("button", { type: "submit" }, compare, "Compare");
		compare.addEventListener("submit", e => {
			e.preventDefault();
			inspectionsCompare(Number(fields[0].value), Number(fields[1].value)).catch(error => failed(main, error));
		});
		const rules = make("select", { id: "inspections-rules" }, make("label", {}, tools, "Classes of memory by "));

		for (const r of ["", ...INSPECTIONS_RULES])
			make("option", { value: r }, rules, r ? "the rules " + r : "the rules of the program");
		rules.value = inspections.rules = INSPECTIONS_RULES.includes(core.params.get("rules")) ? core.params.get("rules") : "";
		rules.addEventListener("change", () => {
			inspections.rules = rules.value;
			keepParam("rules", rules.value);
			inspections.sheet.update();
		});
		inspections.control = (await api("/api/v1/", { rec: "" })).control;
		if (!inspections.control)
			addReadsOnly(tools);
		remove.addEventListener("click", inspectionsRemove);
		inspections.sheet = makeSheet({
			id: "inspections", parent: main, label: "Inspections", what: "inspection", start: "start",
			columns: [
				{ id: "program", title: "Process", width: "minmax(140px,1.2fr)", text: item => inspectionsAt(item).program,
				  fill: inspectionsOpen },
				{ id: "start", title: "Begin", width: "170px", numeric: true, key: item => inspectionsAt(item).start_us,
				  text: item => startText(new Date(inspectionsAt(item).start_us / 1000).toISOString()) + " UTC" },
				{ id: "duration", title: "Duration", width: "84px", numeric: true,
				  key: item => processesKnown(inspectionsAt(item).duration_us),
				  text: item => inspectionsAt(item).duration_us === null ? "" : timeText(inspectionsAt(item).duration_us) },
				{ id: "taken", title: "Snapshots", width: "84px", numeric: true,
				  key: item => processesKnown(inspectionsAt(item).snapshots),
				  text: item => inspectionsAt(item).snapshots === null ? "" : String(inspectionsAt(item).snapshots) },
				{ id: "heap", title: "Heap", width: "76px", text: item => inspectionsAt(item).heap || "" },
				{ id: "task", title: "Task", width: "minmax(80px,1fr)", text: item => inspectionsAt(item).task || "" },
				{ id: "end", title: "End", width: "minmax(120px,1.5fr)", text: item => inspectionsState(inspectionsAt(item)) },
			],
			all: () => inspections.list.map((_, i) => i),
			choose: inspectionsChosen,
			narrow: ["program", "taken"],
		});
		make("div", { id: "inspections-growth" }, main);
		every(INSPECTIONS_MS, inspectionsUpdate);
	},
};
