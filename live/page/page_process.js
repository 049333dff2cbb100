/* SPDX-License-Identifier: MIT */
/* One process that runs: what it does now, its last minutes, and all that /proc says of it. */

const PROCESS_MS = 1000, PROCESS_SPAN_US = 120e6;
const process = { pid: 0, start: "", open: new Set(), maps: [], control: false, stop: null };

function processQuery() {
	return { pid: process.pid, start: process.start };
}

/* History: two metrics with an axis each, the first as a line on an area, the second as bars or a line */

/* A sample is where its age puts it: they are less frequent when nobody watches. */
function processDraw(root, width, ages, first, second) {
	const height = 110, left = 58, right = 58, bottom = 94, plot = width - left - right;
	const xOf = i => left + (1 - ages[i] / PROCESS_SPAN_US) * plot;
	const top = values => Math.max(1e-9, ...values.filter(v => v !== null));
	const draw = (o, side) => {
		const most = Math.max(o.least, top(o.values)), yOf = v => bottom - v / most * (bottom - 12);
		let d = "";

		if (o.bars) {
			o.values.forEach((v, i) => {
				if (v)
					d += "M" + xOf(i).toFixed(1) + " " + bottom + "V" + yOf(v).toFixed(1);
			});
		} else {
			let pen = "M";

			o.values.forEach((v, i) => {
				if (v === null)
					return;
				d += pen + xOf(i).toFixed(1) + " " + yOf(v).toFixed(1);
				pen = "L";
			});
		}
		makeSvg("path", { d, "class": "process-" + o.style }, root);
		makeSvg("text", { x: side ? width - right + 6 : left - 6, y: 16, "text-anchor": side ? "start" : "end" }, root,
			o.text(most));
		makeSvg("text", { x: side ? width - right + 6 : left - 6, y: bottom, "text-anchor": side ? "start" : "end" },
			root, "0");
	};

	root.replaceChildren();
	root.setAttribute("viewBox", "0 0 " + width + " " + height);
	root.setAttribute("width", width);
	root.setAttribute("height", height);
	makeSvg("path", { d: "M" + left + " " + bottom + "H" + (width - right), "class": "process-axis" }, root);
	draw(second, 1);
	draw(first, 0);
	makeSvg("text", { x: left, y: height - 2 }, root, "2 minutes ago");
	makeSvg("text", { x: width - right, y: height - 2, "text-anchor": "end" }, root, "now");
	root.setAttribute("aria-label", first.name + ": " + first.text(first.values[first.values.length - 1] || 0) +
		"; " + second.name + ": " + second.text(second.values[second.values.length - 1] || 0));
}

function processChart(parent, first, second) {
	const box = make("figure", { "class": "process-chart" }, parent), caption = make("figcaption", {}, box);
	const root = makeSvg("svg", { role: "img", "aria-label": "The newest samples" }, box);

	for (const o of [first, second]) {
		const key = make("span", { "class": "process-key" }, caption);

		makeSvg("path", { d: "M0 6H16", "class": "process-" + o.style },
			makeSvg("svg", { width: 16, height: 12, "aria-hidden": "true" }, key));
		key.append(" " + o.name);
	}
	return all => {
		const samples = all.filter(s => s.age_us <= PROCESS_SPAN_US);

		processDraw(root, Math.max(260, box.clientWidth), samples.map(s => s.age_us),
			Object.assign({ values: samples.map(first.of) }, first),
			Object.assign({ values: samples.map(second.of) }, second));
	};
}

function processFaults(s) {
	return s.minor_faults === null ? null : s.minor_faults + s.major_faults;
}

/* Lists of facts */

/* rows: a label, its text, and perhaps the id of the task that it names */
function processFacts(id, parent, rows) {
	keyed(parent, rows.filter(r => r[1] !== "" && r[1] !== null && r[1] !== undefined), r => id + r[0], () => {
		const pair = make("div");

		make("dt", {}, pair);
		make("dd", {}, pair);
		return pair;
	}, (pair, r) => {
		setText(pair.firstChild, clean(r[0]));
		if (!r[2])
			setText(pair.lastChild, clean(String(r[1])));
		else if (!pair.lastChild.firstChild)
			pair.lastChild.append(link("task", { task: r[2] }, r[1]));
	});
}

/* A section that is filled when it is open: fill(body, reply). */
function processSection(main, id, title, fill) {
	const details = make("details", { id: "process-" + id }, main);

	make("summary", {}, details, title);
	const body = make("div", {}, details);

	details.addEventListener("toggle", () => {
		if (details.open)
			process.open.add(id);
		else
			process.open.delete(id);
		if (process.last)
			fill(body, process.last);
	});
	return o => {
		if (details.open)
			fill(body, o);
	};
}

