/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "tests/launched.h"
#include "tests/make_host.h"
#include "tests/paths.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* `buildbeat record` with real commands: its exit status and the recording. */

TEST(every_exit_status)
{
	support_expect(support_tmpdir(), ANY_STATUS, "256\n256\n", NULL,
		       "i=0; while [ $i -lt 256 ]; do "
		       RECORD "-n $i sh -c \"exit $i\" 2>/dev/null; echo \"$? $i\"; "
		       "i=$((i + 1)); done | awk '$1 == $2 { n++ } END { print n }'; "
		       "awk '/^status: / { split(FILENAME, dir, \"/\"); n += $2 == dir[2] } "
		       "END { print n }' stats/[0-9]*/build");
}

static const int signals[] = {
	SIGHUP, SIGINT, SIGQUIT, SIGABRT, SIGKILL, SIGSEGV, SIGPIPE, SIGTERM, SIGUSR1,
};

/* The launcher ends by the same signal, so that its parent sees it. */
TEST_EACH(every_signal, signals)
{
	const char *top = support_tmpdir();
	struct recording rec;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		char script[32];
		int null = open("/dev/null", O_WRONLY);

		dup2(null, 2);
		close(null);
		snprintf(script, sizeof script, "kill -%d $$", signals[_i]);
		if (!chdir(top))
			execl(BUILDBEAT, "buildbeat", "record", "--no-git", "-o", "stats", "-n",
			      "one", "sh", "-c", script, (char *)NULL);
		_exit(99);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), signals[_i]);
	launched_read(&rec, "one");
	ck_assert_int_eq(recording_build_number(&rec, "signal"), signals[_i]);
	ck_assert_ptr_null(recording_build(&rec, "status"));
	recording_release(&rec);
}

/* Every directory of PATH must be searchable: otherwise the error is another one. */
static const struct { const char *command; int status; const char *said; } not_run[] = {
	{ "nonexistent-program", 127, "buildbeat: nonexistent-program: command not found\n" },
	{ "./nonexistent", 127, "buildbeat: ./nonexistent: command not found\n" },
	{ "./file", 126, "buildbeat: ./file: Permission denied\n" },
	{ "./stats", 126, "buildbeat: ./stats: Permission denied\n" },
};

/* If no command ran, no file is left, and `latest` names the recording before. */
TEST_LOOP(nothing_ran, 3)
{
	static const char *const record[] = {
		BUILDBEAT " record --no-git -o new/stats -- ./file",
		BUILDBEAT " record --git -o new/stats --processes -- nonexistent-program",
		BUILDBEAT " task --recording new/stats/two name nonexistent-program",
	};

	support_expect(support_tmpdir(), ANY_STATUS, "new:\n\nxdg:\nfile\nxdg\n"
		       "new/stats:\nlatest\none\n\nxdg:\n"
		       "new/stats:\nlatest\none\n\nxdg:\none\n", NULL,
		       ": >file; mkdir xdg; chmod 700 xdg; PATH=/usr/bin:/bin; export XDG_RUNTIME_DIR=$PWD/xdg;"
		       "mkdir new; %s 2>&-; ls -A new xdg; rmdir new; %s 2>&-; ls -A; "
		       BUILDBEAT " record --no-git -o new/stats -n one -- true; ls -A new/stats xdg;"
		       "%s 2>&-; ls -A new/stats xdg; readlink new/stats/latest",
		       record[_i], record[_i], record[_i]);
}

/* An exit status 127 of the command itself is a build; a recording that was joined is kept. */
TEST_LOOP(something_ran, 3)
{
	static const char *const command[] = {
		"record --no-git -o stats -n one -- sh -c nonexistent-program",
		"task --recording stats/one name sh -c nonexistent-program",
		"task --recording stats/one name sh -c \"" BUILDBEAT " task --recording stats/one inner nonexistent-program\"",
	};

	support_expect(support_tmpdir(), ANY_STATUS, "127\none\n", NULL,
		       BUILDBEAT " %s 2>&-; echo $?; readlink stats/latest", command[_i]);
	ck_assert(support_exists(support_path("%s/stats/one/build", support_tmpdir())));
}

