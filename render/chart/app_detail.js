/* SPDX-License-Identifier: MIT */
/* The chosen task: a panel beside the plots or, in a narrow window, a sheet below them */

const detail = { task: -1, width: 0, chain: false, opened: new Set() };
const LINKS_FEW = 4, LINKS_MOST = 100, CHAIN_SHOWN = 400, LOG_AGAIN_MS = 2000;
const WAIT_NEEDED = 1;

/* What a task waited for, by enum wait, in the words of its build tool. */
const WAIT_WORDS = {
	make: ["", "its prerequisite", "the recipe line before it", "the task it runs in"],
	ninja: ["", "its input", "the command before it", "the task it runs in"],
	bitbake: ["", "a task it depends on", "the command before it", "the task it runs in"],
	other: ["", "a task it depends on", "the command before it", "the task it runs in"],
};
const MANY_WORDS = {
	make: "its prerequisites, the last first", ninja: "its inputs, the last first",
	bitbake: "tasks it depends on, the last first", other: "tasks it depends on, the last first",
};
const NEXT_WORDS = ["", "needed by", "followed by", "started in it", "gave its worker to"];
const TOOL_WORDS = { make: "make", gmake: "make", remake: "make", ninja: "ninja", "ninja-build": "ninja",
		     samu: "ninja", n2: "ninja", bitbake: "bitbake" };

function toolOf(i) {
	return head.tools[tasks.tool[i]] || head.host || "";
}

/* A key of WAIT_WORDS */
function toolName(i) {
	return TOOL_WORDS[toolOf(i)] || "other";
}

function waitWord(i, why) {
	return why === WAIT_WORKER ? "a free worker, until the end of" :
		why === WAIT_UNKNOWN ? "perhaps the one that ended just before" :
		why === WAIT_SHELL ? "a command of $(shell)" :
		why === WAIT_POOL ? "its pool was full until" :
		why === WAIT_LOAD ? "the limit of the load average, after" :
		why === WAIT_ORDER ? (toolName(i) === "bitbake" ? "the task of the recipe before it" :
			"its build tool's own order, until the end of") :
		WAIT_WORDS[toolName(i)][why] || "a task";
}

/* States */

function endText(i) {
	const state = tasks.marks[i] & STATE, status = tasks.status.get(i);

	if (state === FAILED)
		return status > 0 ? "failed with exit status " + status : "failed";
	if (state === KILLED)
		return "killed" + (status > 0 ? " by signal " + status : "");
	return endName(state);
}

/* Names: a recipe before its task, a file before its directory */

function directoryOf(i) {
	const name = tasks.names[tasks.name[i]], slash = name.lastIndexOf("/");
	const place = tasks.place[i] < 0 ? "" : tasks.places[tasks.place[i]];
	const directory = slash < 0 ? "" : name.slice(0, slash || 1);

	return directory[0] === "/" ? directory : [place, directory].filter(s => s).join("/");
}

function addHeading(parent, i) {
	const recipe = recipeOf(i);
	const name = tasks.names[tasks.name[i]], m = tasks.marks[i];
	const kind = tasks.kinds[tasks.kind[i]].name, program = tasks.programs[tasks.program[i]];
	const top = element("div", { "class": "top" }, parent);

	element("h2", { tabindex: -1 }, top, clean(recipe || labelOf(i)));
	button(top, "\u00d7", "Close (Esc)", closeDetail).classList.add("close");
	const where = recipe ? name : directoryOf(i);

	if (where)
		element("p", { "class": "where" }, parent, (recipe ? "" : "in ") + clean(where));
	if (!recipe && name !== labelOf(i) && name[0] !== "/" && tasks.place[i] >= 0 &&
	    tasks.places[tasks.place[i]])
		element("p", { "class": "where" }, parent, "target " + clean(name));
	element("p", { "class": m & STATE ? "bad" : "" }, parent,
		clean(kind) + (program && program !== kind && kind !== "shell" ? " by " + clean(program) : "") +
		", " + endText(i));
	if (live.links)
		element("a", { href: live.links.task(idOf(i)) }, element("p", {}, parent), "all about this task");
	if (m & CRITICAL)
		element("p", { "class": "where" }, parent, (head.running ? "The newest task" :
			"The end of the build") + " waited for it.");
}