function processTable(body, id, heads, rows) {
	const lines = body.querySelector("tbody") ||
		makeTable(body, body.parentNode.firstChild.textContent, heads, "class-wide");

	keyed(lines, rows, r => id + r[0], r => {
		const row = make("tr");

		r.slice(1).forEach(() => make("td", {}, row));
		return row;
	}, (row, r) => r.slice(1).forEach((v, i) => setText(row.cells[i], clean(String(v === null || v === undefined ? "" : v)))));
}

function processDenied(body, o, name) {
	let p = body.querySelector(":scope > .denied");
	const why = o.denied[name];

	if (!p)
		p = make("p", { "class": "denied faint" }, body);
	p.hidden = !why;
	setText(p, why ? "It cannot be read: " + clean(why) + "." : "");
	return Boolean(why);
}

/* Sections */

function processEnvironment(body, o) {
	if (processDenied(body, o, "environ"))
		return;
	processTable(body, "e", ["Name", "Value"], o.environment.map((v, i) => {
		const sign = v.indexOf("=");

		return [i, sign < 0 ? v : v.slice(0, sign), sign < 0 ? "" : v.slice(sign + 1)];
	}));
}

function processFiles(body, o) {
	if (!processDenied(body, o, "fd"))
		processTable(body, "f", ["FD", "File", "Access", "Position"], o.files.map(f =>
			[f.fd, f.fd, f.path, f.access, f.position_bytes ? countText(f.position_bytes) : ""]));
}

function processThreads(body, o) {
	processTable(body, "t", ["TID", "Name", "State", "CPU", "System call", "Waits in", "Kernel stack"],
		o.thread_list.map(t => [t.tid, t.tid, t.name, PROCESSES_STATES[t.state] || t.state,
					timeText(t.cpu_ticks * 10000), t.system_call, t.wait_channel,
					t.kernel_stack ? t.kernel_stack.join("  ") : ""]));
}

function processStatus(body, o) {
	if (!processDenied(body, o, "status"))
		processTable(body, "s", ["Key", "Value"], Object.entries(o.status).map(([k, v]) => [k, k, v]));
}

function processLimits(body, o) {
	if (!processDenied(body, o, "limits"))
		processTable(body, "l", ["Limit", "Soft", "Hard", "Unit"], o.limits.map(l => [l.name, l.name, l.soft, l.hard, l.unit]));
}

/* Mappings: a table of its own, read when it is asked for */

async function processMaps(body) {
	if (body.dataset.made)
		return;
	body.dataset.made = "1";
	const address = make("input", { type: "search", "aria-label": "Address", placeholder: "address, hexadecimal" },
		make("div", { "class": "tools" }, body)), where = make("p", { role: "status" }, body);
	const bytes = key => item => process.maps[item][key] * 1024;
	const column = (id, title, key) => ({ id, title, numeric: true, width: "82px", key: bytes(key),
					      text: item => bytesText(bytes(key)(item)) });
	let o;

	try {
		o = await api("/api/v1/maps", processQuery());
	} catch (e) {
		failed(body, e);
		return;
	}
	process.maps = o.mappings;
	const sheet = makeSheet({
		id: "process-maps-table", parent: body, label: "Mappings", what: "mapping", start: "start", down: false,
		columns: [
			{ id: "start", title: "Address", width: "minmax(150px,1fr)", numeric: true, key: item => item,
			  text: item => process.maps[item].start },
			{ id: "permissions", title: "Rights", width: "64px", text: item => process.maps[item].permissions },
			column("size", "Size", "size_kb"), column("rss", "RSS", "rss_kb"), column("pss", "PSS", "pss_kb"),
			column("dirty", "Private dirty", "private_dirty_kb"), column("swap", "Swap", "swap_kb"),
			{ id: "file", title: "File", width: "minmax(160px,2fr)", text: item => process.maps[item].file },
		],
		all: () => process.maps.map((_, i) => i),
		narrow: ["rss", "file"],
	});

	sheet.update();
	setText(where, "RSS " + bytesText(o.total.rss_kb * 1024) + ", PSS " + bytesText(o.total.pss_kb * 1024) + " in all.");
	address.addEventListener("input", () => {
		const text = address.value.trim().replace(/^0x/, "");
		const value = /^[0-9a-f]{1,16}$/i.test(text) ? BigInt("0x" + text) : null;
		const m = value === null ? null : process.maps.find(x => BigInt(x.start) <= value && value < BigInt(x.end));

		setText(where, value === null ? "Not a hexadecimal address." : !m ? "This address is in no mapping." :
			"It is 0x" + (value - BigInt(m.start)).toString(16) + " bytes into " + clean(m.file || "memory without a file") +
			(m.inode ? ", at 0x" + (value - BigInt(m.start) + BigInt(m.offset_bytes)).toString(16) + " of the file." : "."));
	});
}