TEST_EACH(cannot_be_run, not_run)
{
	struct run r;

	support_run(&r, support_tmpdir(), ": >file; PATH=/usr/bin:/bin; " RECORD "-- %s", not_run[_i].command);
	ck_assert_int_eq(r.status, not_run[_i].status);
	ck_assert_str_eq(r.err.data, not_run[_i].said);
}

static const struct { const char *words, *said; } misuses[] = {
	{ "", "too few operands; expected: [--] CMD..." },
	{ "--", "too few operands" },
	{ "--interval 5 touch ran", "option '--interval': expected a whole number from 10" },
	{ "-n a/b touch ran", "expected a name without '/'" },
	{ "-n .. touch ran", "expected a name without '/'" },
	{ "--compress=gzip touch ran", "expected none or zstd" },
};

TEST_EACH(misuse, misuses)
{
	launched_expect(2, NULL, misuses[_i].said, BUILDBEAT " record %s", misuses[_i].words);
	ck_assert(!support_exists(support_path("%s/ran", support_tmpdir())));
	ck_assert(!support_exists(support_path("%s/buildstats", support_tmpdir())));
}

/* The command does not notice the recording */

static const char *const surroundings[] = {
	"grep -E '^(Sig(Blk|Ign|Cgt)|Shd)' /proc/self/status",
	"trap '' INT HUP; COMMAND grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status",
	"trap '' CHLD; COMMAND grep SigIgn /proc/self/status",
	"ls -1 /proc/self/fd",
	"COMMAND ls -1 /proc/self/fd 7</dev/null",
	"cut -d' ' -f5,6,7,8 /proc/self/stat",
	"env | grep -vE '^(MAKEFILES|_)='",
	"umask; ulimit -a; pwd",
	"cat <&0",
	"readlink /proc/self/fd/0",
	"nice",
};

/* COMMAND in a case is replaced by ours; otherwise ours runs the whole case. */
static void run_surrounded(struct run *r, const char *script, const char *by)
{
	const char *at = strstr(script, "COMMAND");

	if (at)
		support_run(r, support_tmpdir(), "%.*s%s%s", (int)(at - script), script, by,
			    at + strlen("COMMAND"));
	else
		support_run(r, support_tmpdir(), "%s sh -c \"%s\"", by, script);
}

TEST_EACH(same_surroundings, surroundings)
{
	struct run with, without;

	run_surrounded(&without, surroundings[_i], "env");
	run_surrounded(&with, surroundings[_i], RECORD);
	ck_assert_int_eq(with.status, without.status);
	ck_assert_str_eq(with.out.data, without.out.data);
}

/* Content of the recording */

TEST(make_is_recorded)
{
	struct recording rec;
	struct run with, without;

	SKIP_IF(!make_host_can());
	support_writes(support_path("%s/Makefile", support_tmpdir()),
		       "all: one two\none two: ; @echo $@; echo $@ >&2\n"
		       "bad: ; exit 3\n");
	support_run(&without, support_tmpdir(), "make all; make bad");
	support_run(&with, support_tmpdir(), RECORD "-n all make all; " RECORD "-n bad make bad");
	ck_assert_int_eq(without.status, 2);
	ck_assert_int_eq(with.status, 2);
	ck_assert_str_eq(with.out.data, without.out.data);
	ck_assert_str_eq(with.err.data, without.err.data);

	launched_read(&rec, "all");
	ck_assert_str_eq(recording_build(&rec, "command"), "make all");
	ck_assert_int_eq(recording_build_number(&rec, "status"), 0);
	ck_assert_uint_eq(rec.n_tasks, 2);
	ck_assert_str_eq(rec.task[0].name, "one");
	ck_assert_int_eq(rec.task[1].state, TASK_DONE);
	ck_assert_uint_eq(rec.n_warnings, 0);
	recording_release(&rec);
	launched_read(&rec, "bad");
	ck_assert_int_eq(rec.task[0].state, TASK_FAILED);
	ck_assert_int_eq(rec.task[0].status, 3);
	recording_release(&rec);
	support_expect(support_tmpdir(), ANY_STATUS, "", NULL,
		       "ls $TMPDIR/buildbeat-*/buildbeat.mk stats/all/buildbeat.mk");
}

