#include "make_host.h"
#include "recording.h"
#include "support.h"
#include "zstd.h"

#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* `buildbeat record` with real commands: what it returns, what it leaves. */

#define BUILDBEAT TOP_BUILDDIR "/buildbeat"
#define RECORD BUILDBEAT " record --no-git -o stats "

/* A fresh directory for each test, and a recording in it. */

static void read_recording(struct recording *rec, const char *name)
{
	struct error err = { 0 };
	const char *path = support_path("%s/stats/%s", support_tmpdir(), name);

	*rec = (struct recording)RECORDING_INIT;
	ck_assert_msg(!recording_read(rec, path, &zstd_codec, &err), "%s: %s", err.path,
		      err.message);
}

static void assert_said(const struct run *r, const char *part)
{
	ck_assert_msg(strstr(r->err.data, part) != NULL, "'%s' is not in: %s", part,
		      r->err.data);
	ck_assert_ptr_eq(strchr(r->err.data, '\n'), r->err.data + r->err.len - 1);
}

/* Statuses */

START_TEST(every_exit_status)
{
	struct run r;

	support_run(&r, support_tmpdir(),
		    "i=0; while [ $i -lt 256 ]; do "
		    RECORD "-n $i sh -c \"exit $i\" 2>/dev/null; echo \"$? $i\"; "
		    "i=$((i + 1)); done | awk '$1 == $2 { n++ } END { print n }'; "
		    "awk '/^status: / { split(FILENAME, dir, \"/\"); n += $2 == dir[2] } "
		    "END { print n }' stats/[0-9]*/build");
	ck_assert_str_eq(r.out.data, "256\n256\n");
	support_run_release(&r);
}
END_TEST

static const int signals[] = {
	SIGHUP, SIGINT, SIGQUIT, SIGABRT, SIGKILL, SIGSEGV, SIGPIPE, SIGTERM, SIGUSR1,
};

/* The launcher dies of the same signal, so that what waits for it knows. */
START_TEST(every_signal)
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
	read_recording(&rec, "one");
	ck_assert_int_eq(recording_build_number(&rec, "signal"), signals[_i]);
	ck_assert_ptr_null(recording_build(&rec, "status"));
	recording_release(&rec);
}
END_TEST

/* With a PATH that has no directory in it that must not be searched: that would be
 * another error. */
static const struct {
	const char *command;
	int status;
	const char *said;
} not_run[] = {
	{ "nonexistent-program", 127, "buildbeat: nonexistent-program: command not found\n" },
	{ "./nonexistent", 127, "buildbeat: ./nonexistent: command not found\n" },
	{ "./file", 126, "buildbeat: ./file: Permission denied\n" },
	{ "./stats", 126, "buildbeat: ./stats: Permission denied\n" },
};

START_TEST(cannot_be_run)
{
	struct run r;

	support_run(&r, support_tmpdir(), ": >file; PATH=/usr/bin:/bin; " RECORD "-- %s", not_run[_i].command);
	ck_assert_int_eq(r.status, not_run[_i].status);
	ck_assert_str_eq(r.err.data, not_run[_i].said);
	support_run_release(&r);
}
END_TEST

static const struct {
	const char *words, *said;
} misuses[] = {
	{ "", "too few operands; expected: [--] CMD..." },
	{ "--", "too few operands" },
	{ "--interval 5 touch ran", "option '--interval': expected a whole number from 10" },
	{ "-n a/b touch ran", "expected a name that has no '/'" },
	{ "-n .. touch ran", "expected a name that has no '/'" },
	{ "--compress=gzip touch ran", "expected none or zstd" },
};

START_TEST(misuse)
{
	struct run r;

	support_run(&r, support_tmpdir(), BUILDBEAT " record %s", misuses[_i].words);
	ck_assert_int_eq(r.status, 2);
	assert_said(&r, misuses[_i].said);
	ck_assert(!support_exists(support_path("%s/ran", support_tmpdir())));
	ck_assert(!support_exists(support_path("%s/buildstats", support_tmpdir())));
	support_run_release(&r);
}
END_TEST

