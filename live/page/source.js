/* SPDX-License-Identifier: MIT */
/* A stream of the server, for live.js and streams.js */

const SOURCE_AGAIN_MS = 2000, SOURCE_NAMES = ["task", "sample", "note", "gap", "end"];

/*
 * The messages of an address behind the id `last`: take(name, data, id), until "end". "open" and "error" are
 * without data. Returns {close(), isOpen(), last}.
 */
function openSource(address, last, take) {
	const s = { last, close, isOpen: () => Boolean(source) && source.readyState === EventSource.OPEN };
	let source = null, timer = 0;

	function close() {
		clearTimeout(timer);
		if (source)
			source.close();
		source = null;
	}

	function open() {
		source = new EventSource(address + (s.last ? "&since=" + s.last : ""));
		source.addEventListener("open", () => take("open"));
		source.addEventListener("error", e => {
			/* The browser reconnects by itself unless the server refused. */
			if (e.target === source && source.readyState === EventSource.CLOSED)
				timer = setTimeout(open, SOURCE_AGAIN_MS);
			if (source)
				take("error");
		});
		for (const name of SOURCE_NAMES) {
			source.addEventListener(name, e => {
				s.last = e.lastEventId || s.last;
				if (name === "end")
					close();
				take(name, e.data, e.lastEventId);
			});
		}
	}
	open();
	return s;
}
