/* SPDX-License-Identifier: MIT */
/*
 * Memory of known sizes, for check_peak:
 *	hungry KB				touch so much, print the largest memory it had
 *	hungry KB run PROGRAM ARG ...		the same, then run that with posix_spawn()
 *	hungry KB how GROWN CHILD ...		touch so much, then, for each child, start
 *						"hungry CHILD" (how: spawn, vfork, fork),
 *						touch GROWN more, wait, and print what the
 *						child had, what wait4() gave of it, and what
 *						peak.h makes of that
 */
#include "recording/event.h"
#include "sampler/peak.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static struct peak peak;

static void touch(const char *kb)
{
	size_t bytes = strtoul(kb, NULL, 10) * 1024;
	char *p = mmap(NULL, bytes + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		exit(2);
	for (size_t i = 0; i < bytes; i += 4096)
		((volatile char *)p)[i] = 1;
}

static long largest_kb(void)
{
	char line[256];
	long kb = -1;
	FILE *f = fopen("/proc/self/status", "r");

	while (f && fgets(line, sizeof line, f)) {
		if (!strncmp(line, "VmHWM:", 6))
			kb = strtol(line + 6, NULL, 10);
	}
	if (f)
		fclose(f);
	return kb;
}

static pid_t start(const char *how, char *const argv[])
{
	pid_t pid = -1;

	if (!strcmp(how, "spawn")) {
		if (posix_spawn(&pid, argv[0], NULL, NULL, argv, environ))
			exit(2);
		return pid;
	}
	pid = !strcmp(how, "vfork") ? vfork() : fork();
	if (!pid) {
		execv(argv[0], argv);
		_exit(127);
	}
	return pid;
}

/* Through a pipe, which no process reads while the child runs. */
static long child_kb(int fd)
{
	char text[32] = "";

	return read(fd, text, sizeof text - 1) > 0 ? strtol(text, NULL, 10) : -1;
}

static void watch(char *program, const char *how, const char *grown, char *size)
{
	char *child[] = { program, size, NULL };
	int out[2], saved = dup(STDOUT_FILENO), status;
	struct rusage usage;
	struct event_end e;
	pid_t pid;

	if (saved < 0 || pipe(out))
		exit(2);
	dup2(out[1], STDOUT_FILENO);
	pid = start(how, child);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	touch(grown);
	if (wait4(pid, &status, 0, &usage) != pid || status)
		exit(2);
	event_end_init(&e, status);
	event_end_rusage(&e, &usage);
	peak_judge(&peak, &e);
	printf("%ld %ld %lld %lld %ld\n", child_kb(out[0]), usage.ru_maxrss,
	       (long long)e.max_rss_kb, (long long)e.max_rss_at_most_kb, largest_kb());
	close(out[0]);
	close(out[1]);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int status;

	if (argc < 2)
		return 2;
	touch(argv[1]);
	if (argc == 2) {
		printf("%ld\n", largest_kb());
		return 0;
	}
	if (argc > 3 && !strcmp(argv[2], "run")) {
		pid_t pid = start("spawn", argv + 3);

		return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ?
			WEXITSTATUS(status) : 2;
	}
	for (int i = 4; i < argc; i++)
		watch(argv[0], argv[2], argv[3], argv[i]);
	return 0;
}
