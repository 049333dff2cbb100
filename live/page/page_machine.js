/* SPDX-License-Identifier: MIT */
/* How busy the machine is on which the server runs: processors, memory, disks, pressure, load. */

const MACHINE_MS = 2000, MACHINE_SAMPLES = 120;
const MACHINE_TIMES = [["user", "programs", "var(--c0)"], ["system", "the kernel", "var(--c5)"],
		       ["iowait", "idle, waiting for disks", "var(--c1)"], ["steal", "other virtual machines", "var(--c3)"],
		       ["idle", "idle", "var(--grid)"]];
const MACHINE_MEMORY = [["anonymous", "of programs", "var(--c0)"], ["kernel", "of the kernel", "var(--c5)"],
			["cache", "cached files", "var(--c2)"], ["other", "everything else", "var(--c7)"],
			["free", "free", "var(--grid)"]];
const MACHINE_PRESSURE = [["cpu_some", "for CPU, some"], ["memory_some", "for memory, some"], ["memory_full", "for memory, all"],
			  ["io_some", "for disks, some"], ["io_full", "for disks, all"]];
const machine = { samples: [], sparks: {} };

/* Parts of a whole beside each other: parts is a list of [share, colour]. */
function drawMachineBar(box, parts) {
	let x = 0;

	keyed(box, parts.map(([share, colour], i) => ({ i, share, colour })), p => String(p.i),
	      () => makeSvg("rect", { y: 0, height: 1 }), (rect, p) => {
		rect.setAttribute("x", x.toFixed(2));
		rect.setAttribute("width", Math.max(0, p.share * 100).toFixed(2));
		rect.style.fill = p.colour;
		x += Math.max(0, p.share * 100);
	});
}

function makeMachineBar(label) {
	const bar = make("div", { "class": "machine-bar" });

	make("span", {}, bar, label);
	make("span", { "class": "value" }, bar);
	makeSvg("svg", { viewBox: "0 0 100 1", preserveAspectRatio: "none", "aria-hidden": "true" }, bar);
	return bar;
}

function fillMachineBar(bar, text, parts) {
	setText(bar.children[1], text);
	drawMachineBar(bar.children[2], parts);
}

function makeMachineKeys(parent, label, list) {
	const keys = make("ul", { "class": "machine-keys", "aria-label": label }, parent);

	return list.map(([, text, colour]) => {
		const item = make("li", {}, keys);

		makeSvg("rect", { width: 12, height: 12 }, makeSvg("svg", { viewBox: "0 0 12 12", "aria-hidden": "true" }, item)).style.fill = colour;
		item.append(text);
		return make("span", { "class": "faint" }, item);
	});
}

function machineBusy(cpu) {
	return (100 - cpu.idle_percent - cpu.iowait_percent) / 100;
}

function drawMachineCores(cpus) {
	const cores = cpus.filter(c => c.cpu !== null);

	keyed(machine.cores, cores, c => String(c.cpu), c => makeMachineBar("core " + c.cpu), (bar, c) => {
		fillMachineBar(bar, percentText(machineBusy(c)) + " busy",
			MACHINE_TIMES.map(([id, , colour]) => [c[id + "_percent"] / 100, colour]));
	});
}

function drawMachineMemory(m) {
	const kb = id => id === "other" ? Math.max(0, m.total_kb - m.free_kb - m.cache_kb - m.anonymous_kb - m.kernel_kb) : m[id + "_kb"];
	const swap = m.swap_total_kb ? "; swap: " + bytesText(m.swap_kb * 1024) + " of " + bytesText(m.swap_total_kb * 1024) : "; no swap";

	keyed(machine.memory, [m], () => "memory", () => makeMachineBar("memory"), bar => {
		fillMachineBar(bar, bytesText(m.available_kb * 1024) + " of " + bytesText(m.total_kb * 1024) + " available" + swap,
			MACHINE_MEMORY.map(([id, , colour]) => [kb(id) / m.total_kb, colour]));
	});
	machine.memoryKeys.forEach((span, i) => setText(span, " " + bytesText(kb(MACHINE_MEMORY[i][0]) * 1024)));
}

function machineRate(kb) {
	return kb === null ? "not known" : bytesText(kb * 1024) + "/s";
}

function machineShare(percent) {
	return percent === null || percent === undefined ? "not known" : percentText(percent / 100);
}