/* Nothing of ours is seen by the command */

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

/* COMMAND in a case is where ours goes; else it is around the whole. */
static void run_surrounded(struct run *r, const char *script, const char *by)
{
	const char *at = strstr(script, "COMMAND");

	if (at)
		support_run(r, support_tmpdir(), "%.*s%s%s", (int)(at - script), script, by,
			    at + strlen("COMMAND"));
	else
		support_run(r, support_tmpdir(), "%s sh -c \"%s\"", by, script);
}

START_TEST(same_surroundings)
{
	struct run with, without;

	run_surrounded(&without, surroundings[_i], "env");
	run_surrounded(&with, surroundings[_i], RECORD);
	ck_assert_int_eq(with.status, without.status);
	ck_assert_str_eq(with.out.data, without.out.data);
	support_run_release(&with);
	support_run_release(&without);
}
END_TEST

/* What is recorded */

START_TEST(make_is_recorded)
{
	struct recording rec;
	struct run with, without;

	if (!make_host_can())
		return;
	support_writes(support_path("%s/Makefile", support_tmpdir()),
		       "all: one two\none two: ; @echo $@; echo $@ >&2\n"
		       "bad: ; exit 3\n");
	support_run(&without, support_tmpdir(), "make all; make bad");
	support_run(&with, support_tmpdir(), RECORD "-n all make all; " RECORD "-n bad make bad");
	ck_assert_int_eq(without.status, 2);
	ck_assert_int_eq(with.status, 2);
	ck_assert_str_eq(with.out.data, without.out.data);
	ck_assert_str_eq(with.err.data, without.err.data);
	support_run_release(&with);
	support_run_release(&without);

	read_recording(&rec, "all");
	ck_assert_str_eq(recording_build(&rec, "command"), "make all");
	ck_assert_int_eq(recording_build_number(&rec, "status"), 0);
	ck_assert_uint_eq(rec.n_tasks, 2);
	ck_assert_str_eq(rec.task[0].name, "one");
	ck_assert_int_eq(rec.task[1].state, TASK_DONE);
	ck_assert_uint_eq(rec.n_warnings, 0);
	recording_release(&rec);
	read_recording(&rec, "bad");
	ck_assert_int_eq(rec.task[0].state, TASK_FAILED);
	ck_assert_int_eq(rec.task[0].status, 3);
	recording_release(&rec);
	ck_assert(!support_exists(support_path("%s/stats/all/buildbeat.mk", support_tmpdir())));
}
END_TEST

START_TEST(command_is_quoted)
{
	struct recording rec;
	struct run r;

	support_run(&r, support_tmpdir(), RECORD "-n one -- sh -c 'exit 0' \"it's\" '' 'a\nb' x=1");
	support_run_release(&r);
	read_recording(&rec, "one");
	ck_assert_str_eq(recording_build(&rec, "command"),
			 "sh -c 'exit 0' 'it'\\''s' '' 'a\nb' x=1");
	recording_release(&rec);
}
END_TEST

/* The same process measured by time(1) below us: its own cost is the tolerance. */
START_TEST(figures_are_those_of_time)
{
	const char *file = support_path("%s/time", support_tmpdir());
	struct recording rec;
	struct buf text;
	struct run r;
	double user, system;
	long rss;
	char *end;

	if (!support_has("time"))
		return;
	support_run(&r, support_tmpdir(), "%s -n one env time -f '%%U %%S %%M' -o time "
		    "sh -c 'dd if=/dev/zero of=/dev/null bs=150M count=2; "
		    "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'", RECORD);
	ck_assert_int_eq(r.status, 0);
	support_run_release(&r);
	support_read(&text, file);
	user = strtod(text.data, &end);
	system = strtod(end, &end);
	rss = strtol(end, &end, 10);
	ck_assert_int_gt(rss, 150 * 1024);
	read_recording(&rec, "one");
	ck_assert_int_eq(recording_build_number(&rec, "max_rss_kb"), rss);
	/* time prints hundredths, cut; and it runs for some ms itself */
	ck_assert_double_ge_tol(recording_build_number(&rec, "user_us") / 1e6, user, 0.001);
	ck_assert_double_le(recording_build_number(&rec, "user_us") / 1e6, user + 0.05);
	ck_assert_double_ge_tol(recording_build_number(&rec, "system_us") / 1e6, system, 0.001);
	ck_assert_double_le(recording_build_number(&rec, "system_us") / 1e6, system + 0.05);
	recording_release(&rec);
	buf_release(&text);
}
END_TEST

