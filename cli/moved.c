/* SPDX-License-Identifier: MIT */
#include "cli/moved.h"

#include "base/array.h"
#include "cli/options.h"

#include <string.h>

/* Each row is for the commands that have the present option. */
static const struct {
	const char *letter, *name;	/* "" or NULL: it had none, or has it still */
	const char *now;
} options[] = {
	{ "o", "output", "dir" },
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
