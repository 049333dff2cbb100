/* SPDX-License-Identifier: MIT */
/* Prints what it can see of its environment; "fail" and "kill" end it in another way. */
#define _GNU_SOURCE
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <unistd.h>
extern char **environ;
static int ours(const char *e)
{
	return !strncmp(e, "BUILDBEAT_HEAP=", 15) || !strncmp(e, "BUILDBEAT_HEAP_DIR=", 19) ||
		!strncmp(e, "_=", 2) || strstr(e, "PRELOAD=");
}
int main(int argc, char **argv)
{
	char comm[17] = "";
	sigset_t set;
	DIR *d = opendir("/proc/self/fd");
	void *volatile p = malloc(1000);
	free(p);
	for (int i = 0; i < argc; i++)
		printf("%.200s\n", argv[i]);
	for (char **e = environ; *e; e++)
		if (!ours(*e))
			printf("%.200s\n", *e);
		else if (strstr(*e, "heap.so") || strstr(*e, "_NOW"))
			puts("variables left");
	for (struct dirent *e; d && (e = readdir(d));)
		puts(e->d_name);
	if (d)
		closedir(d);
	prctl(PR_GET_NAME, comm);
	sigprocmask(SIG_BLOCK, NULL, &set);
	printf("%s %s %d %d\n", comm, (char *)getauxval(AT_EXECFN), sigismember(&set, SIGUSR1),
	       signal(SIGHUP, SIG_DFL) == SIG_IGN);
	fflush(stdout);
	if (argc > 1 && !strcmp(argv[1], "kill"))
		raise(SIGKILL);
	return argc > 1 && !strcmp(argv[1], "fail") ? 7 : 0;
}
