/* SPDX-License-Identifier: MIT */
/* Elements of the pages of reports and profiles */

function make(name, attributes, parent, text) {
	const e = document.createElement(name);

	for (const key in attributes)
		e.setAttribute(key, attributes[key]);
	if (text !== undefined)
		e.textContent = text;
	if (parent)
		parent.appendChild(e);
	return e;
}

function find(selector) {
	return document.querySelector(selector);
}

/* "1 row", "1,234 rows", "2 processes" */
function countOf(n, what) {
	return countText(n) + " " + what + (n === 1 ? "" : what.endsWith("s") ? "es" : "s");
}

/* The field that filters a table: apply() is called when the text did not change for delay_ms. */
function makeSearch(parent, attributes, delay_ms, apply) {
	const field = make("input", Object.assign({ type: "search", id: "search", size: 28 }, attributes),
			   parent);
	let timer = 0;

	field.addEventListener("input", () => {
		clearTimeout(timer);
		timer = setTimeout(() => apply(field.value), delay_ms);
	});
	return field;
}
