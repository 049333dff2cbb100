/* SPDX-License-Identifier: MIT */
/* The processes of a recording, compared with ten lines of Python. */
#include "analyse/process_tree.h"
#include "base/str.h"
#include "recording/process_log.h"
#include "tests/recorded.h"
#include "tests/support.h"

static struct recording rec;
static struct process_tree tree;

static void read_tree(const char *path)
{
	struct error err = { 0 };

	recorded_open(&rec, path, NULL);
	ck_assert_msg(!process_tree_read(&tree, path, &rec, NULL, &err), "%s", err.message);
}

static void release(void)
{
	process_tree_release(&tree);
	recording_release(&rec);
	support_cleanup();
}

static const char BUILD[] =
	"buildbeat build 1\nstart_wall_ns: 1\nstart_mono_ns: 1\nend_us: 9000000\nexit_status: 0\n";

static void write_recording(const char *tasks, const char *processes)
{
	support_writes(support_path("%s/build", support_tmpdir()), BUILD);
	support_writes(support_path("%s/tasks.log", support_tmpdir()), tasks);
	if (processes)
		support_writes(support_path("%s/processes.log", support_tmpdir()), processes);
}

#define HEAD "buildbeat tasks 1\nopen\t0\ti1\t100\t0\t100\tmake\t4.3\t/src\tmake\n"

TEST_GROUP_WITH("process_tree", NULL, release);

/* Processes lose the time in which the build was suspended, as tasks do: before, those of later tasks had
 * no task, and the others outlived theirs. */
TEST(suspended)
{
	write_recording(HEAD
		"start\t1000000\ti1.1\t200\t1\tcompile\ta.o\n"
		"done\t5000000\ti1.1\t0\n"
		"start\t6000000\ti1.2\t300\t1\tcompile\tb.o\n"
		"done\t7000000\ti1.2\t0\n"
		"close\t9000000\ti1\n",
		"buildbeat processes 1\n"
		"done\t5000000\t200\t100\t4000000\t3000000\tcc a.c\t0\t1000\t1000\n"
		"done\t7000000\t300\t100\t1000000\t80\tcc b.c\t0\t1000\t1000\n"
		"lost\t8000000\t12\n");
	support_expect(support_tmpdir(), 0, NULL, NULL, "echo 'suspended: 1500000 4500000' >>build");
	read_tree(support_tmpdir());
	ck_assert_uint_eq(tree.n, 2);
	ck_assert_uint_eq(tree.n_lost, 12);
	ck_assert_uint_eq(tree.n_outlived, 0);
	for (size_t i = 0; i < 2; i++) {
		const struct tree_process *p = &tree.process[i];

		ck_assert_uint_eq(p->task, i);
		ck_assert_int_eq(p->start_us, rec.task[i].start_us);
		ck_assert_int_eq(p->end_us, rec.task[i].end_us);
	}
	ck_assert_int_eq(tree.process[0].end_us - tree.process[0].start_us, 1000000);
	ck_assert_int_eq(tree.process[0].exec_us, 500000);
	ck_assert_int_eq(tree.process[1].exec_us, 80);
}

/* A shell starts a daemon, which lives on and starts another process, and a number comes again. */
TEST(known_build)
{
	write_recording(HEAD
		"start\t1000000\ti1.1\t200\t1\tcompile\ta.o\n"
		"done\t2000000\ti1.1\t0\n"
		"start\t3000000\ti1.2\t300\t1\tcompile\tb.o\n"
		"done\t4000000\ti1.2\t0\n"
		"close\t9000000\ti1\n",
		"buildbeat processes 1\n"
		"done\t1500000\t201\t200\t100000\t50\tcc a.c\t0\t7000\t2000\n"
		"done\t2000000\t200\t100\t1000000\t80\tsh -c cc a.c\t0\t1000\t1000\n"
		"done\t3600000\t201\t300\t500000\t50\tcc b.c\t0\t7000\t2000\n"
		"fail\t4000000\t300\t100\t1000000\t80\tsh -c cc~20b.c\t1\t1000\t1000\n"
		"done\t6500000\t203\t202\t1000000\t80\tlate\t0\t1\t1\n"
		"lost\t6600000\t12\n"
		"done\t7000000\t202\t200\t5200000\t80\tdaemon\t0\t1\t1\n"
		"runs\t9000000\t100\t1\t9000000\t80\tmake\n");
	read_tree(support_tmpdir());
	ck_assert_uint_eq(tree.n, 7);
	ck_assert_uint_eq(tree.n_lost, 12);
	ck_assert_uint_eq(tree.n_outlived, 2);
	for (size_t i = 0; i < tree.n; i++) {
		const struct tree_process *p = &tree.process[i];
		const struct tree_process *parent =
			p->parent == NO_INDEX ? NULL : &tree.process[p->parent];

		if (p->pid == 100)
			ck_assert(!parent && p->task == NO_INDEX && p->runs);
		else
			ck_assert_int_eq(parent->pid, p->parent_pid);
		if (!strcmp(p->command, "late"))
			ck_assert_int_eq(p->outlived_us, 4500000);
		else if (!strcmp(p->command, "daemon"))
			ck_assert_int_eq(p->outlived_us, 5000000);
		else
			ck_assert_int_eq(p->outlived_us, 0);
		if (p->pid == 201)
			ck_assert_str_eq(rec.task[p->task].name,
					 str_ends(p->command, "a.c") ? "a.o" : "b.o");
	}
}

