/* SPDX-License-Identifier: MIT */
#include "tests/pairs.h"

#include <check.h>
#include <sched.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static double cpu_us(const struct rusage *u)
{
	return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1e6 +
	       (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec);
}

void pairs_have_the_machine(const char *what)
{
	struct sched_param param = { .sched_priority = 1 };
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	sched_setaffinity(0, sizeof set, &set);
	if (sched_setscheduler(0, SCHED_RR, &param))
		printf("%s: no real-time priority here, the figures are noisier\n", what);
}

struct pair_cost pairs_run(void (*execute)(const void *context, bool with), const void *context,
		      bool with)
{
	double start = now_us();
	struct rusage usage;
	struct pair_cost cost;
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();

	if (!pid) {
		execute(context, with);
		_exit(127);
	}
	ck_assert_int_eq(wait4(pid, &status, 0, &usage), pid);
	ck_assert_int_eq(status, 0);
	cost = (struct pair_cost){ now_us() - start, cpu_us(&usage), (double)usage.ru_minflt };
	usleep((useconds_t)(cost.wall_us / 10));	/* otherwise the kernel throttles us */
	return cost;
}
