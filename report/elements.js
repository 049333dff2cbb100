/* SPDX-License-Identifier: MIT */
/* Elements of the pages of reports and profiles */

function setUp(e, attributes, parent, text) {
	for (const key in attributes)
		e.setAttribute(key, attributes[key]);
	if (text !== undefined)
		e.textContent = text;
	if (parent)
		parent.appendChild(e);
	return e;
}

/* A new element of HTML, or of SVG; the attributes, the parent and the text can be left out. */
function make(name, attributes, parent, text) {
	return setUp(document.createElement(name), attributes, parent, text);
}

function makeSvg(name, attributes, parent, text) {
	return setUp(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, parent, text);
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

/* Make a page in the steps of an async function; a failure is shown below the element that the selector finds. */
async function beginPage(selector, what, steps) {
	try {
		await steps();
		return true;
	} catch (e) {
		console.error(e);
		make("p", {}, find(selector), what + " cannot be shown: " + e);
		return false;
	}
}
