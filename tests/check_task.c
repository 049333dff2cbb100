/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "recording/recording.h"
#include "tests/paths.h"
#include "tests/recorded.h"
#include "tests/support.h"

/* `buildbeat task`: work that no build tool reports. */

#define BUILDBEAT TOP_BUILDDIR "/buildbeat"
#define RECORD BUILDBEAT " record --no-git -o stats -n one -- "

static void read_recording(struct recording *rec, const char *path)
{
	*rec = (struct recording)RECORDING_INIT;
	recorded_open(rec, support_path("%s/%s", support_tmpdir(), path), NULL);
	ck_assert_uint_eq(rec->n_warnings, 0);
}

TEST(inside_a_recorded_build)
{
	RELEASED(recording, rec);

	support_expect(support_tmpdir(), 0, "out\n3\n", "",
		       RECORD "sh -c '"
		       BUILDBEAT " task configure -- sh -c \"echo out; exit 3\"; echo $?; "
		       BUILDBEAT " task -k test --key=fast \"a name\" env kind=x true'");
	read_recording(&rec, "stats/one");
	ck_assert_uint_eq(rec.n_tasks, 2);
	ck_assert_str_eq(rec.task[0].name, "configure");
	ck_assert_str_eq(recording_command(&rec, &rec.task[0]), "sh -c 'echo out; exit 3'");
	ck_assert_int_eq(rec.task[0].state, TASK_FAILED);
	ck_assert_int_eq(rec.task[0].status, 3);
	ck_assert_str_eq(rec.task[1].name, "a name");
	ck_assert_str_eq(rec.task[1].kind, "test");
	ck_assert_str_eq(rec.task[1].key, "fast");
	ck_assert_int_eq(rec.task[1].state, TASK_DONE);
	ck_assert_int_gt(rec.task[1].pid, 0);
	ck_assert_int_ge(rec.task[1].end_us, rec.task[1].start_us);
	ck_assert(rec.task[1].max_rss_kb > 0 || rec.task[1].max_rss_at_most_kb > 0);
	ck_assert_str_eq(rec.instance[0].tool, "buildbeat task");
}

/* The first begins the recording, the second joins it; each has its own values. */
TEST(in_a_named_recording)
{
	RELEASED(recording, rec);

	support_expect(support_tmpdir(), 0, NULL, NULL,
		       BUILDBEAT " task --recording new/rec one -- dd if=/dev/zero of=/dev/null bs=60M count=1 && "
		       BUILDBEAT " task --recording new/rec/ two true");
	read_recording(&rec, "new/rec");
	ck_assert_uint_eq(rec.n_tasks, 2);
	ck_assert_int_gt(rec.task[0].max_rss_kb, 60 * 1024);
	ck_assert_int_lt(rec.task[1].max_rss_kb, 60 * 1024);
	ck_assert_ptr_nonnull(recording_series(&rec, "proc_stat"));
	ck_assert_int_eq(recording_build_number(&rec, "status"), 0);
	ck_assert(rec.task[1].start_us > rec.task[0].end_us);
}

/* Added from outside to a build in progress: its ticket stays, and no file in the recording
 * is loaded. */
TEST(into_a_running_build)
{
	RELEASED(recording, rec);
	struct run r;

	support_run(&r, support_tmpdir(), RECORD "sh -c 'echo \"x := \\$(shell touch bad)\" >"
		    "stats/one/buildbeat.mk; cp -s /bin/true stats/one/buildbeat-preload.so; "
		    "env -u MAKEFILES " BUILDBEAT " task --recording stats/one x env | "
		    "grep -c ^MAKEFILES=; ls $TMPDIR/buildbeat-*/buildbeat.mk | wc -l'; "
		    "ls $TMPDIR/buildbeat-*/buildbeat.mk bad; true");
	/* a program without the preloaded object sees the variables for others */
	if (support_can_be_loaded())
		ck_assert_str_eq(r.out.data, "0\n1\n");
	ck_assert_int_eq(r.status, 0);
	read_recording(&rec, "stats/one");
	if (support_can_be_loaded())
		ck_assert_uint_eq(rec.n_tasks, 6);	/* cp, env -u, x, grep, ls and wc */
}

TEST(without_a_recording)
{
	struct run r;

	support_run(&r, support_tmpdir(), BUILDBEAT " task x -- sh -c 'echo out; exit 9'");
	ck_assert_int_eq(r.status, 9);
	ck_assert_str_eq(r.out.data, "out\n");
	ck_assert_str_eq(r.err.data, "buildbeat: nothing is recorded: not in a recorded "
			 "build, and no --recording given\n");
}

TEST(killed)
{
	RELEASED(recording, rec);

	support_expect(support_tmpdir(), 128 + SIGKILL, NULL, NULL,
		       RECORD BUILDBEAT " task x sh -c 'kill -9 $$'");
	read_recording(&rec, "stats/one");
	ck_assert_int_eq(rec.task[0].state, TASK_KILLED);
	ck_assert_int_eq(rec.task[0].status, SIGKILL);
	ck_assert_int_eq(recording_build_number(&rec, "signal"), SIGKILL);
}

/* Names of any bytes are read as written; long ones are shortened. */
TEST(any_name)
{
	RELEASED(recording, rec);

	support_expect(support_tmpdir(), 0, NULL, NULL,
		       "export A=\"$(printf 'a\\tb\\nc\\377\\\\')\" "
		       "B=\"$(head -c 100000 /dev/zero | tr '\\0' x)\"; " RECORD "sh -c '"
		       BUILDBEAT " task \"$A\" true; " BUILDBEAT " task \"$B\" true'");
	read_recording(&rec, "stats/one");
	ck_assert_uint_eq(rec.n_tasks, 2);
	ck_assert_str_eq(rec.task[0].name, "a\tb\nc\377\\");
	ck_assert_int_eq(strncmp(rec.task[1].name, "xxxxxxxxxxxxxxxx", 16), 0);
	ck_assert_uint_lt(strlen(rec.task[1].name), 4096);
}

static const struct { const char *words, *said; } misuses[] = {
	{ "", "too few operands; expected: NAME [--] CMD..." },
	{ "name", "too few operands" },
	{ "name --", "too few operands" },
	{ "-- name", "too few operands" },
	{ "--kind= name true", "expected a text" },
	{ "--kidn=x name true", "did you mean '--kind'?" },
	{ "name --kind=x true", "options come before NAME" },
};

TEST_EACH(misuse, misuses)
{
	support_expect(support_tmpdir(), 2, NULL, misuses[_i].said,
		       BUILDBEAT " task %s", misuses[_i].words);
}

TEST_MAIN(task);
