/* SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "launch/notice.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>

static int run_command(int argc, char **argv)
{
	const struct command *c;
	int used;

	if (argc < 2 || !strcmp(argv[1], "-h") || !strcmp(argv[1], "--help"))
		return command_run(&cmd_help, 1, (char *[]){ argv[0], NULL });
	if (!strcmp(argv[1], "--version")) {
		puts("buildbeat " PACKAGE_VERSION);
		return EXIT_GOOD;
	}
	c = command_find(argv + 1, argc - 1, &used);
	return c ? command_run(c, argc - used, argv + used) : command_unknown(argv[1], argv + 1);
}

/* Where the limit of the stack is only some pages, such as after "ulimit -s 64", make runs and we
 * would not: paths and lines need more. */
#define STACK_LEAST (1 << 20)

static struct {
	ucontext_t caller, work;
	int argc, status;
	char **argv;
} own_stack;

static void run_there(void)
{
	own_stack.status = run_command(own_stack.argc, own_stack.argv);
}

static int run_on_own_stack(int argc, char **argv)
{
	void *stack = mmap(NULL, STACK_LEAST, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (stack == MAP_FAILED || getcontext(&own_stack.work))
		return run_command(argc, argv);
	own_stack.argc = argc;
	own_stack.argv = argv;
	own_stack.work.uc_stack = (stack_t){ .ss_sp = stack, .ss_size = STACK_LEAST };
	own_stack.work.uc_link = &own_stack.caller;
	makecontext(&own_stack.work, run_there, 0);
	swapcontext(&own_stack.caller, &own_stack.work);
	return own_stack.status;
}

static bool has_small_stack(void)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_STACK, &limit) && limit.rlim_cur < STACK_LEAST;
}

int main(int argc, char **argv)
{
	int status = has_small_stack() ? run_on_own_stack(argc, argv) : run_command(argc, argv);

	if (fflush(stdout) || ferror(stdout)) {
		notice("cannot write to standard output: %s", strerror(errno));
		return EXIT_MISUSE;
	}
	return status;
}
