/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "cli/command.h"
#include "cli/inspect.h"
#include "cli/inspect_export.h"
#include "inspect/inspection.h"
#include "inspect/rule.h"
#include "render/inspect/inspect.h"

#include <errno.h>

static const char *const heap_modes[] = {
	[HEAP_OFF] = "off", [HEAP_SAMPLED] = "sampled", [HEAP_EXACT] = "exact", NULL
};

#define OPTIONS struct inspect_arguments
static const struct option options[] = {
	{ OPT_CONFIG(config) },
	{ OPT_NUMBER('p', "pid", pid, 1, INT32_MAX, "PID", "inspect the process PID") },
	{ OPT_TEXT(0, "match", match, "NAME", "inspect the heaviest process with this program name") },
	{ OPT_TEXT('T', "task", task, "TASK", "inspect the heaviest process of a running task") },
	{ OPT_FLAG(0, "heaviest", heaviest, "inspect the process with the most memory") },
	{ OPT_TEXT(0, "every", follow, "NAME", "inspect every process with this program name") },
	{ OPT(OPTION_TIME, int64_t, 'i', "interval", interval_us, "TIME",
	  "time between snapshots (default: 1 % of a CPU is used)") },
	{ OPT_NUMBER(0, "count", count, 1, RULE_COUNT_MAX, "N",
	  "number of snapshots (default: until the process ends)") },
	{ OPT_MODE(0, "heap", heap, heap_modes, "exact", "also record allocations: sampled, or exact") },
	{ OPT_FLAG(0, "freeze", freeze, "stop the process while a snapshot is taken") },
	{ OPT_FLAG(0, "pages", pages, "also record which pages are in memory") },
	{ OPT_FLAG(0, "progress", progress, "print the progress, also where messages go to no terminal") },
	{ OPT_FLAG(0, "background", background, "print the id of a background task, and return") },
	{ OPT_PATH('o', "output", output, "ARCHIVE|FILE",
	  "directory of the archive to write, or with --show a file to write") },
	{ OPT_FLAG(0, "status", status, "print the tasks in the background, or the progress of one") },
	{ OPT_TEXT(0, "wait", wait, "ID", "wait for the end of a task, and return its exit status") },
	{ OPT_TEXT(0, "cancel", cancel, "ID", "end a task, or 'all'; the archive is kept") },
	{ OPT_PATH(0, "show", show, "ARCHIVE", "print what the process of ARCHIVE had in memory") },
	{ OPT_CHOICE(0, "format", format, inspect_format_words, "FORMAT",
	  "format of --show: text, json, html, svg, png, pdf, term, pprof, collapsed or heaptrack "
	  "(default text)") },
	{ OPT_TEXT(0, "site", site, "REC", "write the page that buildbeat serve shows, for the recording REC") },
	{ OPT_FLAG(0, "keep", keep, "keep gnuplot's script and data beside the picture") },
	{ OPT_TEXT(0, "snapshot", snapshot, "N[,M]",
	  "show snapshot N (default: the largest), and what grew since M (default: 1)") },
	{ OPT_SET(0, "view", view, inspect_part_words, "PART,...",
	  "parts to show (default: overview,classes,functions,growth)") },
	{ OPT_TEXT(0, "rules", rules, "FILE", "classify memory by FILE or by these shipped rules") },
	{ OPT_TEXT(0, "file", file, "REGEX", "show the mappings of files that match REGEX") },
	{ OPT_TEXT(0, "permissions", permissions, "REGEX",
	  "show the mappings with permissions that match REGEX, such as ^rw") },
	{ OPT_TEXT(0, "address", address, "ADDRESS", "show the mapping of this hexadecimal address") },
	{ OPT_TEXT(0, "stack", stack, "REGEX",
	  "show the allocations of call stacks with a function that matches REGEX") },
	{ OPT_NUMBER('t', "top", top, 1, 1000000, "N", "print N rows of each list (default 15)") },
	{ OPT_FLAG(0, "list", list, "list the archives in a directory (default: here)") },
	{ OPT_TEXT(0, "delete", delete, "ARCHIVE", "remove an archive") },
	{ OPT_FLAG(0, "capabilities", capabilities, "print what can be inspected here, and the rights") },
	{ OPT_FLAG(0, "settings", show_settings, "print the settings of inspections, from buildbeat.yaml") },
	{ OPT_FLAG('j', "json", json, "print JSON") },
	{ 0 }
};

static const struct inspect_arguments defaults = { .heap = HEAP_OFF, .top = INSPECT_TOP };

typedef int action_function(struct args *a, struct inspect_arguments *o, struct error *err);

/* What is done instead of an inspection, by the option that asks for it. */
static const struct {
	const char *option;
	action_function *run;
} actions[] = {
	{ "status", inspect_status },
	{ "wait", inspect_wait },
	{ "cancel", inspect_cancel },
	{ "show", inspect_show },
	{ "list", inspect_archives },
	{ "delete", inspect_delete },
	{ "capabilities", inspect_capabilities },
	{ "settings", inspect_settings },
};

static int run(struct args *a, void *values, struct error *err)
{
	action_function *action = inspect_start;
	const char *chosen = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(actions); i++) {
		if (!options_given(a, actions[i].option))
			continue;
		if (chosen)
			return error_set(err, -EINVAL, NULL, 0, 0, "inspect: --%s and --%s exclude "
					 "each other", chosen, actions[i].option);
		chosen = actions[i].option;
		action = actions[i].run;
	}
	return action(a, values, err);
}

const struct command cmd_inspect = {
	.name = "inspect", .operands = "[CMD...]", .runs = true, .run = run,
	.options = options, .keys = options, COMMAND_DEFAULTS(defaults),
	.summary = "Show what a process has in memory, over time",
};
