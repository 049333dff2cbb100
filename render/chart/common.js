/* SPDX-License-Identifier: MIT */
/* Functions of the scripts in all pages and pictures. */

function clamp(v, least, most) {
	return v < least ? least : v > most ? most : v;
}

/* What would be invisible, or turn the direction of writing, is shown as a box. */
function clean(text) {
	return text.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
			    "\ufffd");
}

/* Numbers for people, as the rest of buildbeat writes them */

function two(n) {
	return n < 10 ? "0" + n : String(n);
}

/* As printf does: a half goes to the even digit. It is one only where a double has it exactly. */
function fixed(v, digits) {
	const down = Math.floor(v * 10 ** digits);

	return v * 2 ** (digits + 1) % 2 === 1 ? ((down + down % 2) / 10 ** digits).toFixed(digits) :
		v.toFixed(digits);
}

function timeText(us) {
	const s = Math.round(us / 1e6);

	if (!Math.round(us))
		return "0 s";
	if (us < 1000)
		return Math.round(us) + " us";
	if (us < 9950)
		return fixed(us / 1e3, 1) + " ms";
	if (us < 999500)
		return fixed(us / 1e3, 0) + " ms";
	if (us < 9995000)
		return fixed(us / 1e6, 2) + " s";
	if (us < 59950000)
		return fixed(us / 1e6, 1) + " s";
	if (s < 3600)
		return Math.floor(s / 60) + "m " + two(s % 60) + "s";
	return Math.floor(s / 3600) + "h " + two(Math.floor(s % 3600 / 60)) + "m";
}

function bytesText(n) {
	const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
	let i = 0;

	for (; n >= 999.5 && i < 6; i++)
		n /= 1024;
	return (i && n < 9.95 ? (Math.round(n * 10) / 10).toFixed(1) : Math.round(n)) + " " + units[i];
}

function percentText(share) {
	const p = share * 100;

	return p.toFixed(p >= 9.95 || !p ? 0 : p >= .995 ? 1 : 2) + " %";
}

function countText(n) {
	return String(n).replace(/\B(?=(\d{3})+$)/g, ",");
}

/* Packed bytes: see pack_chart.h */

function bytesOf(text, from) {
	const digit = new Uint8Array(128), out = new Uint8Array((text.length - from) * 13 / 16 | 0);
	let n = 0, bits = 0, held = 0;

	for (let c = 33, v = 0; c < 127; c++) {
		if (c !== 60 && c !== 62 && c !== 38)
			digit[c] = v++;
	}
	for (let i = from; i + 1 < text.length; i += 2) {
		bits |= (digit[text.charCodeAt(i)] * 91 + digit[text.charCodeAt(i + 1)]) << held;
		for (held += 13; held >= 8; held -= 8) {
			out[n++] = bits;
			bits >>>= 8;
		}
	}
	return out;
}

async function inflate(bytes) {
	const stream = new Blob([bytes]).stream()
		.pipeThrough(new DecompressionStream("deflate-raw"));

	return new Uint8Array(await new Response(stream).arrayBuffer());
}
