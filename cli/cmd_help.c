/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include <stdio.h>
#include <string.h>

static void print_overview(void)
{
	const struct command_group *group = command_groups;

	fputs("usage: buildbeat COMMAND [ARGUMENT...]\n\n"
	      "Record the time, CPU, memory and I/O of every task of a build.\n", stdout);
	for (size_t i = 0; commands[i]; i++) {
		if (commands[i] == group->first)
			printf("\n%s:\n", group++->title);
		if (!commands[i]->hidden && !strchr(commands[i]->name, ' '))
			printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
	}
	fputs("\n  -h, --help print this help\n  --version  print the version\n\n"
	      "buildbeat help COMMAND prints the options of a command. To begin:\n"
	      "  buildbeat record -- make\n",
	      stdout);
}

static int run_help(struct args *a, void *values, struct error *err)
{
	int used;
	const struct command *about = command_find(a->operand, a->n, &used);

	(void)values;
	(void)err;
	if (a->n > used)
		return used ? command_unknown_part(about, a->operand[used]) : command_unknown(a->operand[0], NULL);
	if (about)
		options_print_help(about);
	else
		print_overview();
	return EXIT_GOOD;
}

COMMAND(help, "[COMMAND...]", "Print the help of a command");
