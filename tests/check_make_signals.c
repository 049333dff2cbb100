/* SPDX-License-Identifier: MIT */
/*
 * make's handler of fatal signals calls the plugin from wherever it interrupted make, also
 * from the middle of the plugin. A tracer lets make run up to a system call, then a number
 * of instructions more, and sends the signal there.
 */
#include "base/array.h"
#include "recording/recording.h"
#include "tests/make_host.h"
#include "tests/support.h"

#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>

#ifdef __x86_64__

#define SECONDS 600		/* until a make counts as hung */

static const int signals[] = { SIGTERM, SIGINT, SIGQUIT, SIGHUP };

/* After these system calls of make the plugin runs. */
enum place { AFTER_WAIT, AFTER_SPAWN, AT_WRITE };

/*
 * The slow task runs all the time, so that make's handler waits for it and calls the plugin.
 * The third written line is the end of the first task beside it, the next one a start.
 * Instants after a write are close together, where the line is both in the file and in
 * memory.
 */
static const struct {
	enum place place;
	unsigned nth, rounds;
	unsigned stride;	/* instructions */
} instants[] = {
	{ AFTER_WAIT, 1, 4, 167 }, { AFTER_WAIT, 2, 4, 223 }, { AFTER_SPAWN, 0, 4, 167 },
	{ AFTER_SPAWN, 2, 4, 223 }, { AT_WRITE, 0, 4, 167 }, { AT_WRITE, 2, 24, 3 },
	{ AT_WRITE, 3, 16, 5 },
};

static struct fixture f;

static void setup(void)
{
	support_writes(support_path("%s/Makefile", support_tmpdir()),
		       "all: slow a b c d\nslow:\n\t@cat\na b c d:\n\t@/bin/true $@\n");
}

static pid_t start(int input)
{
	const char *dir = support_tmpdir();
	pid_t pid = fork();
	int null;

	if (pid)
		return pid;
	/* A make that is interrupted after wait4() waits for the same child again, and
	 * complains. */
	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (chdir(dir) || dup2(input, STDIN_FILENO) || dup2(null, STDOUT_FILENO) < 0 ||
	    dup2(null, STDERR_FILENO) < 0 || ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		_exit(99);
	setenv("MAKEFILES", f.makefiles.data, 1);
	unsetenv("MAKEFLAGS");
	unsetenv("MAKELEVEL");
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		signal(signals[i], SIG_DFL);
	alarm(SECONDS);
	execlp("make", "make", "-j2", (char *)NULL);
	_exit(99);
}

static bool is_at(const struct user_regs_struct *r, enum place place)
{
	switch (place) {
	case AFTER_WAIT:
		return r->orig_rax == SYS_wait4 && (long long)r->rax > 0;
	case AFTER_SPAWN:
		return (r->orig_rax == SYS_clone3 || r->orig_rax == SYS_clone ||
			r->orig_rax == SYS_vfork) && (long long)r->rax > 0;
	case AT_WRITE:
		break;
	}
	return r->orig_rax == SYS_write && r->rdx > 20 && (long long)r->rax > 20;
}

/* Returns true if make is stopped after the n-th such system call. */
static bool run_to(pid_t pid, enum place place, unsigned n)
{
	struct user_regs_struct regs;
	bool leaves = false;
	int status;

	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		return false;
	ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
	for (long sig = 0;;) {
		ptrace(PTRACE_SYSCALL, pid, NULL, sig);
		sig = 0;
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

/* Single-steps, then sends the signal; the slow task ends when its input is closed. Returns
 * make's wait status. */
static int interrupt(pid_t pid, int sig, unsigned steps, int input)
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
	close(input);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status;
}

/* Every line is whole and occurs once. */
static void check_recording(const char *where)
{
	RELEASED(recording, rec = RECORDING_INIT);
	struct error err = { 0 };
	size_t lines, bad;
	struct run r;

	tasks_count(f.store.path, &lines, &bad);
	ck_assert_msg(!bad, "%s: %zu lines are torn", where, bad);
	support_run(&r, f.store.path, "sort tasks.log | uniq -d");
	ck_assert_msg(!r.out.len, "%s: twice:\n%s", where, r.out.data);
	ck_assert_msg(!recording_read(&rec, f.store.path, NULL, &err), "%s: %s", where, err.message);
	ck_assert_msg(!rec.n_warnings, "%s: %s", where, rec.n_warnings ? rec.warning->text : "");
	for (size_t i = 0; i < rec.n_tasks; i++) {
		ck_assert_msg(rec.task[i].start_us >= 0, "%s: an end without a start", where);
		ck_assert_msg(rec.task[i].end_us < 0 || rec.task[i].end_us >= rec.task[i].start_us,
			      "%s: an end before its start", where);
	}
}

static void interrupt_at(int sig, size_t i, unsigned steps)
{
	int input[2], status;
	char where[80];
	struct run r;
	pid_t pid;

	ck_assert(!pipe2(input, O_CLOEXEC));
	snprintf(where, sizeof where, "signal %d, instant %zu, step %u", sig, i, steps);
	fixture_begin(&f, support_tmpdir(), "rec", 0, NULL, NULL);
	pid = start(input[0]);
	close(input[0]);
	if (!run_to(pid, instants[i].place, instants[i].nth)) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		fixture_end(&f);
		ck_abort_msg("%s: make was not reached", where);
	}
	status = interrupt(pid, sig, steps, input[1]);
	ck_assert_msg(!WIFSIGNALED(status) || WTERMSIG(status) == sig, "%s: died of signal %d",
		      where, WTERMSIG(status));
	ck_assert_msg(WIFSIGNALED(status) || WEXITSTATUS(status) <= 2, "%s: status %d", where,
		      WEXITSTATUS(status));
	check_recording(where);
	fixture_end(&f);
	support_run(&r, support_tmpdir(), "rm -rf rec latest");
}

TEST_GROUP_WITH("signals", setup, NULL);

/* _i: the signal and the instant. */
TEST_LOOP(interrupted, ARRAY_SIZE(signals) * ARRAY_SIZE(instants))
{
	int sig = signals[(size_t)_i / ARRAY_SIZE(instants)];
	size_t i = (size_t)_i % ARRAY_SIZE(instants);

	for (unsigned round = 0; round < instants[i].rounds; round++)
		interrupt_at(sig, i, round * instants[i].stride);
}

static bool can_trace(void)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid)
		_exit(ptrace(PTRACE_TRACEME, 0, NULL, NULL) ? 1 : 0);
	return waitpid(pid, &status, 0) == pid && !status && support_has("make") &&
	       make_host_can();
}

TEST_PROGRAM(make_signals)
{
	SKIP_PROGRAM_IF(!can_trace());
	return support_main();
}

#else

TEST_PROGRAM(make_signals)
{
	return support_skips_all("x86-64 only");
}

#endif
