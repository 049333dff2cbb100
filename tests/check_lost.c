/* SPDX-License-Identifier: MIT */
#include "analyse/summary.h"
#include "base/array.h"
#include "tests/launched.h"
#include "tests/make_host.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* A recording on a full disk: missing tasks are counted, and no command compares the rest. */

/* A make with sub-makes, 200 recipes and a task with another writer. */
static void write_makefiles(const char *middle)
{
	struct buf b = BUF_INIT;

	buf_addf(&b, "all: a b c\n"
		 "a b c: ; @$(MAKE) -s -f sub.mk\n"
		 "b: middle\nc: b\n"
		 "middle: a ; @%s\n", middle);
	support_writes(support_path("%s/Makefile", support_tmpdir()), buf_str(&b));
	support_writes(support_path("%s/sub.mk", support_tmpdir()),
		       "all: $(shell seq 60)\n%: ; @true\n");
	buf_release(&b);
}

static size_t n_started(const struct recording *rec)
{
	size_t n = 0;

	for (size_t i = 0; i < rec->n_tasks; i++)
		n += rec->task[i].start_us >= 0;
	return n;
}

static size_t true_number(void)
{
	struct recording rec;
	size_t n;

	support_expect(support_tmpdir(), 0, NULL, "", RECORD "-n whole -- make -j2");
	ck_assert(!support_exists(support_path("%s/stats/whole/lost.log", support_tmpdir())));
	launched_read(&rec, "whole");
	ck_assert_int_eq(rec.lost.reason, 0);
	n = n_started(&rec);
	recording_release(&rec);
	return n;
}

/* Recorded plus lost tasks are all tasks, and no line is damaged. */
static void complete_with_lost(const char *name, size_t number, int reason)
{
	struct recording rec;
	struct summary sum;
	size_t said = 0;

	launched_read(&rec, name);
	ck_assert_uint_eq(n_started(&rec) + rec.lost.tasks, number);
	ck_assert_int_eq(summary_make(&sum, &rec), 0);
	ck_assert_uint_eq(sum.n_tasks + rec.lost.tasks, number);
	summary_release(&sum);
	if (rec.lost.reason) {
		ck_assert_int_eq(rec.lost.reason, reason);
		for (size_t i = 0; i < rec.n_warnings; i++) {
			ck_assert_msg(strncmp(rec.warning[i].text, "tasks.log", 9), "%s", rec.warning[i].text);
			said += strstr(rec.warning[i].text, "lost (") != NULL;
		}
		ck_assert_uint_eq(said, 1);
	} else {
		ck_assert_uint_eq(rec.n_warnings, 0);
	}
	ck_assert_int_ge(rec.end_us, 0);
	recording_release(&rec);
}

static const int limits[] = { 4, 5, 6, 7, 9, 12, 16, 23, 31 };	/* of 512 bytes */

TEST_EACH(size_of_file, limits)
{
	struct run r;
	size_t number;

	SKIP_IF(!make_host_can());
	write_makefiles("true");
	number = true_number();
	support_run(&r, support_tmpdir(), "ulimit -f %d; " RECORD "-n one -- make -j2", limits[_i]);
	ck_assert_int_eq(r.status, 0);
	if (r.err.len)
		launched_reported(&r, "tasks, ");
	complete_with_lost("one", number, -EFBIG);
}

/* On a file system of so many KiB, from which the recording is copied. False: not possible
 * here. In a user namespace root's directories have no owner and are not trusted. */
static bool record_small(int kib, const char *before)
{
	struct run r;
	bool can;

	if (geteuid())
		return false;
	support_run(&r, support_tmpdir(), "mkdir -p small stats; unshare -rm sh -c '"
		    "mount -t tmpfs -o size=%dk none small || exit 77; %s; "
		    BUILDBEAT " record --no-git -o small -n one -- make -j2 || exit 76; "
		    "cp -r small/one stats/one'", kib, before);
	can = r.status != 77 && !strstr(r.err.data, "unshare");
	if (can)
		ck_assert_msg(!r.status, "%d %s", r.status, r.err.data);
	return can;
}

static const int sizes[] = { 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 68, 76, 84, 400 };

