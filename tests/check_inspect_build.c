/* SPDX-License-Identifier: MIT */
#include "inspect/archive_files.h"
#include "inspect/archive_list.h"
#include "tests/support.h"

/* Processes of a build are inspected by rule, and the build does not notice. */

#define BUILDBEAT TOP_BUILDDIR "/buildbeat"

static const char *dir;

static void begin(void)
{
	dir = support_runtime_dir();
	support_writes(support_path("%s/grow.py", dir),
		       "import os, sys, time\n"
		       "data = bytearray(int(sys.argv[1]) << 20)\n"
		       "for i in range(0, len(data), 4096): data[i] = 1\n"
		       "end = time.time() + float(sys.argv[2])\n"
		       "while time.time() < end and not os.path.exists('enough'): time.sleep(0.01)\n"
		       "print('grown')\n");
	support_writes(support_path("%s/enough.sh", dir),
		       "n=0; while ! grep -qs 'snapshot 2' buildstats/latest/inspect/*/progress.log && "
		       "test $n -lt 30000; do sleep 0.02; n=$((n + 1)); done; touch enough\n");
}

static size_t list(struct inspect_list *l)
{
	struct error err = { 0 };

	*l = (struct inspect_list)INSPECT_LIST_INIT;
	ck_assert_msg(!inspect_list_add(l, support_path("%s/buildstats/latest/inspect", dir), &err), "%s",
		      err.message);
	return l->n;
}

/* Nothing of ours is left: no process, and no image of a heap. */
static void nothing_is_left(void)
{
	support_expect(dir, ANY_STATUS, "", "", "%s"
		       "none() { ! grep -lsz 'task-marker=%s' /proc/[0-9]*/environ | grep -v self | "
		       "grep -v /$$/ | grep -q .; }; true; ls -d buildstats/*/inspect/heap.* 2>/dev/null",
		       support_poll, dir);
}

TEST_GROUP_WITH("inspect_build", begin, NULL);

TEST(crosses_the_threshold)
{
	struct inspect_list l;
	struct run r;

	support_run(&r, dir, BUILDBEAT " record --inspect 'python3*,rss>40M,interval=20ms' -- sh -c "
		    "'python3 grow.py 1 0; sh enough.sh & python3 grow.py 60 600; wait; exit 7'");
	ck_assert_int_eq(r.status, 7);
	ck_assert_str_eq(buf_str(&r.out), "grown\ngrown\n");
	ck_assert_uint_eq(list(&l), 1);
	ck_assert_ptr_eq(strstr(l.entry[0].program, "python3"), l.entry[0].program);
	ck_assert_str_eq(l.entry[0].why, "python3*,rss>40M,interval=20ms");
	ck_assert_ptr_nonnull(strstr(l.entry[0].end, " died."));
	ck_assert_uint_ge(l.entry[0].n_snapshots, 2);
	inspect_list_release(&l);
	nothing_is_left();
}

/* Without a rule for the heap the environment of the build is as it was. */
TEST(environment)
{
	struct run with, without;

	SKIP_IF(!support_can_be_loaded());
	support_run(&without, dir, BUILDBEAT " record -n a -- env | grep -v '^MAKEFILES\\|^_='");
	support_run(&with, dir, BUILDBEAT " record -n b --inspect 'env,rss>1M' -- env | "
		    "grep -v '^MAKEFILES\\|^_='");
	ck_assert_str_eq(buf_str(&with.out), buf_str(&without.out));
	ck_assert_str_eq(buf_str(&with.err), buf_str(&without.err));
}

/* Many processes that are shorter than a look at them. */
TEST(short_processes)
{
	struct run r;

	support_run(&r, dir, BUILDBEAT " record --inspect 'true|false' -- sh -c "
		    "'for i in 1 2 3 4 5 6 7 8; do for j in 1 2 3 4 5 6 7 8 9 10; do /bin/true & /bin/false; "
		    "done; done; wait; echo end; exit 3'");
	ck_assert_int_eq(r.status, 3);
	ck_assert_str_eq(buf_str(&r.out), "end\n");
	ck_assert_msg(!strstr(buf_str(&r.err), "not inspected"), "%s", buf_str(&r.err));
}

/* They closed all descriptors, and were too short to be looked at: the image has what they had. */
TEST(short_heaps)
{
	struct inspect_list l;

	SKIP_IF(!support_can_be_loaded());
	support_expect(dir, 0, NULL, NULL,
		       BUILDBEAT " record --inspect 'python3*,heap=exact' -- sh -c "
		       "'for i in 1 2; do python3 -c \"import os; os.closerange(0, 256); "
		       "data = bytearray(3 << 20)\"; done'");
	ck_assert_uint_eq(list(&l), 2);
	for (size_t i = 0; i < l.n; i++) {
		struct inspect_reader *reader;
		struct snapshot s = { 0 };
		uint64_t peak = 0;
		size_t n;

		ck_assert_int_eq(inspect_reader_open(&reader, l.entry[i].path, NULL), 0);
		n = inspect_reader_inspection(reader)->n_snapshots;
		ck_assert_uint_ge(n, 1);
		ck_assert_int_eq(inspect_reader_snapshot(reader, n - 1, &s, NULL), 0);
		for (size_t k = 0; k < s.n_sites; k++)
			peak += s.site[k].peak_bytes;
		ck_assert_uint_ge(peak, 3 << 20);
		snapshot_release(&s);
		inspect_reader_close(reader);
	}
	inspect_list_release(&l);
	nothing_is_left();
}