START_TEST(without_a_make)
{
	struct recording rec;
	struct run r;

	support_run(&r, support_tmpdir(), RECORD "-n one -- sh -c 'echo out; exit 5'");
	ck_assert_int_eq(r.status, 5);
	ck_assert_str_eq(r.out.data, "out\n");
	if (make_host_can())
		ck_assert_str_eq(r.err.data, "");
	else
		assert_said(&r, "no tasks were recorded: ");
	support_run_release(&r);
	read_recording(&rec, "one");
	ck_assert_uint_eq(rec.n_tasks, 0);
	ck_assert_ptr_nonnull(recording_series(&rec, "proc_stat"));
	ck_assert_uint_ge(recording_series(&rec, "proc_stat")->n, 2);
	recording_release(&rec);
}
END_TEST

/* Makes that cannot: told from a trial after the build. */
static const struct {
	const char *make, *command, *said;
} other_makes[] = {
	{ "echo version 4.3; echo features archives", "./make", "./make 4.3: built without load" },
	{ "echo version 4.3; echo features archives", "make", "./make 4.3: built without load" },
	{ "echo a make of another kind", "./make", "./make: not a GNU make" },
	{ "exec env -u MAKEFILES /usr/bin/make \"$@\"", "./make", "./make 4." },
};

START_TEST(make_without_load)
{
	const char *make = support_path("%s/make", support_tmpdir());
	struct run r;

	if (strstr(other_makes[_i].make, "/usr/bin/make") && access("/usr/bin/make", X_OK))
		return;
	support_writes(make, support_path("#!/bin/sh\n%s\n", other_makes[_i].make));
	chmod(make, 0755);
	support_run(&r, support_tmpdir(), "echo 'all: ; @:' >Makefile; PATH=.:$PATH " RECORD
		    "-n one -- %s >/dev/null", other_makes[_i].command);
	ck_assert_int_eq(r.status, 0);
	assert_said(&r, "no tasks were recorded: ");
	assert_said(&r, other_makes[_i].said);
	support_run_release(&r);
}
END_TEST

/* Its makefiles never come to the plugin. */
START_TEST(make_without_makefiles)
{
	struct run r;

	if (!make_host_can())
		return;
	support_run(&r, support_tmpdir(), RECORD "-n one -- make --version >/dev/null");
	ck_assert_int_eq(r.status, 0);
	assert_said(&r, "no tasks were recorded: make can load the plugin and did not");
	support_run_release(&r);
}
END_TEST

START_TEST(a_source_that_is_not_there)
{
	struct run r;

	support_run(&r, support_tmpdir(), BUILDBEAT " record -o stats --source . "
		    "--source nowhere --no-task-memory -- sh -c 'exit 126'");
	ck_assert_int_eq(r.status, 126);
	assert_said(&r, "no revision is recorded of nowhere: No such file");
	support_run_release(&r);
}
END_TEST

START_TEST(missing_plugin)
{
	struct run r;

	support_run(&r, support_tmpdir(), "echo 'all: ; @echo built' >Makefile; "
		    RECORD "--plugin /nonexistent.so -n one -- make");
	ck_assert_int_eq(r.status, 0);
	ck_assert_str_eq(r.out.data, "built\n");
	assert_said(&r, "no make's tasks will be recorded: /nonexistent.so: ");
	support_run_release(&r);
}
END_TEST

