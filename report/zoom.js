/* SPDX-License-Identifier: MIT */
/*
 * Zoom and move in one direction, for the pointer, the wheel, two fingers and keys. o has:
 *	box		the element
 *	plot()		[left, width] of the plot in pixels of the window
 *	range		{from, until} within 0 and 1, which is changed
 *	least()		the smallest range
 *	draw()		draws it
 *	click(e, x, twice), hover(e, x), leave()	x: place in 0 to 1
 *	keys		{key: function}
 */
function makeZoom(o) {
	const fingers = new Map();
	let drag = null, frame = 0;
	const spot = e => {
		const [left, width] = o.plot();

		return (e.clientX - left) / Math.max(1, width);
	};
	const place = e => o.range.from + spot(e) * (o.range.until - o.range.from);
	const set = (from, until) => {
		const span = clamp(until - from, o.least(), 1);

		o.range.from = clamp(from, 0, 1 - span);
		o.range.until = o.range.from + span;
		if (!frame) {
			frame = requestAnimationFrame(() => {
				frame = 0;
				o.draw();
			});
		}
	};
	const zoom = (at, factor) => set(at - (at - o.range.from) * factor, at + (o.range.until - at) * factor);
	const pan = part => set(o.range.from + part * (o.range.until - o.range.from),
				o.range.until + part * (o.range.until - o.range.from));
	const keys = Object.assign({
		"+": () => zoom((o.range.from + o.range.until) / 2, .5),
		"=": () => zoom((o.range.from + o.range.until) / 2, .5),
		"-": () => zoom((o.range.from + o.range.until) / 2, 2),
		"0": () => set(0, 1),
		"Home": () => set(0, 1),
		"ArrowLeft": () => pan(-.15),
		"ArrowRight": () => pan(.15),
	}, o.keys);

	o.box.addEventListener("wheel", e => {
		const scale = e.deltaMode === 1 ? 20 : e.deltaMode === 2 ? 400 : 1, { from, until } = o.range;

		if (e.shiftKey && !e.ctrlKey)
			return;
		if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
			e.preventDefault();
			pan(clamp(e.deltaX * scale / 1000, -.5, .5));
			return;
		}
		if (e.deltaY > 0 && until - from >= 1 && !e.ctrlKey)
			return;
		e.preventDefault();
		zoom(clamp(place(e), from, until), Math.exp(clamp(e.deltaY * scale / 400, -1, 1)));
	}, { passive: false });
	o.box.addEventListener("pointerdown", e => {
		if (e.button || e.target.closest("button"))
			return;
		fingers.set(e.pointerId, { spot: spot(e), place: place(e) });
		drag = { from: o.range.from, spot: spot(e), x: e.clientX, moved: fingers.size > 1 };
	});
	o.box.addEventListener("pointermove", e => {
		const finger = fingers.get(e.pointerId), [a, b] = [...fingers.values()];

		if (finger)
			finger.spot = spot(e);
		if (fingers.size === 2 && Math.abs(a.spot - b.spot) > .02) {
			const k = (b.place - a.place) / (b.spot - a.spot);

			if (k > 0)
				set(a.place - a.spot * k, a.place + (1 - a.spot) * k);
		} else if (finger && drag && (drag.moved || Math.abs(e.clientX - drag.x) > 4)) {
			const span = o.range.until - o.range.from;
			const from = drag.from - (spot(e) - drag.spot) * span;

			if (!drag.moved)
				o.box.setPointerCapture(e.pointerId);
			drag.moved = true;
			if (fingers.size === 1)
				set(from, from + span);
		} else {
			o.hover(e, place(e));
		}
	});
	for (const type of ["pointerup", "pointercancel"]) {
		o.box.addEventListener(type, e => {
			const clicked = fingers.delete(e.pointerId) && drag && !drag.moved && type === "pointerup";

			drag = null;
			for (const finger of fingers.values())
				drag = { from: o.range.from, spot: finger.spot, x: 0, moved: true };
			if (clicked)
				o.click(e, place(e), false);
		});
	}
	o.box.addEventListener("pointerleave", () => o.leave());
	o.box.addEventListener("dblclick", e => {
		e.preventDefault();
		o.click(e, place(e), true);
	});
	o.box.addEventListener("keydown", e => {
		const act = keys[e.key];

		if (!act || e.target !== o.box || e.ctrlKey || e.altKey || e.metaKey)
			return;
		e.preventDefault();
		e.stopPropagation();
		act(e);
	});
	return { set, zoom };
}
