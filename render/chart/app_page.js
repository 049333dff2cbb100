/* SPDX-License-Identifier: MIT */
/* The page and its layout */

const page = { app: null, html: null, parent: null, next: null };

const NARROW = 700;		/* pixels: below, the gutter is small */
const GUTTER_LEAST = 44, GUTTER_MOST = 220, RIGHT = 12;
const LANE_LEAST = 18, LANE_MOST = 40, LANES_MOST = 2700, NEST_HEIGHT = 16, NEST_LEAST = 13;
const PANEL_LEAST = 64, PANEL_MOST = 180;

function element(name, attributes, parent, text) {
	const e = make(HTML, name, attributes, parent);

	if (text !== undefined)
		e.textContent = text;
	return e;
}

function button(parent, text, label, act) {
	const b = element("button", { type: "button", title: label, "aria-label": label }, parent, text);

	b.addEventListener("click", guard(act));
	return b;
}

/*
 * What is in an element is made anew by fill(e), into an element e like it. Children that stay the same
 * stay, with the focus and the selection in them; otherwise the focus goes to the same place. What is
 * made must find its task when it is used: see hold().
 */
function renew(box, fill) {
	const e = box.cloneNode(false), focus = box.contains(document.activeElement) && document.activeElement;
	const places = () => Array.from(box.querySelectorAll("a, button, summary, [tabindex]"));
	const at = focus ? places().indexOf(focus) : -1;

	fill(e);
	const made = Array.from(e.childNodes);

	made.forEach((child, k) => {
		const old = box.childNodes[k];

		if (!old)
			box.appendChild(child);
		else if (!old.isEqualNode(child))
			old.replaceWith(child);
	});
	while (box.childNodes.length > made.length)
		box.lastChild.remove();
	if (at >= 0 && !focus.isConnected && places().length)
		places()[Math.min(at, places().length - 1)].focus({ preventScroll: true });
}

/* A row of the chart: a gutter, and a plot to draw in. */
function makeRow(parent, id, label) {
	const row = { box: element("div", { id, "class": "row" }, parent) };

	row.gutter = element("div", { "class": "gutter" }, row.box);
	row.svg = make(SVG, "svg", { "class": "plot", role: "img", "aria-label": label }, row.box);
	row.layer = new Layer(make(SVG, "g", { "class": "draw" }, row.svg));
	row.height = 0;
	return row;
}

function sizeRow(row, height) {
	row.height = height;
	row.svg.setAttribute("width", view.width);
	row.svg.setAttribute("height", height);
	row.gutter.style.height = height + "px";
}

/* Drawing: what a group holds is replaced path by path, each of a class */

function Layer(group) {
	this.group = group;
	this.paths = new Map();
	this.texts = [];
	this.n = 0;
}

Layer.prototype.path = function (name, d) {
	let p = this.paths.get(name);

	if (!p) {
		p = { e: make(SVG, "path", { "class": name, d: "" }), d: "" };
		this.group.insertBefore(p.e, this.texts.length ? this.texts[0].e : null);
		this.paths.set(name, p);
	}
	if (p.d !== d)
		p.e.setAttribute("d", p.d = d);
};

/* Other paths will be drawn, in another order. */
Layer.prototype.clear = function () {
	this.group.replaceChildren();
	this.paths.clear();
	this.texts = [];
};

/* Texts are above the paths; unused ones are kept for the next drawing. Setting what is set
 * already is dear. */
Layer.prototype.text = function (i, name, x, y, text) {
	const t = this.texts[i] || (this.texts[i] = { e: make(SVG, "text", {}, this.group), shown: true });

	if (t.name !== name)
		t.e.setAttribute("class", t.name = name);
	if (t.x !== x)
		t.e.setAttribute("x", px(t.x = x));
	if (t.y !== y)
		t.e.setAttribute("y", px(t.y = y));
	if (t.text !== text)
		t.e.textContent = t.text = text;
	if (!t.shown)
		t.e.style.display = "";
	t.shown = true;
};

Layer.prototype.cut = function (n) {
	for (let i = n; i < this.texts.length; i++) {
		if (this.texts[i].shown)
			this.texts[i].e.style.display = "none";
		this.texts[i].shown = false;
	}
};