START_TEST(damaged_plugin)
{
	struct run r;

	support_run(&r, support_tmpdir(), "echo 'all: ; @echo built' >Makefile; "
		    "head -c 5000 " PLUGIN " >half.so; "
		    RECORD "--plugin half.so -n one -- make");
	ck_assert_int_eq(r.status, 0);
	ck_assert_str_eq(r.out.data, "built\n");
	assert_said(&r, "half.so: the plugin cannot be used: ");
	support_run_release(&r);
}
END_TEST

/* What the plugin could not record, the launcher says once. */
START_TEST(too_many_children)
{
	struct run r;

	support_run(&r, support_tmpdir(), RECORD "-n one -- " TOP_BUILDDIR "/tests/fake_make "
		    PLUGIN " many 3078");
	if (r.status != 77) {
		ck_assert_int_eq(r.status, 0);
		assert_said(&r, "the recording is incomplete: 6 processes were not recorded");
	}
	support_run_release(&r);
}
END_TEST

START_TEST(nested)
{
	struct recording rec;
	struct run r;

	support_run(&r, support_tmpdir(), "PATH=/usr/bin:/bin; " RECORD "-n outer -- sh -c '"
		    BUILDBEAT " record -n inner sh -c \"exit 4\"; echo $?; "
		    BUILDBEAT " record -- nonexistent-program'");
	ck_assert_int_eq(r.status, 127);
	ck_assert_str_eq(r.out.data, "4\n");
	support_run_release(&r);
	ck_assert(!support_exists(support_path("%s/stats/inner", support_tmpdir())));
	ck_assert(!support_exists(support_path("%s/buildstats", support_tmpdir())));
	read_recording(&rec, "outer");
	ck_assert_uint_eq(rec.n_tasks, 2);
	ck_assert_str_eq(rec.task[0].name, "inner");
	ck_assert_int_eq(rec.task[0].status, 4);
	ck_assert_str_eq(rec.task[1].name, "nonexistent-program");
	ck_assert_int_eq(rec.task[1].status, 127);
	recording_release(&rec);
}
END_TEST

START_TEST(compressed)
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
	support_run_release(&r);
	read_recording(&rec, "one");
	ck_assert_uint_eq(rec.n_tasks, 1);
	ck_assert_uint_eq(rec.n_warnings, 0);
	ck_assert_uint_ge(recording_series(&rec, "proc_stat")->n, 2);
	recording_release(&rec);
}
END_TEST

/* A daemon that the build left and that still writes: its log stays open. */
START_TEST(compressed_while_written)
{
	struct run r;

	support_run(&r, support_tmpdir(), RECORD "-n one --compress zstd -- sh -c '"
		    BUILDBEAT " task left sleep 1 >/dev/null 2>&1 & "
		    "while ! grep -q ^start.*le[f]t stats/one/tasks.log; do sleep 0.02; done'; "
		    "ls stats/one; sleep 1.5; awk '$1 == \"start\" && /\tleft\t/ { id = $3 } "
		    "$1 == \"done\" && $3 == id { n++ } END { print n }' FS='\t' stats/one/tasks.log");
	ck_assert_ptr_nonnull(strstr(r.out.data, "proc_stat.log.zst\n"));
	ck_assert_ptr_nonnull(strstr(r.out.data, "\ntasks.log\n1\n"));
	support_run_release(&r);
}
END_TEST

/* Faults */

static const char *const unwritable[] = {
	"-o /dev/null/stats", "-o /proc/stats", "-o file", "-n taken",
};

START_TEST(cannot_record)
{
	struct run r;

	support_run(&r, support_tmpdir(), ": >file; mkdir -p stats/taken; "
		    RECORD "%s -- sh -c 'echo out; exit 6'", unwritable[_i]);
	ck_assert_int_eq(r.status, 6);
	ck_assert_str_eq(r.out.data, "out\n");
	assert_said(&r, "buildbeat: nothing is recorded: ");
	support_run_release(&r);
}
END_TEST

