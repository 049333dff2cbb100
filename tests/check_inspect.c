/* SPDX-License-Identifier: MIT */
#include "inspect/archive_files.h"
#include "inspect/background.h"
#include "tests/support.h"

/* Inspections of real processes: how they begin, go on and end. */

#define BUILDBEAT TOP_BUILDDIR "/buildbeat"

static const char *dir;

static void begin(void)
{
	dir = support_runtime_dir();
}

/* Shell functions: `grow` is a process with 30 MB that waits; its number is in file pid. */
static const char grow[] =
	"grow() { python3 -c 'import os, sys, time\n"
	"data = bytearray(30 << 20)\n"
	"for i in range(0, len(data), 4096): data[i] = 1\n"
	"open(\"pid\", \"w\").write(str(os.getpid()))\n"
	"time.sleep(60)' >out 2>&1 & victim=$!; until_true 'test -s pid'; }; ";

/* Runs a script in which `bb` is our program. */
__attribute__((format(printf, 2, 3)))
static void run(struct run *r, const char *format, ...)
{
	char script[4000];
	va_list ap;

	va_start(ap, format);
	vsnprintf(script, sizeof script, format, ap);
	va_end(ap);
	support_run(r, dir, "%s%sbb() { " BUILDBEAT " \"$@\"; }; %s", support_poll, grow, script);
}

static struct inspect_reader *open_archive(const char *name)
{
	struct inspect_reader *reader;
	struct error err = { 0 };

	ck_assert_msg(!inspect_reader_open(&reader, support_path("%s/%s", dir, name), &err), "%s: %s",
		      err.path, err.message);
	ck_assert_msg(!inspect_reader_warning(reader), "%s", inspect_reader_warning(reader));
	return reader;
}

/* Its last line of progress. */
static void ends_with(const char *name, unsigned at_least, const char *message)
{
	struct inspect_progress_list l = INSPECT_PROGRESS_INIT;
	struct error err = { 0 };
	unsigned percent = 0;

	ck_assert_int_eq(inspect_progress_read(&l, support_path("%s/%s", dir, name), &err), 0);
	ck_assert_uint_ge(l.n, at_least);
	ck_assert_uint_eq(l.line[0].percent, 1);
	for (size_t i = 0; i < l.n; i++) {
		ck_assert_uint_ge(l.line[i].percent, percent);
		percent = l.line[i].percent;
		ck_assert(percent < 100 || i == l.n - 1);
	}
	ck_assert_uint_eq(percent, 100);
	ck_assert_msg(strstr(l.line[l.n - 1].message, message) != NULL, "%s", l.line[l.n - 1].message);
	ck_assert(!l.runs);
	inspect_progress_release(&l);
}

TEST_GROUP_WITH("inspect", begin, NULL);

TEST(snapshots)
{
	struct inspect_reader *reader;
	struct snapshot s = { 0 };
	int64_t before = -1;
	struct run r;

	run(&r, "grow; bb inspect run --pid $(cat pid) --count 4 --interval 20ms -o a; s=$?; kill $victim; "
	    "exit $s");
	ck_assert_msg(r.status == 0, "%s", buf_str(&r.err));
	ck_assert_str_eq(buf_str(&r.out), support_path("%s/a\n", dir));
	ck_assert_str_eq(buf_str(&r.err), "");
	reader = open_archive("a");
	ck_assert_uint_eq(inspect_reader_inspection(reader)->n_snapshots, 4);
	ck_assert_int_eq(inspect_reader_inspection(reader)->pid,
			 atoi(support_text(support_path("%s/pid", dir))));
	for (size_t i = 0; i < 4; i++) {
		ck_assert_int_eq(inspect_reader_snapshot(reader, i, &s, NULL), 0);
		ck_assert_uint_ge(snapshot_sum_kb(&s, MAPPING_RSS), 30 << 10);
		ck_assert_int_gt(s.time_us, before);
		ck_assert(!s.frozen);
		before = s.time_us;
	}
	snapshot_release(&s);
	inspect_reader_close(reader);
	ends_with("a", 6, "4 snapshots were taken.");
}

