/* SPDX-License-Identifier: MIT */
/* The built-in help: which question each page answers, keys, words. It needs no net. */

const HELP_PAGES = [
	["overview", "Overview", "Does the build still run, how long will it take, has a task failed, what runs now, what limits it?"],
	["chart", "Chart", "When did each task run, beside which others, and what did the machine do meanwhile? It grows while the build runs."],
	["output", "Output", "What did the build print, which task printed it, and what is the first error? It grows while the build runs."],
	["table", "Tasks", "Which tasks took longest, used most CPU time or memory, or waited longest? Sorted and filtered."],
	["profile", "Profile", "How often did each command run, for how long, and how long did it wait? Grouped as you choose."],
	["machine", "Machine", "How busy is the machine of the server now: processors, memory, disks, pressure?"],
	["processes", "Processes", "Which processes run now, what do they use, and what do they wait for? A process has a page with its files, memory and threads."],
	["tracker", "Tracker", "Which kind, program, recipe, directory or task used the CPU, the memory or the disks over time?"],
	["graph", "Graph", "What does a task depend on, and what depends on it? Which dependencies make a cycle?"],
	["races", "Races", "Which tasks wrote the same file at one time, or read a file that was still being written?"],
	["compare", "Compare", "What differs between two builds, and which tasks explain it?"],
	["history", "History", "When did a metric of the builds change, and which changes are known?"],
	["inspections", "Inspections", "What did inspected processes have in memory, and what grew between two snapshots?"],
	["tasks", "Background tasks", "Which inspections, reports and charts does the server make, and how far are they?"],
	["settings", "Settings", "What does the server serve, and may its pages change anything?"],
];

const HELP_KEYS = [
	["/", "go to the filter of the page"], ["g, then o", "Overview"], ["g, then c", "Chart"], ["g, then l", "Output"], ["g, then t", "Tasks"],
	["g, then p", "Processes"], ["g, then m", "Tracker"], ["g, then d", "Graph"], ["g, then h", "History"],
	["r", "choose another recording"], ["?", "this help"],
	["e", "in the output: the first error, then the next one"], ["n, N", "in the output: the next and the previous match of the search"],
	["b, f", "in the output: fold it by task; stay at its end"],
	["Tab, Shift+Tab", "next and previous link, button or table"],
	["Up, Down, Page Up, Page Down, Home, End", "in a table: choose another row"], ["Enter", "in a table: open the row"],
];

const HELP_WORDS = [
	["recording", "the directory of one recorded build"],
	["archive", "the git repository that holds builds"],
	["task", "one command that the build tool ran"],
	["kind", "what a task does: compile, link, archive, shell"],
	["instance", "one run of a build tool inside a build: make, a sub-make, ninja"],
	["worker", "what runs one task at a time: a job of make -j, of ninja, of BitBake"],
	["ready", "a task is ready when everything that it needs is made; from then on it waits for a worker"],
	["path", "the chain that the end of the build waited for: each link is a dependency or a free worker"],
	["longest chain of dependencies", "the tasks that must run one after the other with any number of workers"],
	["verdict", "the sentences that say why a build took so long"],
	["remaining time", "predicted from earlier recordings of the same build; the interval holds the end of 80 % of the builds"],
	["pressure", "the share of time in which programs waited for the CPU, for memory or for disks"],
	["sample", "values of /proc at one time"],
	["inspection", "what one process had in memory over time"],
	["class", "a part of the memory of a process, as a rule names it"],
	["change", "what a comparison found: a regression or an improvement"],
	["suspect, confirmed", "a change that one build shows, and one that several builds agree on"],
	["acknowledge, accept", "mark a change as known; make the new level the normal one"],
];

function addHelpList(main, title, rows, first) {
	make("h2", {}, main, title);
	const list = make("dl", { "class": "help" }, main);

	for (const row of rows) {
		const term = make("dt", {}, list);

		first(term, row);
		make("dd", {}, list, row[row.length - 1]);
	}
}

pages.help = {
	async make(main) {
		setTitle("Help");
		make("p", {}, main, "These pages show running and recorded builds. All of them show the recording that is chosen " +
		     "above; an address can be copied and opened again. Nothing is loaded from the net.");
		addHelpList(main, "Pages", HELP_PAGES, (term, [page, title]) => term.append(link(page, {}, title)));
		addHelpList(main, "Keys", HELP_KEYS, (term, [key]) => make("kbd", {}, term, key));
		make("p", { "class": "faint" }, main, "The chart has keys of its own: press ? there.");
		addHelpList(main, "Words", HELP_WORDS, (term, [word]) => term.append(word));
		make("h2", {}, main, "For programs");
		const p = make("p", {}, main, "Everything on these pages is also JSON: ");

		make("a", { href: "/api/v1/" }, p, "all paths of the API");
		p.append(", described in buildbeat-api(7). A program sends the token of the address as \u201cAuthorization: Bearer TOKEN\u201d.");
	},
};
