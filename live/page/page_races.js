/* SPDX-License-Identifier: MIT */
/* Tasks that made the same file at one time, or read it meanwhile: the result depends on luck */

const RACES_SHOWN = 200;

pages.races = {
	async make(main) {
		const o = await api("/api/v1/races");

		make("p", { "class": "answer" }, main, o.n_races ?
		     countOf(o.n_races, "pair") + " of tasks ran at the same time although both make one file, or one reads what the other makes." :
		     "No two tasks made one file at the same time.");
		make("p", { "class": "faint" }, main, "One build tool orders the tasks that it knows. Two of them in one build, such as " +
		     "two makes of one directory, do not know of each other. " + (o.dependencies_recorded ? "" :
		     "Dependencies were not recorded, so tasks that only read a file are not known."));
		if (!o.races.length)
			return;
		const body = makeTable(main, "Races", ["Task", "and", "What", ["At", true], ["Together for", true]]);

		for (const race of o.races.slice(0, RACES_SHOWN)) {
			const row = make("tr", {}, body);

			for (const t of [race.first, race.second])
				make("td", { "class": "name" }, row).append(link("task", { task: t.task }, t.name));
			make("td", {}, row, race.what);
			make("td", { "class": "number" }, row, timeText(race.start_us));
			make("td", { "class": "number" }, row, timeText(race.overlap_us));
		}
	},
};
