/* SPDX-License-Identifier: MIT */
/*
 * A host for check_preload_faults: THREADS threads start and wait for processes at once, in
 * every way. "each": every thread waits for its own; "any": one thread, and a handler of
 * SIGCHLD, wait for any.
 */
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 8

static unsigned rounds;
static _Atomic unsigned ended, failed, wrong;

static char name_true[] = "true", name_false[] = "false";

static void count(int status)
{
	ended++;
	if (!WIFEXITED(status))
		wrong++;
	else if (WEXITSTATUS(status))
		failed++;
}

static pid_t start(unsigned how)
{
	char *argv[] = { how & 1 ? name_false : name_true, NULL };
	const char *path = how & 1 ? "/bin/false" : "/bin/true";
	pid_t pid = -1;

	switch (how % 6) {
	case 0:
	case 1:
		return posix_spawn(&pid, path, NULL, NULL, argv, environ) ? -1 : pid;
	case 2:
		return posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ) ? -1 : pid;
	case 3:
		pid = fork();
		if (!pid) {
			execv("/nonexistent/true", argv);	/* searching PATH */
			execv(path, argv);
			_exit(99);
		}
		return pid;
	case 4:
		pid = vfork();
		if (!pid) {
			execvp(argv[0], argv);
			_exit(99);
		}
		return pid;
	default:
		pid = fork();
		if (!pid) {
			execlp(argv[0], argv[0], (char *)NULL);
			_exit(99);
		}
		return pid;
	}
}

static void wait_for(pid_t pid, unsigned how)
{
	siginfo_t info;
	struct rusage usage;
	int status = 0, fd;

	switch (how % 4) {
	case 0:
		wrong += waitpid(pid, &status, 0) != pid;
		break;
	case 1:
		wrong += wait4(pid, &status, 0, &usage) != pid;
		break;
	case 2:
		wrong += waitid(P_PID, (id_t)pid, &info, WEXITED) || info.si_pid != pid;
		status = info.si_status << 8;
		break;
	default:
		fd = (int)syscall(SYS_pidfd_open, pid, 0);
		wrong += waitid(P_PIDFD, (id_t)fd, &info, WEXITED) || info.si_pid != pid;
		status = info.si_status << 8;
		close(fd);
	}
	count(status);
}

static void *each(void *arg)
{
	unsigned n = (unsigned)(size_t)arg;

	for (unsigned i = 0; i < rounds; i++) {
		pid_t pid = start(n + i);

		if (pid < 0)
			wrong++;
		else
			wait_for(pid, n + i / 6);
	}
	return NULL;
}

static void *start_only(void *arg)
{
	unsigned n = (unsigned)(size_t)arg;

	for (unsigned i = 0; i < rounds; i++)
		wrong += start(n + i) < 0;
	return NULL;
}

static void at_child(int sig)
{
	int status;

	(void)sig;
	while (waitpid(-1, &status, WNOHANG) > 0)
		count(status);
}

int main(int argc, char **argv)
{
	bool any = argc > 2 && !strcmp(argv[2], "any");
	struct sigaction action = { .sa_handler = at_child, .sa_flags = SA_RESTART };
	pthread_t thread[THREADS];

	rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
	if (any)
		sigaction(SIGCHLD, &action, NULL);
	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, any ? start_only : each, (void *)i);
	while (any && ended < THREADS * rounds) {
		int status;

		if (wait(&status) > 0)
			count(status);
		else
			usleep(1000);
	}
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	printf("%u ended, %u failed, %u wrong\n", ended, failed, wrong);
	return 0;
}
