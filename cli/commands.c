/* SPDX-License-Identifier: MIT */
#include "base/nearest.h"
#include "cli/command.h"
#include "cli/configfile.h"
#include "launch/notice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct command *const commands[] = {
	&cmd_record, &cmd_show, &cmd_profile, &cmd_inspect, &cmd_log, &cmd_chart, &cmd_list, &cmd_import, &cmd_export,
	&cmd_archive, &cmd_diff, &cmd_check, &cmd_history, &cmd_report, &cmd_accept, &cmd_ack,
	&cmd_bisect, &cmd_ps, &cmd_mmaps, &cmd_stats, &cmd_serve, &cmd_attach, &cmd_top,
	&cmd_prune, &cmd_task, &cmd_span, &cmd_doctor, &cmd_help, &cmd_complete, NULL
};

#define COMMANDS_MAX 32

const struct command *command_find(const char *name)
{
	for (size_t i = 0; commands[i]; i++) {
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	}
	return NULL;
}

static int read_keys(const struct command *c, struct args *a, void *values, struct error *err)
{
	const struct option *o = option_find(c->options, "config");
	const char *file = *(const char **)((char *)values + o->offset);

	return configfile_apply(a, c->keys, values, file, err);
}

int command_run(const struct command *c, int argc, char **argv)
{
	void *values = malloc(c->size + 1);
	struct error err = { 0 };
	struct args a = { 0 };
	int r = 0;

	if (values && c->size)
		memcpy(values, c->defaults, c->size);
	if (!values) {
		r = error_sys(&err, -ENOMEM, NULL, NULL);
	} else if (!options_parse(&a, c, values, argc, argv)) {
		r = a.status;
	} else {
		if (c->keys)
			r = read_keys(c, &a, values, &err);
		r = r ? r : c->run(&a, values, &err);
	}
	if (r < 0)
		notice_error(&err);
	options_release(&a);
	free(values);
	return r < 0 ? EXIT_MISUSE : r;
}

int command_unknown(const char *name)
{
	const char *names[COMMANDS_MAX + 1], *near;
	size_t n = 0;

	for (size_t i = 0; *name != '-' && commands[i] && n < COMMANDS_MAX; i++) {
		if (!commands[i]->hidden)
			names[n++] = commands[i]->name;
	}
	if (*name == '-') {
		names[n++] = "--help";
		names[n++] = "--version";
	}
	names[n] = NULL;
	near = nearest_word(name, names);
	if (near)
		notice("unknown %s '%.100s'; did you mean '%s'?",
		       *name == '-' ? "option" : "command", name, near);
	else
		notice("unknown %s '%.100s'; see: buildbeat --help",
		       *name == '-' ? "option" : "command", name);
	return EXIT_MISUSE;
}
