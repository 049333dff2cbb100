/* SPDX-License-Identifier: MIT */
#include "cli/settings_options.h"
#include "recording/layout.h"
#include "recording/store.h"
#include "recording/store_create.h"

static const char *const compressions[] = { "none", "zstd", NULL };
static const char *const layouts[] = { "buildbeat", "oe", "both", NULL };

#define OPTIONS struct settings
const struct option settings_options[] = {
	{ OPT_CONFIG(config) },
	{ OPT_PATH('o', "output", output, "DIR",
	  "directory of recordings (default: " LAYOUT_BASE ")"), .config = true },
	{ OPT_TEXT('n', "name", name, "NAME", "name of the recording (default: date and time)") },
	{ OPT_NUMBER(0, "repeat", repeat, 1, 100, "N",
	  "run and record the build N times, as one set") },
	{ OPT_TEXT(0, "prepare", prepare, "CMD",
	  "with --repeat: run the shell command CMD before each build") },
	{ OPT_CHOICE(0, "access", access, store_access_words, "WHO",
	  "readers of the recording: user, group or all (default: user)"), .config = true },
	{ OPT(OPTION_SECRETS, struct word_list, 0, "redact", redact, "PATTERN",
	  "also replace secrets that match PATTERN; may be repeated"), .config = true },
	{ OPT_NUMBER('i', "interval", interval_ms, 10, 3600000, "MS",
	  "milliseconds between samples (default: 1000)"), .config = true },
	{ OPT_FLAG(0, "per-core", per_core, "sample every core"), .config = true },
	{ OPT_FLAG(0, "all-interfaces", all_interfaces,
	  "sample lo and virtual network interfaces"), .config = true },
	{ OPT_FLAG(0, "task-io", task_io,
	  "record bytes read and written by every task (about 20 us per task)"), .config = true },
	{ OPT_FLAG(0, "task-memory", task_memory,
	  "sample the memory of running tasks (default: on)"), .config = true },
	{ OPT_FLAG(0, "task-files", task_files,
	  "record the sizes of the files that every task made"), .config = true },
	{ OPT_FLAG(0, "task-cache", task_cache,
	  "record hits and misses of ccache for every task"), .config = true },
	{ OPT_FLAG(0, "processes", processes,
	  "record every process of the build, including short ones"), .config = true },
	{ OPT_FLAG(0, "traceparent", traceparent,
	  "set TRACEPARENT for the command and its tasks"), .config = true },
	{ OPT_FLAG(0, "log", log, "keep the output of the build in the recording"), .config = true },
	{ OPT_CHOICE(0, "compress", compress, compressions, "HOW",
	  "compress the finished recording: none or zstd (default: none)"), .config = true },
	{ OPT_CHOICE(0, "layout", layout, layouts, "LAYOUT",
	  "layout of the finished recording: buildbeat, oe or both (default: buildbeat)"),
	  .config = true },
	{ OPT_PATH(0, "plugin", plugin, "FILE",
	  "plugin for GNU make (default: the installed one)"), .config = true, .personal = true },
	{ OPT_TEXT(0, "otlp", otlp, "URL", "send traces, metrics and logs to a collector after the build"),
	  .config = true, .personal = true },
	{ OPT_PATH(0, "trace", trace, "FILE",
	  "write a trace while the build runs; see buildbeat-export(1)"),
	  .config = true, .personal = true },
	{ OPT_FLAG(0, "git", git,
	  "record the revisions of the source trees (default: on)"), .config = true },
	{ OPT_LIST(0, "source", source, "DIR",
	  "source tree with a revision; may be repeated (default: working directory)"),
	  .config = true },
	{ OPT_LIST(0, "inspect", inspect, "RULE",
	  "inspect the memory of processes, such as ld,rss>2G; may be repeated") },
	{ OPT_FLAG(0, "serve", serve, "serve live pages about the build while it runs, and print their URL"),
	  .config = true, .personal = true },
	{ OPT_FLAG(0, "summary", summary,
	  "end with a summary (default: on a terminal and if CI is set)"), .config = true },
	{ OPT_FLAG('q', "quiet", quiet, "print no summary"), .config = true },
	{ 0 }
};