/* Call stacks, on request */

function processFrame(list, f) {
	const item = make("li", {}, list);

	make("strong", {}, item, clean(f.function || f.address));
	make("span", { "class": "faint" }, item, " " + clean((f.inlined ? "inlined, " : "") +
		(f.source ? f.source + (f.line ? ":" + f.line : "") : f.module || "")));
	if (!f.context)
		return;
	const text = make("pre", { tabindex: 0, "aria-label": "source lines" }, item);

	for (const [n, line] of f.context) {
		make(n === f.line ? "mark" : "span", {}, text, String(n).padStart(5) + "  " + line.replace(/[^\t\x20-\x7e\u00a0-\u200a\u2070-\u2fff\u3000-\ud7ff\uf900-\ufefe]/g, "\ufffd"));
		text.append("\n");
	}
}

function processShowStack(body, o) {
	body.replaceChildren();
	for (const t of o.threads) {
		make("h3", {}, body, clean("Thread " + t.tid + " " + t.name));
		if (t.error)
			make("p", { "class": "faint" }, body, clean(t.error));
		const list = make("ol", { "class": "process-frames" }, body);

		t.frames.forEach(f => processFrame(list, f));
	}
}

async function processStack(button, body) {
	button.disabled = true;
	setText(body, "Reading ...");
	try {
		const { id } = await post("/api/v1/tasks", Object.assign({ "do": "stack", rec: recording() }, processQuery()));
		let task;

		do {
			await new Promise(done => setTimeout(done, 200));
			task = await api("/api/v1/tasks/" + id, { rec: "" });
		} while (task.state === "running");
		if (task.state === "done")
			processShowStack(body, await api("/api/v1/tasks/" + id + "/result", { rec: "" }));
		else
			setText(body, clean(task.progress.slice(1).map(p => p[1]).join(" ")));
	} catch (e) {
		setText(body, clean(e.message));
	}
	button.disabled = false;
}

/* The dialog of an inspection */

function processField(form, label, attributes, name) {
	const box = make("label", {}, make("p", {}, form));
	const field = make(name || "input", attributes);

	if (attributes.type === "checkbox")
		box.append(field, " " + label);
	else
		box.append(label + " ", field);
	return field;
}

function processDialog(main, o) {
	const dialog = make("dialog", { id: "process-dialog", "aria-label": "Inspect the memory" }, main);
	const form = make("form", { method: "dialog" }, dialog), rights = o.rights;

	make("h2", {}, form, "Inspect the memory");
	const period = processField(form, "Seconds between snapshots", { type: "number", min: .01, max: 3600, step: "any", placeholder: "as its cost permits" });
	const count = processField(form, "Number of snapshots", { type: "number", min: 1, max: 1000, value: 10, required: "" });
	const heap = processField(form, "Also the allocations", {}, "select");

	for (const [value, text] of [["off", "no"], ["sampled", "sampled"], ["exact", "exact"]])
		make("option", { value }, heap, text);
	heap.disabled = !rights.heap.can;
	make("p", { "class": "faint" }, form, clean(rights.heap.can ?
		"Allocations are there if buildbeat counted them since the process began." : rights.heap.why_not));
	const freeze = processField(form, "Stop it during each snapshot", { type: "checkbox" });

	freeze.disabled = !rights.freeze.can;
	if (!rights.freeze.can)
		make("p", { "class": "faint" }, form, clean(rights.freeze.why_not));
	const row = make("p", {}, form), begin = make("button", { type: "submit", value: "begin" }, row, "Begin");

	make("button", { type: "button" }, row, "Cancel").addEventListener("click", () => dialog.close());
	form.addEventListener("submit", async e => {
		e.preventDefault();
		begin.disabled = true;
		try {
			await post("/api/v1/tasks", Object.assign({ "do": "inspect", rec: recording(), period_s: period.value ? Number(period.value) : null,
				count: Number(count.value), heap: heap.disabled ? "off" : heap.value, freeze: freeze.checked }, processQuery()));
			location.href = hrefOf("tasks");
		} catch (error) {
			failed(form, error);
		}
		begin.disabled = false;
	});
	return dialog;
}

/* The page */

