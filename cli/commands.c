/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "base/file.h"
#include "base/nearest.h"
#include "cli/command.h"
#include "cli/configfile.h"
#include "cli/inspect.h"
#include "cli/messages_config.h"
#include "cli/moved.h"
#include "command/shell.h"
#include "launch/notice.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const struct command *const commands[] = {
	&cmd_record, &cmd_doctor,
	&cmd_show, &cmd_chart, &cmd_log, &cmd_profile, &cmd_advise, &cmd_whatif, &cmd_list,
	&cmd_archive, &cmd_diff, &cmd_check, &cmd_history, &cmd_report, &cmd_prune,
	&cmd_accept, &cmd_bisect,
	&cmd_serve, &cmd_top, &cmd_ps, &cmd_inspect,
	&cmd_inspect_run, &cmd_inspect_show, &cmd_inspect_list, &cmd_inspect_delete, &cmd_inspect_status, &cmd_inspect_wait, &cmd_inspect_cancel,
	&inspect_maps, &inspect_stats, &cmd_inspect_capabilities, &cmd_inspect_settings,
	&cmd_import, &cmd_export,
	&cmd_task, &cmd_span, &cmd_attach,
	&cmd_help, &cmd_complete, NULL
};

const struct command_group command_groups[] = {
	{ &cmd_record, "Record builds" },
	{ &cmd_show, "Read recordings" },
	{ &cmd_archive, "Compare builds" },
	{ &cmd_accept, "Act on changes" },
	{ &cmd_serve, "Watch builds and processes" },
	{ &cmd_import, "Other formats" },
	{ &cmd_task, "For scripts" },
	{ &cmd_help, "Help" },
	{ NULL, NULL }
};

#define COMMANDS_MAX 48

const struct command *command_find(char *const *words, int n, int *used)
{
	const struct command *found = NULL;

	*used = 0;
	for (size_t i = 0; n > 0 && commands[i]; i++) {
		const char *name = commands[i]->name, *part = strchr(name, ' ');
		size_t len = part ? (size_t)(part - name) : strlen(name);

		if (strlen(words[0]) != len || strncmp(name, words[0], len) ||
		    (part && (n < 2 || strcmp(part + 1, words[1]))))
			continue;
		found = commands[i];
		*used = part ? 2 : 1;
	}
	return found;
}

bool command_is_part(const struct command *c, const struct command *whole)
{
	size_t n = strlen(whole->name);

	return !strncmp(c->name, whole->name, n) && c->name[n] == ' ';
}

static int read_keys(const struct command *c, struct args *a, void *values, struct error *err)
{
	const struct option *o = option_find(c->options, "config");
	const char *file = *(const char **)((char *)values + o->offset);

	int r = configfile_apply(a, c->keys, values, file, err);

	messages_config_use(file);

	/* The file would only name the directory of recordings. */
	if (r == -EPERM && strstr(c->operands, "REC") && a->n && strchr(a->operand[0], '/') && !access(a->operand[0], F_OK)) {
		notice_error(err);
		r = 0;
	}
	return r;
}

int command_run(const struct command *c, int argc, char **argv)
{
	void *values = malloc(c->size + 1);
	struct error err = { 0 };
	struct args a = { 0 };
	int r = 0;

	messages_config_use(NULL);
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

/* A program that a user would run with these words: in PATH, or by its path. */
static bool is_program(const char *name)
{
	char path[PATH_MAX];
	struct stat st;

	return *name && file_find_program(path, name) && !access(path, X_OK) && !stat(path, &st) &&
	       S_ISREG(st.st_mode);
}

static const char *nearest_command(const char *name)
{
	const char *names[COMMANDS_MAX + 1];
	size_t n = 0;

	if (!strcmp(name, "version") || !strcmp(name, "-V") || !strcmp(name, "-v"))
		return "--version";
	for (size_t i = 0; *name != '-' && commands[i] && n < COMMANDS_MAX; i++) {
		if (!commands[i]->hidden && !strchr(commands[i]->name, ' '))
			names[n++] = commands[i]->name;
	}
	if (*name == '-') {
		names[n++] = "--help";
		names[n++] = "--version";
	}
	names[n] = NULL;
	return nearest_word(name, names);
}

int command_unknown(const char *name, char *const *argv)
{
	const char *what = *name == '-' ? "option" : "command", *near;
	struct buf typed = BUF_INIT;

	if (argv && *name != '-' && is_program(name)) {
		for (; *argv; argv++) {
			buf_addc(&typed, ' ');
			shell_add_shown(&typed, *argv);
		}
		notice("'%.100s' is not a command of buildbeat; to record it: buildbeat record --%s",
		       name, buf_str(&typed));
		buf_release(&typed);
		return EXIT_MISUSE;
	}
	near = moved_command(name);
	if (near) {
		notice("unknown command '%.100s'; use: buildbeat %s", name, near);
		return EXIT_MISUSE;
	}
	near = nearest_command(name);
	if (near)
		notice("unknown %s '%.100s'; did you mean '%s'?", what, name, near);
	else
		notice("unknown %s '%.100s'; see: buildbeat --help", what, name);
	return EXIT_MISUSE;
}

int command_unknown_part(const struct command *c, const char *name)
{
	const char *names[COMMANDS_MAX + 1], *near;
	size_t n = 0;

	for (size_t i = 0; commands[i]; i++) {
		if (command_is_part(commands[i], c))
			names[n++] = commands[i]->name + strlen(c->name) + 1;
	}
	names[n] = NULL;
	near = n ? nearest_word(name, names) : NULL;
	if (!n)
		notice("%s: too many operands: '%.100s'", c->name, name);
	else if (is_program(name))
		notice("%s: unknown command '%.100s'; to run it: buildbeat %s run -- %.100s", c->name, name, c->name, name);
	else if (near)
		notice("%s: unknown command '%.100s'; did you mean '%s %s'?", c->name, name, c->name, near);
	else
		notice("%s: unknown command '%.100s'; see: buildbeat help %s", c->name, name, c->name);
	return EXIT_MISUSE;
}
