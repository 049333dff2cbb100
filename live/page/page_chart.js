/* SPDX-License-Identifier: MIT */
/*
 * The bootchart of bootchart.svg (/chart.js), with data from /api/v1/chart. While the build runs, messages
 * of its stream are drawn at once, and the whole data replaces the old after they changed: as often as
 * making and drawing them takes at most a tenth of the time.
 */

const CHART_LEAST_MS = 100, CHART_MOST_MS = 10000, CHART_SHARE = 10, CHART_AGAIN_MS = 2000, CHART_BUILDS_MS = 5000, CHART_LINES = 8;
const chart = { app: null, box: null, data: 0, running: false, wanted: false, busy: false, next: 0, wait_ms: 0,
		timer: 0, stream: null, over: false, logs: new Map(), gone: false };

/* Scripts and styles of our own server only. */
function chartLoad(name, attributes) {
	return new Promise((done, not) => {
		const e = make(name, attributes, document.head);

		e.addEventListener("load", done);
		e.addEventListener("error", () => not(new Error("cannot load " + (e.src || e.href))));
	});
}

/* {data, unchanged, running, elapsed_us, suspended, took_us, text, at: when it came} */
async function chartAsk() {
	const reply = await apiText("/api/v1/chart", { with: core.params.get("with"), have: chart.data || "" });
	const end = reply.indexOf("\n"), head = JSON.parse(reply.slice(0, end));

	return Object.assign(head, { text: reply.slice(end + 1), at: performance.now() });
}

function chartLinks() {
	return {
		task: id => hrefOf("task", { task: id }),
		output: id => hrefOf("output", { task: id }),
		async lines(id) {
			const ask = from => api("/api/v1/log", { task: id, count: CHART_LINES, from });
			const first = await ask(0), n = first.n_lines;
			const last = n > CHART_LINES ? await ask(n - CHART_LINES) : first;

			return { n, lines: last.lines.map(l => l.text) };
		},
	};
}

/* The data of a reply, and the clock. cost_ms: how long making and drawing it takes. */
async function chartTake(reply) {
	const begin = performance.now();

	chart.running = reply.is_running;
	if (!reply.unchanged) {
		chart.data = reply.data;
		if (!chart.app) {
			chart.app = window.bootchart.serve(chart.box, reply.text, chartLinks());
			if (!await chart.app.ready)
				throw new Error("This browser cannot draw the chart.");
		} else {
			await chart.app.update(reply.text);
		}
	}
	if (reply.is_running && !reply.suspended)
		chart.app.setClock(reply.elapsed_us + (performance.now() - reply.at) * 1000);
	else
		chart.app.stopClock();
	return performance.now() - begin + reply.took_us / 1000;
}

/* After an error the picture stays as it is, and says why. */
function chartStay(error) {
	chart.app.stopClock();
	if (error instanceof ServerError && (error.status === 404 || error.status === 410)) {
		chart.gone = true;
		chart.app.say("The recording was deleted: the chart shows what was known before.");
	} else {
		chart.app.say(error.name === "Unreachable" ? "The server is unreachable: the chart stays as it is." :
			error.message);
	}
}

async function chartUpdate() {
	chart.timer = 0;
	chart.busy = true;
	chart.wanted = false;
	try {
		const reply = await chartAsk(), cost_ms = await chartTake(reply);

		chart.app.say(reply.suspended ? "The build is suspended." : "");
		/* A server that reads seldom has the newest changes only later. */
		chart.wait_ms = reply.unchanged ? Math.min(CHART_MOST_MS, 2 * chart.wait_ms) :
			Math.max(CHART_LEAST_MS, CHART_SHARE * cost_ms);
		/* The stream knows first that a build was killed, and then nothing more makes us ask. */
		chart.wanted = chart.wanted || chart.over || (reply.unchanged && chart.wait_ms < CHART_MOST_MS);
		if (!reply.is_running) {
			chartEnd();
			await loadRecordings();
		}
	} catch (e) {
		chartStay(e);
		chart.wait_ms = CHART_AGAIN_MS;
		chart.wanted = true;
	}
	chart.busy = false;
	chart.next = performance.now() + chart.wait_ms;
	if (chart.wanted)
		chartWant();
}

/* Something changed. */
function chartWant() {
	chart.wanted = true;
	if (!chart.running || chart.gone || chart.busy || chart.timer || document.hidden)
		return;
	chart.timer = setTimeout(chartUpdate, Math.max(0, chart.next - performance.now()));
}

function chartEnd() {
	if (chart.stream)
		chart.stream.close();
	chart.stream = null;
}

/* Before the first data are asked for, so that nothing is missing between the two. */
function chartFollow() {
	const soon = () => chartWant();

	chart.stream = stream({
		task: o => {
			if (chart.app)
				chart.app.hear(o);
			chartWant();
		},
		end: () => {
			chart.over = true;
			chartWant();
		},
		sample: soon, note: soon, gap: soon, open: soon,
	});
	document.addEventListener("visibilitychange", soon);
	window.addEventListener("reachable", soon);
}

/* What links of other pages ask for is a part of the chart's own state, which is behind the #. */
function chartState() {
	const state = new URLSearchParams(location.hash.slice(1)), { params } = core;
	const [task, from, until] = ["task", "from_us", "until_us"].map(key => params.get(key));

	if (task)
		state.set("task", task);
	if (Number(until) > Number(from))
		state.set("range", from / 1e6 + "-" + until / 1e6);
	["task", "from_us", "until_us"].forEach(key => params.delete(key));
	history.replaceState(null, "", location.pathname + (params.size ? "?" + params : "") + (state.size ? "#" + state : ""));
}

pages.chart = {
	async make(main) {
		chartState();
		const asked = chartAsk(), loaded = [chartLoad("link", { rel: "stylesheet", href: "/chart.css" }),
						    chartLoad("script", { src: "/chart.js" })];

		find("#title").remove();		/* the chart has its own */
		main.classList.add("chart-main");
		chart.box = make("div", { id: "bb" }, main);
		await Promise.all(loaded);
		chart.next = performance.now() + CHART_LEAST_MS + CHART_SHARE * await chartTake(await asked);
		chart.wait_ms = CHART_LEAST_MS;
		/* A document has one main part, and it is the page's. */
		find("#bb-main").setAttribute("role", "region");
		find("#bb-main").setAttribute("aria-label", "Chart");
		core.title = clean(document.querySelector("#bb-head h1").textContent).slice(0, 200);
		drawTitle();
		if (chart.running) {
			await core.loaded.catch(() => {});
			chartFollow();
			chartWant();
		}
		if (!recording())
			every(CHART_BUILDS_MS, loadRecordings);
	},
	leave: chartEnd,
};
