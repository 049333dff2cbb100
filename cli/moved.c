/* SPDX-License-Identifier: MIT */
#include "cli/moved.h"

#include "base/array.h"
#include "cli/options.h"

#include <string.h>

/* Each row is for the commands that have the present option. No command has two options that
 * replaced the same letter, except serve, whose --listen is before --list. */
static const struct {
	const char *letter, *name;	/* "" or NULL: it had none, or has it still */
	const char *now;
} options[] = {
	{ "o", "output", "dir" }, { "", "dir", "output" }, { "t", NULL, "task" },
	{ "t", NULL, "to" }, { "f", NULL, "filter" }, { "f", NULL, "format" },
	{ "f", NULL, "from" }, { "f", "follow", "every" }, { "g", "group", "by" },
	{ "m", NULL, "merge" }, { "m", NULL, "message" }, { "m", NULL, "match" },
	{ "m", NULL, "metric" }, { "n", NULL, "new" }, { "n", NULL, "count" },
	{ "n", NULL, "dry-run" }, { "b", NULL, "base" }, { "l", NULL, "listen" },
	{ "l", NULL, "live" }, { "l", NULL, "list" }, { "p", NULL, "plot" },
	{ "p", NULL, "pss" }, { "p", NULL, "print-id" }, { "r", NULL, "recording" },
	{ "s", NULL, "series" }, { "w", NULL, "wait" },
};

const struct option *moved_option(const struct option *table, const char *typed)
{
	const struct option *now;

	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		if (strcmp(typed, options[i].letter) && (!options[i].name || strcmp(typed, options[i].name)))
			continue;
		now = option_find(table, options[i].now);
		if (now)
			return now;
	}
	return NULL;
}

static const struct { const char *name, *now; } commands_before[] = {
	{ "ack", "accept --known" },
	{ "mmaps", "inspect maps" },
	{ "stats", "inspect stats" },
};

const char *moved_command(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands_before); i++) {
		if (!strcmp(name, commands_before[i].name))
			return commands_before[i].now;
	}
	return NULL;
}

/* The options of inspect that are its parts now. */
static const struct { const char *letter, *name, *now; } parts[] = {
	{ "", "show", "inspect show ARCHIVE" },
	{ "s", "status", "inspect status" },
	{ "w", "wait", "inspect wait ID" },
	{ "", "cancel", "inspect cancel ID" },
	{ "l", "list", "inspect list" },
	{ "", "delete", "inspect delete ARCHIVE" },
	{ "", "capabilities", "inspect capabilities" },
	{ "", "settings", "inspect settings" },
};

const char *moved_part(const char *command, const char *typed)
{
	static const char *const of_run[] = { "p", "pid", "m", "match", "t", "task", "heaviest", "f", "follow", "heap" };

	if (strcmp(command, "inspect"))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		if (!strcmp(typed, parts[i].letter) || !strcmp(typed, parts[i].name))
			return parts[i].now;
	}
	for (size_t i = 0; i < ARRAY_SIZE(of_run); i++) {
		if (!strcmp(typed, of_run[i]))
			return "inspect run";
	}
	return NULL;
}