START_TEST(removed_midway)
{
	struct run r;

	support_run(&r, support_tmpdir(), RECORD "-n one --interval 10 -- "
		    "sh -c 'rm -rf stats; sleep 0.1; echo out; exit 6'");
	ck_assert_int_eq(r.status, 6);
	ck_assert_str_eq(r.out.data, "out\n");
	assert_said(&r, "the recording is incomplete");
	support_run_release(&r);
}
END_TEST

START_TEST(full_disk)
{
	struct run r;

	support_run(&r, support_tmpdir(), "mkdir small; unshare -rm sh -c '"
		    "mount -t tmpfs -o size=16k none small || exit 77; "
		    BUILDBEAT " record --no-git -o small -n one --interval 10 --per-core -- "
		    "sh -c \"dd if=/dev/zero of=small/fill bs=4k 2>/dev/null; sleep 0.3; "
		    "echo out; exit 6\"; e=$?; head -n 1 small/one/build; exit $e'");
	if (r.status == 77 || strstr(r.err.data, "unshare")) {
		support_run_release(&r);
		return;
	}
	ck_assert_int_eq(r.status, 6);
	ck_assert_str_eq(r.out.data, "out\nbuildbeat build 1\n");
	assert_said(&r, "the recording is incomplete");
	support_run_release(&r);
}
END_TEST

/* Also for root, whom no mode keeps out. */
START_TEST(read_only)
{
	struct run r;

	support_run(&r, support_tmpdir(), "mkdir sealed; unshare -rm sh -c '"
		    "mount -t tmpfs -o ro none sealed || exit 77; "
		    BUILDBEAT " record --no-git -o sealed sh -c \"echo out; exit 6\"'");
	if (r.status != 77 && !strstr(r.err.data, "unshare")) {
		ck_assert_int_eq(r.status, 6);
		ck_assert_str_eq(r.out.data, "out\n");
		assert_said(&r, "buildbeat: nothing is recorded: ");
		assert_said(&r, ": Read-only file system");
	}
	support_run_release(&r);
}
END_TEST

static const int file_limits[] = { 4, 5, 6, 7, 8, 10, 12, 16, 24, 40, 100, 201, 300 };

START_TEST(few_files)
{
	struct run r;

	support_run(&r, support_tmpdir(), "exec 3<&- 4<&- 5<&- 6<&- 7<&- 8<&- 9<&-; "
		    "ulimit -n %d; " RECORD
		    "-- sh -c 'echo out; exit 6'", file_limits[_i]);
	ck_assert_int_eq(r.status, 6);
	ck_assert_str_eq(r.out.data, "out\n");
	if (r.err.len)
		ck_assert_ptr_eq(strchr(r.err.data, '\n'), r.err.data + r.err.len - 1);
	support_run_release(&r);
}
END_TEST

/* Neither the makes nor we die of a file that may not grow; the smaller limits are
 * met while the recording is begun, the larger ones by a make. */
static const struct {
	int blocks;
	const char *said;
} size_limits[] = {
	{ 0, "nothing is recorded: " }, { 1, "" }, { 8, "File too large" }, { 64, "File too large" },
};

START_TEST(file_size_limit)
{
	struct run r;

	if (!make_host_can())
		return;
	support_run(&r, support_tmpdir(), "echo 'all: $(shell seq 700)\n%%:; @true' >Makefile; "
		    "ulimit -f %d; " RECORD "--compress zstd -n one -- sh -c 'make; echo $?; exit 6'",
		    size_limits[_i].blocks);
	ck_assert_int_eq(r.status, 6);
	ck_assert_str_eq(r.out.data, "0\n");
	assert_said(&r, size_limits[_i].said);
	support_run_release(&r);
}
END_TEST

/* Signals */

/* A process in the background whose standard output we read. */
struct background {
	pid_t pid;
	FILE *out;
};

static void begin(struct background *b, const char *script)
{
	const char *top = support_tmpdir();
	int fds[2];

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	b->pid = fork();
	if (b->pid == 0) {
		dup2(fds[1], 1);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!chdir(top))
			execl(BUILDBEAT, "buildbeat", "record", "--no-git", "-o", "stats", "-n",
			      "one", "--interval", "20", "--", "sh", "-c", script, (char *)NULL);
		_exit(99);
	}
	close(fds[1]);
	b->out = fdopen(fds[0], "r");
}

