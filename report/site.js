/* SPDX-License-Identifier: MIT */
/* What every page of a site needs (html.h): styles that its policy does not allow in the document, and the
 * recording in the links to other pages, and its choice. */
for (const e of document.querySelectorAll("[data-style]"))
	e.style.cssText = e.dataset.style;
{
	const form = document.querySelector("#choice");

	if (form) {
		form.querySelector("button").hidden = true;
		form.addEventListener("change", () => form.submit());
	}
}
if (document.body.dataset.rec) {
	for (const a of document.querySelectorAll("#pages a"))
		a.search = "?rec=" + encodeURIComponent(document.body.dataset.rec);
}