/* A script that executes the program, as version managers have: heap and names are the program's. */
TEST_LOOP(another_program, 4)
{
	static const char *const options[] = { "", "--heap", "-o a/b", "--heap -o a/b" };
	const struct inspection *x;
	struct inspect_reader *reader;
	struct run r;

	SKIP_IF(strstr(options[_i], "--heap") && !support_can_be_loaded());
	support_writes(support_path("%s/python3", dir),
		       /* a child of it would have its name until it executes sleep */
		       "#!/bin/sh\ni=0; while test $i -lt 100000; do i=$((i + 1)); done\n"
		       "exec /usr/bin/python3 \"$@\"\n");
	/* until it was seen after it was executed */
	run(&r, "chmod +x python3; bb inspect run %s -- ./python3 -c 'import glob, signal, time\n"
	    "signal.alarm(600)\n"
	    "x = bytearray(20 << 20)\n"
	    "def seen(): return sum(open(f).read().count(\"snapshot \") for f in\n"
	    "                       glob.glob(\"**/progress.log\", recursive=True))\n"
	    "before = seen()\nwhile seen() < before + 2: time.sleep(0.01)'", options[_i]);
	ck_assert_msg(r.status == 0, "%s", buf_str(&r.err));
	ck_assert_str_eq(buf_str(&r.err), "");
	ck_assert_msg(strstr(buf_str(&r.out), " - python3 ") != NULL, "%s", buf_str(&r.out));
	r.out.data[r.out.len - 1] = '\0';
	reader = open_archive(buf_str(&r.out) + strlen(dir) + 1);
	x = inspect_reader_inspection(reader);
	ck_assert_str_eq(x->program, "python3");
	ck_assert_msg(strncmp(x->command, "/usr/bin/python3 -c", 19) == 0, "'%s'", x->command);
	inspect_reader_close(reader);
	ends_with(buf_str(&r.out) + strlen(dir) + 1, 3, " died.");
}

/* A process that executes a program has no command for a while: here, as it erases its own. */
TEST(command_is_late)
{
	struct inspect_reader *reader;
	struct run r;

	run(&r, "python3 -c 'import ctypes, glob, os, signal, time\n"
	    "signal.alarm(600)\n"
	    "fields = open(\"/proc/self/stat\").read().rsplit(\")\", 1)[1].split()\n"
	    "start, end = int(fields[45]), int(fields[46])\n"
	    "def seen(): return sum(open(f).read().count(\"snapshot \") for f in glob.glob(\"a/progress.log\"))\n"
	    "command = ctypes.string_at(start, end - start)\n"
	    "ctypes.memset(start, 0, end - start)\n"
	    "open(\"pid\", \"w\").write(str(os.getpid()))\n"
	    "while seen() < 2: time.sleep(0.01)\n"
	    "ctypes.memmove(start, command, end - start)\n"
	    "before = seen()\nwhile seen() < before + 2: time.sleep(0.01)' & until_true 'test -s pid'; "
	    "bb inspect run --pid $(cat pid) -o a");
	ck_assert_msg(r.status == 0, "%s", buf_str(&r.err));
	reader = open_archive("a");
	ck_assert_msg(strstr(inspect_reader_inspection(reader)->command, "python3 -c import ctypes") != NULL, "'%s'",
		      inspect_reader_inspection(reader)->command);
	inspect_reader_close(reader);
}

/* 80 % are for the snapshots. */
TEST(percentages)
{
	struct inspect_progress_list l = INSPECT_PROGRESS_INIT;
	static const unsigned percent[] = { 1, 20, 40, 60, 80, 100 };
	struct run r;

	run(&r, "grow; bb inspect run --pid $(cat pid) --count 4 --interval 10ms -o a; kill $victim");
	ck_assert_int_eq(inspect_progress_read(&l, support_path("%s/a", dir), NULL), 0);
	ck_assert_uint_eq(l.n, ARRAY_SIZE(percent));
	for (size_t i = 0; i < l.n; i++)
		ck_assert_uint_eq(l.line[i].percent, percent[i]);
	inspect_progress_release(&l);
}