TEST_EACH(size_of_disk, sizes)
{
	size_t number;

	SKIP_IF(!make_host_can());
	write_makefiles("true");
	number = true_number();
	SKIP_IF(!record_small(sizes[_i], ":"));
	complete_with_lost("one", number, -ENOSPC);
}

static const int left[] = { 40, 42, 44 };

/* A recipe makes room again: later tasks are recorded, lost ones counted. */
TEST_EACH(room_again, left)
{
	struct recording rec;
	size_t number, late = 0;

	SKIP_IF(!make_host_can());
	write_makefiles("rm -f small/fill");
	number = true_number();
	SKIP_IF(!record_small(480 + left[_i], "head -c 480k /dev/zero >small/fill"));
	complete_with_lost("one", number, -ENOSPC);
	launched_read(&rec, "one");
	ck_assert_uint_gt(rec.lost.tasks, 0);
	for (size_t i = 0; i < rec.n_tasks; i++)
		late += rec.task[i].end_us > rec.end_us * 2 / 3;
	ck_assert_uint_gt(late, 0);
	recording_release(&rec);
}

/* Commands that read it report the loss; commands that compare refuse it. */
TEST(loss_is_reported)
{
	const char *said;
	struct run r;

	SKIP_IF(!make_host_can());
	write_makefiles("true");
	support_run(&r, support_tmpdir(), "(ulimit -f 6; " RECORD "-n one -- make -j2) && "
		    BUILDBEAT " show --json stats/one >json && " BUILDBEAT " show -a stats/one && "
		    BUILDBEAT " list stats");
	ck_assert_int_eq(r.status, 0);
	ck_assert_ptr_nonnull(strstr(r.out.data, "; incomplete\n"));
	ck_assert_ptr_nonnull(strstr(r.out.data, "incomplete  "));	/* list */
	said = strstr(r.out.data, " lost (");
	ck_assert(said && !strstr(said + 1, " lost ("));
	support_expect(support_tmpdir(), ANY_STATUS, "1\n2\n2\n2\n2\n0\n1\n",
		       "the recording is incomplete",
		       "grep -c '\"complete\": *false' json; "
		       BUILDBEAT " archive --repo a.git stats/one; echo $?; "
		       BUILDBEAT " diff stats/one stats/one; echo $?; "
		       BUILDBEAT " export --to oe -o oe stats/one; echo $?; "
		       BUILDBEAT " export --to chrome -o trace stats/one; echo $?; ls -d oe trace; "
		       BUILDBEAT " chart --only bootchart -o b.svg stats/one >/dev/null; "
		       "grep -q ' incomplete<' b.svg; echo $?; grep -c '^<text.* lost (' b.svg");
}

/* Any lines removed from tasks.log without a lost.log: the numbers reveal it. */
TEST_LOOP(gaps_show, 2)
{
	static const char *const hosts[] = { "make -j2", "sh ./s.sh" };
	struct recording rec;
	struct run r;
	size_t number;

	SKIP_IF(!make_host_can());
	write_makefiles("true");
	support_writes(support_path("%s/s.sh", support_tmpdir()),
		       "for i in $(seq 50); do /bin/true $i; done; /bin/true & wait; exit 0\n");
	support_run(&r, support_tmpdir(), RECORD "-n one -- %s", hosts[_i]);
	ck_assert_int_eq(r.status, 0);
	launched_read(&rec, "one");
	number = n_started(&rec);
	ck_assert_uint_gt(number, 50);
	ck_assert_int_eq(rec.lost.reason, 0);
	recording_release(&rec);
	for (int every = 1; every < 40; every = every * 3 + 1) {
		support_expect(support_tmpdir(), 0, NULL, NULL,
			       "rm -rf stats/cut; cp -r stats/one stats/cut; "
			       "awk '!/^start/ || ++n %% %d' stats/one/tasks.log >stats/cut/tasks.log",
			       every);
		launched_read(&rec, "cut");
		ck_assert_uint_eq(rec.lost.tasks, number - n_started(&rec));
		ck_assert_uint_eq(rec.lost.tasks, number / (size_t)every);
		ck_assert_int_eq(rec.lost.reason, LOST_UNTOLD);
		recording_release(&rec);
	}
	support_run(&r, support_tmpdir(), BUILDBEAT " show -a stats/cut && "
		    BUILDBEAT " archive --repo a.git stats/cut");
	ck_assert_int_eq(r.status, 2);
	ck_assert_ptr_nonnull(strstr(r.out.data, "; incomplete\n"));
}

