/* SPDX-License-Identifier: MIT */
#include "analyse/inspected.h"
#include "inspect/archive_files.h"
#include "report/inspected_find.h"
#include "tests/made_inspection.h"
#include "tests/recorded.h"
#include "tests/support.h"

/* Which task a process was one of */

#define S 1000000

/* make 10, whose tasks are a (pid 100, then 101), b (102, from 2 s to 5 s, and 102 again from
 * 6 s to 7 s), and a make 103 with the task c (104). */
static const char tasks[] =
	"open\t0\tx1\t10\t0\t10,9\tmake\n"
	"start\t1000000\tx1.1\t100\t\tcompile\ta\n"
	"done\t2000000\tx1.1\t0\n"
	"start\t2000000\tx1.2\t102\t\tlink\tb\n"
	"done\t5000000\tx1.2\t0\n"
	"start\t6000000\tx1.3\t102\t\tlink\tb2\n"
	"done\t7000000\tx1.3\t0\n"
	"start\t7000000\tx1.4\t103\t\tmake\tsub\n"
	"open\t7100000\tx2\t103\t1\t103,10,9\tmake\n"
	"start\t7200000\tx2.1\t104\t\tcompile\tc\n"
	"done\t8000000\tx2.1\t0\n"
	"close\t8100000\tx2\n"
	"done\t9000000\tx1.4\t0\n"
	"close\t9500000\tx1\n";

static const struct {
	struct inspected_origin origin;
	const char *task;	/* NULL: none */
} origins[] = {
	/* by the id, which is exact */
	{ { "x2.1", "", 5, 0, 0 }, "c" },
	{ { "x1.2", "104", 104, 7500000, 7500000 }, "b" },
	{ { "x1.99", "", 5, 0, 0 }, NULL },
	{ { "", "", 5, 3 * S, 3 * S }, NULL },
	{ { "nonsense", "", 5, 3 * S, 3 * S }, NULL },
	{ { "x1.", "", 5, 3 * S, 3 * S }, NULL },
	{ { ".2", "", 5, 3 * S, 3 * S }, NULL },
	/* its own process; a number that was used again */
	{ { "", "", 102, 2100000, 4 * S }, "b" },
	{ { "", "", 102, 6100000, 6200000 }, "b2" },
	{ { "", "", 102, 5500000, 5500000 }, NULL },
	{ { "", "", 102, 1990000, 2 * S }, "b" },
	/* read after its end */
	{ { "", "", 102, 2100000, 60 * S }, "b" },
	/* the nearest ancestor */
	{ { "", "777,776,102,10,9", 777, 3 * S, 3 * S }, "b" },
	{ { "", "777,104,103,10,9", 777, 7500000, 7600000 }, "c" },
	{ { "", "777,103,10,9", 777, 7150000, 7150000 }, "sub" },
	{ { "", "777,776,10,9", 777, 3 * S, 3 * S }, NULL },
	{ { "", "777,-1,x,102", 777, 3 * S, 3 * S }, NULL },
};

TEST_EACH(origin, origins)
{
	RELEASED(recorded, r);
	uint32_t task;

	recorded_make(&r, "start_mono_ns: 1\n", tasks, NULL);
	task = inspected_task(&r.rec, &origins[_i].origin);
	if (origins[_i].task) {
		ck_assert_uint_lt(task, r.rec.n_tasks);
		ck_assert_str_eq(r.rec.task[task].name, origins[_i].task);
	} else {
		ck_assert_uint_eq(task, NO_INDEX);
	}
}

/* A recording with archives, as a user */

static void add_archive(const char *rec, const char *program, int pid, const char *task,
			int64_t at_us)
{
	struct made_inspection m;
	struct inspect_archive *a;

	made_inspection_compile(&m);
	m.inspection.program = program;
	m.inspection.pid = pid;
	m.inspection.task = task;
	m.inspection.start_ns = at_us * 1000;
	m.inspection.start_us = at_us;
	ck_assert_int_eq(inspect_archive_create(&a, support_path("%s/" INSPECT_ARCHIVES, rec), NULL,
						&m.inspection, STORE_ACCESS_USER, NULL), 0);
	ck_assert_int_eq(inspect_archive_add_snapshot(a, &m.snapshot[0]), 0);
	ck_assert_int_eq(inspect_archive_end(a, "the process ended", NULL), 0);
	made_inspection_release(&m);
}

