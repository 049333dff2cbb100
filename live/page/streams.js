/* SPDX-License-Identifier: MIT */
"use strict";
/*
 * The streams of all tabs of a browser, which has six connections to a server: a shared worker, with one
 * stream an address while a tab wants it. A tab sends {address, last}, the id of its newest message or "",
 * and gets {name, data, id}; null says that it has enough. One that comes back after others went on missed
 * something, and gets "gap".
 */
(function () {

/* live/page/source.js */

const streams = new Map();

function begin(address, last) {
	const s = { ports: new Set(), source: null };

	s.source = openSource(address, last, (name, data, id) => {
		if (name === "end")
			streams.delete(address);
		for (const port of s.ports)
			port.postMessage({ name, data, id });
	});
	streams.set(address, s);
	return s;
}

function leave(port) {
	for (const [address, s] of streams) {
		if (!s.ports.delete(port) || s.ports.size)
			continue;
		s.source.close();
		streams.delete(address);
	}
}

function join(port, { address, last }) {
	const had = streams.get(address), s = had || begin(address, last);

	s.ports.add(port);
	if (had && last && last !== s.source.last)
		port.postMessage({ name: "gap" });
	if (s.source.isOpen())
		port.postMessage({ name: "open" });
}

self.addEventListener("connect", e => {
	const port = e.ports[0];

	port.onmessage = m => m.data ? join(port, m.data) : leave(port);
});

})();
