/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CLI_COMMAND_H
#define BUILDBEAT_CLI_COMMAND_H

#include "cli/options.h"

/*
 * A command: each cmd_NAME.c exports one. command_run() copies the defaults and sets the
 * values of the command line and of buildbeat.yaml in the copy. Then it calls run(), which
 * returns the exit status or a negative errno with err. Such an error is printed; the
 * exit status is then EXIT_MISUSE.
 */
struct command {
	const char *name;	/* a part of a command has two words: "inspect show" */
	const char *operands;	/* as in the usage, which limits their number:
				   "NAME [REC...]"; "" if there are none */
	bool runs;		/* the last operand is a command to run: no options after
				   its first word */
	bool hidden;		/* not listed */
	const struct option *options;	/* NULL: none */
	const struct option *keys;	/* settings that run() needs, of the file of the option
					   --config; NULL: none */
	const void *defaults;	/* the struct of options and keys; NULL: no options */
	size_t size;		/* of defaults */
	int (*run)(struct args *a, void *values, struct error *err);
	const char *summary;	/* one line */
};

#define COMMAND_DEFAULTS(values) .defaults = &(values), .size = sizeof(values)

/* The command of a file: its name, operands, summary and other fields. Its function is run_NAME(). */
#define COMMAND(its_name, its_operands, text, ...) \
	const struct command cmd_##its_name = { \
		.name = #its_name, .operands = its_operands, .run = run_##its_name, .summary = text, \
		__VA_ARGS__ \
	}

/* Its options and their defaults, if the file calls them so; with KEYS, the options are its settings. */
#define COMMAND_OPTIONS .options = options, COMMAND_DEFAULTS(defaults)
#define COMMAND_KEYS .keys = options, COMMAND_OPTIONS

/* Exit statuses; a command that runs a build returns the build's. */
enum {
	EXIT_GOOD = 0,
	EXIT_FOUND = 1,		/* a regression, a failed build ... */
	EXIT_MISUSE = 2,	/* wrong arguments, unreadable input */
	EXIT_NO_VERDICT = 3,	/* the newest build failed, or there are too few builds and
				   --need-history */
};

/* All commands, each before its parts, ended by NULL (commands.c). */
extern const struct command *const commands[];

/* The command or part that these words begin with, or NULL; *used words name it. */
const struct command *command_find(char *const *words, int n, int *used);

/* Runs a command, argv[0] being the last word of its name, which reorders argv. The exit status. */
int command_run(const struct command *c, int argc, char **argv);

/* The groups of commands in the help and in buildbeat(1), ended by NULL: a group begins at a
 * command of commands[]. */
struct command_group {
	const struct command *first;
	const char *title;
};

extern const struct command_group command_groups[];

/*
 * Reports the unknown command, with the nearest known one. If it is a program, which argv (or NULL)
 * runs, it says how to record that. Returns EXIT_MISUSE.
 */
int command_unknown(const char *name, char *const *argv);

/* The same for the word after the name of a command that has parts. */
int command_unknown_part(const struct command *c, const char *name);

/* Whether c is a part of the command whole. */
bool command_is_part(const struct command *c, const struct command *whole);

extern const struct command cmd_accept;
extern const struct command cmd_advise;
extern const struct command cmd_archive;
extern const struct command cmd_bisect;
extern const struct command cmd_chart;
extern const struct command cmd_check;
extern const struct command cmd_complete;
extern const struct command cmd_diff;
extern const struct command cmd_doctor;
extern const struct command cmd_export;
extern const struct command cmd_help;
extern const struct command cmd_history;
extern const struct command cmd_import;
extern const struct command cmd_inspect;
extern const struct command cmd_list;
extern const struct command cmd_log;
extern const struct command cmd_profile;
extern const struct command cmd_prune;
extern const struct command cmd_ps;
extern const struct command cmd_record;
extern const struct command cmd_report;
extern const struct command cmd_attach;
extern const struct command cmd_serve;
extern const struct command cmd_top;
extern const struct command cmd_show;
extern const struct command cmd_span;
extern const struct command cmd_task;
extern const struct command cmd_whatif;

#endif
