/* SPDX-License-Identifier: MIT */
#include "plugin/counting.h"
#include "sampler/counter.h"
#include "tests/support.h"

#include <dirent.h>
#include <sys/resource.h>

/*
 * Counts of processes from their first instruction on. Page faults in user mode take the place of
 * instructions: a program that causes a known number of them is its own witness. Its loader and the
 * beginning of main() cause some dozens more, which vary by a few.
 */
#define FAULTS TOP_BUILDDIR "/tests/faults"
#define USUAL 200	/* of the program itself, at most */

static char stack[COUNTING_STACK] __attribute__((aligned(16)));


static bool cannot_count(void)
{
	return counter_try(COUNTER_PAGE_FAULTS) != 0;
}

static int begin(struct counting *c, pid_t *pid, char *const argv[])
{
	*c = (struct counting){
		.function = posix_spawn, .pid = pid, .file = argv[0], .argv = argv, .envp = environ,
		.event = COUNTER_PAGE_FAULTS,
	};
	return counting_spawn(c, stack);
}

static int64_t end(struct counting *c, pid_t pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	return counter_take(&c->counter, COUNTER_PAGE_FAULTS);
}

static void assert_count(int64_t n, int64_t faults)
{
	ck_assert_int_ge(n, faults * COUNTER_FAULT);
	ck_assert_int_le(n, (faults + USUAL) * COUNTER_FAULT);
}

static int open_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* Short ones have ended before a counter could be attached to them. */
TEST(short_processes)
{
	char program[] = FAULTS, none[] = "0";
	int64_t least = INT64_MAX, most = 0;
	int before;

	SKIP_IF(cannot_count());
	before = open_descriptors();
	for (int i = 0; i < 200; i++) {
		char *argv[] = { program, none, NULL };
		struct counting c;
		pid_t pid;
		int64_t n;

		ck_assert_int_eq(begin(&c, &pid, argv), 0);
		ck_assert_int_ge(c.counter.fd, 40);
		n = end(&c, pid);
		least = n < least ? n : least;
		most = n > most ? n : most;
	}
	ck_assert_int_gt(least, 10 * COUNTER_FAULT);
	ck_assert_int_lt(most - least, 20 * COUNTER_FAULT);
	ck_assert_int_eq(open_descriptors(), before);
}

/* With all their children, and each apart from those that run at the same time. */
TEST(at_once)
{
	enum { N = 8 };
	struct counting c[N];
	pid_t pid[N];

	SKIP_IF(cannot_count());
	for (int i = 0; i < N; i++) {
		char program[] = FAULTS, own[16], child[16], other[] = "300";
		char *argv[] = { program, own, child, other, NULL };

		snprintf(own, sizeof own, "%d", 1000 * i);
		snprintf(child, sizeof child, "%d", 100 * i);
		ck_assert_int_eq(begin(&c[i], &pid[i], argv), 0);
	}
	for (int i = N; i-- > 0;)
		assert_count(end(&c[i], pid[i]), 1100 * i + 300);
}

