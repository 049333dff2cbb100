/* SPDX-License-Identifier: MIT */
/*
 * make's handler of fatal signals calls us from wherever it interrupted make, also from the
 * middle of our own code. A tracer lets make run up to a system call, then a number of
 * instructions more, and sends the signal there.
 */
#include "base/array.h"
#include "recording/recording.h"
#include "tests/make_host.h"
#include "tests/support.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __x86_64__

#define ROUNDS 12		/* instants tried for each signal and place */
#define EVENTS 4		/* tasks started or ended before it */
#define STRIDE 167		/* instructions */
#define SECONDS 20		/* until a make counts as hung */

static const int signals[] = { SIGTERM, SIGINT, SIGQUIT, SIGHUP };

/* After these system calls of make our code runs. */
enum { AFTER_WAIT, AFTER_SPAWN, AT_WRITE, PLACES };

static struct fixture f;

static void setup(void)
{
	support_writes(support_path("%s/Makefile", support_tmpdir()),
		       "all: a b c d e f g h\na b c d e f g h:\n\t@/bin/true $@\n");
}

static pid_t start(void)
{
	const char *dir = support_tmpdir();
	pid_t pid = fork();

	if (pid)
		return pid;
	if (chdir(dir) || ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		_exit(99);
	setenv("MAKEFILES", f.makefiles.data, 1);
	unsetenv("MAKEFLAGS");
	unsetenv("MAKELEVEL");
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		signal(signals[i], SIG_DFL);
	alarm(SECONDS);
	execlp("make", "make", (char *)NULL);
	_exit(99);
}

static bool is_at(const struct user_regs_struct *r, int place)
{
	switch (place) {
	case AFTER_WAIT:
		return r->orig_rax == SYS_wait4 && (long long)r->rax > 0;
	case AFTER_SPAWN:
		return (r->orig_rax == SYS_clone3 || r->orig_rax == SYS_clone ||
			r->orig_rax == SYS_vfork) && (long long)r->rax > 0;
	}
	return r->orig_rax == SYS_write && r->rdx > 20 && (long long)r->rax > 20;
}

/* True: make is stopped behind the n-th such system call. */
static bool run_to(pid_t pid, int place, unsigned n)
{
	struct user_regs_struct regs;
	bool leaves = false;
	int status;

	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		return false;
	ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
	for (long sig = 0;; sig = 0) {
		ptrace(PTRACE_SYSCALL, pid, NULL, sig);
		if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
			return false;
		if (WSTOPSIG(status) != (SIGTRAP | 0x80)) {
			sig = WSTOPSIG(status);
			continue;
		}
		leaves = !leaves;
		if (!leaves && !ptrace(PTRACE_GETREGS, pid, NULL, &regs) &&
		    is_at(&regs, place) && !n--)
			return true;
	}
}

/* Step on, and send the signal there. Returns make's wait status. */
static int interrupt(pid_t pid, int sig, unsigned steps)
{
	int status = 0;
	long other = 0;

	for (unsigned i = 0; i < steps; i++) {
		ptrace(PTRACE_SINGLESTEP, pid, NULL, other);
		if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
			return status;
		other = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
	}
	ptrace(PTRACE_DETACH, pid, NULL, (long)sig);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status;
}

/* Every task starts once and ends at most once; no line is torn. */
static void check_recording(const char *where)
{
	struct recording rec = RECORDING_INIT;
	struct error err = { 0 };
	size_t lines, bad;
	struct run r;

	tasks_count(f.store.path, &lines, &bad);
	ck_assert_msg(!bad, "%s: %zu lines are torn", where, bad);
	support_run(&r, f.store.path, "awk -F'\\t' 'NR > 1 && ($1 == \"start\" || $1 == \"end\" ||"
		    " $1 == \"done\" || $1 == \"failed\" || $1 == \"killed\")"
		    " { k = ($1 == \"start\") $3; if (n[k]++) print }' tasks.log");
	ck_assert_msg(!r.out.len, "%s: twice:\n%s", where, r.out.data);
	ck_assert_msg(!recording_read(&rec, f.store.path, NULL, &err), "%s: %s", where, err.message);
	ck_assert_msg(!rec.n_warnings, "%s: %s", where, rec.n_warnings ? rec.warning->text : "");
	for (size_t i = 0; i < rec.n_tasks; i++) {
		ck_assert_msg(rec.task[i].start_us >= 0, "%s: an end without a start", where);
		ck_assert_msg(rec.task[i].end_us < 0 || rec.task[i].end_us >= rec.task[i].start_us,
			      "%s: an end before its start", where);
	}
	recording_release(&rec);
}

/* _i: the signal and the place. */
START_TEST(interrupted)
{
	int sig = signals[_i / PLACES], place = _i % PLACES;

	for (unsigned round = 0; round < ROUNDS; round++) {
		char where[80];
		struct run r;
		int status;
		pid_t pid;

		snprintf(where, sizeof where, "signal %d, place %d, round %u", sig, place, round);
		fixture_begin(&f, support_tmpdir(), "rec", 0, NULL, NULL);
		pid = start();
		if (!run_to(pid, place, round % EVENTS)) {
			kill(pid, SIGKILL);
			waitpid(pid, NULL, 0);
			fixture_end(&f);
			ck_abort_msg("%s: make was not reached", where);
		}
		status = interrupt(pid, sig, round * STRIDE);
		ck_assert_msg(!WIFSIGNALED(status) || WTERMSIG(status) == sig, "%s: died of signal %d",
			      where, WTERMSIG(status));
		ck_assert_msg(WIFSIGNALED(status) || WEXITSTATUS(status) <= 2,
			      "%s: status %d", where, WEXITSTATUS(status));
		check_recording(where);
		fixture_end(&f);
		support_run(&r, support_tmpdir(), "rm -rf rec latest");
	}
}
END_TEST

static bool can_trace(void)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid)
		_exit(ptrace(PTRACE_TRACEME, 0, NULL, NULL) ? 1 : 0);
	return waitpid(pid, &status, 0) == pid && !status && support_has("make") &&
	       make_host_can();
}

int main(void)
{
	if (!can_trace())
		return 77;
	return support_main("make_signals",
			    TEST_GROUP_WITH("signals", setup, NULL),
			    TEST_LOOP(interrupted, ARRAY_SIZE(signals) * PLACES));
}

#else

int main(void)
{
	return 77;
}

#endif
