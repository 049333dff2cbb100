/* SPDX-License-Identifier: MIT */
/* What every page of a site needs (html.h): styles that its policy does not allow in the document, and the
 * recording in the links to other pages. */
for (const e of document.querySelectorAll("[data-style]"))
	e.style.cssText = e.dataset.style;
if (document.body.dataset.rec) {
	for (const a of document.querySelectorAll("#pages a"))
		a.search = "?rec=" + encodeURIComponent(document.body.dataset.rec);
}