/* The page takes the place of the static picture, which stays in it to be printed. */
function makePage() {
	page.app = make(HTML, "div", { id: "bb-app", lang: "en" });
	page.head = element("header", { id: "bb-head" }, page.app);
	page.top = element("section", { id: "bb-top", "aria-label": "Tools and time axis" }, page.app);
	page.main = element(root === document.documentElement ? "main" : "div", { id: "bb-main" }, page.app);
	page.left = element("div", { id: "bb-left" }, page.main);
	page.chart = element("div", { id: "bb-chart" }, page.left);
	page.detail = element("aside", { id: "bb-detail", "aria-label": "Chosen task" }, page.main);
	page.range = element("section", { id: "bb-range", "aria-label": "Selected range" }, page.left);
	page.table = element("section", { id: "bb-table", "aria-label": "All tasks" }, page.left);
	page.status = element("div", { id: "bb-status" }, page.app);
	page.detail.hidden = page.range.hidden = true;
	page.parent = root.parentNode;
	page.next = root.nextSibling;
	if (document.documentElement === root) {
		page.html = make(HTML, "html", { lang: "en" });
		const inside = element("head", {}, page.html);

		element("meta", { name: "viewport", content: "width=device-width,initial-scale=1" }, inside);
		element("title", {}, inside, find("title").textContent);
		const body = element("body", { "class": "bb-body" }, page.html);

		document.replaceChild(page.html, root);
		body.append(page.app, root);
	} else {
		root.before(page.app);
	}
	root.classList.add("printed");
	page.app.classList.toggle("alone", !!live.links);	/* no picture to print */
}

function removePage() {
	root.classList.remove("printed");
	if (page.html && page.html.isConnected)
		document.replaceChild(root, page.html);
	else if (page.app)
		page.app.remove();
	page.app = page.html = null;
}

/* The head: what was built, why it took as long, and the facts: one line of them, until
 * "more" shows all */

parts.push({
	make() {
		page.title = element("h1", {}, page.head);
		page.verdict = element("ol", { "class": "verdict" }, page.head);
		const box = element("div", { "class": "facts-box" }, page.head);
		page.notice = element("p", { "class": "notice", role: "status", hidden: "" }, page.head);
		page.facts = element("dl", { "class": "facts" }, box);
		page.more = button(box, "more", "Show all facts", () => {
			const open = page.head.classList.toggle("open");

			page.more.textContent = open ? "less" : "more";
			page.more.setAttribute("aria-expanded", open);
			layOut();
		});
		page.more.setAttribute("aria-expanded", false);
	},
	fill() {
		const headline = head.facts.find(f => f.label === null);

		page.title.textContent = headline ? headline.text : find("title").textContent;
		page.verdict.hidden = !(head.verdict || []).length;
		renew(page.verdict, fillVerdict);
		renew(page.facts, fillFacts);
	},
});

function fillFacts(list) {
	for (const f of head.facts.filter(x => x.label !== null)) {
		const pair = element("div", f.alarm ? { "class": "alarm" } : {}, list);

		element("dt", {}, pair, f.label);
		element("dd", {}, pair, f.text);
	}
}

/* Each sentence zooms to what it is about, and chooses its task. */
function fillVerdict(list) {
	(head.verdict || []).forEach((told, k) =>
		button(element("li", {}, list), told.text, told.text, () => {
			const v = head.verdict[k];

			if (v.from !== null && v.until > v.from)
				show(v.from - (v.until - v.from) * .05, v.until + (v.until - v.from) * .05);
			if (v.task !== null)
				reveal(v.task);
		}));
}

/* What gets the focus is scrolled from behind what covers the bottom of the window. */
function coverBelow() {
	const sheet = getComputedStyle(page.detail).position === "fixed" ? page.detail.offsetHeight : 0;

	page.app.style.setProperty("--below", Math.max(28, sheet, page.range.offsetHeight) + 4 + "px");
}

/* Layout */

/* As wide as the labels of the rows and the ticks of the panels ask for, within bounds. */
function gutterWidth(room) {
	const most = Math.min(GUTTER_MOST, room * (room < NARROW ? .2 : .18));
	const rows = head.rows.filter(r => r.tasks).map(r => widthOf(rowLabel(clean(r.label), 1e6), 12));
	const ticks = panels.flatMap(p => p.ticks.map(t => widthOf(t[1], 10.5)));
	const others = [widthOf("depends", 12)];

	return Math.round(clamp(Math.max(...rows, ...ticks, ...others) + 12, GUTTER_LEAST, most));
}

function rightWidth() {
	const ticks = panels.filter(p => !p.folded)
		.flatMap(p => p.right_ticks.map(t => widthOf(t[1], 10.5)));

	return Math.max(RIGHT, Math.ceil(Math.max(0, ...ticks)) + 9);
}

function layOut() {
	if (!page.app)
		return;
	const room = page.chart.clientWidth || 360, gutter = gutterWidth(room);

	page.room = page.chart.clientWidth;
	page.app.style.setProperty("--gutter", gutter + "px");
	page.gutter = gutter;
	page.more.hidden = !page.head.classList.contains("open") &&
		page.facts.scrollHeight <= page.facts.clientHeight + 4;
	view.width = Math.max(120, room - gutter - rightWidth());
	sizeAxis();		/* before the lanes, which fill what is left of the window */
	all("layOut");
	request(true);
}