TEST(command_is_quoted)
{
	struct recording rec;
	struct run r;

	support_run(&r, support_tmpdir(), RECORD "-n one -- sh -c 'exit 0' \"it's\" '' 'a\nb' x=1");
	launched_read(&rec, "one");
	ck_assert_str_eq(recording_build(&rec, "command"),
			 "sh -c 'exit 0' 'it'\\''s' '' 'a\nb' x=1");
	recording_release(&rec);
}

/* The same process measured by time(1) below us, whose own cost is the tolerance. */
TEST(values_are_those_of_time)
{
	const char *file = support_path("%s/time", support_tmpdir());
	struct recording rec;
	struct buf text;
	double user, system;
	long rss;
	char *end;

	SKIP_IF(!support_has("time"));
	support_expect(support_tmpdir(), 0, NULL, NULL,
		       "%s -n one env time -f '%%U %%S %%M' -o time "
		       "sh -c 'dd if=/dev/zero of=/dev/null bs=150M count=2; "
		       "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'", RECORD);
	support_read(&text, file);
	user = strtod(text.data, &end);
	system = strtod(end, &end);
	rss = strtol(end, &end, 10);
	ck_assert_int_gt(rss, 150 * 1024);
	launched_read(&rec, "one");
	ck_assert_int_eq(recording_build_number(&rec, "max_rss_kb"), rss);
	/* time prints hundredths, rounded down, and runs for some ms itself */
	ck_assert_double_ge_tol(recording_build_number(&rec, "user_us") / 1e6, user, 0.001);
	ck_assert_double_le(recording_build_number(&rec, "user_us") / 1e6, user + 0.05);
	ck_assert_double_ge_tol(recording_build_number(&rec, "system_us") / 1e6, system, 0.001);
	ck_assert_double_le(recording_build_number(&rec, "system_us") / 1e6, system + 0.05);
	recording_release(&rec);
	buf_release(&text);
}

TEST(without_a_make)
{
	struct recording rec;
	struct run r;

	support_run(&r, support_tmpdir(), RECORD "-n one -- sh -c 'echo out; exit 5'");
	ck_assert_int_eq(r.status, 5);
	ck_assert_str_eq(r.out.data, "out\n");
	if (make_host_can())
		ck_assert_str_eq(r.err.data, "");
	else
		launched_reported(&r, "no tasks were recorded: ");
	launched_read(&rec, "one");
	ck_assert_uint_eq(rec.n_tasks, 0);
	ck_assert_ptr_nonnull(recording_series(&rec, "proc_stat"));
	ck_assert_uint_ge(recording_series(&rec, "proc_stat")->n, 2);
	recording_release(&rec);
}

/* A make that cannot load objects is detected by a trial after the build. */
static const struct { const char *make, *command, *said; } other_makes[] = {
	{ "echo version 4.3; echo features archives", "./make", "./make 4.3: built without 'load'" },
	{ "echo version 4.3; echo features archives", "make", "./make 4.3: built without 'load'" },
	{ "echo a make of another kind", "./make", "./make: this is not a working GNU make" },
	{ "exec env -u MAKEFILES /usr/bin/make \"$@\"", "./make", "./make 4." },
};

TEST_EACH(make_without_load, other_makes)
{
	const char *make = support_path("%s/make", support_tmpdir());
	struct run r;

	SKIP_IF(strstr(other_makes[_i].make, "/usr/bin/make") && access("/usr/bin/make", X_OK));
	support_writes(make, support_path("#!/bin/sh\n%s\n", other_makes[_i].make));
	chmod(make, 0755);
	support_run(&r, support_tmpdir(), "echo 'all: ; @:' >Makefile; PATH=.:$PATH " RECORD
		    "-n one -- %s >/dev/null", other_makes[_i].command);
	ck_assert_int_eq(r.status, 0);
	launched_reported(&r, "no tasks were recorded: ");
	launched_reported(&r, other_makes[_i].said);
}

