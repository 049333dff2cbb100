/* SPDX-License-Identifier: MIT */
/*
 * A launch that fails leaves nothing behind: without processes or memory, and killed at any
 * time.
 */
#include "base/array.h"
#include "launch/hold.h"
#include "launch/recorder.h"
#include "tests/launched.h"
#include "tests/nomem.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NO_PROCESS "LD_PRELOAD=" TOP_BUILDDIR "/tests/no_process.so "
#define KILLS 12

static const char *place;	/* the directory for temporary files */

static void setup(void)
{
	place = support_path("%s/place", support_tmpdir());
	ck_assert(!mkdir(place, 0700));
	place = strdup(place);
	ck_assert_ptr_nonnull(place);
	unsetenv("XDG_RUNTIME_DIR");
	setenv("TMPDIR", place, 1);
}

static size_t count_files(const char *dir)
{
	DIR *d = opendir(dir);
	size_t n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n < 2 ? 0 : n - 2;
}

/* The descriptors of the command are those that it has without us. */
static const struct { const char *ours, *theirs; } descriptors[] = {
	{ RECORD, "" },
	{ RECORD "--processes ", "" },
	{ RECORD "--trace t.json ", "" },
	{ BUILDBEAT " task --recording rec name -- ", "" },
	{ RECORD "--processes -- sh -c 'exec \"$@\" 0<&-' - ", "sh -c 'exec \"$@\" 0<&-' - " },
	{ "exec 0<&- 2>&-; " RECORD "--processes ", "exec 0<&- 2>&-; " },
	{ "exec 0<&- 7>/dev/null; " RECORD, "exec 0<&- 7>/dev/null; " },
};

TEST_GROUP_WITH("launch", setup, NULL);

TEST_EACH(same_descriptors, descriptors)
{
	struct run ours, theirs;

	support_run(&ours, support_tmpdir(), "%s bash -c 'ls /proc/$$/fd; :'", descriptors[_i].ours);
	support_run(&theirs, support_tmpdir(), "%s bash -c 'ls /proc/$$/fd; :'",
		    descriptors[_i].theirs);
	ck_assert_int_eq(ours.status, 0);
	ck_assert_str_eq(buf_str(&ours.out), buf_str(&theirs.out));
	ck_assert_uint_eq(count_files(place), 0);
}

static const char *const alone[] = {
	RECORD, RECORD "--processes ", BUILDBEAT " task --recording rec name -- ",
};

/* The command runs without us: no ticket, no recording, the same signal mask. */
TEST_EACH(no_process, alone)
{
	struct run r;

	SKIP_IF(!support_can_be_loaded());
	support_run(&r, support_tmpdir(), "mkdir -p stats && cp -r " TOP_SRCDIR
		    "/tests/data/recordings/nested stats/older && ln -sfn older stats/latest");
	support_run(&r, support_tmpdir(), NO_PROCESS "%s sh -c 'echo \"$MAKEFILES\"; "
		    "while read a b; do case $a in SigBlk:) echo $b;; esac; done </proc/$$/status; "
		    "exit 3'", alone[_i]);
	ck_assert_int_eq(r.status, 3);
	ck_assert_str_eq(buf_str(&r.out), "\n0000000000000000\n");
	ck_assert_ptr_nonnull(strstr(buf_str(&r.err), "it runs alone: Resource temporarily"));
	ck_assert_uint_eq(count_files(place), 0);
	support_run(&r, support_tmpdir(), "ls stats; readlink stats/latest; test ! -e rec");
	ck_assert_str_eq(buf_str(&r.out), "latest\nolder\nolder\n");
	ck_assert_int_eq(r.status, 0);
}

static bool has_files(void *data)
{
	return count_files(data) > 0;
}

/* The signal arrives as soon as there is something to leave behind. */
TEST(killed)
{
	static const int signals[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT };

	for (int i = 0; i < KILLS; i++) {
		int sig = signals[i % (int)ARRAY_SIZE(signals)], status;
		pid_t pid = fork();

		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (size_t k = 0; k < ARRAY_SIZE(signals); k++)
				signal(signals[k], SIG_DFL);
			if (!chdir(support_tmpdir()))
				execl(BUILDBEAT, "buildbeat", "record", "-o", "stats", "--", "sleep",
				      "100", (char *)NULL);
			_exit(99);
		}
		while (!has_files((void *)(uintptr_t)place))
			;
		kill(pid, sig);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == sig, "%x", status);
		ck_assert_msg(!count_files(place), "signal %d left a directory", sig);
	}
}

/* A closed standard input must not become the descriptor of the signals. */
TEST(hold_without_stdin)
{
	struct hold h;
	sigset_t mask;

	close(STDIN_FILENO);
	hold_begin(&h);
	ck_assert_int_gt(h.fd, STDERR_FILENO);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	ck_assert_int_eq(sigismember(&mask, SIGTERM), 1);
	hold_end(&h);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	ck_assert_int_eq(sigismember(&mask, SIGTERM), 0);
}

/* Whichever allocation fails, the command gets the whole ticket or none, and a command that was
 * not executed leaves `latest` and the temporary directory as they were. */
TEST(no_memory)
{
	static const struct settings settings = { .interval_ms = 1000, .task_memory = true,
						  .processes = true };
	char name[] = "command", *argv[] = { name, NULL };
	bool failed = true;
	long n = 0;

	ck_assert(!chdir(support_tmpdir()) && !mkdir("base", 0755) && !mkdir("base/older", 0755) &&
		  !symlink("older", "base/latest"));
	ck_assert(!close(STDERR_FILENO));
	for (; failed; n++) {
		struct launch l = { .argv = argv, .not_run = true };
		struct recorder rec;
		char latest[16] = "";
		struct error err;
		int r;

		nomem_after(n);
		r = recorder_create(&rec, &settings, "base", "new", argv, &err);
		if (!r)
			recorder_prepare(&rec, &l);
		failed = nomem_failed();
		nomem_after(-1);
		ck_assert(failed || !r);
		if (!r && l.makefiles)
			ck_assert_str_eq(l.makefiles, rec.ticket.path);
		if (!r)
			recorder_finish(&rec, &l);
		ck_assert_uint_eq(count_files(place), 0);
		ck_assert_uint_eq(count_files("base"), 2);
		ck_assert_int_eq(readlink("base/latest", latest, sizeof latest - 1), 5);
		ck_assert_str_eq(latest, "older");
	}
	ck_assert_int_gt(n, 20);
}

TEST_MAIN(launch_faults);
