/* SPDX-License-Identifier: MIT */
/*
 * A list of any number of rows whose heights are not known before they are drawn: only those in view are in
 * the document. Its place is a row and the pixels of it above the view. Small movements move that place by
 * their pixels; a large one, of the scroll bar, goes to a share of the rows, as browsers have no elements of
 * hundreds of millions of pixels.
 *
 * o has:
 *	box		the element that scrolls, with a height of its own
 *	row		the least height of a row in pixels
 *	make(at)	a new element for a row
 *	drawn(from, until)	rows were drawn; absent: nothing is to be done
 */
const LONG_SPARE = 16;		/* rows drawn beyond the view, at both ends */
const LONG_MOST = 6e6;		/* pixels */
const LONG_REST_MS = 120;

function LongList(o) {
	this.o = o;
	this.n = 0;
	this.at = 0;
	this.hidden = 0;	/* pixels of row `at` that are above the view */
	this.last = 0;		/* scrollTop that was handled */
	this.held = -1;		/* a row that stays where it is while others get their heights */
	this.timer = 0;
	this.rows = new Map();
	this.space = make("div", { "class": "long-space", role: "presentation" }, o.box);
	this.body = make("div", { "class": "long-rows", role: "rowgroup" }, this.space);
	o.box.addEventListener("scroll", () => this.scrolled(), { passive: true });
	new ResizeObserver(() => this.draw()).observe(o.box);
}

LongList.prototype.view = function () {
	return Math.max(this.o.row, this.o.box.clientHeight);
};

LongList.prototype.heightOf = function (at) {
	const row = this.rows.get(at);

	return row && row.isConnected ? row.offsetHeight : this.o.row;
};

/* How far the box can scroll. */
LongList.prototype.room = function () {
	return Math.max(0, this.o.box.scrollHeight - this.o.box.clientHeight);
};

LongList.prototype.setCount = function (n) {
	this.n = n;
	this.space.style.height = Math.min(LONG_MOST, n * this.o.row) + "px";
	this.o.box.setAttribute("aria-rowcount", n);
	for (const at of this.rows.keys()) {
		if (at >= n)
			this.drop(at);
	}
	if (this.at >= n)
		this.at = Math.max(0, n - 1);
};

LongList.prototype.isAtEnd = function () {
	const last = this.rows.get(this.n - 1);

	return !this.n || Boolean(last && last.getBoundingClientRect().bottom <= this.o.box.getBoundingClientRect().bottom + 2);
};

LongList.prototype.drop = function (at) {
	this.rows.get(at).remove();
	this.rows.delete(at);
};

/* The place is within the rows, and `hidden` within row `at`. */
LongList.prototype.settle = function () {
	while (this.hidden < 0 && this.at > 0)
		this.hidden += this.heightOf(--this.at);
	while (this.at < this.n - 1 && this.hidden >= this.heightOf(this.at))
		this.hidden -= this.heightOf(this.at++);
	this.hidden = Math.max(0, this.hidden);
};

LongList.prototype.scrolled = function () {
	const { box } = this.o, top = box.scrollTop, by = top - this.last;

	if (!by)
		return;
	this.last = top;
	this.held = -1;
	if (top <= 0)
		this.at = this.hidden = 0;
	else if (top >= this.room() - 1)
		this.at = this.n;	/* the end, below */
	else if (Math.abs(by) < 2 * this.view())
		this.hidden += by;
	else
		this.goShare(top / this.room());
	this.draw();
	clearTimeout(this.timer);
	this.timer = setTimeout(() => this.rest(), LONG_REST_MS);
};

LongList.prototype.goShare = function (share) {
	const at = share * Math.max(0, this.n - this.view() / this.o.row);

	this.at = Math.floor(at);
	this.hidden = (at - this.at) * this.heightOf(this.at);
};