/* The counter of a process that waits for its exec counts the same. */
TEST(of_a_process)
{
	char program[] = FAULTS, own[] = "2000", child[] = "500";
	char *argv[] = { program, own, child, NULL };
	struct counter c;
	int go[2], status;
	pid_t pid;

	SKIP_IF(cannot_count());
	ck_assert_int_eq(pipe(go), 0);
	pid = fork();
	if (!pid) {
		char byte;

		close(go[1]);
		if (read(go[0], &byte, 1) == 0)
			execv(argv[0], argv);
		_exit(99);
	}
	ck_assert_int_eq(counter_open(&c, COUNTER_PAGE_FAULTS, pid), 0);
	close(go[0]);
	close(go[1]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	assert_count(counter_take(&c, COUNTER_PAGE_FAULTS), 2500);
	ck_assert_int_eq(counter_take(&c, COUNTER_PAGE_FAULTS), -EBADF);
}

/* As posix_spawn() alone: the signal mask and, of a program that is missing, the error. */
TEST(as_without)
{
	char grep[] = "/bin/grep", option[] = "-q", missing[] = "/nonexistent";
	char pattern[] = "^SigBlk:.*[2367abef]..$", status[] = "/proc/self/status";	/* SIGUSR1 */
	char *argv[] = { grep, option, pattern, status, NULL }, *none[] = { missing, NULL };
	int before = open_descriptors();
	struct counting c;
	sigset_t set;
	pid_t pid;

	SKIP_IF(cannot_count());
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	ck_assert_int_eq(begin(&c, &pid, argv), 0);
	ck_assert_int_gt(end(&c, pid), 0);
	ck_assert_int_eq(begin(&c, &pid, none), ENOENT);
	ck_assert_int_eq(c.counter.fd, -1);
	ck_assert_int_eq(open_descriptors(), before);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
}

/* A process that may have no more descriptors or threads still runs. */
TEST(few_descriptors)
{
	char program[] = FAULTS;
	char *argv[] = { program, NULL };
	struct rlimit limit = { 60, 60 };
	struct counting c;
	pid_t pid;

	SKIP_IF(cannot_count());
	setrlimit(RLIMIT_NOFILE, &limit);
	ck_assert_int_eq(begin(&c, &pid, argv), 0);
	ck_assert_int_eq(c.error, -EMFILE);
	ck_assert_int_eq(end(&c, pid), -EBADF);
}

/* The host has closed our descriptor, and its number is that of a file, or a counter, of its own. */
TEST_LOOP(foreign_descriptor, 2)
{
	char program[] = FAULTS;
	char *argv[] = { program, NULL };
	struct counter other;
	struct counting c;
	pid_t pid;
	int fd;

	SKIP_IF(cannot_count());
	ck_assert_int_eq(begin(&c, &pid, argv), 0);
	ck_assert_int_eq(counter_open(&other, COUNTER_PAGE_FAULTS, 0), 0);
	fd = c.counter.fd;
	ck_assert_int_eq(dup2(_i ? other.fd : STDIN_FILENO, fd), fd);
	ck_assert_int_eq(end(&c, pid), -EBADF);
	ck_assert_int_ge(fcntl(fd, F_GETFD), 0);
}

/* The number of processes without a count, and the reason of the first. */
TEST(missed)
{
	struct counting_missed m = { 0 };
	struct counter none = COUNTER_CLOSED;
	RELEASED(buf, text = BUF_INIT);

	counting_miss(&m, -ENOTSUP);
	ck_assert_int_eq(counting_take(&none, COUNTER_PAGE_FAULTS, &m), -1);
	counting_add_missed(&text, &m);
	ck_assert_str_eq(buf_str(&text), "buildbeat: the instructions of 2 tasks are unknown: "
			 "the build tool starts its processes in a way that cannot be followed");
}

static const struct { int error, paranoid; const char *text, *remedy; } whys[] = {
	{ -ENOENT, 2, "no counter of instructions", "pmu=on" },
	{ -EOPNOTSUPP, 2, "no counter of instructions", "pmu=on" },
	{ -ENODATA, -1, "no counter of instructions", "pmu=on" },
	{ -EACCES, 3, "kernel.perf_event_paranoid is 3", "sysctl kernel.perf_event_paranoid=2" },
	{ -EPERM, 4, "kernel.perf_event_paranoid is 4", "sysctl kernel.perf_event_paranoid=2" },
	{ -EPERM, 2, "as containers do: Operation not permitted", "--cap-add PERFMON" },
	{ -EACCES, -ENOENT, "as containers do: Permission denied", "--cap-add PERFMON" },
	{ -ENOSYS, 2, "as containers do: Function not", "--cap-add PERFMON" },
	{ -ENOSYS, -ENOENT, "the kernel has no performance events", "CONFIG_PERF_EVENTS" },
	{ -EMFILE, 2, "Too many open files", NULL },
};

TEST_EACH(explained, whys)
{
	struct counter_why why;

	counter_explain(&why, whys[_i].error, whys[_i].paranoid);
	ck_assert_ptr_nonnull(strstr(why.text, whys[_i].text));
	ck_assert(!whys[_i].remedy ? !why.remedy : why.remedy && strstr(why.remedy, whys[_i].remedy));
}

TEST_MAIN(counter);
