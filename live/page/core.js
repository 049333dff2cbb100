/* SPDX-License-Identifier: MIT */
/* The server and the page: requests, streams, addresses, errors, keys */

const pages = {};
const core = { params: new URLSearchParams(location.search), name: "", title: document.title, state: "",
	       unreachable: false, ended: false, seen: false, recordings: [], first: null, served: "" };
const UNREACHABLE_MS = 2000, ENDED_MS = 10000;	/* between two attempts */
const ENDED_TRIES = 5;
const BEAT_MS = 20000;		/* the server stays while a page is open (live/server.c) */
const HIDDEN_MS = 10000;	/* a hidden page gives its stream back */

/* The values of a task, {word, title, name, key, unit, joined, usual, needs}, and the metrics of comparisons,
 * {word, title, unit}, as the server describes them in /api/v1/. */
const { values: VALUES, metrics: METRICS } = JSON.parse(find("#tables").textContent);
const UNITS = { us: timeText, kb: v => bytesText(v * 1024), bytes: bytesText, count: countText };

/* A value of a task or a group; "" if it is not known. */
function valueText(value, n) {
	return n === null || n < 0 ? "" : UNITS[value.unit](n);
}

function capital(text) {
	return text[0].toUpperCase() + text.slice(1);
}

function valueTitle(value) {
	return capital(value.title);
}

/* Those of a metric's word; "not known" too. */
function metricText(word, v) {
	return v === null || v === undefined ? "not known" : UNITS[METRICS.find(m => m.word === word).unit](v);
}

function metricTitle(word) {
	return capital(METRICS.find(m => m.word === word).title);
}

/* The id of the recording that the page shows; "": the first one of the server. */
function recording() {
	return core.params.get("rec") || "";
}

/* Addresses */

function queryText(query) {
	const p = new URLSearchParams();

	for (const key in query) {
		if (query[key] !== undefined && query[key] !== null && query[key] !== "")
			p.set(key, query[key]);
	}
	return p.size ? "?" + p : "";
}

/* The address of a page ("overview", "task") of the same recording; query: {task: "1.2"}. */
function hrefOf(page, query) {
	return "/" + (page === "overview" ? "" : page) +
		queryText(Object.assign({ rec: recording() }, query));
}

/* An element <a>; parent may be absent. */
function link(page, query, text, parent) {
	return make("a", { href: hrefOf(page, query) }, parent, clean(text));
}

/* Keep a value in the address of the page, so that a reload and a copied address show the same;
 * "": remove it. */
function keepParam(key, value) {
	if (value === "" || value === null)
		core.params.delete(key);
	else
		core.params.set(key, value);
	history.replaceState(null, "", location.pathname + (core.params.size ? "?" + core.params : ""));
}

/* Another document, unless no server has it any longer. */
function visit(address) {
	if (!core.ended)
		location.href = address;
}

/* Heading and title of the document. */
function setTitle(text) {
	core.title = clean(text);
	drawTitle();
	setText(find("#title"), core.title);
}

/* The title of a page about one build begins with its state, for a tab that is not in view. */
function drawTitle() {
	const about = find("#pages span+span [aria-current]") || core.name === "compare" ? "" : core.state;

	document.title = (about ? about + " - " : "") + core.title + " - buildbeat";
}

/* Colour and shape of the tab's icon. */
const ICONS = { running: ["#3b82d6", "M4 2l10 6-10 6z"], failed: ["#d64545", "M3 3l10 10M13 3L3 13"],
		finished: ["#2e9e4f", "M2 9l4 4 8-10"], ended: ["#888", "M4 4h8v8H4z"] };

function setState(state) {
	const [colour, path] = ICONS[state] || ICONS.ended;
	const svg = "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><path d='" + path + "' fill='" +
		(state === "failed" || state === "finished" ? "none" : colour) + "' stroke='" + colour +
		"' stroke-width='3' stroke-linejoin='round'/></svg>";

	core.state = state;
	find("link[rel=icon]").href = "data:image/svg+xml," + encodeURIComponent(svg);
	drawTitle();
}

/* Errors */

/* The reply of the server was an error; status is HTTP's. */
class ServerError extends Error {
	constructor(status, text) {
		super(text);
		this.status = status;
	}
}

/* Show an error in an element in place of what it could not get. Returns nothing. */
function failed(parent, error) {
	let p = parent.querySelector(":scope > .failed");

	if (error.name === "Unreachable")
		return;		/* the banner says so, until the server is back */
	if (!(error instanceof ServerError))
		console.error(error);
	if (!p) {
		p = make("p", { "class": "failed alarm", role: "alert" });
		parent.prepend(p);
	}
	setText(p, clean(error.message || String(error)));
}

/* Remove it again. */
function worked(parent) {
	const p = parent.querySelector(":scope > .failed");

	if (p)
		p.remove();
}

