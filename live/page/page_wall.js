/* SPDX-License-Identifier: MIT */
/*
 * The overview for a second screen, /?wall: a line for each running build, or for the newest one, in
 * large type: what it is, how long it still takes or how it ended and of what, and the last ten builds
 * with the same command as squares.
 */

const WALL_MS = 5000, WALL_SQUARES = 10;
const wall = { list: null, replies: new Map() };	/* of each build shown */

function wallShown() {
	const running = core.recordings.filter(isRunning);

	return running.length ? running : core.recordings.slice(0, 1);
}

/* Its last builds, the oldest first. */
function wallBefore(r) {
	return core.recordings.filter(e => isSameBuild(e, r) && !isRunning(e)).slice(0, WALL_SQUARES).reverse();
}

function wallMakeRow() {
	const row = make("li"), line = make("h2", {}, row);

	make("strong", {}, line);
	line.append(" ");
	make("span", { "class": "wall-command" }, line);
	make("p", { "class": "wall-time" }, row);
	make("p", { "class": "wall-error", hidden: "hidden" }, row);
	make("ol", { "class": "wall-squares", "aria-label": "Builds before, the oldest first" }, row);
	return row;
}

function wallMakeSquare(r) {
	const state = stateOf(r), text = clean(recordingName(r) + ": " + (r.result || state));
	const square = make("li", { "class": state });

	make("span", { role: "img", "aria-label": text, title: text }, square,
	     state === "finished" ? "\u2713" : state === "failed" ? "\u2717" : "\u25a0");
	return square;
}

function wallTime(r) {
	const { now, remaining } = wall.replies.get(r.name) || {};
	const since = r.start ? Date.now() * 1000 - Date.parse(r.start) * 1000 : 0;

	if (!isRunning(r))
		return r.wall_us > 0 ? "after " + timeText(r.wall_us) : "";
	const done = now && now.progress ?
		", " + countText(now.progress.done) + " of " + countText(now.progress.total) : "";

	if (!remaining)
		return since > 0 ? "for " + timeText(since) + done : "";
	return (remaining.us > 60e6 ? Math.ceil(remaining.us / 60e6) + " min left" : "less than a minute left") + done;
}

function wallFillRow(row, r) {
	const [line, time, error, squares] = row.children, state = stateOf(r);
	const { first_error: said } = wall.replies.get(r.name) || {};

	row.className = state;
	setText(line.firstChild, state === "running" ? "Running" : state === "finished" ? "Finished" :
		state === "failed" ? "Failed" : "Ended");
	setText(line.lastChild, clean(r.command || r.name));
	setText(time, wallTime(r));
	setText(error, said ? clean((said.file ? said.file + (said.line ? ":" + said.line : "") + ": " : "") + said.message) : "");
	error.hidden = !said;
	keyed(squares, wallBefore(r), e => e.name, wallMakeSquare, () => {});
}

async function wallLoad() {
	await loadRecordings();
	for (const r of wallShown()) {
		const had = wall.replies.get(r.name);

		if (isRunning(r) || (stateOf(r) === "failed" && (!had || had.is_running)))
			wall.replies.set(r.name, await api("/api/v1/overview", { rec: r.name, count: 0 }));
	}
	keyed(wall.list, wallShown(), r => r.name, wallMakeRow, wallFillRow);
}

async function wallMake(main) {
	document.body.classList.add("wall");
	setTitle("Builds");
	wall.list = make("ul", { "class": "wall-list" }, main);
	await core.loaded;
	every(WALL_MS, wallLoad);
}