/* The process is killed while it is inspected. */
TEST_LOOP(killed_midway, 4)
{
	static const struct {
		const char *options;
		int status;
	} ways[] = { { "", 0 }, { "--count 1000", 1 }, { "--freeze", 0 }, { "--pages", 0 } };
	struct inspect_reader *reader;
	struct run r;

	run(&r, "grow; (until_true \"grep -qs 'snapshot 3' a/progress.log\"; kill -9 $victim) & "
	    "bb inspect run --pid $(cat pid) --interval 10ms -o a %s", ways[_i].options);
	ck_assert_msg(r.status == ways[_i].status, "%d: %s", r.status, buf_str(&r.err));
	ck_assert_str_eq(buf_str(&r.out), support_path("%s/a\n", dir));
	reader = open_archive("a");
	ck_assert_uint_ge(inspect_reader_inspection(reader)->n_snapshots, 3);
	inspect_reader_close(reader);
	ends_with("a", 5, support_path("Process %s died.", support_text(support_path("%s/pid", dir))));
}

/* An interrupt ends it in order. */
TEST_LOOP(interrupted, 3)
{
	static const char *const signals[] = { "INT", "TERM", "HUP" };
	struct run r;

	run(&r, "grow; env --default-signal=INT " BUILDBEAT " inspect run --pid $(cat pid) --interval 10ms "
	    "-o a & me=$!; "
	    "until_true \"grep -qs 'snapshot 2' a/progress.log\"; kill -%s $me; wait $me; s=$?; "
	    "kill $victim; exit $s", signals[_i]);
	ck_assert_msg(r.status == 1, "%d: %s", r.status, buf_str(&r.err));
	ends_with("a", 4, "The inspection was stopped.");
}

/* The inspector is killed, also while the process is stopped: it runs on. */
TEST_LOOP(inspector_is_killed, 4)
{
	struct inspect_reader *reader;
	struct run r;

	run(&r, "grow; " BUILDBEAT " inspect run --pid $victim --freeze --interval 10ms -o a & me=$!; "
	    "until_true \"grep -qs 'snapshot %d' a/progress.log\"; kill -9 $me; wait $me; "
	    "runs() { grep -q 'State:.S' /proc/$victim/status; }; "
	    "until_true runs; s=$?; kill $victim; exit $s", 2 + _i);
	ck_assert_msg(r.status == 0, "%s", buf_str(&r.err));
	reader = open_archive("a");
	ck_assert_uint_ge(inspect_reader_inspection(reader)->n_snapshots, 2);
	inspect_reader_close(reader);
	ends_with("a", 4, INSPECT_PROGRESS_DIED);
}

/* Some of the snapshots at least: a machine may be too slow for all. */
TEST(frozen)
{
	struct inspect_reader *reader;
	struct snapshot s = { 0 };
	size_t n_frozen = 0;
	struct run r;

	run(&r, "grow; bb inspect run --pid $victim --freeze --count 3 --interval 10ms -o a; s=$?; "
	    "runs() { grep -q 'State:.S' /proc/$victim/status; }; until_true runs; kill $victim; exit $s");
	ck_assert_msg(r.status == 0, "%d %s", r.status, buf_str(&r.err));
	reader = open_archive("a");
	for (size_t i = 0; i < 3; i++) {
		ck_assert_int_eq(inspect_reader_snapshot(reader, i, &s, NULL), 0);
		n_frozen += s.frozen;
	}
	ck_assert_uint_gt(n_frozen, 0);
	snapshot_release(&s);
	inspect_reader_close(reader);
}

