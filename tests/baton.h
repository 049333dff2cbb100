/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_BATON_H
#define BUILDBEAT_TESTS_BATON_H

#include "tests/support.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

/* Processes of a test that wait for each other over a pipe. */
struct baton {
	int fd[2];
};

static inline void baton_init(struct baton *g)
{
	ck_assert_int_eq(pipe2(g->fd, O_CLOEXEC), 0);
}

static inline void baton_pass(struct baton *g)
{
	if (write(g->fd[1], "x", 1) != 1)
		_exit(1);
}

static inline void baton_wait(struct baton *g)
{
	char c;

	if (read(g->fd[0], &c, 1) != 1)
		_exit(1);
}

/* Until the process has used so much CPU time. */
static inline void baton_burn(int64_t ms)
{
	struct timespec ts;

	do {
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	} while ((int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000 < ms);
}

/* The child ends with its parent. */
static inline pid_t baton_fork(void)
{
	pid_t pid = fork();

	if (pid == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

/* End a child. */
static inline void baton_reap(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

#endif