/* Facts */

function sizeText(code) {
	return bytesText(sizeOf(code) * 1024);
}

function addFact(list, label, text) {
	const pair = element("div", {}, list);

	element("dt", {}, pair, label);
	return element("dd", {}, pair, text);
}

/* As fine as the length of the task asks for, and the clock allows. */
function startText(i) {
	const start_us = tasks.start[i] * head.unit_us, least_us = Math.max(1, Math.min(wallOf(i), start_us));

	if (start_us < 1e6)
		return start_us ? lengthText(start_us) : "at the start";
	return momentText(start_us, clamp(Math.pow(10, Math.floor(Math.log10(least_us)) - 2), stepOf(), 1e5));
}

/* How long it could have run but did not, and for what it waited. */
function readyText(i) {
	const [worker = 0, pool = 0, load = 0, delayed = 0, other = 0, order = 0] = tasks.waits.get(i) || [];
	const why = [worker, pool, load, order, delayed + other];
	const words = ["a free worker", "its pool", "the load average", "the order of its build tool",
		(toolOf(i).replace(/^bitbake$/, "BitBake") || "its build tool") + " to start it"];
	const sum = why.reduce((all, v) => all + v, 0);
	const ready_us = (sum || tasks.start[i] - tasks.ready[i]) * head.unit_us;

	if (tasks.ready[i] < 0)
		return "";
	if (ready_us < 1000 || ready_us < stepOf())
		return "at once when it was ready";
	const list = why.map((v, k) => [v * head.unit_us, words[k]])
		.filter(([us]) => us >= Math.max(stepOf(), ready_us / 50));

	return "ready " + (sum ? "" : "about ") + lengthText(ready_us) + " before" +
		(list.length ? "; waited for " : "") + (list.length === 1 ? list[0][1] :
		list.map(([us, word]) => word + " " + lengthText(us)).join(", "));
}

function cpuText(i) {
	const cpu_us = tasks.cpu[i], system_us = tasks.system[i], share = shareOf(i);

	return cpuTimeText(i) + (share >= 0 ? ", " + percentText(share) + " of its time" : "") +
		(system_us ? ": user " + timeText(cpu_us - system_us) + ", system " + timeText(system_us) : "");
}

function memoryText(i) {
	const m = tasks.marks[i];

	return (m & AT_MOST ? "at most " : "") + sizeText(tasks.memory[i]) +
		(m & SUMMED ? ", all its processes" : ", its largest process");
}

function otherText(i) {
	const [from, until] = tasks.ghosts.get(i), theirs = until - from, ours = tasks.end[i] - tasks.start[i];
	const change = theirs ? " (" + (ours >= theirs ? "+" : "\u2212") +
		percentText(Math.abs(ours - theirs) / theirs) + ")" : "";

	return lengthText(theirs * head.unit_us) + "; here " + (ours >= theirs ? "+" : "\u2212") +
		lengthText(Math.abs(ours - theirs) * head.unit_us) + change;
}

/* enum task_cache of recording.h */
const CACHES = ["", "hit (direct)", "hit (preprocessed)", "hit", "miss", "uncacheable"];

function addFacts(parent, i) {
	const list = element("dl", {}, parent), m = tasks.marks[i], ready = readyText(i);

	addFact(list, "took", wallText(i) + ((m & STATE) !== UNFINISHED ? "" :
		head.running ? " so far" : " until the recording ended"));
	addFact(list, "began", startText(i) + (ready ? ", " + ready : ""));
	if (tasks.queued[i])
		addFact(list, "queued", lengthText(tasks.queued[i] * head.unit_us) + " before it began");
	if (tasks.ghosts.has(i))
		addFact(list, "other build", otherText(i));
	if (tasks.cpu[i] >= 0)
		addFact(list, "CPU", cpuText(i));
	if (tasks.memory[i])
		addFact(list, "memory", memoryText(i));
	if (m & IO)
		addFact(list, "disk", tasks.read[i] || tasks.written[i] ? sizeText(tasks.read[i]) + " read, " +
			sizeText(tasks.written[i]) + " written" : "nothing read or written");
	if (tasks.files[i])
		addFact(list, "files", bytesText(sizeOf(tasks.files[i])));
	if (tasks.cache[i])
		addFact(list, "cache", CACHES[tasks.cache[i]]);
	if (report.has_trends)
		addTrend(list, i);
	addInspected(list, i);
	if (tasks.parent[i] >= 0)
		addTask(addFact(list, "inside", ""), tasks.parent[i]);
}