/* Links to a server that has ended become text. */
function setLinks(dead) {
	for (const a of document.querySelectorAll(dead ? "a[href]" : "a[data-href]")) {
		if (!dead) {
			a.href = a.dataset.href;
			delete a.dataset.href;
		} else if (a.origin === location.origin && !a.getAttribute("href").startsWith("#")) {
			a.dataset.href = a.href;
			a.removeAttribute("href");
		}
	}
	find("#recording").disabled = find("#refresh").disabled = dead;
}

/* The end of the build was seen. */
function isOver() {
	return Boolean(core.state && core.state !== "running");
}

/* What was seen of the build stays, and says how to see the rest. */
function setEnded() {
	const over = isOver(), banner = find("#unreachable");

	core.ended = true;
	setLinks(true);
	banner.hidden = false;
	banner.className = over ? "calm" : "";
	banner.replaceChildren(over ? "The server has ended. " :
		"The server has ended or cannot be reached: what you see is no longer updated. ");
	make("code", {}, banner, "buildbeat serve " + clean(core.served));
	banner.append(over ? " shows this build again." : " on its machine shows this build.");
	if (!over)
		setState("");
}

/* The banner "server unreachable", which goes when the server replies again. A server that is left when its
 * build has ended ends too. */
function setUnreachable() {
	const banner = find("#unreachable"), over = isOver();
	let tries = 0;

	if (core.unreachable)
		return;
	core.unreachable = true;
	banner.className = "";
	banner.hidden = over;
	setText(banner, "The server is unreachable: what you see is no longer updated. Trying again ...");
	const again = async () => {
		try {
			await fetch("/live.css", { method: "HEAD", cache: "no-store" });
			core.unreachable = core.ended = false;
			banner.hidden = true;
			setLinks(false);
			window.dispatchEvent(new Event("reachable"));
		} catch (e) {
			if (++tries === (over ? 1 : ENDED_TRIES))
				setEnded();
			setTimeout(again, core.ended ? ENDED_MS : UNREACHABLE_MS);
		}
	};

	setTimeout(again, UNREACHABLE_MS);
}

/* Another recording can still be chosen. */
function setDeleted() {
	const banner = find("#unreachable");

	if (core.unreachable || core.ended)
		return;
	banner.className = "calm";
	banner.hidden = false;
	setText(banner, "This recording was deleted. The page shows what was read before.");
}

/* Requests */

/* The text of a reply that is not an error. */
async function requestText(method, path, body) {
	const options = { method, cache: "no-store", headers: { Accept: "application/json" } };
	let reply;

	if (body !== undefined) {
		options.headers["Content-Type"] = "application/json";
		options.body = JSON.stringify(body);
	}
	try {
		reply = await fetch(path, options);
	} catch (e) {
		const error = new Error("server unreachable");

		setUnreachable();
		error.name = "Unreachable";
		throw error;
	}
	const text = await reply.text();
	let value = null;

	if (reply.ok)
		return text;
	try {
		value = JSON.parse(text);
	} catch (e) {
		/* not one of ours */
	}
	throw new ServerError(reply.status, reply.status === 401 ?
		"This page needs the token: open the address that buildbeat serve printed." :
		(value && value.error) || text.slice(0, 500) || "error " + reply.status);
}

async function request(method, path, body) {
	const text = await requestText(method, path, body);

	try {
		return text ? JSON.parse(text) : null;
	} catch (e) {
		throw new Error(path + ": not JSON: " + e.message);
	}
}

/*
 * The JSON value of a path: api("/api/v1/task", {task: "1.2"}). The recording of the page is added;
 * {rec: ""} asks without one. Errors are ServerError, whose text can be shown: failed(main, e).
 */
function api(path, query) {
	return request("GET", path + queryText(Object.assign({ rec: recording() }, query)));
}

/* The same, of what is not JSON. */
function apiText(path, query) {
	return requestText("GET", path + queryText(Object.assign({ rec: recording() }, query)));
}

/* For pages that control (--allow-control); body: any value, sent as JSON. */
function post(path, body) {
	return request("POST", path, body === undefined ? {} : body);
}

/* Why the buttons beside it are disabled; what: only that for which one is. */
function addReadsOnly(parent, what) {
	parent.append(" ");
	make("span", { "class": "faint" }, parent, what ? "To " + what + ", start buildbeat serve with --allow-control." :
		"This server only reads: start buildbeat serve with --allow-control.");
}

function del(path) {
	return request("DELETE", path);
}

/* Updates */