function processChain(parent, o) {
	keyed(parent, o.chain, p => p.pid + "." + p.start_ticks, p => {
		const item = make("li");

		item.append(link("process", { pid: p.pid, start: p.start_ticks }, p.program + " (" + p.pid + ")"));
		make("span", { "class": "faint" }, item, p.command ? " " + clean(p.command) : "");
		return item;
	}, () => {});
	keyed(find("#process-children"), o.children, p => p.pid + "." + p.start_ticks, p => {
		const item = make("li");

		item.append(link("process", { pid: p.pid, start: p.start_ticks }, p.program + " (" + p.pid + ")"));
		make("span", { "class": "faint" }, item, p.command ? " " + clean(p.command) : "");
		return item;
	}, () => {});
	find("#process-children-head").hidden = !o.children.length;
}

function processAnswer(p, o) {
	const waits = o.thread_list.length ? o.thread_list[0].system_call : null;

	return p.program + " is " + (PROCESSES_STATES[p.state] || p.state) +
		(p.state === "S" && waits && waits !== "running" ? " in " + waits + "()" : "") + ", for " + timeText(p.age_us) +
		" now; it used " + timeText(p.cpu_ticks * 10000) + " of CPU time and has " + processesBytes(p.rss_kb) +
		(p.task ? ", for the task " + p.task : o.of_build ? "" : "; it is not of the build") + ".";
}

pages.process = {
	async make(main, params) {
		process.pid = Number(params.get("pid"));
		process.start = Number(params.get("start")) || "";
		setTitle("Process " + process.pid);
		const answer = make("p", { id: "process-answer", role: "status" }, main);
		const tools = make("div", { "class": "tools" }, main);
		const inspect = make("button", { type: "button", id: "process-inspect" }, tools, "Inspect its memory ...");
		const stack = make("button", { type: "button", id: "process-stack" }, tools, "Show its call stacks");
		const facts = make("dl", { "class": "task-facts" }, main), charts = make("div", { "class": "process-charts" }, main);
		const cpu = processChart(charts,
			{ name: "CPU", style: "first", of: s => s.cpu_percent, least: 100, text: v => v.toFixed(0) + " %" },
			{ name: "threads", style: "second", of: s => s.threads, least: 2, text: v => v.toFixed(0) });
		const memory = processChart(charts,
			{ name: "RSS", style: "first", of: s => s.rss_kb, least: 1024, text: v => bytesText(v * 1024) },
			{ name: "page faults", style: "bars", bars: true, of: processFaults, least: 10, text: v => countText(Math.round(v)) });
		const stacks = make("div", { id: "process-stacks" }, main);

		make("h2", {}, main, "From the build tool to this process");
		const chain = make("ol", { "class": "process-chain" }, main);

		make("h2", { id: "process-children-head" }, main, "Its children");
		make("ul", { id: "process-children", "class": "process-chain" }, main);
		const sections = [
			processSection(main, "threads", "Threads", processThreads),
			processSection(main, "files", "Open files", processFiles),
			processSection(main, "environment", "Environment", processEnvironment),
			processSection(main, "maps", "Mappings", body => processMaps(body)),
			processSection(main, "status", "Status", processStatus),
			processSection(main, "limits", "Limits", processLimits),
		];

		const { control, stacks: takes } = await api("/api/v1/", { rec: "" });

		process.control = control;
		inspect.disabled = !control;
		stack.disabled = !takes;
		if (!control)
			addReadsOnly(tools, takes ? "inspect its memory" : "");
		inspect.addEventListener("click", async () => {
			try {
				const dialog = find("#process-dialog") || processDialog(main, await api("/api/v1/capabilities", { rec: "" }));

				dialog.showModal();
			} catch (e) {
				failed(main, e);
			}
		});
		stack.addEventListener("click", () => processStack(stack, stacks));
		const stop = every(PROCESS_MS, async () => {
			let o;

			try {
				o = await api("/api/v1/process", processQuery());
			} catch (e) {
				if (e.status !== 410)
					throw e;
				stop();
				setText(answer, "Process " + process.pid + " has ended." +
					(process.last ? " This is what it had before." : ""));
				inspect.disabled = stack.disabled = true;
				return;
			}
			const p = o.processes[0];

			process.last = o;
			setTitle(p.program + " (" + p.pid + ")");
			setText(answer, clean(processAnswer(p, o)));
			processFacts("p", facts, [["Command", p.command], ["Directory", o.cwd], ["Program", o.exe],
				["Task", p.task, p.task_id], ["Threads", p.threads], ["Read", processesBytes(p.read_kb)],
				["Written", processesBytes(p.written_kb)],
				["Virtual memory", o.status && o.status.VmSize], ["Peak RSS", o.status && o.status.VmHWM],
				["Page tables", o.status && o.status.VmPTE], ["Waits in", p.wait_channel]]);
			cpu(o.samples);
			memory(o.samples);
			processChain(chain, o);
			sections.forEach(f => f(o));
		});
	},
};