/* The launcher is killed: the process that was stopped runs on, and no process of ours is left. */
TEST(launcher_is_killed)
{
	struct run r;

	support_run(&r, dir, "%s" BUILDBEAT " record --inspect 'python3*,freeze,interval=10ms' -- "
		    "python3 grow.py 30 600 >/dev/null 2>&1 & l=$!; "
		    "until_true \"grep -qs 'snapshot 2' buildstats/latest/inspect/*/progress.log\"; "
		    "victim=$(sed -n 's/^pid: //p' buildstats/latest/inspect/*/archive); "
		    "ours=$(sed -n '1s/^[^0-9]*[0-9]* \\([0-9]*\\).*/\\1/p' "
		    "buildstats/latest/inspect/*/progress.log); "
		    "test -n \"$victim\" && test -d /proc/$ours || exit 9; kill -9 $l; "
		    "gone() { ! test -d /proc/$ours || grep -q 'State:.Z' /proc/$ours/status; }; "
		    "runs() { grep -q 'State:.[SR]' /proc/$victim/status; }; "
		    "until_true gone && until_true runs && touch enough; echo $?", support_poll);
	ck_assert_msg(!strcmp(buf_str(&r.out), "0\n"), "%d %s%s", r.status, buf_str(&r.out),
		      buf_str(&r.err));
}

/* The inspecting process is killed: the build has its own exit status. */
TEST_LOOP(helper_is_killed, 2)
{
	SKIP_IF(!support_can_be_loaded());
	support_expect(dir, 5, "", "", BUILDBEAT " record --inspect 'python3*%s' -- sh -c '"
		       "for p in $(cat /proc/$PPID/task/$PPID/children); do "
		       "grep -q buildbeat-look /proc/$p/comm && kill -9 $p; done; exit 5'",
		       _i ? ",heap" : "");
}

/* A command that cannot be run leaves nothing. */
TEST(no_command)
{
	support_expect(dir, 127, "", "command not found",
		       BUILDBEAT " record --inspect 'x,heap' -- no-such-command");
	support_expect(dir, ANY_STATUS, "", "", "ls buildstats 2>/dev/null");
}

static const struct {
	const char *rule, *message;
} wrong[] = {
	{ "", "expected a text" }, { "rss>2G", "before the first comma" },
	{ ",heap", "expected the name of a program before" }, { "ld,rss>2", "a size such as" },
};

/* A wrong rule is reported before the build. */
TEST_EACH(wrong_rules, wrong)
{
	support_expect(dir, 2, "", wrong[_i].message, BUILDBEAT " record --inspect '%s' -- echo x",
		       wrong[_i].rule);
	ck_assert(!support_exists(support_path("%s/buildstats", dir)));
}

/* inspect CMD: its status, its output, and an archive of it. */
TEST(command)
{
	struct run r;

	support_run(&r, dir, BUILDBEAT " inspect run -o here -- python3 grow.py 20 0.2; echo $?");
	ck_assert_ptr_eq(strstr(buf_str(&r.out), "grown\n"), r.out.data);
	ck_assert_ptr_nonnull(strstr(buf_str(&r.out), "here/"));
	ck_assert_ptr_nonnull(strstr(buf_str(&r.out), "\n0\n"));
	support_expect(dir, 5, NULL, NULL, BUILDBEAT " inspect run -- sh -c 'exit 5'");
	support_expect(dir, 128 + 15, NULL, NULL,
		       BUILDBEAT " inspect run -- sh -c 'kill -TERM $$'");
}

/* Of many short processes, those with the largest heaps. */
TEST(many_short_heaps)
{
	struct inspect_list l;
	size_t images = 0;

	SKIP_IF(!support_can_be_loaded());
	support_expect(dir, 0, NULL, NULL, BUILDBEAT " record --inspect 'true,heap' -- sh -c "
		    "'i=0; while test $i -lt 80; do /bin/true; i=$((i + 1)); done'");
	list(&l);
	for (size_t i = 0; i < l.n; i++)
		images += !strcmp(l.entry[i].why, "the image of its heap");
	ck_assert_uint_ge(l.n, 1);
	ck_assert_uint_le(images, 32);
	inspect_list_release(&l);
	nothing_is_left();
}

static int lines_of(const char *log, const char *pattern)
{
	struct run r;

	support_run(&r, dir, "grep -c '%s' %s", pattern, log);
	return atoi(buf_str(&r.out));
}

/* A build that nobody inspects: no file more is opened, no program more is executed, and the
 * settings are read once. */
TEST(not_inspecting)
{
	struct run r;

	SKIP_IF(!support_has("strace"));
	support_writes(support_path("%s/settings.yaml", dir), "inspect:\n  interval: 1s\n");
	support_run(&r, dir, "strace -f -o log " BUILDBEAT " record -c settings.yaml -- true");
	SKIP_IF(r.status);	/* strace is not allowed here */
	ck_assert_int_eq(lines_of("log", "\"settings.yaml\""), 1 + 1);	/* with execve() */
	ck_assert_int_eq(lines_of("log", "\"[^\"]*\\(buildbeat-heap\\|buildbeat-arm\\|"
				  "buildbeat-symbols\\|/inspect\"\\|\\.heap\"\\)"), 0);
	ck_assert_int_eq(lines_of("log", "uname("), 1);
	support_expect(dir, 0, NULL, NULL, "strace -f -o log " BUILDBEAT " show");
	ck_assert_int_eq(lines_of("log", "/inspect\""), 1);
}

TEST_PROGRAM(inspect_build)
{
	SKIP_PROGRAM_IF(!support_has("python3"));
	return support_main();
}