/* A host of the preloaded object whose forks write, too. */
TEST_EACH(preload_size_of_file, limits)
{
	struct recording rec;
	size_t number;

	SKIP_IF(!support_can_be_loaded());
	support_writes(support_path("%s/s.sh", support_tmpdir()),
		       "for i in $(seq 100); do /bin/true $i; done\n"
		       "for i in $(seq 20); do ( exec /bin/true $i ); done; exit 0\n");
	support_expect(support_tmpdir(), 0, NULL, NULL, RECORD "-n whole -- sh ./s.sh");
	launched_read(&rec, "whole");
	number = n_started(&rec);
	recording_release(&rec);
	ck_assert_uint_ge(number, 120);
	support_expect(support_tmpdir(), 0, NULL, NULL,
		       "ulimit -f %d; " RECORD "-n one -- sh ./s.sh",
		       limits[_i]);
	complete_with_lost("one", number, -EFBIG);
}

/* Any error of a write, in any process: all tasks are recorded or counted as lost, with the reason,
 * and every output reports it. */
static const struct {
	const char *file;
	int after, error;
	const char *command, *said;
} failures[] = {
	{ "tasks.log", 1, EIO, "make -j2", "Input/output error" },
	{ "tasks.log", 30, EIO, "make -j2", "Input/output error" },
	{ "tasks.log", 30, EBADF, "make -j2", "Bad file descriptor" },
	{ "tasks.log", 30, EDQUOT, "make -j2", "Disk quota exceeded" },
	{ "tasks.log", 30, EPERM, "make -j2", "Operation not permitted" },
	{ "tasks.log", 30, EIO, "sh ./s.sh", "Input/output error" },
	{ "tasks.log", 30, EIO, "ninja", "Input/output error" },
	{ "proc_stat.log", 1, EIO, "make -j2", "Input/output error" },
	{ "proc_stat.log", 1, ENOSPC, "make -j2", "No space left on device" },
	{ "output.log", 0, EIO, "sh -c 'echo x; make -j2'", "Input/output error" },
};

static void make_subjects(void)
{
	struct buf b = BUF_INIT;

	write_makefiles("true");
	support_writes(support_path("%s/s.sh", support_tmpdir()),
		       "for i in $(seq 100); do /bin/true $i; done; exit 0\n");
	buf_adds(&b, "rule r\n  command = :\n");
	for (int i = 0; i < 100; i++)
		buf_addf(&b, "build a%d: r\n", i);
	support_writes(support_path("%s/build.ninja", support_tmpdir()), buf_str(&b));
	buf_release(&b);
}

TEST_EACH(any_error, failures)
{
	bool tasks = !strcmp(failures[_i].file, "tasks.log");
	struct recording rec;
	struct run r;
	size_t number;

	SKIP_IF(!make_host_can());
	make_subjects();
	support_expect(support_tmpdir(), 0, NULL, "", RECORD "-n whole -- %s; rm -f .ninja_*",
		       failures[_i].command);
	launched_read(&rec, "whole");
	number = n_started(&rec);
	recording_release(&rec);
	support_run(&r, support_tmpdir(), "LD_PRELOAD=" TOP_BUILDDIR "/tests/failing_io.so "
		    "FAIL_FILE=%s FAIL_AFTER=%d FAIL_ERROR=%d " RECORD "--log --quiet -n one -- %s",
		    failures[_i].file, failures[_i].after, failures[_i].error, failures[_i].command);
	ck_assert_int_eq(r.status, 0);
	ck_assert_msg(strstr(r.err.data, failures[_i].said) != NULL, "%s", r.err.data);
	ck_assert(support_exists(support_path("%s/stats/one/lost.log", support_tmpdir())));
	launched_read(&rec, "one");
	ck_assert_int_eq(rec.lost.reason, -failures[_i].error);
	ck_assert_uint_eq(n_started(&rec) + rec.lost.tasks, number);
	ck_assert_int_eq(rec.lost.lines > 0, tasks);
	ck_assert_int_eq(rec.lost.parts != 0, !tasks);
	recording_release(&rec);
	support_expect(support_tmpdir(), ANY_STATUS, "1\n1\n1\n2\n", failures[_i].said,
		       BUILDBEAT " show -a stats/one | grep -c '; incomplete$'; "
		       BUILDBEAT " show --json stats/one | grep -c '\"complete\": *false'; "
		       BUILDBEAT " list stats | grep -c 'incomplete'; "
		       BUILDBEAT " archive --repo a.git stats/one; echo $?");
}

