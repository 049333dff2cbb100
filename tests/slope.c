/* SPDX-License-Identifier: MIT */
#include "tests/slope.h"

#include "tests/pairs.h"

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#define OPTIONS (PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | \
		 PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL)
#define SYSCALL_STOP (SIGTRAP | 0x80)

struct run_of {
	const struct slope_bench *bench;
	unsigned n;
};

static void execute(const void *context, bool with)
{
	const struct run_of *r = context;

	r->bench->execute(r->bench->context, r->n, with);
}

static void keep_least(struct slope *best, const struct pair_cost *cost)
{
	if (cost->wall_us < best->wall_us)
		best->wall_us = cost->wall_us;
	if (cost->cpu_us < best->cpu_us)
		best->cpu_us = cost->cpu_us;
	if (cost->faults < best->faults)
		best->faults = cost->faults;
}

/* Counting */

/* Whether this signal is one of the program, not of the tracing. */
static int signal_of(int status)
{
	int sig = WSTOPSIG(status);

	return sig == SYSCALL_STOP || sig == SIGTRAP || sig == SIGSTOP ? 0 : sig;
}

/* Every call stops its process twice, except those that do not return. */
static double count_stops(void)
{
	double stops = 0;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
		if (pid < 0 || !WIFSTOPPED(status))
			continue;
		stops += WSTOPSIG(status) == SYSCALL_STOP;
		ptrace(PTRACE_SYSCALL, pid, 0L, (long)signal_of(status));
	}
	return stops / 2;
}

/* Needs a process of its own: all its children are waited for. */
static double count_here(const struct run_of *r, bool with)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (ptrace(PTRACE_TRACEME, 0, 0L, 0L))
			_exit(125);
		raise(SIGSTOP);
		execute(r, with);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, pid, 0L, (long)OPTIONS))
		return -1;
	ptrace(PTRACE_SYSCALL, pid, 0L, 0L);
	return count_stops();
}

static double count_calls(const struct run_of *r, bool with)
{
	double calls = -1;
	int fds[2], status;
	pid_t pid;

	ck_assert_int_eq(pipe(fds), 0);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		close(fds[0]);
		calls = count_here(r, with);
		_exit(write(fds[1], &calls, sizeof calls) != sizeof calls);
	}
	close(fds[1]);
	if (read(fds[0], &calls, sizeof calls) != sizeof calls)
		calls = -1;
	close(fds[0]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return calls;
}

/* Measuring */

static double per_thing(const struct slope_bench *b, double few, double many)
{
	return (many - few) / (b->many - b->few);
}

static struct slope slope_of(const struct slope_bench *b, const struct slope *few,
			     const struct slope *many)
{
	return (struct slope){
		.wall_us = per_thing(b, few->wall_us, many->wall_us),
		.cpu_us = per_thing(b, few->cpu_us, many->cpu_us),
		.faults = per_thing(b, few->faults, many->faults),
		.calls = few->calls < 0 || many->calls < 0 ? -1 :
			 per_thing(b, few->calls, many->calls),
	};
}

enum variant {
	PLAIN,
	WITH,
	PLAIN_AGAIN,
	VARIANTS
};

static struct slope difference(const struct slope *a, const struct slope *b)
{
	return (struct slope){
		a->wall_us - b->wall_us, a->cpu_us - b->cpu_us, a->faults - b->faults,
		a->calls < 0 || b->calls < 0 ? -1 : a->calls - b->calls,
	};
}

struct slope_result slope_measure(const struct slope_bench *b)
{
	struct slope least[VARIANTS][2], slope[VARIANTS];	/* [][many] */
	struct run_of run = { .bench = b };

	for (int i = 0; i < VARIANTS * 2; i++) {
		run.n = i & 1 ? b->many : b->few;
		least[i / 2][i & 1] = (struct slope){ 1e18, 1e18, 1e18,
						      count_calls(&run, i / 2 == WITH) };
	}
	for (int i = 0; i < VARIANTS * 2 * b->rounds; i++) {
		enum variant variant = i / 2 % VARIANTS;
		struct pair_cost cost;

		run.n = i & 1 ? b->many : b->few;
		cost = pairs_run(execute, &run, variant == WITH);
		keep_least(&least[variant][i & 1], &cost);
	}
	for (int i = 0; i < VARIANTS; i++)
		slope[i] = slope_of(b, &least[i][0], &least[i][1]);
	return (struct slope_result){
		.plain = slope[PLAIN],
		.extra = difference(&slope[WITH], &slope[PLAIN]),
		.noise = difference(&slope[PLAIN_AGAIN], &slope[PLAIN]),
	};
}

void slope_print(const char *what, const struct slope_result *r, const char *bar)
{
	const struct slope *plain = &r->plain, *extra = &r->extra, *noise = &r->noise;
	char calls[64] = "";

	if (plain->calls >= 0)
		snprintf(calls, sizeof calls, " %+.2f system calls", extra->calls);
	printf("%-34s wall x%.3f cpu x%.3f  extra %+7.2f us wall %+7.2f us cpu%s "
	       "%+.2f page faults  (plain %.0f us; plain against plain %+.2f us wall %+.2f us cpu)  %s\n",
	       what, 1 + extra->wall_us / plain->wall_us, 1 + extra->cpu_us / plain->cpu_us,
	       extra->wall_us, extra->cpu_us, calls, extra->faults, plain->wall_us,
	       noise->wall_us, noise->cpu_us, bar);
	fflush(stdout);
}
