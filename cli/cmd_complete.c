/* SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "cli/configfile.h"
#include "cli/settings_options.h"
#include "convert/convert.h"
#include "recording/recording.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

/*
 * Completion for the shells. The operands are the words after "buildbeat" up to
 * the incomplete one. Prints a line "candidate TAB explanation" for each candidate,
 * or ":files", ":dirs", or ":command N" if another command line begins at the N-th
 * word (0 is "buildbeat").
 */

static void candidate(const char *word, const char *before, const char *text,
		      const char *about)
{
	char full[PATH_MAX + 8];

	snprintf(full, sizeof full, "%s%s", before, text);
	if (!strncmp(word, full, strlen(word)))
		printf("%s\t%s\n", full, about);
}

static void complete_command(const char *word)
{
	for (size_t i = 0; commands[i]; i++) {
		if (!commands[i]->hidden && !strchr(commands[i]->name, ' '))
			candidate(word, "", commands[i]->name, commands[i]->summary);
	}
	if (*word == '-') {
		candidate(word, "--", "help", "print the list of commands");
		candidate(word, "--", "version", "print the version");
	}
}

static bool complete_part(const struct command *c, const char *word)
{
	bool any = false;

	for (size_t i = 0; commands[i]; i++) {
		if (!command_is_part(commands[i], c))
			continue;
		candidate(word, "", commands[i]->name + strlen(c->name) + 1, commands[i]->summary);
		any = true;
	}
	return any;
}

static void complete_option(const struct command *c, const char *word)
{
	for (const struct option *o = c->options; o && o->name; o++) {
		candidate(word, "--", o->name, o->help);
		if (option_has_opposite(o) && !strncmp(word, "--no-", 5))
			candidate(word, "--no-", o->name, o->help);
	}
	candidate(word, "--", "help", "print the help of the command");
}

static void complete_recording(const char *word)
{
	struct args a = { 0 };
	struct settings s = SETTINGS_INIT;
	struct dirent *entry;
	char path[PATH_MAX];
	DIR *dir;

	if (configfile_apply(&a, settings_options, &s, NULL, NULL))
		s = (struct settings)SETTINGS_INIT;
	dir = opendir(s.output);
	while (dir && (entry = readdir(dir))) {
		if (*entry->d_name == '.')
			continue;
		snprintf(path, sizeof path, "%s/%s", s.output, entry->d_name);
		if (recording_is_here(path, &convert_formats))
			candidate(word, "", entry->d_name, "a recording");
	}
	if (dir)
		closedir(dir);
	options_release(&a);
}

/* what: the operand or argument as the usage names it. */
static void complete_place(const char *what, const char *word)
{
	if (strstr(what, "REC"))
		complete_recording(word);
	if (strstr(what, "FILE") || strstr(what, "REC") || strstr(what, "PATH"))
		puts(":files");
	else if (strstr(what, "DIR") || strstr(what, "REPO"))
		puts(":dirs");
}

static void complete_value(const struct option *o, const char *word)
{
	const char *comma = o->kind == OPTION_CHOICE || o->kind == OPTION_MODE ? NULL : strrchr(word, ',');
	char before[256];

	if (!o->choices) {
		complete_place(o->argument, word);
		return;
	}
	snprintf(before, sizeof before, "%.*s", comma ? (int)(comma + 1 - word) : 0, word);
	for (size_t i = 0; o->choices[i]; i++)
		candidate(word, before, o->choices[i], o->help);
}

/* The option that takes the next word, or the one after "=", as its value, or NULL. */
static const struct option *wants_value(const struct command *c, const char *word,
					const char *next)
{
	for (const struct option *o = c->options; o && o->name; o++) {
		if (o->kind == OPTION_FLAG || (option_stands_alone(o) && strcmp(next, "=")))
			continue;
		if (word[0] == '-' && word[1] == '-' && !strcmp(word + 2, o->name))
			return o;
		if (word[0] == '-' && word[1] == o->letter && o->letter && !word[2])
			return o;
	}
	return NULL;
}

static void complete_operand(const struct command *c, const char *word)
{
	if (c == &cmd_help) {
		complete_command(word);
	} else if (c == &cmd_span) {
		candidate(word, "", "begin", "begin a span of this shell");
		candidate(word, "", "end", "end a span");
	} else {
		complete_place(c->operands, word);
	}
}

/* The role of the last word. */
struct position {
	const struct option *value;	/* NULL, or the option whose value it is */
	bool options;		/* it may be an option */
	int command;		/* index of the first word of another command line, or -1 */
};

/* words[0] is the last word of the name of the command, words[n - 1] the incomplete word. */
static struct position find_position(const struct command *c, char **words, int n)
{
	struct position p = { .options = true, .command = -1 };
	int least, most, before = -1, operands = 0;

	options_operands(c->operands, &least, &most);
	if (c->runs)
		before = strstr(c->operands, "[CMD") ? least : least - 1;
	for (int i = 1; i < n; i++) {
		bool dashes = !strcmp(words[i], "--") && i < n - 1;

		if (p.value) {
			/* bash splits --x=v into three words; so does our function for zsh */
			if (i == n - 1 || !strcmp(words[i], "="))
				continue;
			if (p.value->kind == OPTION_WORDS && words[i + 1][0] != '-')
				continue;
			p.value = NULL;
			continue;
		}
		if (operands == before && (!p.options || words[i][0] != '-')) {
			p.command = i + dashes;
			return p;
		}
		if (!p.options || words[i][0] != '-') {
			operands++;
			p.options = !c->runs;
		} else if (dashes) {
			p.options = false;
		} else if (i < n - 1) {
			p.value = wants_value(c, words[i], words[i + 1]);
		}
	}
	return p;
}

/* used: the words of the name. */
static void complete_words(const struct command *c, char **words, int n, int used)
{
	struct position p = find_position(c, words, n);
	const char *word = words[n - 1];

	if (c == &cmd_span && n > 2 && (!strcmp(words[1], "begin") || !strcmp(words[1], "end"))) {
		if (*word == '-')
			complete_option(c, word);
		return;
	}
	if (p.command >= 0)
		printf(":command %d\n", p.command + used);
	else if (p.value)
		complete_value(p.value, strcmp(word, "=") ? word : "");
	else if (p.options && *word == '-')
		complete_option(c, word);
	else
		complete_operand(c, word);
}

static int run_complete(struct args *a, void *values, struct error *err)
{
	int used;
	const struct command *about = command_find(a->operand, a->n - 1, &used);

	(void)values;
	(void)err;
	if (a->n == 1)
		complete_command(a->operand[0]);
	if (about && !(a->n == used + 1 && *a->operand[used] != '-' && complete_part(about, a->operand[used])))
		complete_words(about, a->operand + used - 1, a->n - used + 1, used);
	return EXIT_GOOD;
}

COMMAND(complete, "-- WORD...", "Print completions for the shells", .hidden = true);