/* The numbers that may be missing. Hosts write the recordings. */
static const struct { const char *lines, *lost_log; uint64_t tasks; } numbered[] = {
#define MAKE "open\t1\ta\t7\t0\t7\tmake\t4.3\t/\tmake\n"
#define NINJA "open\t1\ta\t7\t\t7\tninja\t\t/\tninja\n"
#define HOST "open\t1\ta\t7\t\t7\tscons\t4\t/\tscons\n"
#define START(n) "start\t2\ta." #n "\t9\t\t\tx\t\tcc\n"
#define QUEUE(n) "queue\t2\ta." #n "\t\tx\n"
#define LOST "buildbeat lost 1\n"
	{ MAKE START(1) START(2) "close\t3\ta\n", "", 0 },
	{ MAKE START(1) START(4) "close\t3\ta\n", "", 2 },
	{ MAKE START(1) START(4), "", 2 },
	{ MAKE START(3), "", 2 },
	{ MAKE START(3) START(1) START(2), "", 0 },
	{ MAKE START(1) "done\t3\ta.2\t0\n", "", 1 },
	{ MAKE START(1) START(2) "name\t3\ta.9\ty\n", "", 0 },
	{ MAKE START(1) START(2) "start\t3\ta.3", "", 0 },
	{ MAKE START(1) "close\t3\ta\t5\n", "", 4 },
	{ MAKE START(1) "close\t3\ta\t1\n" START(2) "close\t4\ta\t2\n", "", 0 },
	{ NINJA START(1) START(3), "", 1 },
	{ HOST START(1) START(30) "close\t3\ta\n", "", 0 },
	{ HOST START(70001) START(30) "close\t3\ta\n", "", 0 },
	{ HOST START(70001) START(1) "close\t3\ta\t1\n", "", 0 },
	{ HOST START(70001) START(1) "close\t3\ta\t3\n", "", 2 },
	{ HOST QUEUE(1) QUEUE(2) START(2) "close\t3\ta\t2\n", "", 0 },
	{ HOST START(1) "close\t3\ta\tx\n", "", 0 },
	{ HOST START(1) "close\t3\ta\t-4\n", "", 0 },
	{ HOST START(1) "close\t3\ta\t9223372036854775807\n", "", 0 },
	{ MAKE START(1) START(18446744073709551615), "", 0 },
	{ "close\t3\ta\t2\n", "", 2 },
	/* the count in lost.log counts once */
	{ MAKE START(1) START(4), LOST "lost\t2\ta\t2\t2\tdisk\n", 2 },
	{ MAKE START(1) START(4), LOST "lost\t2\ta\t1\t1\tdisk\n", 2 },
	{ MAKE START(1) START(4), LOST "lost\t2\ta\t1\t1\tdisk\nlost\t2\ta\t4\t2\tdisk\n", 3 },
	{ MAKE START(1) START(4), LOST "lost\t2\tb\t1\t1\tdisk\n", 3 },
	{ MAKE START(1) START(4) MAKE START(1) START(2), "", 2 },
	{ MAKE START(1) START(4) MAKE START(1) START(3), LOST "lost\t2\ta\t2\t2\tdisk\n", 3 },
};

TEST_EACH(numbers, numbered)
{
	const char *dir = support_path("%s/stats/made", support_tmpdir());
	struct recording rec;
	struct summary sum;
	size_t begun = 0;
	struct run r;

	support_run(&r, support_tmpdir(), "mkdir -p stats/made");
	support_writes(support_path("%s/build", dir), "buildbeat build 1\nend_us: 9\nstatus: 0\n");
	support_writes(support_path("%s/tasks.log", dir),
		       support_path("buildbeat tasks 1\n%s", numbered[_i].lines));
	if (*numbered[_i].lost_log)
		support_writes(support_path("%s/lost.log", dir), numbered[_i].lost_log);
	launched_read(&rec, "made");
	ck_assert_uint_eq(rec.lost.tasks, numbered[_i].tasks);
	ck_assert_uint_ge(rec.lost.lines, rec.lost.tasks);
	ck_assert_int_eq(!rec.lost.reason, !numbered[_i].tasks);
	ck_assert_int_eq(summary_make(&sum, &rec), 0);
	for (size_t i = 0; i < rec.n_tasks; i++)
		begun += rec.task[i].start_us >= 0 || rec.task[i].queued_us >= 0;
	ck_assert_uint_eq(sum.n_tasks, numbered[_i].tasks ? begun : rec.n_tasks);
	summary_release(&sum);
	recording_release(&rec);
}