/* Nothing is inspected, and the message says why. */
static const struct {
	const char *arguments, *message;
} refused[] = {
	{ "run", "expected --pid PID, --match NAME, --task TASK, --heaviest, --every NAME or a command" },
	{ "run --pid 0", "expected a whole number from 1" },
	{ "run --pid 2000000000", "there is no process 2000000000" },
	{ "run --match no-such-program-runs", "no process of yours is named 'no-such-program-runs'" },
	{ "run --match /usr/bin/ld", "expected the file name of a program" },
	{ "run --match ld,heap", "expected the file name of a program" },
	{ "run --pid 1 --match x", "exclude each other" },
	{ "run --pid 1 --background true", "cannot be combined with a command" },
	{ "run --heaviest --interval 1ms", "expected a time from 10ms to 24h" },
	{ "run --heaviest --interval 0", "expected a time from 10ms to 24h" },
	{ "run --task compile", "no build is recorded here" },
	{ "run --pid $$ --heap", "the allocations of process" },
	{ "run --pid $$ --count 0", "whole number from 1" },
	{ "run --pid $$ -o run", "run" },
	{ "status 7", "there is no task 7" },
	{ "status x", "inspect status: expected the id of an inspection in the background, such as 1, not 'x'" },
	{ "status 1 2", "too many operands: '2'" },
	{ "wait 7", "there is no task 7" },
	{ "wait seven", "expected the id of an inspection" },
	{ "cancel 7", "there is no task 7" },
	{ "cancel everything", "expected the id of an inspection" },
};

TEST_EACH(is_refused, refused)
{
	struct run r;

	run(&r, "bb inspect %s", refused[_i].arguments);
	ck_assert_int_eq(r.status, 2);
	ck_assert_str_eq(buf_str(&r.out), "");
	ck_assert_msg(strstr(buf_str(&r.err), refused[_i].message) != NULL, "%s", buf_str(&r.err));
	ck_assert_ptr_eq(strchr(r.err.data, '\n'), r.err.data + r.err.len - 1);
	ck_assert(!support_exists(support_path("%s/inspect", dir)) || _i > 11);
}

TEST(no_permission)
{
	struct run r;

	if (!geteuid())
		run(&r, "sleep 60 & p=$!; chmod 755 . run; mkdir other; chown 65534 other; "
		    "cd other; setpriv --reuid 65534 --clear-groups " BUILDBEAT " inspect run --pid $p; s=$?; "
		    "kill $p; exit $s");
	else
		run(&r, "bb inspect run --pid 1");
	ck_assert_int_eq(r.status, 2);
	ck_assert_str_eq(buf_str(&r.out), "");
	ck_assert_msg(strstr(buf_str(&r.err), "ermission") != NULL, "%s", buf_str(&r.err));
}

/* The disk is full, or as here a file may not grow: what was written before can be read. */
TEST(full_disk)
{
	struct inspect_reader *reader;
	struct error err = { 0 };
	struct run r;

	run(&r, "grow; (ulimit -f 120; bb inspect run --pid $victim --interval 10ms -o a); s=$?; kill $victim; "
	    "exit $s");
	ck_assert_int_eq(r.status, 2);
	ck_assert_msg(strstr(buf_str(&r.err), "File too large") != NULL, "%s", buf_str(&r.err));
	ck_assert_int_eq(inspect_reader_open(&reader, support_path("%s/a", dir), &err), 0);
	inspect_reader_close(reader);
}

/* In the background */

TEST_GROUP_WITH("background", begin, NULL);

TEST(in_the_background)
{
	struct run r;

	run(&r, "grow; id=$(bb inspect run --pid $victim --count 3 --interval 20ms --background -o a) && "
	    "test \"$id\" = 1 && bb inspect wait 1 && bb inspect status 1; s=$?; "
	    "bb inspect status; bb inspect status --json | python3 -c '\n"
	    "import json, sys\n"
	    "task, = json.load(sys.stdin)\n"
	    "assert task[\"id\"] == 1 and task[\"status\"] == 0 and not task[\"runs\"], task\n"
	    "assert task[\"archive\"].endswith(\"/a\") and task[\"percent\"] == 100\n"
	    "assert [p for p, m in task[\"progress\"]][0] == 1\n'; kill $victim; exit $s");
	ck_assert_msg(r.status == 0, "%s", buf_str(&r.err));
	ck_assert_str_eq(buf_str(&r.err), "");
	ck_assert_ptr_nonnull(strstr(buf_str(&r.out), "  1 %  process "));
	ck_assert_ptr_nonnull(strstr(buf_str(&r.out), "100 %  3 snapshots were taken.\n"));
	ck_assert_ptr_nonnull(strstr(buf_str(&r.out), "   1  100 %  python3 "));
	ends_with("a", 5, "3 snapshots");
}