/* A report around the chart says that it has trends, and shows the one of a task on demand. */
const report = { has_trends: false };

function hearReport(e) {
	if (window.parent === window || e.source !== window.parent || !e.data || e.data.hasTrends !== true)
		return;
	report.has_trends = true;
	if (page.app && view.task >= 0)
		fillDetail(true);
}

window.addEventListener("message", hearReport);

/* Links to the archives of its processes that were inspected. */
function addInspected(list, i) {
	for (const [task, program, pid, snapshots, path] of head.inspected || []) {
		if (task !== i)
			continue;
		const words = snapshots === null ? "" : snapshots === 1 ? ", 1 snapshot" :
			", " + countText(snapshots) + " snapshots";
		const href = (head.archives + path).split("/").map(encodeURIComponent).join("/") + "/";

		element("a", { href, target: "_blank" }, addFact(list, "inspected", ""),
			clean(program) + " " + pid + words);
	}
}

/* By the name that the task has in every build. */
function addTrend(list, i) {
	const recipe = recipeOf(i);
	const name = recipe ? withoutVersion(recipe) + ": " + tasks.names[tasks.name[i]] : nameOf(i);

	button(addFact(list, "trend", ""), "show in the report", "Show the trend of this task in the report",
	       () => window.parent.postMessage({ trendOf: name }, "*")).classList.add("link");
}

/* Other tasks, one click away */

function addTask(parent, i, time = wallText(i)) {
	const held = hold(i), b = button(parent, "", clean(nameOf(i)), () => reveal(held()));
	const [name, rest] = namePartsOf(i);

	b.classList.add("task");
	b.removeAttribute("aria-label");
	swatch(b, tasks.colour[i], "stack");
	element("span", { "class": "name" }, b, name);
	if (rest && (view.task < 0 || rest !== namePartsOf(view.task)[1] || head.recipes))
		element("span", { "class": "rest" }, b, rest);
	element("span", { "class": "time" }, b, time);
	return b;
}

/* A link in its style, as in the lane of the path. */
function addWait(parent, why) {
	if (why && why !== WAIT_UNKNOWN)
		strip(parent, why === WAIT_WORKER || why >= WAIT_POOL ? "worker" : "needed");
}

/* The first few, and a button for the rest; above each group of them what they have in common. */
function addTasks(parent, list, all) {
	const ul = element("ul", {}, parent), name = (list[0] || {}).word || "";
	const few = list.length <= LINKS_FEW + 1 ? list.length : detail.opened.has(name) ? LINKS_MOST : LINKS_FEW;
	let last = "";
	const add = ({ task, why, word }) => {
		if (word !== last) {
			const li = element("li", { "class": "word" }, ul);

			addWait(li, why);
			element("span", {}, li, word);
			last = word;
		}
		addTask(element("li", {}, ul), task);
	};

	list.slice(0, few).forEach(add);
	if (list.length > few && few < LINKS_MOST) {
		const li = element("li", {}, ul), more = Math.min(list.length, LINKS_MOST) - few;
		const rest = list.slice(few, LINKS_MOST).map(l => ({ ...l, held: hold(l.task) }));

		button(li, countText(all - few) + " more", "Show " + countText(more) + " more", () => {
			const before = li.previousSibling;

			detail.opened.add(name);
			li.remove();
			rest.forEach(l => add({ ...l, task: l.held() }));
			find("button", before.nextSibling.classList.contains("word") ?
				before.nextSibling.nextSibling : before.nextSibling).focus();
		}).classList.add("more");
	}
}

