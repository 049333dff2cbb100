/* SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "launch/notice.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int run(int argc, char **argv)
{
	const struct command *c;

	if (argc < 2 || !strcmp(argv[1], "-h") || !strcmp(argv[1], "--help"))
		return command_run(&cmd_help, 1, (char *[]){ argv[0], NULL });
	if (!strcmp(argv[1], "--version")) {
		puts("buildbeat " PACKAGE_VERSION);
		return EXIT_GOOD;
	}
	c = command_find(argv[1]);
	return c ? command_run(c, argc - 1, argv + 1) : command_unknown(argv[1], argv + 1);
}

int main(int argc, char **argv)
{
	int status = run(argc, argv);

	if (fflush(stdout) || ferror(stdout)) {
		notice("cannot write to standard output: %s", strerror(errno));
		return EXIT_MISUSE;
	}
	return status;
}