TEST(cancelled)
{
	struct run r;

	run(&r, "grow; a=$(bb inspect run --pid $victim --interval 10ms --background -o a); "
	    "b=$(bb inspect run --pid $victim --freeze --interval 10ms --background -o b); "
	    "c=$(bb inspect run --pid $victim --interval 1h --background -o c); "
	    "test \"$a $b $c\" = '1 2 3' || exit 9; "
	    "bb inspect cancel 2 || exit 8; bb inspect wait 2; test $? = 1 || exit 7; "
	    "runs() { grep -q 'State:.S' /proc/$victim/status; }; until_true runs; "
	    "bb inspect status 1 | grep -q '^100' && exit 5; "
	    "bb inspect cancel all || exit 4; bb inspect cancel 1 || exit 3; "
	    "bb inspect status | grep -c 'The inspection was stopped'; kill $victim");
	ck_assert_msg(r.status == 0, "%d: %s", r.status, buf_str(&r.err));
	ck_assert_str_eq(buf_str(&r.out), "3\n");
	ends_with("a", 3, "stopped");
	ends_with("b", 3, "stopped");
	ends_with("c", 3, "stopped");
}

/* A task that was killed does not run for ever. */
TEST(task_is_killed)
{
	struct run r;

	run(&r, "grow; bb inspect run --pid $victim --interval 10ms --background -o a >id; "
	    "kill -9 $(bb inspect status --json | sed -n 's/.*\"pid\": \\([0-9]*\\),/\\1/p'); "
	    "bb inspect wait 1; echo $?; bb inspect status 1 | tail -2 | head -1; kill $victim");
	ck_assert_msg(strstr(buf_str(&r.out), "2\n100 %  " INSPECT_PROGRESS_DIED) != NULL, "%s%s",
		      buf_str(&r.out), buf_str(&r.err));
}

TEST(background_fails)
{
	struct run r;

	run(&r, "sleep 0 & p=$!; wait $p; mkdir a; grow; bb inspect run --pid $victim --background -o a; s=$?; "
	    "kill $victim; exit $s");
	ck_assert_int_eq(r.status, 2);
	ck_assert_str_eq(buf_str(&r.out), "");
	ck_assert_ptr_nonnull(strstr(buf_str(&r.err), "a"));
}

/* Nobody else may enter the directory of the tasks. */
TEST(registry_is_private)
{
	struct run r;

	run(&r, "mkdir -m 777 run/buildbeat-inspect; mkdir tmp; export TMPDIR=$PWD/tmp; "
	    "grow; bb inspect run --pid $victim --count 1 --background -o a; bb inspect wait 1; kill $victim; "
	    "ls run/buildbeat-inspect; stat -c %%a tmp/*");
	ck_assert_msg(r.status == 0, "%s", buf_str(&r.err));
	ck_assert_str_eq(buf_str(&r.out), "1\n700\n");
}

/* What ended long ago is forgotten. */
TEST(old_tasks)
{
	struct run r;

	run(&r, "grow; for i in 1 2; do bb inspect run --pid $victim --count 1 --background -o a$i; bb inspect wait $i; "
	    "done; touch -d '2 hours ago' run/buildbeat-inspect/1/progress.log; "
	    "bb inspect run --pid $victim --count 1 --background -o a3; bb inspect wait 3; kill $victim; "
	    "ls run/buildbeat-inspect");
	ck_assert_str_eq(buf_str(&r.out), "1\n2\n3\n2\n3\n");
}

TEST_PROGRAM(inspect)
{
	SKIP_PROGRAM_IF(!support_has("python3"));
	return support_main();
}