function addWaited(parent, i) {
	const before = tasks.before[i], depends = tasks.depends.get(i), list = [];
	const word = depends ? MANY_WORDS[toolName(i)] : "";

	if (before >= 0)
		list.push({ task: before, why: tasks.why[i], word: depends && tasks.why[i] === WAIT_NEEDED ?
			word : waitWord(i, tasks.why[i]) });
	for (const j of depends ? depends.list : []) {
		if (j !== before)
			list.push({ task: j, why: WAIT_NEEDED, word });
	}
	element("h3", {}, parent, "Waited for");
	if (list.length)
		addTasks(parent, list, list.length + (depends ? depends.all - depends.list.length : 0));
	else
		element("p", { "class": "none" }, parent, "nothing that was recorded");
}

/* The tasks that waited for it last: those of the path first, then the longest. */
function addUnblocked(parent, i) {
	const list = [];

	for (let j = i + 1; j < tasks.n; j++) {
		if (tasks.before[j] === i)
			list.push(j);
	}
	const rank = j => (tasks.marks[j] & CRITICAL ? head.end : 0) + tasks.end[j] - tasks.start[j];

	list.sort((a, b) => rank(b) - rank(a));
	if (!list.length)
		return;
	element("h3", {}, parent, "Unblocked " + countText(list.length) + (list.length === 1 ? " task" : " tasks"));
	addTasks(parent, list.map(j => ({ task: j, why: tasks.why[j],
		word: tasks.why[j] === WAIT_POOL ? "left the pool to" :
			NEXT_WORDS[tasks.why[j]] || "" })), list.length);
}

/* Back to the start of the build: what each waited for */
function addChain(parent, i) {
	const chain = [];
	let workers = 0;

	for (let j = tasks.before[i]; j >= 0; j = tasks.before[j])
		chain.push(j);
	if (chain.length < 2)
		return;
	for (const j of [i, ...chain.slice(0, -1)])
		workers += tasks.why[j] === WAIT_WORKER;
	const fold = element("details", {}, parent), n = countText(chain.length);

	fold.open = detail.chain;
	element("summary", {}, fold, "Back to the start: " + n + " tasks" + (workers ? ", " + countText(workers) +
		" times for a free worker" : ""));
	const list = element("ol", {}, fold), fill = () => {
		detail.chain = fold.open;
		if (!fold.open || list.firstChild)
			return;
		let from = i;

		for (const j of chain.slice(0, CHAIN_SHOWN)) {
			const li = element("li", {}, list);

			addWait(li, tasks.why[from]);
			addTask(li, j).title = waitWord(from, tasks.why[from]) + ": " + clean(nameOf(j));
			from = j;
		}
	};

	fold.addEventListener("toggle", guard(fill));
	fill();
}

/* The command, to be copied; the clipboard may be forbidden: then its text is selected. */
function addCommand(parent, i) {
	const text = tasks.commands.get(i), title = element("h3", {}, parent, "Command ");
	const what = "Copy the command" + (text.endsWith("...") ? ", which is shortened" : "");
	const pre = element("pre", { tabindex: 0, "aria-label": "Command" }, parent, clean(text));
	const copy = button(title, "copy", what, () => {
		const done = () => {
			copy.textContent = "copied";
			tell("copied");
		};
		const select = () => {
			getSelection().selectAllChildren(pre);
			copy.textContent = "press Ctrl+C";
			tell("The command is selected: press Ctrl+C");
		};

		if (navigator.clipboard)
			navigator.clipboard.writeText(text).then(done, select);
		else
			select();
	});
}

/* The first and the last lines that it wrote. */
function addLog(parent, i) {
	const n = tasks.lines.get(i) || 0, title = element("h3", {}, parent);

	/* in a page that has the output, too, or beside the chart */
	element("a", document.querySelector("#output") ? { href: "#t" + i } : { href: "log.html#t" + i, target: "log" }, title,
		countText(n) + (n === 1 ? " line" : " lines") + " of output");
	if (tasks.log.has(i))
		element("pre", { tabindex: 0, "aria-label": "Output" }, parent,
			tasks.log.get(i).map(clean).join("\n"));
}

