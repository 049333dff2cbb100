/* SPDX-License-Identifier: MIT */
/*
 * A host that behaves like makes that are not installed here: it exports what make exports
 * to loaded objects, and starts and waits for its children as its first argument says.
 * Linked with full RELRO and without a PLT.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define FD_FLOOR 40	/* where the plugin opens its descriptors */

typedef char *gmk_function(const char *name, unsigned argc, char **argv);

static gmk_function *at;

char *gmk_alloc(unsigned len);
void gmk_free(char *text);
void gmk_eval(const char *text, const void *location);
char *gmk_expand(const char *text);
void gmk_add_function(const char *name, gmk_function *function, unsigned min_args,
		      unsigned max_args, unsigned flags);

char *gmk_alloc(unsigned len)
{
	return malloc(len);
}

void gmk_free(char *text)
{
	free(text);
}

void gmk_eval(const char *text, const void *location)
{
	(void)text;
	(void)location;
}

char *gmk_expand(const char *text)
{
	return strdup(strcmp(text, "$(origin MAKEFILES)") ? "" : "environment");
}

void gmk_add_function(const char *name, gmk_function *function, unsigned min_args,
		      unsigned max_args, unsigned flags)
{
	(void)min_args;
	(void)max_args;
	(void)flags;
	if (!strcmp(name, "buildbeat-at"))
		at = function;
}

static void tell(int i)
{
	char name[32], after[] = "one two";
	char *argv[] = { name, after };

	snprintf(name, sizeof name, "t%d", i);
	free(at("buildbeat-at", 2, argv));
}

static pid_t start(const char *how, char **argv)
{
	pid_t pid = -1;

	if (!strcmp(how, "vfork")) {
		pid = vfork();
		if (!pid) {
			execvp(argv[0], argv);
			_exit(127);
		}
	} else if (!strcmp(how, "spawn")) {
		posix_spawn(&pid, argv[0], NULL, NULL, argv, environ);
	} else {
		posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);
	}
	return pid;
}

static void run_one(const char *how, int i)
{
	char *good[] = { (char *)"/bin/sh", (char *)"-ec", (char *)"exit 3", NULL };
	char *missing[] = { (char *)"/nonexistent/program", NULL };
	struct rusage usage;
	int status, own;
	pid_t pid;

	tell(i);
	pid = start(how, i % 5 == 4 ? missing : good);
	own = fcntl(0, F_DUPFD_CLOEXEC, FD_FLOOR);
	if (pid < 0)
		return;
	if (i % 4 == 0)
		waitpid(pid, &status, 0);
	else if (i % 4 == 1)
		wait3(&status, 0, &usage);
	else if (i % 4 == 2)
		wait4(-1, &status, 0, NULL);
	else
		wait(NULL);
	if (close(own))		/* by somebody else, before */
		exit(3);
}

/* More children at once than the table has room for. */
static void run_many(int n)
{
	char *sleeping[] = { (char *)"/bin/cat", NULL };
	int pipes[2], null = open("/dev/null", O_WRONLY);

	if (pipe2(pipes, O_CLOEXEC) || null < 0)
		exit(1);
	dup2(pipes[0], 0);
	for (int i = 0; i < n; i++) {
		tell(i);
		if (start("spawn", sleeping) < 0)
			exit(77);
	}
	close(pipes[1]);
	while (wait(NULL) > 0)
		;
}

int main(int argc, char **argv)
{
	int (*setup)(uintptr_t, uintptr_t);
	void *so = argc == 4 ? dlopen(argv[1], RTLD_LAZY | RTLD_GLOBAL) : NULL;
	int n = argc == 4 ? atoi(argv[3]) : 0;

	if (!so)
		return 1;
	*(void **)&setup = dlsym(so, "buildbeat_gmk_setup");
	if (setup(1, 0) != -1 || setup(1, 0) != -1 || !at)
		return 2;
	if (!strcmp(argv[2], "many"))
		run_many(n);
	for (int i = 0; i < n && strcmp(argv[2], "many"); i++)
		run_one(argv[2], i);
	return 0;
}