/* The scroll bar shows the place; nothing else moves. */
LongList.prototype.rest = function () {
	const { box, row } = this.o, room = this.room();
	const share = (this.at + this.hidden / this.heightOf(this.at)) / Math.max(1, this.n - this.view() / row);
	const top = !this.at && !this.hidden ? 0 : this.isAtEnd() ? room : clamp(Math.round(share * room), 1, Math.max(1, room - 2));

	if (Math.abs(top - box.scrollTop) >= 1) {
		this.last = top;
		box.scrollTop = top;
		this.last = box.scrollTop;
		this.put();
	}
};

/* The rows are where the view is. */
LongList.prototype.put = function () {
	const row = this.rows.get(this.at);

	if (row)
		this.body.style.transform = "translateY(" + (this.o.box.scrollTop - row.offsetTop - this.hidden) + "px)";
};

/* Rows around the place. */
LongList.prototype.fill = function () {
	const from = Math.max(0, this.at - LONG_SPARE);
	const until = Math.min(this.n, this.at + Math.ceil(this.view() / this.o.row) + LONG_SPARE);

	for (const at of [...this.rows.keys()]) {
		if (at < from || at >= until)
			this.drop(at);
	}
	for (let at = from, next = this.body.firstElementChild; at < until; at++) {
		let row = this.rows.get(at);

		if (!row) {
			row = this.o.make(at);
			this.rows.set(at, row);
			this.body.insertBefore(row, next);
		}
		next = row.nextElementSibling;
	}
	this.from = from;
	this.until = until;
};

LongList.prototype.draw = function () {
	if (this.at >= this.n)
		this.goEnd();
	this.settle();
	this.fill();
	this.settle();
	this.fill();
	/* nothing is below the last row, and if it is held, its end is in view, whatever heights others get */
	const last = this.rows.get(this.n - 1), first = this.rows.get(this.at);

	if (last && first) {
		const below = last.offsetTop + last.offsetHeight - first.offsetTop - this.hidden;

		if (below < this.view() || this.held === this.n - 1) {
			this.hidden -= this.view() - below;
			this.settle();
			this.fill();
		}
	}
	this.put();
	if (this.o.drawn)
		this.o.drawn(this.from, this.until);
};

LongList.prototype.goEnd = function () {
	this.at = Math.max(0, this.n - Math.ceil(this.view() / this.o.row));
	this.hidden = 0;
	this.fill();
	this.at = Math.max(0, this.n - 1);
	this.hidden = this.heightOf(this.at) - this.view();
	this.held = this.n - 1;
};

/* Show the end. */
LongList.prototype.end = function () {
	this.at = this.n;
	this.draw();
	this.rest();
};

/* Show a row: where it is if it is in view, or a third below the top. */
LongList.prototype.show = function (at) {
	const row = this.rows.get(at), box = this.o.box.getBoundingClientRect();
	const r = row && row.getBoundingClientRect();

	if (!r || r.top < box.top || r.bottom > box.bottom) {
		/* one row further than the view is a step, everything else a jump */
		const near = r && (r.top < box.top ? box.top - r.top : r.bottom - box.bottom) < 3 * this.o.row;

		if (near) {
			this.hidden += r.top < box.top ? r.top - box.top : r.bottom - box.bottom;
		} else {
			this.at = at;
			this.hidden = -this.view() / 3;
		}
	}
	this.held = at;
	this.draw();
	this.rest();
};

/* Rows may differ from what is drawn: those that do are replaced. */
LongList.prototype.refresh = function () {
	const below = () => {
		const held = this.rows.get(this.held), first = this.rows.get(this.at);

		return held && first ? held.offsetTop - first.offsetTop - this.hidden : 0;
	};
	const before = below();

	for (const [at, old] of this.rows) {
		const row = this.o.make(at);

		if (row.isEqualNode(old))
			continue;
		old.replaceWith(row);
		this.rows.set(at, row);
	}
	this.hidden += below() - before;
	this.draw();
};

/* Other rows: none of those that are drawn stay. */
LongList.prototype.reset = function (n) {
	for (const at of [...this.rows.keys()])
		this.drop(at);
	this.at = this.hidden = 0;
	this.held = -1;
	this.setCount(n);
	this.draw();
	this.rest();
};
