/* SPDX-License-Identifier: MIT */
/*
 * Tables of the page of diff: a button in each heading sorts by the numbers in data-n, or by name.
 * Of a long table the first rows are shown until a button asks for all; without this script, all.
 */
"use strict";
(function () {
const ROWS = 20, ROWS_FOLDED = 10;	/* as in page.css; so many more are worth a button */

function sortBy(th) {
	const table = th.closest("table"), body = table.tBodies[0], at = th.cellIndex;
	const rises = th.ariaSort === "descending" || (!at && !th.ariaSort);
	const key = row => {
		const cell = row.cells[at], n = cell.dataset.n;

		return n === undefined ? cell.textContent : Number(n);
	};
	const rows = [...body.rows].map(row => [key(row), row])
		.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0) * (rises ? 1 : -1));

	for (const other of table.querySelectorAll("thead th"))
		other.ariaSort = null;
	th.ariaSort = rises ? "ascending" : "descending";
	body.append(...rows.map(pair => pair[1]));
}

function addButton(parent, children, action) {
	const button = document.createElement("button");

	button.type = "button";
	button.append(...children);
	button.onclick = action;
	parent.append(button);
	return button;
}

function fold(table) {
	const n = table.tBodies[0].rows.length;

	if (n <= ROWS + ROWS_FOLDED)
		return;
	const button = addButton(table.parentNode, [], () => {
		const short = table.classList.toggle("short");

		button.textContent = (short ? "all " + n.toLocaleString("en") : "first " + ROWS) + " rows";
		button.setAttribute("aria-expanded", !short);
	});

	button.click();
}

for (const th of document.querySelectorAll("table.sort thead th"))
	addButton(th, [...th.childNodes], () => sortBy(th));
document.querySelectorAll(".scroll table").forEach(fold);
}());
