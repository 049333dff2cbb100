/* SPDX-License-Identifier: MIT */
/* #tN marks the blocks of task N and shows the first one. */
"use strict";
(function () {
const blocks = Array.from(document.querySelectorAll(".log section"));
const find = document.getElementById("find"), only = document.getElementById("only");
let timer = 0;

function mark() {
	const wanted = /^#t(\d+)$/.exec(location.hash), number = wanted ? wanted[1] : null;
	let n = 0;

	for (const block of blocks) {
		const on = number !== null && block.dataset.t === number;

		block.classList.toggle("on", on);
		n += on;
	}
	only.textContent = number === null ? "" : n ? n + (n === 1 ? " block" : " blocks") +
		" of the task marked" : "no line is known to come from this task";
	if (n)
		document.getElementById("t" + number).scrollIntoView();
}

function filter() {
	const text = find.value.toLowerCase();

	for (const block of blocks)
		block.classList.toggle("hidden", text !== "" &&
				       !block.textContent.toLowerCase().includes(text));
}

find.addEventListener("input", () => {
	clearTimeout(timer);
	timer = setTimeout(filter, 100);
});
/* The chart chooses the task by the address; where it is on the same page it may be out of view. */
document.addEventListener("click", e => {
	const to = e.target.closest('a[href^="#task="]');

	if (to)
		document.getElementById("chart").scrollIntoView();
});
window.addEventListener("hashchange", mark);
mark();
}());