/* The same in a page of a server, which is asked when the task is shown. */
function addServedLog(parent, i) {
	const id = idOf(i), known = live.logs.get(id), runs = grows(tasks, i);

	if (!known || known.runs !== runs || (runs && performance.now() - known.at_ms > LOG_AGAIN_MS))
		askLog(id, runs);
	if (!known || !known.n)
		return;
	element("a", { href: live.links.output(id) }, element("h3", {}, parent),
		countText(known.n) + (known.n === 1 ? " line" : " lines") + " of output");
	element("pre", { tabindex: 0, "aria-label": "Output" }, parent, known.lines.map(clean).join("\n"));
}

function askLog(id, runs) {
	const before = live.logs.get(id) || { n: 0, lines: [] };

	live.logs.set(id, { ...before, runs, at_ms: performance.now() });
	live.links.lines(id).then(guard(o => {
		live.logs.set(id, { ...o, runs, at_ms: performance.now() });
		if (id === idOf(view.task))
			fillDetail(true);
	}), () => {});		/* the page is as good without them */
}

function tellTask(parent, i) {
	addHeading(parent, i);
	addFacts(parent, i);
	if (live.links)
		addServedLog(parent, i);
	else if (tasks.lines.has(i))
		addLog(parent, i);
	addFlame(parent, i);
	addWaited(parent, i);
	addUnblocked(parent, i);
	addChain(parent, i);
	if (tasks.commands.has(i))
		addCommand(parent, i);
}

/* Opening and closing */

function closeDetail() {
	choose(-1);
	lanes.row.box.focus({ preventScroll: true });
}

/* A sheet over the lower part of the window: the chosen bar stays above it, and the end of the page
 * can be scrolled there. */
function placeSheet() {
	const sheet = !page.detail.hidden && getComputedStyle(page.detail).position === "fixed";
	const height = sheet ? page.detail.offsetHeight : 0;

	page.app.style.paddingBottom = sheet ? height + 28 + "px" : "";
	coverBelow();
	if (!sheet)
		return;
	const r = lanes.row.svg.getBoundingClientRect(), y = r.top + laneY(tasks.lane[view.task]);
	const bottom = window.innerHeight - height, most = bottom - tasks.lanes.height[tasks.lane[view.task]] - 4;

	if (y > most)
		window.scrollBy(0, y - Math.max(page.top.offsetHeight + 4, most));
}

/* Not again what it says already. */
function fillDetail(anew) {
	const width = page.detail.clientWidth, i = view.task;

	if (i < 0 || (!anew && detail.task === i && detail.width === width &&
			      detail.colouring === legend.now && page.detail.firstChild))
		return;
	if (detail.task !== i || !page.detail.firstChild) {
		page.detail.replaceChildren();
		detail.opened.clear();
	}
	detail.task = i;
	detail.width = width;
	detail.colouring = legend.now;
	renew(page.detail, e => tellTask(e, i));
}

parts.push({
	chosen() {
		const focused = page.detail.contains(document.activeElement);

		page.detail.hidden = view.task < 0;
		page.main.classList.toggle("with-detail", view.task >= 0);
		page.detail.scrollTop = 0;
		if (page.chart.clientWidth !== page.room)	/* the panel came, or went */
			layOut();
		else
			fillDetail();
		if (view.task < 0) {
			page.detail.replaceChildren();
			if (focused)
				lanes.row.box.focus({ preventScroll: true });
		} else if (focused) {
			find("h2", page.detail).focus({ preventScroll: true });
		}
		placeSheet();
	},
	layOut() {
		page.app.style.setProperty("--top", page.top.offsetHeight + "px");
		fillDetail();
	},
	fill() {
		if (view.task >= 0)
			fillDetail(true);
	},
	searched() {
		if (page.detail.firstChild && detail.colouring !== legend.now)
			fillDetail();
	},
});
