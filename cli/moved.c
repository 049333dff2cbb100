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
	{ "o", "output", "dir" },
	{ "", "dir", "output" },
	{ "t", NULL, "task" },
	{ "t", NULL, "to" },
	{ "f", NULL, "filter" },
	{ "f", NULL, "format" },
	{ "f", NULL, "from" },
	{ "g", "group", "by" },
	{ "m", NULL, "merge" },
	{ "m", NULL, "message" },
	{ "m", NULL, "match" },
	{ "m", NULL, "metric" },
	{ "n", NULL, "new" },
	{ "n", NULL, "count" },
	{ "n", NULL, "dry-run" },
	{ "b", NULL, "base" },
	{ "l", NULL, "listen" },
	{ "l", NULL, "live" },
	{ "l", NULL, "list" },
	{ "p", NULL, "plot" },
	{ "p", NULL, "pss" },
	{ "p", NULL, "print-id" },
	{ "r", NULL, "recording" },
	{ "s", NULL, "series" },
	{ "w", NULL, "wait" },
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
};

const char *moved_command(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands_before); i++) {
		if (!strcmp(name, commands_before[i].name))
			return commands_before[i].now;
	}
	return NULL;
}
