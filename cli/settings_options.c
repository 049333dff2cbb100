/* SPDX-License-Identifier: MIT */
#include "cli/settings_options.h"
#include "recording/layout.h"
#include "recording/store.h"
#include "recording/store_create.h"

static const char *const compressions[] = { "none", "zstd", NULL };
static const char *const layouts[] = { "buildbeat", "oe", "both", NULL };

const struct option settings_options[] = {
	CONFIG_OPTION(struct settings, config),
	{ .name = "output", .letter = 'o', .kind = OPTION_PATH, .argument = "DIR",
	  .help = "directory of recordings (default: " LAYOUT_BASE ")",
	  .offset = offsetof(struct settings, output), .config = true },
	{ .name = "name", .letter = 'n', .kind = OPTION_TEXT, .argument = "NAME",
	  .help = "name of the recording (default: date and time)",
	  .offset = offsetof(struct settings, name) },
	{ .name = "access", .kind = OPTION_CHOICE, .argument = "WHO",
	  .help = "readers of the recording: user, group or all (default: user)",
	  .offset = offsetof(struct settings, access), .choices = store_access_words,
	  .config = true },
	{ .name = "redact", .kind = OPTION_SECRETS, .argument = "PATTERN",
	  .help = "also replace secrets that match PATTERN; may be repeated",
	  .offset = offsetof(struct settings, redact), .config = true },
	{ .name = "interval", .kind = OPTION_NUMBER, .argument = "MS",
	  .help = "milliseconds between samples (default: 1000)",
	  .offset = offsetof(struct settings, interval_ms), .min = 10, .max = 3600000,
	  .config = true },
	{ .name = "per-core", .kind = OPTION_FLAG,
	  .help = "sample every core",
	  .offset = offsetof(struct settings, per_core), .config = true },
	{ .name = "all-interfaces", .kind = OPTION_FLAG,
	  .help = "sample lo and virtual network interfaces",
	  .offset = offsetof(struct settings, all_interfaces), .config = true },
	{ .name = "task-io", .kind = OPTION_FLAG,
	  .help = "record bytes read and written by every task (about 20 us per task)",
	  .offset = offsetof(struct settings, task_io), .config = true },
	{ .name = "task-memory", .kind = OPTION_FLAG,
	  .help = "sample the memory of running tasks (default: on)",
	  .offset = offsetof(struct settings, task_memory), .config = true },
	{ .name = "processes", .kind = OPTION_FLAG,
	  .help = "record every process of the build, including short ones",
	  .offset = offsetof(struct settings, processes), .config = true },
	{ .name = "compress", .kind = OPTION_CHOICE, .argument = "HOW",
	  .help = "compress the finished recording: none or zstd (default: none)",
	  .offset = offsetof(struct settings, compress), .choices = compressions,
	  .config = true },
	{ .name = "layout", .kind = OPTION_CHOICE, .argument = "LAYOUT",
	  .help = "layout of the finished recording: buildbeat, oe or both (default: buildbeat)",
	  .offset = offsetof(struct settings, layout), .choices = layouts, .config = true },
	{ .name = "plugin", .kind = OPTION_PATH, .argument = "FILE",
	  .help = "plugin for GNU make (default: the installed one)",
	  .offset = offsetof(struct settings, plugin), .config = true, .personal = true },
	{ .name = "git", .kind = OPTION_FLAG,
	  .help = "record the revisions of the source trees (default: on)",
	  .offset = offsetof(struct settings, git), .config = true },
	{ .name = "source", .kind = OPTION_LIST, .argument = "DIR",
	  .help = "source tree with a revision; may be repeated (default: working directory)",
	  .offset = offsetof(struct settings, source), .config = true },
	{ 0 }
};