/* As openSource(), by the stream that all tabs of the browser share (streams.js) if it has such workers. */
function openShared(address, last, take) {
	let port = null, own = null, closed = false;
	const alone = () => {
		own = own || closed ? own : openSource(address, last, take);
	};

	try {
		const worker = new SharedWorker("/streams.js", "buildbeat");

		port = worker.port;
		worker.addEventListener("error", alone);
		port.onmessage = e => take(e.data.name, e.data.data, e.data.id);
		port.postMessage({ address, last });
	} catch (e) {
		alone();
	}
	return {
		close() {
			closed = true;
			if (own)
				own.close();
			if (!port)
				return;
			port.postMessage(null);
			port.close();
		},
	};
}

/*
 * The messages of a recording from now on: stream({task(o), sample(o), note(o), gap(o), end(o), open()}); o is
 * the JSON of a message, of buildbeat-api(7). After an interruption it resumes behind the newest message, or
 * with gap(). Returns {close()}.
 */
function stream(handlers) {
	/* Without a name the server would choose: perhaps another one than for the tab that opened the stream. */
	const rec = recording() || (core.first ? core.first.name : "");
	const address = "/api/v1/events" + queryText({ history: 0, rec });
	const s = { link: null, last: "", closed: false, hidden: 0 };
	const shut = () => {
		if (s.link)
			s.link.close();
		s.link = null;
	};
	const take = (name, data, id) => {
		if (s.closed || !s.link)
			return;
		s.last = id || s.last;
		if (name === "error")
			request("HEAD", "/live.css").catch(() => {});
		if (name === "end") {
			s.closed = true;
			shut();
		}
		if (handlers[name])
			handlers[name](data ? JSON.parse(data) : {});
	};
	const open = () => {
		s.link = openShared(address, s.last, take);
	};

	document.addEventListener("visibilitychange", () => {
		clearTimeout(s.hidden);
		if (document.hidden)
			s.hidden = setTimeout(shut, HIDDEN_MS);
		else if (!s.link && !s.closed)
			open();
	});
	window.addEventListener("pagehide", shut);
	open();
	return {
		close() {
			s.closed = true;
			shut();
		},
	};
}

/*
 * Call f now and `ms` after it has ended, while the page is visible; f may be async. An error is
 * shown in <main> until f works again. Returns a function that ends it; its member soon(least) calls f earlier
 * this time, at least so many ms after it has ended.
 */
function every(ms, f) {
	let timer = 0, stopped = false, busy = false, wrong = false, ended = -Infinity, wait = ms;
	const run = async () => {
		clearTimeout(timer);
		if (stopped || busy || document.hidden || core.unreachable)
			return;
		busy = true;
		wait = ms;
		try {
			await f();
			if (wrong)
				worked(find("#main"));
			wrong = false;
		} catch (e) {
			wrong = true;
			failed(find("#main"), e);
		}
		busy = false;
		ended = performance.now();
		if (!stopped)
			timer = setTimeout(run, wait);
	};
	const stop = () => {
		stopped = true;
		clearTimeout(timer);
	};

	document.addEventListener("visibilitychange", run);
	window.addEventListener("reachable", run);
	stop.soon = least => {
		wait = least;
		if (busy || stopped)
			return;
		clearTimeout(timer);
		timer = setTimeout(run, ended + least - performance.now());
	};
	run();
	return stop;
}

/* The choice of a recording, the same on all pages */

/* Links of the navigation show the same recording. */
function keepRecording() {
	for (const a of document.querySelectorAll("#pages a, #save"))
		a.search = queryText({ rec: recording() });
}

/* A build whose end was not recorded runs, or it was killed with its recorder. */
function isRunning(r) {
	return r.running === undefined ? r.result === "open" : r.running;
}

/* "2026-11-23 09:25:44" of an ISO time, in UTC, like all times of builds. */
function startText(iso) {
	return iso ? iso.slice(0, 19).replace("T", " ") : "";
}

/* What people call a build: a recording by its name; a build of an archive, whose name is a commit of the
 * archive, by its date, branch and revision. */
function recordingName(r) {
	if (!r.series)
		return clean(r.name);
	return clean([startText(r.start) || r.name.slice(0, 12), r.branch,
		      r.revision ? r.revision.slice(0, 8) + (r.dirty ? " with changes" : "") : ""].filter(t => t).join(", "));
}

function recordingTitle(r) {
	return (isRunning(r) ? "running: " : "") + recordingName(r) +
		clean([r.command, r.host, r.series ? r.result : ""].filter(t => t).map(t => ", " + t).join(""));
}

/* The newest first. Those of one second stay in the order of the server, where the oldest is the first. */
function byAge(list) {
	const start = r => r.start || "";

	return list.reverse().sort((a, b) => start(a) < start(b) ? 1 : start(a) > start(b) ? -1 : 0);
}

/* Two builds of one thing, as far as a list shows it. */
function isSameBuild(a, b) {
	return a.command === b.command && a.series === b.series;
}

