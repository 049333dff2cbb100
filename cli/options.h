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
 * The options of a command are one table. It parses them into a struct of the
 * command, prints the usage and feeds the completion of the shells. The options
 * marked config are keys of buildbeat.yaml. Every command has -h and --help; they
 * are in no table.
 */
enum option_kind {
	OPTION_FLAG,		/* bool; --no-NAME unsets it */
	OPTION_NUMBER,		/* int64_t, from min to max */
	OPTION_TEXT,		/* const char * */
	OPTION_PATH,		/* const char *; in a project's configuration file
				   relative to that file */
	OPTION_REPO,		/* const char *: a path like OPTION_PATH, or a URL as for git */
	OPTION_CHOICE,		/* int: index into choices */
	OPTION_MODE,		/* int: index into choices; the option without a value means the
				   second of them. A value is always "--NAME=VALUE" */
	OPTION_SWITCH,		/* const char *: the value of "--NAME=VALUE"; "" for the option without
				   a value or true; NULL for --no-NAME or false */
	OPTION_SET,		/* unsigned: a bit for each of choices, "one,other"; each use
				   adds to it */
	OPTION_SHARE,		/* double: "5%" or "0.05", from 0 to max (0: any) */
	OPTION_AMOUNT,		/* struct amount (amount.h) */
	OPTION_TIME,		/* int64_t, in microseconds */
	OPTION_LIST,		/* struct word_list of paths: each use adds one */
	OPTION_SECRETS,		/* like OPTION_LIST, of patterns (redact.h); an empty list in a
				   configuration file means "none" */
	OPTION_WORDS,		/* like OPTION_LIST, of texts: all words up to the next that begins
				   with - */
	/* only in a configuration file */
	OPTION_PATTERN,		/* const char *, may be empty */
	OPTION_REGEX,		/* const char *: a regular expression (pattern.h), may be empty */
	OPTION_REGEXES,		/* struct word_list of them */
	OPTION_MAP,		/* a mapping with its own keys: map */
	OPTION_MAPS,		/* a list of OPTION_MAP */
	OPTION_NAMED,		/* a mapping from any names to OPTION_MAP */
};

struct option {
	const char *name;	/* long name without dashes; NULL ends a table */
	char letter;		/* short name or 0 */
	enum option_kind kind;
	const char *argument;	/* what the usage calls the value; flags: NULL */
	const char *help;
	size_t offset;		/* of the value in the command's struct */
	int64_t min, max;
	const char *const *choices;	/* ends with NULL; of an OPTION_TEXT: words of its list, for
					   the completion */
	const struct option_map *map;
	bool config;		/* also a key of buildbeat.yaml */
	const char *key;	/* its name there; NULL: that of the option */
	bool personal;		/* not allowed in a project's file, because it names code to
				   execute, or where data is sent; its paths are absolute */
};

struct option_map {
	const struct option *keys;	/* those marked config */
	void *(*add)(void *list);	/* OPTION_MAPS, OPTION_NAMED: a new item of the list, NULL
					   without memory. Its first member is the name of an
					   OPTION_NAMED, a const char * */
	int (*check)(void *values, struct error *err);	/* called at the end of the mapping: 0, or
							   -EINVAL with err's message; may be NULL */
};

/*
 * The rows of a command's table. Each names a member of the command's struct, OPTIONS, and
 * does not compile if the member has another type than its kind of option needs:
 *
 *	#define OPTIONS struct show_arguments
 *	static const struct option options[] = {
 *		{ OPT_PATH('o', "output", output, "DIR", "..."), .config = true },
 *		{ OPT_FLAG('j', "json", json, "print JSON") },
 *		{ 0 }
 *	};
 */
#define OPT(is, type, short_name, long_name, member, value, text) \
	.name = long_name, .letter = short_name, .kind = is, .argument = value, .help = text, \
	.offset = _Generic(((OPTIONS *)0)->member, type: offsetof(OPTIONS, member))
