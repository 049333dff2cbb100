/* SPDX-License-Identifier: MIT */
/* Names of tasks upon bars: the part that differs from others comes first */

const BAR_PAD = 3, LABEL_SMALL = 18;	/* pixels: the part of a bar beside a badge */
const ruler = { context: null, family: "", width: new Map() };

function measure(text) {
	if (!ruler.context) {
		ruler.context = make(HTML, "canvas", {}).getContext("2d");
		ruler.family = getComputedStyle(page.app).fontFamily || "sans-serif";
	}
	ruler.context.font = "100px " + ruler.family;
	return ruler.context.measureText(text).width;
}

/* The width of a text. Adding up widths of characters is much quicker than measuring. */
function widthOf(text, font) {
	let sum = 0;

	for (const c of text) {
		let width = ruler.width.get(c);

		if (c > "\u024f" && c < "\u2010")	/* letters that join */
			return measure(text) * font / 100;
		if (width === undefined) {
			width = measure(c);
			ruler.width.set(c, width);
		}
		sum += width;
	}
	return sum * font / 100;
}

/* As much of the beginning as fits, or "". */
function fit(text, width, font) {
	const dots = widthOf("\u2026", font);
	let sum = 0, n = 0;

	if (widthOf(text, font) <= width)
		return text;
	for (const c of text) {
		sum += widthOf(c, font);
		if (sum + dots > width)
			break;
		n += c.length;
	}
	return n ? text.slice(0, n).trimEnd() + "\u2026" : "";
}

/* As much of the end. */
function fitEnd(text, width, font) {
	const reversed = fit(Array.from(text).reverse().join(""), width, font);

	return Array.from(reversed).reverse().join("");
}

/* "lib07-1.0-r0": "lib07". */
function withoutVersion(recipe) {
	return recipe.replace(/^(.+)-[^-]+-r\d[^-]*$/, "$1");
}

/* "do_compile": "compile". */
function withoutPrefix(name) {
	return name.replace(/^do_(.)/, "$1");
}

/* A file's name and its directory; of the files of GCC's LTO their number. A text with blanks is a
 * command. */
function fileParts(path) {
	if (path.includes(" "))
		return [path, ""];
	const lto = /(?:^|\/)cc\w{6}\.(ltrans\d+)(?:\.ltrans)?\.[os]$/.exec(path);
	const trimmed = path.replace(/\/+$/, ""), at = trimmed.lastIndexOf("/");

	return lto ? [lto[1], ""] : [trimmed.slice(at + 1) || path, at > 0 ? trimmed.slice(0, at) : ""];
}

/* The recipe of a task of BitBake, or "". */
function recipeOf(i) {
	return toolOf(i) === "bitbake" && tasks.place[i] >= 0 ? tasks.places[tasks.place[i]] : "";
}

/* [the part that differs from others, the rest of the name]. What a label beside it says is
 * left out: by is "recipe" or "directory" where it does, as the labels of the rows. */
function namePartsOf(i, by) {
	const place = tasks.place[i] < 0 ? "" : clean(tasks.places[tasks.place[i]]);
	const name = clean(tasks.names[tasks.name[i]]);

	if (recipeOf(i)) {
		const step = withoutPrefix(name);

		return by === "recipe" ? [step, ""] : [withoutVersion(place), step];
	}
	const [file, directory] = fileParts(name);

	return [file, by === "directory" ? directory : place && directory && directory[0] !== "/" ?
		place + "/" + directory : directory || place];
}

function labelOf(i) {
	return namePartsOf(i)[0];
}

/* What a bar says of a file, as render/chart/bar_name.c: not the suffix of an object, which the
 * colour says, nor what mktemp made up. */
function barFile(name) {
	let file = fileParts(name)[0];

	if (/^\/(?:tmp|var\/tmp|dev\/shm)\//.test(name) && file.length - file.indexOf(".") > 4)
		file = file.slice(file.indexOf(".") + 1);
	return file.replace(/^(.+?)(?:\.(?:o|lo|obj|ltrans))+$/, "$1");
}

/* [the part that differs from others, the task of a recipe if the colour does not say it] */
function barPartsOf(i, by) {
	const [name, step] = namePartsOf(i, by), whole = clean(tasks.names[tasks.name[i]]);

	if (recipeOf(i))
		return [name, step === tasks.kinds[tasks.kind[i]].name ? "" : step];
	return [barFile(whole === "$(shell)" ? clean(tasks.programs[tasks.program[i]]) || whole : whole), ""];
}

/* "ltrans19.o": "lt...19". A number at the end makes the difference. */
function cutName(name, width, font) {
	const number = /\d{1,5}(?=(?:\.\w{1,5})?$)/.exec(name), dots = "\u2026" + (number || "");
	const rest = number ? width - widthOf(number[0], font) : width;
	const start = fit(number ? name.slice(0, number.index) + "\u2026" : name, rest, font);

	if (!number)
		return start;
	return start && rest > 0 ? start + number[0] : widthOf(dots, font) <= width ? dots :
		fit(name, width, font);
}

/* The first of some texts that fits, or a part of the last. */
function firstThatFits(texts, width, font) {
	return texts.find(t => widthOf(t, font) <= width) || cutName(texts[texts.length - 1], width, font);
}

/* What a bar may say, the longest first: of the task that has most of its time, or of
 * how many it stands for. */
function barTexts(i, count, busy, by) {
	const [name, step] = barPartsOf(i, by), whole = name + " " + wallText(i);
	const more = step ? "" : namePartsOf(i, by)[1], n = countText(count);

	if (count > 1 && 2 * (tasks.end[i] - tasks.start[i]) < busy)
		return [n + " tasks, longest " + whole, n + " tasks", "\u00d7" + n];
	return step ? [name + " " + step + " " + wallText(i), whole, name] :
		more ? [whole + "  " + more, whole, name] : [whole, name];
}

/* Names into bars: {x0, x1, y, height, task, count, busy, colour, dim}. */
function drawBarNames(layer, bars, by) {
	const list = bars.filter(b => b.x1 - b.x0 >= LABEL_SMALL && b.height >= 10);
	let n = 0;

	if (list.length > LABELS_MAX)
		list.sort((a, b) => b.x1 - b.x0 - a.x1 + a.x0).length = LABELS_MAX;
	for (const b of list) {
		const room = b.x1 - b.x0 - 2 * BAR_PAD;
		const texts = barTexts(b.task, b.count, b.busy, by);
		const font = b.height < 13 ? 10 :
			b.height < 30 || widthOf(texts[texts.length - 2], 12.5) > room ? 11 : 12.5;
		const text = firstThatFits(texts, room, font);

		if (text)
			layer.text(n++, "name " + (b.dim ? "faint" : "c" + b.colour) +
				   (font < 11 ? " small" : font > 11 ? " large" : ""),
				   b.x0 + BAR_PAD, b.y + b.height / 2 + font * .36, text);
	}
	layer.cut(n);
}