function stateOf(r) {
	return !r ? "" : isRunning(r) ? "running" : r.result === "ok" ? "finished" :
		r.result === "failed" || r.result === "killed" ? "failed" : "ended";
}

/* What serves this again, as a word of a shell. */
function servedWord(list) {
	const path = list.directory || list.archive || "";

	return /^[\w@%+=:,./-]+$/.test(path) ? path : "'" + path.replace(/'/g, "'\\''") + "'";
}

async function loadRecordings() {
	const select = find("#recording"), list = await api("/api/v1/recordings", { rec: "" });
	const ages = byAge(list.recordings || []), all = [...ages].sort((a, b) => isRunning(b) - isRunning(a));
	const now = recording() || (all.length ? all[0].name : "");

	core.recordings = all;
	core.served = servedWord(list);
	core.first = core.first || all[0];
	const shown = all.find(r => r.name === (recording() || (core.first && core.first.name)));

	setState(stateOf(all.find(r => r.name === now)));
	if (core.seen && !shown)
		setDeleted();
	core.seen = core.seen || Boolean(shown);
	keyed(select, all, r => r.name, () => make("option"), (o, r) => {
		o.value = r.name;
		setText(o, recordingTitle(r));
	});
	if (select.value !== now)
		select.value = now;
	find("#choice").hidden = all.length < 2;
	/* Without a recording in its address a page shows the newest build, also one that begins later. */
	const age = r => ages.findIndex(e => e.name === r.name);

	window.dispatchEvent(new Event("recordings"));
	if (!recording() && (core.name === "overview" || core.name === "chart") && all.length && age(all[0]) < age(core.first))
		location.reload();
}

/* Hidden pages too: the title of a tab says how the build ended. */
async function beat() {
	const shown = core.recordings.find(r => r.name === recording());

	if (core.unreachable)
		return;
	try {
		await (shown && !isRunning(shown) ? request("HEAD", "/live.css") : loadRecordings());
	} catch (e) {
		/* the banner says so, or the next request of the page */
	}
}

function chooseRecording(id) {
	const p = new URLSearchParams({ rec: id });

	/* Another build has other tasks: only the page stays. */
	visit(location.pathname + "?" + p);
}

/* Keys */

const KEY_PAGES = { o: "overview", c: "chart", l: "output", t: "table", p: "processes", m: "tracker", d: "graph",
		    h: "history" };
const keys = { g: false, more: {} };

function isTyping(e) {
	return /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName) || e.target.isContentEditable;
}

/* Another key of the page: addKey("f", () => ...); described by the page's text. */
function addKey(key, f) {
	keys.more[key] = f;
}

function pressed(e) {
	const go = keys.g;

	keys.g = false;
	if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented || isTyping(e))
		return;
	if (go && KEY_PAGES[e.key])
		visit(hrefOf(KEY_PAGES[e.key]));
	else if (e.key === "g")
		keys.g = true;
	else if (e.key === "/" && find("#main input[type=search]"))
		find("#main input[type=search]").focus();
	else if (e.key === "?")
		visit(hrefOf("help"));
	else if (e.key === "r" && !find("#choice").hidden)
		find("#recording").focus();
	else if (keys.more[e.key])
		keys.more[e.key](e);
	else
		return;
	e.preventDefault();
}

/* The page */

/* The menu of further pages goes as menus do. */
function foldMore() {
	const more = find("#more"), fold = () => { more.open = false; };

	document.addEventListener("click", e => more.contains(e.target) || fold());
	more.addEventListener("keydown", e => {
		if (e.key !== "Escape")
			return;
		fold();
		more.firstChild.focus();
	});
	more.addEventListener("focusout", e => e.relatedTarget && !more.contains(e.relatedTarget) && fold());
}

async function begin() {
	const main = find("#main");

	core.name = document.body.dataset.page;
	foldMore();
	keepRecording();
	document.addEventListener("keydown", pressed);
	/* links that were made since the server ended, such as those of the chart */
	document.addEventListener("click", e => {
		const a = core.ended && e.target.closest("a");

		if (a && !/^#/.test(a.getAttribute("href") || "#"))
			e.preventDefault();
	}, true);
	setInterval(beat, BEAT_MS);
	find("#recording").addEventListener("change", e => chooseRecording(e.target.value));
	find("#refresh").addEventListener("click", async () => {
		try {
			await post("/api/v1/refresh");
			location.reload();
		} catch (e) {
			failed(main, e);
		}
	});
	window.addEventListener("pagehide", () => {
		if (pages[core.name] && pages[core.name].leave)
			pages[core.name].leave();
	});
	core.loaded = loadRecordings();
	core.loaded.catch(e => failed(main, e));
	try {
		if (!pages[core.name])
			throw new Error("there is no script for this page");
		await pages[core.name].make(main, core.params);
		return true;
	} catch (e) {
		failed(main, e);
		return false;
	}
}