/* The makefiles never load the plugin. */
TEST(make_without_makefiles)
{
	SKIP_IF(!make_host_can());
	launched_expect(0, NULL, "no tasks were recorded: make can load the plugin and did not",
			"echo 'all: ; @:' >Makefile; "
			RECORD "-n one -- make MAKEFILES=");
}

/* make prints its version without another message. */
static const char *const questions[] = {
	"--version", "-v", "--help", "-h", "--vers", "-sv", "-j2 -C / --version", "-fvh --he x",
	"--hel -n",
};

TEST_LOOP(make_about_itself, 2 * ARRAY_SIZE(questions))
{
	static const char *const makes[] = { "make", "remake" };
	const char *question = questions[_i / 2], *make = makes[_i % 2];
	struct run with, plain;

	SKIP_IF(!make_host_can() || !support_has(make));
	support_run(&plain, support_tmpdir(), "%s %s", make, question);
	support_run(&with, support_tmpdir(), RECORD "-n one -- %s %s", make, question);
	ck_assert_int_eq(with.status, plain.status);
	ck_assert_str_eq(with.out.data, plain.out.data);
	ck_assert_str_eq(with.err.data, plain.err.data);
}

/* -v and -h may be letters of another word. */
TEST(make_not_about_itself)
{
	SKIP_IF(!make_host_can());
	launched_expect(ANY_STATUS, NULL, "no tasks were recorded: ",
			"echo 'all vh: ; @:' >Makefile; cp Makefile vh; MAKEFILES= "
			RECORD "-n one -- make MAKEFILES=x -Ivh -f vh -C . -- vh");
}

TEST(a_source_that_is_not_there)
{
	launched_expect(126, NULL, "no revision is recorded of nowhere: No such file",
			BUILDBEAT " record -o stats --source . "
			"--source nowhere --no-task-memory -- sh -c 'exit 126'");
}

TEST(missing_plugin)
{
	launched_expect(0, "built\n", "no make's tasks will be recorded: /nonexistent.so: ",
			"echo 'all: ; @echo built' >Makefile; "
			RECORD "--plugin /nonexistent.so -n one -- make");
}

TEST(damaged_plugin)
{
	launched_expect(0, "built\n", "half.so: the plugin cannot be used: ",
			"echo 'all: ; @echo built' >Makefile; "
			"head -c 5000 " PLUGIN " >half.so; "
			RECORD "--plugin half.so -n one -- make");
}

/* The launcher reports once what the plugin could not record. */
TEST(too_many_children)
{
	struct run r;

	support_run(&r, support_tmpdir(), RECORD "-n one -- " TOP_BUILDDIR "/tests/fake_make "
		    PLUGIN " many 3078");
	if (r.status != 77) {
		ck_assert_int_eq(r.status, 0);
		launched_reported(&r, "the recording is incomplete: 6 processes were not recorded");
	}
}

TEST(nested)
{
	struct recording rec;

	support_expect(support_tmpdir(), 127, "4\n", NULL,
		       "PATH=/usr/bin:/bin; " RECORD "-n outer -- sh -c '"
		       BUILDBEAT " record -n inner sh -c \"exit 4\"; echo $?; "
		       BUILDBEAT " record -- nonexistent-program'");
	ck_assert(!support_exists(support_path("%s/stats/inner", support_tmpdir())));
	ck_assert(!support_exists(support_path("%s/buildstats", support_tmpdir())));
	launched_read(&rec, "outer");
	ck_assert_uint_eq(rec.n_tasks, 2);
	ck_assert_str_eq(rec.task[0].name, "inner");
	ck_assert_int_eq(rec.task[0].status, 4);
	ck_assert_str_eq(rec.task[1].name, "nonexistent-program");
	ck_assert_int_eq(rec.task[1].status, 127);
	recording_release(&rec);
}