static void expect_line(struct background *b, const char *line)
{
	char got[64] = "";

	ck_assert_ptr_nonnull(fgets(got, sizeof got, b->out));
	ck_assert_str_eq(got, line);
}

static int end(struct background *b)
{
	int status;

	ck_assert_int_eq(waitpid(b->pid, &status, 0), b->pid);
	fclose(b->out);
	return status;
}

/* Until the recording has that many bytes of samples more than it has. */
static void wait_for_samples(void)
{
	const char *path = support_path("%s/stats/one/proc_stat.log", support_tmpdir());
	size_t first = 0;

	for (int i = 0; i < 3000; i++) {
		struct buf b;
		size_t n;

		support_read(&b, path);
		n = b.len;
		buf_release(&b);
		if (!first)
			first = n;
		if (n > first + 20)
			return;
		usleep(10000);
	}
	ck_abort_msg("no samples in 30 s");
}

static const int forwarded[] = { SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2 };

/* To the launcher alone: the command gets it, and its answer counts. */
START_TEST(signal_is_passed_on)
{
	char script[160];
	struct background b;
	int status;

	snprintf(script, sizeof script, "trap 'echo got; exit 3' %d; echo ready; "
		 "while :; do sleep 0.02; done", forwarded[_i]);
	begin(&b, script);
	expect_line(&b, "ready\n");
	kill(b.pid, forwarded[_i]);
	expect_line(&b, "got\n");
	status = end(&b);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 3);
}
END_TEST

/* Everything written before is there; nothing says how the build ended. */
START_TEST(launcher_killed)
{
	struct recording rec;
	struct background b;
	const struct series *s;

	begin(&b, "echo ready; while :; do sleep 0.02; done");
	expect_line(&b, "ready\n");
	wait_for_samples();
	kill(b.pid, SIGKILL);
	end(&b);
	read_recording(&rec, "one");
	ck_assert_int_eq(rec.end_us, -1);
	s = recording_series(&rec, "proc_stat");
	ck_assert_ptr_nonnull(s);
	ck_assert_uint_ge(s->n, 2);
	ck_assert_int_ge(rec.last_us, s->time_ms[s->n - 1] * 1000);
	ck_assert_uint_eq(rec.n_warnings, 0);
	recording_release(&rec);
}
END_TEST

/* A launcher that was stopped marks the gap and goes on. */
START_TEST(stopped_and_continued)
{
	struct recording rec;
	struct background b;
	const struct series *s;
	size_t gaps = 0;

	begin(&b, "trap 'exit 0' TERM; echo ready; while :; do sleep 0.02; done");
	expect_line(&b, "ready\n");
	wait_for_samples();
	kill(b.pid, SIGSTOP);
	usleep(500000);
	kill(b.pid, SIGCONT);
	wait_for_samples();
	kill(b.pid, SIGTERM);
	ck_assert_int_eq(end(&b), 0);
	read_recording(&rec, "one");
	s = recording_series(&rec, "proc_stat");
	for (size_t i = 0; i < s->n; i++)
		gaps += s->gap[i];
	ck_assert_uint_ge(gaps, 1);
	recording_release(&rec);
}
END_TEST

/* ^C on a terminal, with and without us: the same words, the same end. */
static int interrupt(struct buf *out, const char *command)
{
	const char *top = support_tmpdir();
	char chunk[1024];
	int master, status;
	ssize_t n;
	pid_t pid = forkpty(&master, NULL, NULL, NULL);
	bool sent = false;

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		if (!chdir(top))
			execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(99);
	}
	buf_init(out);
	while ((n = read(master, chunk, sizeof chunk)) > 0) {
		buf_add(out, chunk, (size_t)n);
		if (!sent && strstr(buf_str(out), "working"))
			sent = write(master, "\003", 1) == 1;
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	close(master);
	return status;
}

/* When its child dies of the interrupt at the very same time, make itself loses
 * count and ends with an error: then again. */
