/* SPDX-License-Identifier: MIT */
/* Reading the data: see pack_chart.h */

function readLeb(r) {
	let v = 0, shift = 1, b;

	do {
		b = r.bytes[r.at++];
		v += (b & 127) * shift;
		shift *= 128;
	} while (b > 127);
	return v;
}

/* Numbers of a block, as they were coded. */
function readBlock(r, out, from, until) {
	const least = readLeb(r), first = r.bytes[r.at++], width = first & 127, unit = Math.pow(2, width);
	let bits = 0, held = 0;

	for (let i = from; i < until; i++) {
		if (width > 24) {	/* more than fits in the bits of a number of 32 */
			for (; held < width; held += 8)
				bits += r.bytes[r.at++] * Math.pow(2, held);
			out[i] = least + bits % unit;
			bits = Math.floor(bits / unit);
		} else {
			for (; held < width; held += 8)
				bits |= r.bytes[r.at++] << held;
			out[i] = least + (bits & unit - 1);
			bits >>>= width;
		}
		held -= width;
	}
	for (let n = first > 127 ? r.bytes[r.at++] : 0; n > 0; n--) {
		const i = from + r.bytes[r.at++];

		out[i] += readLeb(r) * unit;
	}
}

function readColumn(r, type, n) {
	const coded = new Uint32Array(n), out = new Int32Array(coded.buffer);
	let sum = 0;

	for (let i = 0; i < n; i += 64)
		readBlock(r, coded, i, Math.min(i + 64, n));
	if (type === "u")
		return out;
	for (let i = 0; i < n; i++) {
		const v = coded[i] >>> 1 ^ -(coded[i] & 1);

		sum = type === "d" ? sum + v | 0 : v;
		out[i] = sum;
	}
	return out;
}

/* {numbers: {name: Int32Array}, texts: {name: [text]}, head: the JSON} */
async function readData(text) {
	const end = text.indexOf("\n"), head = JSON.parse(text.slice(0, end));
	const bytes = bytesOf(text, end + 1), r = { bytes, at: 0 };
	const unpacked = inflate(bytes.subarray(head.packed[0], head.packed[0] + head.packed[1]));
	const data = { head, numbers: {}, texts: {} };
	let at = 0;

	for (const [name, type, n] of head.numbers)
		data.numbers[name] = readColumn(r, type, n);
	const plain = await unpacked;
	for (const [name, n] of head.texts) {
		data.texts[name] = new TextDecoder().decode(plain.subarray(at, at + n)).split("\n");
		data.texts[name].pop();
		at += n;
	}
	return data;
}