TEST(no_processes)
{
	write_recording(HEAD, NULL);
	read_tree(support_tmpdir());
	ck_assert_uint_eq(tree.n, 0);
}

/* A real build whose recipe leaves a process behind. */
TEST(real_build)
{
	const char *dir = support_tmpdir();

	SKIP_IF(!support_can_be_loaded());
	support_writes(support_path("%s/Makefile", dir),
		       "all: left quick\nleft:\n\t@sleep 1 </dev/null >/dev/null 2>&1 & :\n"
		       "quick:\n\t@sleep 1.5\n");
	support_expect(dir, 0, NULL, NULL, "MAKEFLAGS= " TOP_BUILDDIR "/buildbeat record --no-git --processes -o stats "
		       "-- make -j2");
	read_tree(support_path("%s/stats/latest", dir));
	ck_assert_uint_ge(tree.n, 3);
	for (size_t i = 0; i < tree.n; i++) {
		/* a process that is only seen by polling can be seen too late */
		if (str_ends(tree.process[i].command, "sleep 1") && tree.process[i].parent == NO_INDEX)
			return;
	}
	ck_assert_uint_eq(tree.n_outlived, 1);
	for (size_t i = 0; i < tree.n; i++) {
		if (tree.process[i].outlived_us)
			ck_assert_str_eq(rec.task[tree.process[i].task].name, "left");
	}
}

/* A line, and how it is written again; NULL: it is damaged. The upper bound of the peak of memory is only
 * known if the peak is not. The last value is the run-queue delay. */
static const struct line_case {
	const char *line, *again;
} line_case[] = {
	{ "done\t100\t7\t1\t100\t\tcc\t0\t2\t1", "done\t100\t7\t1\t100\t\tcc\t0\t2\t1" },
	{ "done\t100\t7\t1\t0\t0\tcc\t0", "done\t100\t7\t1\t0\t0\tcc\t0" },
	{ "done\t0\t0\t0\t0", "done\t0\t0\t0\t0" },
	{ "done\t9\t7\t1\t9\t1\tcc", "done\t9\t7\t1\t9\t1\tcc" },
	{ "done\t9\t7\t1\t9\t1\tcc\t256", "done\t9\t7\t1\t9\t1\tcc" },
	{ "fail\t9\t7\t1\t9\t1\tcc\t255", "fail\t9\t7\t1\t9\t1\tcc\t255" },
	{ "fail\t9\t7\t1\t9\t1\tcc\t1", "fail\t9\t7\t1\t9\t1\tcc\t1" },
	{ "kill\t9\t7\t1\t9\t1\tcc\t9", "kill\t9\t7\t1\t9\t1\tcc\t9" },
	{ "runs\t9\t2147483647\t1\t9\t1\tcc", "runs\t9\t2147483647\t1\t9\t1\tcc" },
	{ "lost\t9\t0", "lost\t9\t0" },
	{ "done\t9\t7\t1\t9\t1\tcc\t0\t1\t2\t0\t4\t5\t6\t7\t8\t9\t10\t11\t12",
	  "done\t9\t7\t1\t9\t1\tcc\t0\t1\t2\t0\t4\t5\t6\t7\t8\t9\t10\t11" },
	{ "done\t9\t7\t1\t9\t1\tcc\t0\t1\t2\t\t4\t5\t6\t7\t8\t9\t10\t11\t12",
	  "done\t9\t7\t1\t9\t1\tcc\t0\t1\t2\t\t4\t5\t6\t7\t8\t9\t10\t11\t12" },
	{ "done\t9\t7\t1\t9\t1\tcc\t0\t1\t2\t0\t4\t5\t6\t7\t8\t9\t10\t11\t12\t0",
	  "done\t9\t7\t1\t9\t1\tcc\t0\t1\t2\t0\t4\t5\t6\t7\t8\t9\t10\t11\t\t0" },
	{ "done\t9\t7\t1\t9\t1\tcc\t0" "\t\t\t\t\t\t" "\t\t\t\t\t\t" "\t409636864",
	  "done\t9\t7\t1\t9\t1\tcc\t0" "\t\t\t\t\t\t" "\t\t\t\t\t\t" "\t409636864" },
	/* more than 4096 threads wait in 0.1 s and 9 us */
	{ "done\t9\t7\t1\t9\t1\tcc\t0" "\t\t\t\t\t\t" "\t\t\t\t\t\t" "\t409640960", "done\t9\t7\t1\t9\t1\tcc\t0" },
	{ "done\t100\t7\t1\t101\t0\tcc\t0", NULL },
	{ "done\t9\t7\t1\t\t1\tcc\t0", NULL },
	{ "done\t9\t2147483648\t1\t9", NULL },
	{ "done\t9\t7\t-1\t9", NULL },
	{ "done\t", NULL },
	{ "lost\t9", NULL },
	{ "", NULL },
};

TEST_EACH(lines_come_back, line_case)
{
	const struct line_case *k = &line_case[_i];
	struct slice line = { k->line, strlen(k->line) };
	RELEASED(buf, b = BUF_INIT);
	struct process_line l;

	ck_assert_int_eq(process_log_parse(line, &l), k->again ? EVENT_PARSED : EVENT_DAMAGED);
	if (k->again) {
		process_log_add(&b, &l);
		ck_assert_str_eq(buf_str(&b), support_path("%s\n", k->again));
	}
}

TEST_MAIN(process_tree);
