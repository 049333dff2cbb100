/* SPDX-License-Identifier: MIT */
/* With which settings the server runs */

pages.settings = {
	async make(main) {
		const o = await api("/api/v1/", { rec: "" }), facts = [
			["Serves", "the " + o.serves + " " + o.path],
			["Control", o.control ? "Pages can begin background tasks and accept changes (--allow-control)." :
			 "Pages only read: start buildbeat serve with --allow-control to begin background tasks."],
			["Recordings", countText(core.recordings.length)],
		];

		setTitle("Settings");
		make("h2", {}, main, "Server");
		const list = make("dl", { "class": "help" }, main);

		for (const [label, text] of facts) {
			make("dt", {}, list, label);
			make("dd", {}, list, clean(text));
		}
		make("h2", {}, main, "Inspections");
		const { file, settings } = await api("/api/v1/settings", { rec: "" });

		make("p", { id: "settings-file" }, main, clean(file ? "From " + file + ", which is where they are changed." :
			"There is no buildbeat.yaml where the server was started: write the keys into one to change them."));
		const body = makeTable(main, "Settings of inspections", ["Key", "Value", "What it is"]);

		body.parentElement.id = "settings-table";
		for (const s of settings) {
			const row = make("tr", {}, body);

			make("th", { scope: "row" }, row, clean(s.key));
			make("td", {}, row, clean(s.value === null ? "not set" : s.value));
			make("td", {}, row, clean(s.description));
		}
	},
};