/* The file's lines */

static const struct { const char *line; bool good; uint64_t lines, tasks; int reason; } cases[] = {
	{ "lost\t12\tab\t5\t2\tdisk", true, 5, 2, -ENOSPC },
	{ "lost\t12\tab\t5\t5\tquota", true, 5, 5, -EDQUOT },
	{ "lost\t12\tab\t5\t0\tlimit", true, 5, 0, -EFBIG },
	{ "lost\t12\tab\t5\t0\tmoon", true, 5, 0, -ENOSPC },
	{ "lost\t12\tab\t5\t0\te5", true, 5, 0, -EIO },
	{ "lost\t12\tab\t5\t0\te105", true, 5, 0, -ENOBUFS },
	{ "lost\t12\tab\t5\t0\te0", true, 5, 0, -ENOSPC },
	{ "lost\t12\tab\t5\t0\te99999999999", true, 5, 0, -ENOSPC },
	{ "part\t12\tsamples\te5", true, 0, 0, -EIO },
	{ "part\t12\tsamples\tdisk", true, 0, 0, -ENOSPC },
	{ "lost\t12\tab\t5\t6\tdisk", false, 0, 0, 0 },
	{ "lost\t12\tab\t5", false, 0, 0, 0 },
	{ "lost\tab\t5\t0\tdisk", false, 0, 0, 0 },
	{ "lost\t1\tab\t99999999999999999999\t0\tdisk", false, 0, 0, 0 },
	{ "", false, 0, 0, 0 },
	{ "start\t1", false, 0, 0, 0 },
};

TEST_EACH(parsed, cases)
{
	struct lost l = { 0 };

	ck_assert(lost_parse(&l, slice_of(cases[_i].line), NULL) ==
		  cases[_i].good);
	ck_assert_uint_eq(l.lines, cases[_i].lines);
	ck_assert_uint_eq(l.tasks, cases[_i].tasks);
	ck_assert_int_eq(l.reason, cases[_i].reason);
}

/* Each part by its name, whatever the file says. */
TEST(parts)
{
	static const char lines[] = "part\t1\toutput\te130\npart\t2\tsamples\tdisk\npart\t3\tsamples\tdisk\npart\t4\tdreams\tdisk\n";
	RELEASED(buf, said = BUF_INIT);
	struct lost l = { 0 };
	struct cursor c;
	struct slice line;
	bool complete;

	cursor_init(&c, lines, strlen(lines));
	while (cursor_line(&c, &line, &complete))
		ck_assert(lost_parse(&l, line, NULL));
	lost_add_text(&said, &l);
	ck_assert_str_eq(buf_str(&said), "samples, output, other parts lost (a process of buildbeat was killed)");
}

/* More lines than are read at once. */
TEST(many_lines)
{
	const char *dir = support_tmpdir();
	RELEASED(buf, text = BUF_INIT);
	struct lost l;
	int fd;

	buf_adds(&text, "buildbeat lost 1\n");
	for (int i = 0; i < 5000; i++)
		buf_addf(&text, "lost\t%d\tab\t%d\t2\tdisk\n", i, 3 + i % 7);
	support_writes(support_path("%s/lost.log", dir), buf_str(&text));
	fd = open(dir, O_RDONLY | O_DIRECTORY);
	ck_assert_int_eq(lost_read(&l, fd), 0);
	close(fd);
	ck_assert_uint_eq(l.tasks, 10000);
	ck_assert_uint_eq(l.lines, 29995);
}

TEST(full)
{
	ck_assert(lost_is_full(-ENOSPC) && lost_is_full(-EDQUOT) && lost_is_full(-EFBIG));
	ck_assert(!lost_is_full(-EIO) && !lost_is_full(0));
}

TEST_MAIN(lost);