#define OPT_FLAG(letter, name, member, help) \
	OPT(OPTION_FLAG, bool, letter, name, member, NULL, help)
#define OPT_NUMBER(letter, name, member, least, most, value, help) \
	OPT(OPTION_NUMBER, int64_t, letter, name, member, value, help), .min = least, .max = most
#define OPT_TEXT(letter, name, member, value, help) \
	OPT(OPTION_TEXT, const char *, letter, name, member, value, help)
#define OPT_PATH(letter, name, member, value, help) \
	OPT(OPTION_PATH, const char *, letter, name, member, value, help)
#define OPT_CHOICE(letter, name, member, words, value, help) \
	OPT(OPTION_CHOICE, int, letter, name, member, value, help), .choices = words
#define OPT_MODE(letter, name, member, words, value, help) \
	OPT(OPTION_MODE, int, letter, name, member, value, help), .choices = words
#define OPT_SWITCH(letter, name, member, value, help) \
	OPT(OPTION_SWITCH, const char *, letter, name, member, value, help)
#define OPT_SET(letter, name, member, words, value, help) \
	OPT(OPTION_SET, unsigned, letter, name, member, value, help), .choices = words
#define OPT_LIST(letter, name, member, value, help) \
	OPT(OPTION_LIST, struct word_list, letter, name, member, value, help)

/* A key of a configuration file that is no option. */
#define OPT_KEY(is, type, key, member) OPT(is, type, 0, key, member, NULL, NULL), .config = true

/* The option --config. */
#define OPT_CONFIG(member) \
	OPT_TEXT('c', "config", member, "FILE", "read settings from FILE instead of buildbeat.yaml")

/* Limit on the options in one table: args.given has a bit for each. */
#define OPTIONS_MAX 64

/* A parsed command line; release with options_release(). */
struct args {
	int n;			/* operands */
	char **operand;		/* part of argv, ends with NULL */
	const struct command *command;
	const struct option *table;	/* of the command; NULL if it has none */
	uint64_t given;		/* bit i: option i of table was on the command line */
	uint64_t configured;	/* the same, of the configuration file */
	struct options_text *texts;	/* copies that values point to */
	int status;		/* exit status when options_parse() says false */
};

/*
 * Parse argv (argv[0] is the command's name) into values, which holds the
 * defaults. argv is reordered. Returns false if the command must end with a->status:
 * help or an error message was printed.
 */
bool options_parse(struct args *a, const struct command *c, void *values,
		   int argc, char **argv);
void options_release(struct args *a);

/* A copy of text that lives as long as a. NULL if out of memory. */
const char *options_keep(struct args *a, const char *text);

/*
 * Set one value from its text (NULL for a flag given without value). 0 or
 * -EINVAL with err's message "expected ..., not ...".
 */
int option_set(const struct option *o, void *values, const char *text,
	       struct error *err);

/* Has it an opposite, --no-NAME? */
static inline bool option_has_opposite(const struct option *o)
{
	return o->kind == OPTION_FLAG || o->kind == OPTION_SWITCH;
}

/* Can it be given without a value? Then a value is always "--NAME=VALUE". */
static inline bool option_stands_alone(const struct option *o)
{
	return option_has_opposite(o) || o->kind == OPTION_MODE;
}

/* The key of buildbeat.yaml that this option of a command is. */
const char *option_key(const struct option *o);

/* The option of that name in a table (or NULL), NULL if there is none. */
const struct option *option_find(const struct option *table, const char *name);

/* How many operands a usage such as "NAME [REC...]" permits. */
void options_operands(const char *usage, int *least, int *most);

/* Was this option on the command line? */
bool options_given(const struct args *a, const char *name);

/* Was it there or in the configuration file, with whatever value? */
bool options_chosen(const struct args *a, const char *name);

/* The whole help; its first line is "usage: buildbeat NAME ...". */
void options_print_help(const struct command *c);

#endif
