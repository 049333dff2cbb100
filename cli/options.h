/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CLI_OPTIONS_H
#define BUILDBEAT_CLI_OPTIONS_H

#include "base/error.h"
#include "base/word_list.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct command;

/*
 * The options of a command: one table that parses them into a struct of the
 * command's, prints the usage, feeds the shells' completion and, for those
 * marked config, is the list of keys of buildbeat.yaml. -h and --help are
 * every command's and in no table.
 */
enum option_kind {
	OPTION_FLAG,		/* bool; --no-NAME unsets it */
	OPTION_NUMBER,		/* int64_t, from min to max */
	OPTION_TEXT,		/* const char * */
	OPTION_PATH,		/* const char *; in a project's configuration file
				   relative to that file */
	OPTION_REPO,		/* const char *: a path as the one before, or a URL as git
				   has them */
	OPTION_CHOICE,		/* int: index into choices */
	OPTION_SET,		/* unsigned: a bit for each of choices, "one,other"; each use
				   adds to it */
	OPTION_SHARE,		/* double: "5%" or "0.05", from 0 to max (0: any) */
	OPTION_AMOUNT,		/* struct amount (amount_read.h) */
	OPTION_LIST,		/* struct word_list of paths: each use adds one */
	OPTION_SECRETS,		/* the same, of patterns (redact.h); in a configuration file an
				   empty list is "none" */
	OPTION_WORDS,		/* the same, of all words up to the next that begins with - */
	/* and only in a configuration file */
	OPTION_PATTERN,		/* const char *, which may be empty */
	OPTION_MAP,		/* keys of their own: map */
	OPTION_MAPS,		/* a list of such */
};

struct option {
	const char *name;	/* long name without dashes; NULL ends a table */
	char letter;		/* short name or 0 */
	enum option_kind kind;
	const char *argument;	/* what the usage calls the value; flags: NULL */
	const char *help;
	size_t offset;		/* of the value in the command's struct */
	int64_t min, max;
	const char *const *choices;	/* ends with NULL */
	const struct option_map *map;
	bool config;		/* a key of buildbeat.yaml too */
	bool personal;		/* but not of a project's file: it names code to execute, and
				   its paths are absolute */
};

struct option_map {
	const struct option *keys;	/* those marked config */
	void *(*add)(void *list);	/* a new item of a list, NULL without memory; else NULL */
	int (*check)(void *values, struct error *err);	/* all is read: 0, or -EINVAL with err's
							   message; may be NULL */
};

/* At most this many options in one table. */
#define OPTIONS_MAX 64

/* A parsed command line; release with args_release(). */
struct args {
	int n;			/* operands */
	char **operand;		/* part of argv, ends with NULL */
	const struct option *table;	/* the command's; NULL before parsing */
	uint64_t given;		/* those of it that were on the command line, by index */
	struct args_text *texts;	/* copies that values point to */
	int status;		/* exit status when options_parse() says false */
};

/*
 * Parse argv (argv[0] is the command's name) into values, which holds the
 * defaults. argv is reordered. False: nothing more to do, a->status is the exit
 * status (help was printed, or a message about what was wrong).
 */
bool options_parse(struct args *a, const struct command *c, void *values,
		   int argc, char **argv);
void args_release(struct args *a);

/* A copy of text that lives as long as a. NULL without memory. */
const char *args_keep(struct args *a, const char *text);

/*
 * Set one value from its text (NULL for a flag given without value). 0 or
 * -EINVAL with err's message "expected ..., not ...".
 */
int option_set(const struct option *o, void *values, const char *text,
	       struct error *err);

/* The option of that name in a table, NULL if there is none. */
const struct option *option_find(const struct option *table, const char *name);

/* Was the option of that name on the command line. */
bool args_given(const struct args *a, const char *name);

/* "usage: buildbeat NAME ...", and with it all there is to say. */
void options_print_usage(const struct command *c);
void options_print_help(const struct command *c);

#endif
