/* SPDX-License-Identifier: MIT */
#include "tests/subject.h"

#include "tests/support.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

void subject_hold(int ready)
{
	ck_assert_int_eq(write(ready, "+", 1), 1);
	for (;;)
		pause();
}

pid_t subject_start(void (*does)(int ready))
{
	int ready[2];
	pid_t pid;
	char c;

	ck_assert_int_eq(pipe(ready), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		does(ready[1]);
		_exit(0);
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return pid;
}

void subject_stop(pid_t pid)
{
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

pid_t subject_start_program(void (*does)(int ready))
{
	int ready[2];
	pid_t pid;
	char c;

	ck_assert_int_eq(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ready[0]);
		does(ready[1]);
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &c, 1), 0);
	close(ready[0]);
	return pid;
}
