/* SPDX-License-Identifier: MIT */
#include "tests/subject.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Benches use this too: no assertion of Check. */
static void must(bool done)
{
	if (!done)
		abort();
}

void subject_hold(int ready)
{
	must(write(ready, "+", 1) == 1);
	for (;;)
		pause();
}

/* Returns when the child has written so many bytes, 0 or 1, or has closed `ready`. */
static pid_t start(void (*does)(int ready), ssize_t bytes)
{
	int ready[2];
	pid_t pid;
	char c;

	must(pipe(ready) == 0);
	pid = fork();
	must(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ready[0]);
		does(ready[1]);
		_exit(0);
	}
	close(ready[1]);
	must(read(ready[0], &c, 1) == bytes);
	close(ready[0]);
	return pid;
}

pid_t subject_start(void (*does)(int ready))
{
	return start(does, 1);
}

void subject_stop(pid_t pid)
{
	kill(pid, SIGKILL);
	must(waitpid(pid, NULL, 0) == pid);
}

pid_t subject_start_program(void (*does)(int ready))
{
	return start(does, 0);
}