TEST(compressed)
{
	struct recording rec;
	struct run r;

	support_run(&r, support_tmpdir(), RECORD "-n one --compress zstd --interval 10 -- "
		    BUILDBEAT " task hello sleep 0.1; ls stats/one");
	ck_assert_int_eq(r.status, 0);
	ck_assert_str_eq(r.err.data, "");
	ck_assert_ptr_nonnull(strstr(r.out.data, "tasks.log.zst\n"));
	ck_assert_ptr_nonnull(strstr(r.out.data, "proc_stat.log.zst\n"));
	ck_assert_ptr_null(strstr(r.out.data, ".log\n"));
	ck_assert_ptr_null(strstr(r.out.data, ".tmp"));
	launched_read(&rec, "one");
	ck_assert_uint_eq(rec.n_tasks, 1);
	ck_assert_uint_eq(rec.n_warnings, 0);
	ck_assert_uint_ge(recording_series(&rec, "proc_stat")->n, 2);
	recording_release(&rec);
}

/* A daemon of the build writes after its end: its log stays open. */
TEST(compressed_while_written)
{
	struct run r;

	support_run(&r, support_tmpdir(), "%s ended() { awk '$1 == \"start\" && /\tleft\t/ { id = $3 } "
		    "$1 == \"done\" && $3 == id { n++ } END { print n; exit !n }' FS='\t' "
		    "stats/one/tasks.log; }; mkfifo go; " RECORD "-n one --compress zstd -- sh -c '"
		    BUILDBEAT " task left sh -c \"read line <go\" >/dev/null 2>&1 & "
		    "while ! grep -q ^start.*le[f]t stats/one/tasks.log; do sleep 0.02; done'; "
		    "ls stats/one; echo >go; until_true 'ended >/dev/null'; ended", support_poll);
	ck_assert_msg(strstr(r.out.data, "proc_stat.log.zst\n") != NULL, "%s", r.out.data);
	ck_assert_msg(strstr(r.out.data, "\ntasks.log\n1\n") != NULL, "%s%s", r.out.data, r.err.data);
}

/* What a command of $(shell) ends with is an answer, and no output calls it a failure. */
TEST(probes)
{
	struct run r;

	SKIP_IF(!make_host_can());
	support_writes(support_path("%s/Makefile", support_tmpdir()),
		       "A := $(shell exit 3)\nB := $(shell no-such-tool 2>/dev/null)\nall: ; @:\n");
	support_expect(support_tmpdir(), 0, "", NULL, RECORD "-n one -- make -s");
	support_run(&r, support_tmpdir(), "set -e; for c in show 'show --markdown' 'show --json' "
		    "'export --to prometheus -o -'; do " BUILDBEAT " $c stats/one; done; "
		    BUILDBEAT " show --failed stats/one");
	ck_assert_msg(!r.status, "%s", r.err.data);
	ck_assert_ptr_nonnull(strstr(r.out.data, "2 probes said no"));
	ck_assert_ptr_nonnull(strstr(r.out.data, "\"probes_said_no\": 2"));
	ck_assert_ptr_nonnull(strstr(r.out.data, "\"tasks_failed\": 0"));
	ck_assert_ptr_nonnull(strstr(r.out.data, "state=\"failed\"} 0\n"));
	ck_assert_ptr_null(strstr(r.out.data, "2 failed"));
}

/* A failure that changes nothing was ignored by make. */
TEST(ignored)
{
	SKIP_IF(!make_host_can());
	support_writes(support_path("%s/Makefile", support_tmpdir()), "all:\n\t-@false\n\t@true\n");
	support_expect(support_tmpdir(), 0, NULL, NULL, RECORD "-n one -- make -s");
	support_expect(support_tmpdir(), 0, "1\n", "", BUILDBEAT " show stats/one | grep -c '1 failed and ignored$'");
}

TEST_MAIN(record);
