/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "cli/command.h"
#include "cli/inspect.h"
#include "cli/inspect_export.h"
#include "inspect/inspection.h"
#include "inspect/rule.h"
#include "report/inspect/inspect_outputs.h"

static const char *const heap_modes[] = {
	[HEAP_OFF] = "off", [HEAP_SAMPLED] = "sampled", [HEAP_EXACT] = "exact", NULL
};

static const struct inspect_arguments defaults = { .heap = HEAP_OFF, .top = INSPECT_TOP };

#define OPTIONS struct inspect_arguments
#define OPTION_JSON { OPT_FLAG('j', "json", json, "print JSON") }

static const struct option json_only[] = { OPTION_JSON, { 0 } };

static const struct option run_options[] = {
	{ OPT_CONFIG(config) },
	{ OPT_NUMBER('p', "pid", pid, 1, INT32_MAX, "PID", "inspect the process PID") },
	{ OPT_TEXT(0, "match", match, "NAME", "inspect the heaviest process with this program name") },
	{ OPT_TEXT('T', "task", task, "TASK", "inspect the heaviest process of a running task") },
	{ OPT_FLAG(0, "heaviest", heaviest, "inspect the process with the most memory") },
	{ OPT_TEXT(0, "every", follow, "NAME", "inspect every process with this program name") },
	{ OPT(OPTION_TIME, int64_t, 'i', "interval", interval_us, "TIME",
	  "time between snapshots (default: adaptive, at most 1 % of a CPU)") },
	{ OPT_NUMBER(0, "count", count, 1, RULE_COUNT_MAX, "N",
	  "number of snapshots (default: until the process ends)") },
	{ OPT_MODE(0, "heap", heap, heap_modes, "exact", "also record allocations: sampled, or exact") },
	{ OPT_FLAG(0, "freeze", freeze, "stop the process while a snapshot is taken") },
	{ OPT_FLAG(0, "pages", pages, "also record which pages are in memory") },
	{ OPT_FLAG(0, "progress", progress, "print the progress, also where messages go to no terminal") },
	{ OPT_FLAG(0, "background", background, "print an id for inspect status, and return") },
	{ OPT_PATH('o', "output", output, "ARCHIVE", "directory of the archive to write") },
	{ 0 }
};

static const struct option show_options[] = {
	{ OPT_CONFIG(config) },
	{ OPT_PATH('o', "output", output, "FILE", "write to FILE (default: standard output)") },
	{ OPT_CHOICE(0, "format", format, inspect_format_words, "FORMAT",
	  "text, json, html, svg, png, pdf, term, pprof, collapsed or heaptrack (default text)") },
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
	OPTION_JSON,
	{ 0 }
};

static const struct option settings_options[] = {
	{ OPT_CONFIG(config) },
	OPTION_JSON,
	{ 0 }
};

static int run_inspect(struct args *a, void *values, struct error *err)
{
	(void)values;
	(void)err;
	if (a->n)
		return command_unknown_part(a->command, a->operand[0]);
	options_print_help(a->command);
	return EXIT_GOOD;
}

COMMAND(inspect, "[COMMAND] [ARGUMENT...]", "Show what processes have in memory, over time",
	.runs = true);

/* The part NAME: its operands, whether they are a command to run, its options, function and summary. */
#define PART(its_name, its_operands, runs_command, its_options, its_run, text) \
	const struct command cmd_inspect_##its_name = { \
		.name = "inspect " #its_name, .operands = its_operands, .runs = runs_command, \
		.options = its_options, .run = its_run, COMMAND_DEFAULTS(defaults), .summary = text, \
	}

PART(run, "[CMD...]", true, run_options, inspect_run_start,
     "Take snapshots of the memory of a process, and write an archive");
PART(show, "ARCHIVE", false, show_options, inspect_run_show,
     "Show what the process of an archive had in memory");
PART(list, "[DIR...]", false, json_only, inspect_run_list,
     "List the archives in directories (default: here)");
PART(delete, "ARCHIVE", false, NULL, inspect_run_delete,
     "Remove an archive");
PART(status, "[ID]", false, json_only, inspect_run_status,
     "Print inspections in the background, or the progress of one");
PART(wait, "ID", false, NULL, inspect_run_wait,
     "Wait for the end of an inspection in the background");
PART(cancel, "ID|all", false, NULL, inspect_run_cancel,
     "End inspections in the background, and keep their archives");
PART(capabilities, "", false, json_only, inspect_run_capabilities,
     "Print what can be inspected here, and which rights are missing");
PART(settings, "", false, settings_options, inspect_run_settings,
     "Print the settings of inspections, from buildbeat.yaml");