/* Rows of texts; the first one names the row. */
function drawMachineRows(body, rows) {
	keyed(body, rows, r => r[0], r => {
		const row = make("tr");

		r.forEach((_, i) => make(i ? "td" : "th", i ? { "class": "number" } : { scope: "row" }, row));
		return row;
	}, (row, r) => r.forEach((text, i) => setText(row.children[i], clean(text))));
}

const MACHINE_LINES = [
	["cpu", "CPU", o => machineBusy(o.cpus[0]), v => percentText(v), 1],
	["memory", "Memory in use", o => (o.memory.total_kb - o.memory.available_kb) * 1024, v => bytesText(v), 0],
	["load", "Load average", o => o.load, v => v.toFixed(2), 0],
	["pressure", "Some program waits for CPU", o => o.pressure.cpu_some_percent, v => percentText(v / 100), 100],
	["disk", "Some program waits for disks", o => o.pressure.io_some_percent, v => percentText(v / 100), 100],
];

function drawMachineLines() {
	for (const [id, label, of, text, most] of MACHINE_LINES) {
		const values = machine.samples.map(o => { const v = of(o); return v === undefined ? null : v; });

		if (!values.some(v => v !== null))
			continue;
		machine.sparks[id] = machine.sparks[id] || makeSpark(machine.lines, { label, text, most });
		machine.sparks[id].update(values);
	}
	const first = machine.samples[0];

	setText(machine.span, machine.samples.length < 2 ? "They grow while this page is open." :
		"The newest " + countText(machine.samples.length) + " readings, from " +
		timeText((Date.now() - Date.parse(first.time)) * 1000) + " ago to now.");
}

function drawMachine(o) {
	const cores = o.cpus.filter(c => c.cpu !== null).length, all = o.cpus[0];

	setText(machine.answer, "The " + countOf(cores, "core") + " " + (cores === 1 ? "is " : "are ") + percentText(machineBusy(all)) +
		" busy. " + countOf(o.running_threads, "thread") + (o.running_threads === 1 ? " runs or is" : " run or are") + " ready to, " +
		countText(o.blocked_threads) + (o.blocked_threads === 1 ? " waits" : " wait") + " for disks. Load average: " + o.load.toFixed(2) + ".");
	drawMachineCores(o.cpus);
	drawMachineMemory(o.memory);
	drawMachineRows(machine.disks, o.disks.map(d => [d.name, machineRate(d.read_kb_per_s), machineRate(d.written_kb_per_s),
							 machineShare(d.busy_percent)]));
	machine.noDisks.hidden = o.disks.length > 0;
	machine.disks.closest(".scroll").hidden = !o.disks.length;
	const known = "cpu_some_percent" in o.pressure;

	drawMachineRows(machine.pressure, known ? MACHINE_PRESSURE.map(([id, text]) =>
		[text, machineShare(o.pressure[id + "_percent"])]) : []);
	machine.noPressure.hidden = known;
	machine.pressure.closest(".scroll").hidden = !known;
	drawMachineLines();
}

pages.machine = {
	async make(main) {
		setTitle("Machine");
		machine.answer = make("p", { "class": "tracker-answer" }, main);
		make("p", { "class": "faint" }, main, "The machine on which the server runs, now. What a build recorded of its machine is in its chart.");
		make("h2", {}, main, "Processors");
		machine.cores = make("div", { "class": "machine-cores" }, main);
		makeMachineKeys(main, "Colours of processors", MACHINE_TIMES);
		make("h2", {}, main, "Memory");
		machine.memory = make("div", {}, main);
		machine.memoryKeys = makeMachineKeys(main, "Colours of memory", MACHINE_MEMORY);
		make("h2", {}, main, "Disks");
		machine.disks = makeTable(main, "Disks", ["Disk", ["Read", true], ["Written", true], ["Busy", true]]);
		machine.noDisks = make("p", { hidden: "hidden" }, main, "No disk is visible here.");
		make("h2", {}, main, "Pressure");
		machine.pressure = makeTable(main, "Pressure", ["Programs wait", ["Share of the time", true]]);
		machine.noPressure = make("p", { hidden: "hidden" }, main, "This kernel does not measure pressure.");
		make("h2", {}, main, "Over time");
		machine.span = make("p", { "class": "faint" }, main);
		machine.lines = make("div", { "class": "overview-sparks" }, main);
		every(MACHINE_MS, async () => {
			const o = await api("/api/v1/stats", { rec: "" });

			machine.samples = [...machine.samples, o].slice(-MACHINE_SAMPLES);
			drawMachine(o);
		});
	},
};
