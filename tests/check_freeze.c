/* SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "inspect/freeze.h"
#include "tests/support.h"

#include <poll.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <time.h>

/* A process that is stopped continues, whatever ends the one that stopped it. */

struct shared {
	_Atomic uint64_t count;		/* grows while the process runs */
	_Atomic pid_t guard;
	_Atomic int result;
};

static struct shared *shared;
static pid_t target, inspector;
static int pid_fd = -1;

static _Noreturn void count_on(void)
{
	const struct timespec pause = { 0, 1000000 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		shared->count++;
		nanosleep(&pause, NULL);
	}
}

static void begin(void)
{
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(shared, MAP_FAILED);
	target = fork();
	if (!target)
		count_on();
	ck_assert_int_gt(target, 0);
	pid_fd = (int)syscall(SYS_pidfd_open, target, 0);
	if (pid_fd < 0)
		_exit(77);
}

static void end(void)
{
	kill(target, SIGKILL);
	waitpid(target, NULL, 0);
	close(pid_fd);
	munmap(shared, sizeof *shared);
}

static bool has_counted(void *data)
{
	return shared->count > *(uint64_t *)data + 3;
}

static void must_run(void)
{
	uint64_t now = shared->count;

	support_wait_until(has_counted, &now, "the process runs");
}

static char state_of(pid_t pid)
{
	const char *text = support_text(support_path("/proc/%d/stat", (int)pid));

	return strrchr(text, ')')[2];
}

static void must_stand(void)
{
	const struct timespec some = { 0, 20000000 };
	uint64_t now = shared->count;

	ck_assert_int_eq(state_of(target), 'T');
	nanosleep(&some, NULL);
	ck_assert_uint_eq(shared->count, now);
}

TEST_GROUP_WITH("freeze", begin, end);

TEST(stops_and_continues)
{
	struct error err = { 0 };
	struct freeze f;

	for (int i = 0; i < 20; i++) {
		must_run();
		ck_assert_msg(!freeze_begin(&f, target, pid_fd, 1000, &err), "%s", err.message);
		must_stand();
		ck_assert_int_gt(f.guard, 0);
		ck_assert(freeze_end(&f));
	}
	must_run();
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), 0);	/* no guard is left */
}

/* An inspector that stops the process; `before` is its first act. */
static void start_inspector(int before(void))
{
	struct freeze f;

	inspector = fork();
	if (!inspector) {
		before();
		shared->result = freeze_begin(&f, target, pid_fd, 1000, NULL);
		shared->guard = f.guard;
		raise(SIGSTOP);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(inspector, NULL, WUNTRACED), inspector);
	ck_assert_int_eq(shared->result, 0);
	must_stand();
}

static int plain_signals(void)
{
	for (int i = 1; i < SIGSYS; i++)
		signal(i, SIG_DFL);
	return 0;
}

/* The inspector stops the process, and is killed in the middle. */
TEST_LOOP(inspector_is_killed, 5)
{
	static const int signals[] = { SIGKILL, SIGTERM, SIGSEGV, SIGINT, SIGHUP };

	must_run();
	start_inspector(plain_signals);
	kill(inspector, signals[_i]);
	if (signals[_i] != SIGKILL)
		kill(inspector, SIGCONT);
	waitpid(inspector, NULL, 0);
	must_run();
}

static bool is_gone(void *data)
{
	return kill(*(pid_t *)data, 0) && errno == ESRCH;
}

/* Its whole process group is killed: the guard is in no group of ours. */
TEST(group_is_killed)
{
	pid_t guard;

	start_inspector(setpgrp);
	guard = shared->guard;
	kill(-inspector, SIGKILL);
	waitpid(inspector, NULL, 0);
	must_run();
	support_wait_until(is_gone, &guard, "the guard has ended");
}

/* The inspector hangs: the guard continues the process after five seconds. */
TEST(five_seconds_at_most)
{
	struct freeze f;
	int64_t from_ns;

	must_run();
	from_ns = clock_mono_ns();
	ck_assert_int_eq(freeze_begin(&f, target, pid_fd, 1000, NULL), 0);
	must_stand();
	must_run();
	ck_assert_int_ge(clock_mono_ns() - from_ns, FREEZE_MAX_US * 1000);
	ck_assert(!freeze_end(&f));
}

TEST(guard_is_killed)
{
	struct freeze f;

	ck_assert_int_eq(freeze_begin(&f, target, pid_fd, 1000, NULL), 0);
	kill(f.guard, SIGKILL);
	must_stand();
	ck_assert(freeze_end(&f));
	must_run();
}

TEST(stopped_before)
{
	struct freeze f;

	kill(target, SIGSTOP);
	ck_assert_int_eq(waitpid(target, NULL, WUNTRACED), target);
	must_stand();
	ck_assert_int_eq(freeze_begin(&f, target, pid_fd, 1000, NULL), 0);
	ck_assert_int_eq(f.guard, 0);
	ck_assert(freeze_end(&f));
	must_stand();
	kill(target, SIGCONT);
	must_run();
}

static void refused(int64_t expected_us, int code, const char *message)
{
	struct error err = { 0 };
	struct freeze f;

	ck_assert_int_eq(freeze_begin(&f, target, pid_fd, expected_us, &err), code);
	ck_assert_msg(strstr(err.message, message) != NULL, "%s", err.message);
	must_run();
}

TEST(is_refused)
{
	refused(FREEZE_MAX_US + 100000, -ETIME, "a snapshot takes 5.1 s, more than 5 s");
	setpgid(target, target);
	refused(1000, -EBUSY, "the shell that started it would suspend it");
}

TEST(debugger)
{
	ck_assert_int_eq(ptrace(PTRACE_SEIZE, target, 0, 0), 0);
	refused(1000, -EBUSY, "a debugger controls it");
}

/* The number of an ended process is not signalled, whoever has it. */
TEST(process_ended)
{
	struct error err = { 0 };
	struct freeze f;
	pid_t ended = target;

	kill(ended, SIGKILL);
	waitpid(ended, NULL, 0);
	target = fork();
	if (!target)
		count_on();
	ck_assert_int_eq(freeze_begin(&f, target, pid_fd, 1000, &err), -ESRCH);
	ck_assert_int_eq(freeze_begin(&f, ended, pid_fd, 1000, &err), -ESRCH);
	must_run();
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), 0);	/* no guard is left */
}

TEST(ends_while_stopped)
{
	struct freeze f;

	ck_assert_int_eq(freeze_begin(&f, target, pid_fd, 1000, NULL), 0);
	kill(target, SIGKILL);
	waitpid(target, NULL, 0);
	ck_assert(freeze_end(&f));
}

/* Someone who has no descriptors at all gets them back. */
TEST(without_descriptors)
{
	struct freeze f;
	pid_t pid = fork();
	int status;

	if (!pid) {
		for (int fd = 0; fd < 3; fd++)
			close(fd);
		if (freeze_begin(&f, target, pid_fd, 1000, NULL))
			_exit(1);
		_exit(freeze_end(&f) ? 0 : 2);
	}
	waitpid(pid, &status, 0);
	ck_assert_int_eq(status, 0);
	must_run();
}

TEST_MAIN(freeze);
