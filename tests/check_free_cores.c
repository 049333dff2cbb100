/* SPDX-License-Identifier: MIT */
#include "analyse/free_cores.h"
#include "base/array.h"
#include "tests/recorded.h"
#include "tests/support.h"

#define OPEN "open\t0\tm\t10\t0\t10\tmake\t4.3\t/src\tmake\n"
#define START(n) "start\t0\tm." n "\t11\t\t\tt" n "\t\tcc\n"
#define DONE(n, end_ms, cpu_ms) "done\t" end_ms "000\tm." n "\t0\t" cpu_ms "000\t0\n"

static const struct {
	const char *name, *build, *tasks, *stat;
	bool known;
	double cores, others, threads[4];
	int64_t need_ms[4], got_ms;	/* in the first second */
} cases[] = {
	{
		.name = "cores are unknown", .build = "user_us: 2000000\nsystem_us: 0\n",
		.tasks = START("1") DONE("1", "4000", "2000"),
		.threads = { 1 }, .need_ms = { 4000 }, .got_ms = 1000,
	}, {
		.name = "CPU times are unknown", .build = "cores: 1\n",
		.tasks = START("1") START("2") "done\t4000000\tm.1\t0\ndone\t4000000\tm.2\t0\n",
		.threads = { 1, 1 }, .need_ms = { 4000, 4000 }, .got_ms = 1000,
	}, {
		.name = "each has a core", .build = "cores: 2\nuser_us: 5000000\nsystem_us: 0\n",
		.tasks = START("1") START("2") DONE("1", "4000", "4000") DONE("2", "4000", "1000"),
		.known = true, .cores = 2, .threads = { 1, 1 }, .need_ms = { 4000, 4000 }, .got_ms = 1000,
	}, {
		.name = "four on two cores", .build = "cores: 2\nuser_us: 8000000\nsystem_us: 0\n",
		.tasks = START("1") START("2") START("3") START("4") DONE("1", "4000", "2000")
			 DONE("2", "4000", "2000") DONE("3", "4000", "2000") DONE("4", "4000", "2000"),
		.known = true, .cores = 2, .threads = { 1, 1, 1, 1 },
		.need_ms = { 2000, 2000, 2000, 2000 }, .got_ms = 500,
	}, {
		.name = "one sleeps", .build = "cores: 1\nuser_us: 4000000\nsystem_us: 0\n",
		.tasks = START("1") START("2") START("3") DONE("1", "4000", "2000")
			 DONE("2", "4000", "2000") DONE("3", "4000", "0"),
		.known = true, .cores = 1, .threads = { 1, 1, 1 }, .need_ms = { 2000, 2000, 4000 },
		.got_ms = 500,
	}, {
		.name = "others have three of the four places",
		.build = "cores: 2\nuser_us: 2000000\nsystem_us: 0\n",
		.tasks = START("1") DONE("1", "4000", "2000"), .stat = "@0 \n@1000 200\n@2000 200\n@3000 200\n@4000 200\n",
		.known = true, .cores = .5, .others = 1.5, .threads = { 1 }, .need_ms = { 2000 },
		.got_ms = 500,
	}, {
		.name = "several threads that have all cores",
		.build = "cores: 4\nuser_us: 12000000\nsystem_us: 0\n",
		.tasks = START("1") START("2") DONE("1", "4000", "12000") DONE("2", "4000", "4000"),
		.known = true, .cores = 4, .threads = { 3, 1 }, .need_ms = { 4000, 4000 }, .got_ms = 1000,
	},
};

static bool is_near(int64_t us, int64_t ms)
{
	return us >= ms * 990 && us <= ms * 1010;
}

TEST_EACH(needs, cases)
{
	RELEASED(recorded, r);
	RELEASED(free_cores, f);
	const char *build = support_path("cwd: /src\nend_us: 4000000\nstatus: 0\n%s", cases[_i].build);
	const char *dir = support_tmpdir();

	if (cases[_i].stat)
		support_writes(support_path("%s/proc_stat.log", dir),
			       support_path("buildbeat proc_stat 1 1000 user:10ms:c\n%s", cases[_i].stat));
	recorded_make(&r, build, support_path("%s%s", OPEN, cases[_i].tasks), NULL);
	ck_assert_int_eq(free_cores_make(&f, &r.sum), 0);
	ck_assert(f.known == cases[_i].known);
	ck_assert_double_eq_tol(f.cores, cases[_i].cores, .01);
	ck_assert_double_eq_tol(f.others, cases[_i].others, .01);
	for (size_t k = 0; k < r.rec.n_tasks; k++) {
		ck_assert_msg(is_near(f.need_us[k], cases[_i].need_ms[k]), "%s: task %zu needs %lld us",
			      cases[_i].name, k, (long long)f.need_us[k]);
		ck_assert_double_eq_tol(f.threads[k], cases[_i].threads[k], .01);
		ck_assert_int_le(f.need_us[k], r.sum.nest[k].cost.wall_us);
	}
	ck_assert_msg(is_near(free_cores_got_us(&f, 0, 1000000), cases[_i].got_ms), "%s: got %lld us",
		      cases[_i].name, (long long)free_cores_got_us(&f, 0, 1000000));
}

TEST_MAIN(free_cores);