static void interrupt_until_signal(struct buf *out, const char *command)
{
	int status = interrupt(out, command);

	for (int i = 0; i < 20 && WIFEXITED(status) && WEXITSTATUS(status) == 2; i++) {
		buf_release(out);
		status = interrupt(out, command);
	}
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), SIGINT);
}

START_TEST(interrupt_from_terminal)
{
	struct recording rec;
	struct buf with, without;
	struct run r;

	if (!make_host_can())
		return;
	support_writes(support_path("%s/Makefile", support_tmpdir()),
		       "all: ; @echo working; read line\n");
	interrupt_until_signal(&without, "exec make 2>without");
	interrupt_until_signal(&with, "rm -rf stats; exec " RECORD "-n one make 2>with");
	ck_assert_str_eq(buf_str(&with), buf_str(&without));
	support_run(&r, support_tmpdir(), "diff with without");
	ck_assert_str_eq(r.out.data, "");
	support_run_release(&r);
	buf_release(&with);
	buf_release(&without);
	read_recording(&rec, "one");
	ck_assert_int_eq(recording_build_number(&rec, "signal"), SIGINT);
	ck_assert_uint_eq(rec.n_tasks, 1);
	ck_assert_int_eq(rec.task[0].state, TASK_KILLED);
	recording_release(&rec);
}
END_TEST

/* Only on a terminal is the end announced. */
START_TEST(hint_on_terminal)
{
	struct buf out;
	int status = interrupt(&out, RECORD "-n one " BUILDBEAT " task x true");

	ck_assert_int_eq(status, 0);
	ck_assert_ptr_nonnull(strstr(buf_str(&out), "stats/one; see: buildbeat show"));
	buf_release(&out);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("record");
	TCase *t = tcase_create("record");

	/* a job in the background of a script has them ignored */
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	unsetenv("MAKEFLAGS");
	unsetenv("MFLAGS");
	unsetenv("MAKELEVEL");
	unsetenv("MAKEFILES");
	setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
	tcase_set_timeout(t, 120);
	tcase_add_test(t, every_exit_status);
	tcase_add_loop_test(t, every_signal, 0, sizeof signals / sizeof *signals);
	tcase_add_loop_test(t, cannot_be_run, 0, sizeof not_run / sizeof *not_run);
	tcase_add_loop_test(t, misuse, 0, sizeof misuses / sizeof *misuses);
	tcase_add_loop_test(t, same_surroundings, 0,
			    sizeof surroundings / sizeof *surroundings);
	tcase_add_test(t, make_is_recorded);
	tcase_add_test(t, command_is_quoted);
	tcase_add_test(t, figures_are_those_of_time);
	tcase_add_test(t, without_a_make);
	tcase_add_loop_test(t, make_without_load, 0, sizeof other_makes / sizeof *other_makes);
	tcase_add_test(t, make_without_makefiles);
	tcase_add_test(t, a_source_that_is_not_there);
	tcase_add_test(t, missing_plugin);
	tcase_add_test(t, too_many_children);
	tcase_add_test(t, damaged_plugin);
	tcase_add_test(t, nested);
	tcase_add_test(t, compressed);
	tcase_add_test(t, compressed_while_written);
	tcase_add_loop_test(t, cannot_record, 0, sizeof unwritable / sizeof *unwritable);
	tcase_add_test(t, removed_midway);
	tcase_add_test(t, full_disk);
	tcase_add_test(t, read_only);
	tcase_add_loop_test(t, few_files, 0, sizeof file_limits / sizeof *file_limits);
	tcase_add_loop_test(t, file_size_limit, 0, sizeof size_limits / sizeof *size_limits);
	tcase_add_loop_test(t, signal_is_passed_on, 0, sizeof forwarded / sizeof *forwarded);
	tcase_add_test(t, launcher_killed);
	tcase_add_test(t, stopped_and_continued);
	tcase_add_test(t, interrupt_from_terminal);
	tcase_add_test(t, hint_on_terminal);
	suite_add_tcase(s, t);
	return support_main(s);
}
