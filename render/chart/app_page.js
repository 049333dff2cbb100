/* SPDX-License-Identifier: MIT */
/* The page and its layout */

const page = { app: null, html: null, parent: null, next: null };

const NARROW = 700;		/* pixels: below, the gutter is small */
const GUTTER_LEAST = 44, GUTTER_MOST = 220, RIGHT = 12;
const LANE_LEAST = 14, LANE_MOST = 40, NEST_HEIGHT = 16;
const PANEL_HEIGHT = 84;

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
		p = make(SVG, "path", { "class": name }, this.group);
		this.paths.set(name, p);
	}
	p.setAttribute("d", d);
};

/* Texts are above the paths; unused ones are kept for the next drawing. */
Layer.prototype.text = function (i, name, x, y, text) {
	let e = this.texts[i];

	if (!e) {
		e = make(SVG, "text", {}, this.group);
		this.texts[i] = e;
	}
	e.setAttribute("class", name);
	e.setAttribute("x", px(x));
	e.setAttribute("y", px(y));
	e.textContent = text;
	e.style.display = "";
};

Layer.prototype.cut = function (n) {
	for (let i = n; i < this.texts.length; i++)
		this.texts[i].style.display = "none";
};

/* The width of a text */

const ruler = { context: null, family: "" };

function widthOf(text, font) {
	if (!ruler.context)
		ruler.context = make(HTML, "canvas", {}).getContext("2d");
	ruler.family = ruler.family || getComputedStyle(page.app).fontFamily || "sans-serif";
	ruler.context.font = font + "px " + ruler.family;
	return ruler.context.measureText(text).width;
}

/* The page takes the place of the static picture, which stays in it to be printed. */
function makePage() {
	page.app = make(HTML, "div", { id: "bb-app", lang: "en" });
	page.head = element("header", { id: "bb-head" }, page.app);
	page.top = element("div", { id: "bb-top" }, page.app);
	page.main = element("main", { id: "bb-main" }, page.app);
	page.chart = element("div", { id: "bb-chart" }, page.main);
	page.detail = element("aside", { id: "bb-detail", "aria-label": "Chosen task" }, page.main);
	page.range = element("section", { id: "bb-range", "aria-label": "Selected range" }, page.app);
	page.table = element("section", { id: "bb-table", "aria-label": "All tasks" }, page.app);
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
}

function removePage() {
	root.classList.remove("printed");
	if (page.html && page.html.isConnected)
		document.replaceChild(root, page.html);
	else if (page.app)
		page.app.remove();
	page.app = page.html = null;
}

/* The head: what was built, the facts, and why it took as long */

parts.push({
	make() {
		const facts = Array.from(root.querySelectorAll("#head .fact"), e => e.textContent);
		const labels = Array.from(root.querySelectorAll("#head .label"), e => e.textContent);
		const list = element("dl", { "class": "facts" });

		element("h1", {}, page.head, find("#head .headline").textContent);
		makeVerdict();
		page.head.appendChild(list);
		facts.forEach((text, i) => {
			const pair = element("div", {}, list);

			element("dt", {}, pair, labels[i]);
			element("dd", {}, pair, text);
		});
	},
});

/* Each sentence zooms to what it is about, and chooses its task. */
function makeVerdict() {
	const list = head.verdict || [];

	if (!list.length)
		return;
	page.verdict = element("ol", { "class": "verdict" }, page.head);
	for (const v of list) {
		button(element("li", {}, page.verdict), v.text, v.text, () => {
			if (v.until > v.from)
				show(v.from - (v.until - v.from) * .05, v.until + (v.until - v.from) * .05);
			if (v.task >= 0)
				reveal(v.task);
		});
	}
}

/* Layout */

/* As wide as the labels of the rows ask for, within bounds. */
function gutterWidth(room) {
	const most = Math.min(GUTTER_MOST, room * (room < NARROW ? .2 : .25));
	const widest = Math.max(...head.rows.map(r => widthOf(r.label, 12)), 0);

	return Math.round(clamp(widest + 14, GUTTER_LEAST, most));
}

function layOut() {
	const room = page.chart.clientWidth || 360, gutter = gutterWidth(room);

	page.app.style.setProperty("--gutter", gutter + "px");
	page.gutter = gutter;
	view.width = Math.max(120, room - gutter - RIGHT);
	all("layOut");
	request(true);
}