static const char *record(void)
{
	static char rec[64];

	snprintf(rec, sizeof rec, "%s/rec", support_tmpdir());
	ck_assert_int_eq(mkdir(rec, 0700), 0);
	support_writes(support_path("%s/build", rec), "buildbeat build 1\nstart_wall_ns: 1\n"
		       "start_mono_ns: 0\ncommand: make\nend_us: 9600000\nend: exit 0\n");
	support_writes(support_path("%s/tasks.log", rec),
		       support_path("buildbeat tasks 1\n%s", tasks));
	return rec;
}

TEST(shown)
{
	const char *rec = record(), *dir = support_tmpdir();
	struct run r;

	support_run(&r, dir, TOP_BUILDDIR "/buildbeat show --all rec");
	ck_assert_ptr_null(strstr(r.out.data, "Inspected"));
	add_archive(rec, "ld", 102, "", 3 * S);
	add_archive(rec, "cc1\n", 5, "x2.1", 7500000);
	add_archive(rec, "other", 6, "", 7600000);
	support_run(&r, dir, TOP_BUILDDIR "/buildbeat show --all rec");
	ck_assert_int_eq(r.status, 0);
	ck_assert_ptr_nonnull(strstr(r.out.data,
		"Inspected processes\n"
		"  ld 102 of b, at 3.00 s, 1 snapshot, sampled heap\n"
		"    inspect/1970-01-01 00-00-03 - builder - ld 102\n"
		"  cc1\\n 5 of c, at 7.50 s, 1 snapshot, sampled heap\n"
		"    inspect/1970-01-01 00-00-07 - builder - cc1_ 5\n"
		"  other 6, at 7.60 s, 1 snapshot, sampled heap\n"));
	support_run(&r, dir, TOP_BUILDDIR "/buildbeat show rec --task c");
	ck_assert_ptr_nonnull(strstr(r.out.data, "cc1_ 5"));
	ck_assert_ptr_null(strstr(r.out.data, "ld 102"));
	support_run(&r, dir, TOP_BUILDDIR "/buildbeat show rec --task x1.1");
	ck_assert_ptr_null(strstr(r.out.data, "Inspected"));
	support_expect(dir, 2, "", "no task has the name or id 'd'",
		       TOP_BUILDDIR "/buildbeat show rec --task d");
	support_expect(dir, 0, "ld x1.2 3000000 1\n" "cc1\n x2.1 7500000 1\n" "other None 7600000 1\n", "",
		       TOP_BUILDDIR "/buildbeat show --json rec | python3 -c 'import json, sys\n"
		       "for x in json.load(sys.stdin)[\"inspections\"]:\n"
		       "  print(x[\"program\"], x[\"task\"], x[\"start_us\"], x[\"snapshots\"])'");
}

/* Archives that another tool, or nobody, can read do not hide the build. */
TEST(damaged)
{
	const char *rec = record(), *dir = support_tmpdir();
	struct run r;

	support_writes(support_path("%s/inspect", rec), "no directory");
	support_expect(dir, 0, NULL, "", TOP_BUILDDIR "/buildbeat show --all rec");
	ck_assert_int_eq(remove(support_path("%s/inspect", rec)), 0);
	ck_assert_int_eq(mkdir(support_path("%s/inspect", rec), 0700), 0);
	ck_assert_int_eq(mkdir(support_path("%s/inspect/a", rec), 0700), 0);
	ck_assert_int_eq(mkdir(support_path("%s/inspect/b", rec), 0700), 0);
	support_writes(support_path("%s/inspect/b/archive", rec), "buildbeat inspection 1\npid: -7\n"
		       "start_ns: 999999999999999999999\nancestors: ,,\nstart_ticks: 18446744073709551615\n");
	support_run(&r, dir, TOP_BUILDDIR "/buildbeat show --all rec");
	ck_assert_int_eq(r.status, 0);
	ck_assert_ptr_nonnull(strstr(r.out.data, "\n    inspect/b\n"));
}

TEST_MAIN(inspected);
