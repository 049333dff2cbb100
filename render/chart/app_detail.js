/* SPDX-License-Identifier: MIT */
/* The chosen task: a panel beside the plots */

function line(parent, name, text) {
	const e = make(HTML, "div", { "class": name }, parent);

	e.textContent = text;
	return e;
}

function endText(i) {
	const state = tasks.marks[i] & STATE, status = tasks.status.get(i);

	if (state === FAILED)
		return status >= 0 ? "failed: exit status " + status : "failed";
	if (state === KILLED)
		return "killed" + (status > 0 ? " by signal " + status : "");
	return STATES[state];
}

function sizeText(code) {
	return bytesText((Math.pow(2, code / 64) - 1) * 1024);
}

function cpuText(i) {
	const share = (tasks.cpu[i] - 1) / 256, wall_us = (tasks.end[i] - tasks.start[i]) * head.unit_us;
	const cpu_us = share * wall_us, system_us = cpu_us * tasks.system[i] / 63;

	return "CPU " + timeText(cpu_us) + ": " + percentText(share) + " of its time, user " +
		timeText(cpu_us - system_us) + ", system " + timeText(system_us);
}

function addSpark(parent, i) {
	const points = tasks.sparks.get(i);

	if (!points)
		return;
	const svg = make(SVG, "svg", { "class": "spark", width: 120, height: 20 }, parent);
	let d = "M0 20";

	points.forEach((v, k) => d += "L" + px(k * 120 / (points.length - 1)) + " " + px(20 - v * 19 / 15));
	make(SVG, "path", { d: d + "V20z" }, svg);
}

function addChain(parent, i) {
	const before = tasks.before[i];

	if (before < 0)
		return;
	const chain = chainOf(i).slice(1), rest = chain.length > 3 ? " \u2190 \u2026" : "";

	line(parent, "chained", "waited for " + (WAITED[tasks.why[i]] || "a task") + ": " +
	     chain.slice(0, 3).map(j => clean(nameOf(j))).join(" \u2190 ") + rest);
}

function addGhost(parent, i) {
	const other = tasks.ghosts.get(i);

	if (!other)
		return;
	const theirs = other[1] - other[0], ours = tasks.end[i] - tasks.start[i];
	const change = theirs ? " (" + (ours >= theirs ? "+" : "\u2212") +
		percentText(Math.abs(ours - theirs) / theirs) + ")" : "";

	line(parent, "", "in the other build " + timeText(theirs * head.unit_us) + ", here " +
	     timeText(ours * head.unit_us) + change);
}

// The spans around one are listed before it.
function addSpans(parent, spans) {
	spans.forEach((f, k) => {
		const depth = spans.filter((g, n) => n < k && g.from <= f.from && g.until >= f.until).length;

		line(parent, "", "span " + "\u203a ".repeat(depth) + clean(f.name) + ": " +
		     timeText((f.until - f.from) * head.unit_us));
	});
}

/* A link to the lines on the page with the output. */
function addLines(parent, i) {
	const n = tasks.lines.get(i);
	const link = make(HTML, "a", { href: "log.html#t" + i, target: "log" }, parent);

	link.textContent = countText(n) + (n === 1 ? " line" : " lines") + " of output";
}

function tellTask(parent, i) {
	const wall_us = (tasks.end[i] - tasks.start[i]) * head.unit_us, m = tasks.marks[i];

	line(parent, "what", clean(nameOf(i)));
	line(parent, m & STATE ? "bad" : "", clean(tasks.kinds[tasks.kind[i]].name) + ", " + endText(i) +
	     (m & CRITICAL ? ", on the critical path" : ""));
	line(parent, "", "from " + momentText(tasks.start[i] * head.unit_us, head.unit_us) + ", took " +
	     timeText(wall_us) + (tasks.queued[i] ? ", queued " +
	     timeText(tasks.queued[i] * head.unit_us) + " before" : ""));
	if (tasks.cpu[i])
		line(parent, "", cpuText(i));
	if (tasks.memory[i])
		addSpark(line(parent, "", "memory " + (m & AT_MOST ? "at most " : "") +
			      sizeText(tasks.memory[i]) +
			      (m & SUMMED ? ", all its processes " : ", its largest process ")), i);
	if (m & IO && (tasks.read[i] || tasks.written[i]))
		line(parent, "", "read " + sizeText(tasks.read[i]) + ", written " +
		     sizeText(tasks.written[i]));
	if (tasks.lines.has(i))
		addLines(line(parent, "", ""), i);
	addGhost(parent, i);
	if (tasks.parent[i] >= 0)
		line(parent, "", "inside " + clean(nameOf(tasks.parent[i])));
	addChain(parent, i);
	addSpans(parent, phases.filter(x => x.task === i).slice(0, 6));
	if (tasks.commands.has(i))
		line(parent, "command", clean(tasks.commands.get(i)).slice(0, 400));
}

parts.push({
	chosen() {
		page.detail.replaceChildren();
		page.detail.hidden = view.task < 0;
		page.main.classList.toggle("with-detail", view.task >= 0);
		if (view.task >= 0)
			tellTask(page.detail, view.task);
		layOut();
	},
});
