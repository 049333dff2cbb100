/* SPDX-License-Identifier: MIT */
#include "base/json.h"
#include "tests/launched.h"
#include "tests/support.h"

/* `buildbeat whatif` on recordings whose times under other conditions follow by hand. */

/* A make with one worker on four cores: four compiles of a second each, of which .8 s are CPU time, then a
 * link of half a second, and a test of one second that needs only a.o. */
static const char *recording(unsigned cores, const char *jobs)
{
	struct buf tasks = BUF_INIT;
	static char dir[4096];
	long long at = 100000;

	snprintf(dir, sizeof dir, "%s/rec", support_tmpdir());
	mkdir(dir, 0755);
	support_writes(support_path("%s/build", dir),
		       support_path("buildbeat build 1\nstart_wall_ns: 1000000000\nstart_mono_ns: 1\n"
				    "command: make\ncwd: /src\ntool: make\ncores: %u\nend_us: 5700000\nstatus: 0\n"
				    "user_us: 4500000\nsystem_us: 0\n", cores));
	buf_addf(&tasks, "buildbeat tasks 1\nopen\t0\tm\t10\t0\t10,1\tmake\t4.3\t/src\tmake%s\n", jobs);
	for (unsigned i = 1; i <= 4; i++) {
		buf_addf(&tasks, "start\t%lld\tm.%u\t%u\t\tcompile\tsrc/%c.o\t\tcc -c\nafter\t%lld\tm.%u\t%c.c\n"
			 "place\t%lld\tm.%u\tMakefile\t%u\n", at, i, 20 + i, 'a' + i - 1, at, i, 'a' + i - 1, at, i, i);
		at += 1000000;
		buf_addf(&tasks, "done\t%lld\tm.%u\t0\t800000\t0\t%u\n", at, i, 1000 * i);
	}
	buf_addf(&tasks, "start\t%lld\tm.5\t25\t\tlink\tprog\t\tcc -o prog\n"
		 "after\t%lld\tm.5\tsrc/a.o\tsrc/b.o\tsrc/c.o\tsrc/d.o\n", at, at);
	at += 500000;
	buf_addf(&tasks, "done\t%lld\tm.5\t0\t500000\t0\t5000\nstart\t%lld\tm.6\t26\t\ttest\ttest\t\t./test\n"
		 "after\t%lld\tm.6\tsrc/a.o\n", at, at, at);
	at += 1000000;
	buf_addf(&tasks, "done\t%lld\tm.6\t0\t800000\t0\t500\nclose\t5700000\tm\t6\t4500000\t0\t6\n", at);
	support_writes(support_path("%s/tasks.log", dir), buf_str(&tasks));
	buf_release(&tasks);
	return dir;
}

static double json_number_of(const char *text, const char *key)
{
	const char *at = strstr(text, support_path("\"%s\":", key));

	ck_assert_msg(at != NULL, "%s: %s", key, text);
	return strtod(strchr(at, ':') + 1, NULL);
}

static double whatif(const char *dir, const char *options, const char *key)
{
	struct run r;

	support_buildbeat(&r, NULL, 0, support_path("whatif --json %s %s", options, dir));
	ck_assert_msg(!r.status, "%s: %s", options, buf_str(&r.err));
	return json_number_of(buf_str(&r.out), key);
}

static const struct prediction {
	const char *options;
	double wall_s;
} predictions[] = {
	{ "", 5.7 },
	{ "-j1", 5.7 },
	{ "-j2", 3.2 },			/* a b, c d, prog test */
	{ "-j2 --first test", 3.2 },
	{ "-j4", 2.2 },			/* all compiles, test beside prog */
	{ "-j8", 2.2 },			/* test needs a.o */
	{ "-j8 --without test", 1.7 },
	{ "--without 'te*'", 4.7 },
	{ "--speedup compile:=2", 3.7 },
	{ "--speedup src/a.o=2", 5.2 },
	{ "--speedup a.o=2", 5.2 },
	{ "--speedup 'compile:[ab].o=2'", 4.7 },
	{ "--speedup link:=.5", 6.2 },
	{ "-j4 --split test=4", 1.95 },	/* three parts start before prog is ready, then the fourth, then prog */
	{ "-j5 --split test=4", 1.75 },	/* four parts and prog, on four cores */
	{ "--cache-hit 100%", 1.732 },	/* four times 8 ms */
	{ "--cache-hit 0%", 5.7 },
	/* .2 s wait beside each other, then four times .8 s on one core; then 1.3 s of CPU time, as prog never waits */
	{ "-j4 --cores 1", 4.9 },
	{ "--quiet-machine", 5.7 },
};

TEST_EACH(predicted, predictions)
{
	const struct prediction *p = &predictions[_i];

	ck_assert_double_eq_tol(whatif(recording(4, " -j1"), p->options, "wall_us"), p->wall_s * 1e6, 1000);
}

/* A script runs configure, then make: with another -j, make alone changes. */
TEST(script)
{
	static char dir[4096];

	snprintf(dir, sizeof dir, "%s/sh", support_tmpdir());
	mkdir(dir, 0755);
	support_writes(support_path("%s/build", dir), "buildbeat build 1\nstart_wall_ns: 1\nstart_mono_ns: 1\n"
		       "cores: 4\nend_us: 4000000\nstatus: 0\n");
	support_writes(support_path("%s/tasks.log", dir), "buildbeat tasks 1\n"
		       "open\t0\ts\t9\t\t9,1\tsh\t\t/src\tsh build.sh\n"
		       "start\t0\ts.1\t20\t\t\t\t\t./configure\ndone\t1000000\ts.1\t0\t1000000\t0\n"
		       "start\t1000000\ts.2\t10\t\t\t\t\tmake -j1\n"
		       "open\t1000000\tm\t10\t0\t10,9\tmake\t4.3\t/src\tmake -j1\n"
		       "start\t1000000\tm.1\t21\t\t\ta\nafter\t1000000\tm.1\tx\ndone\t2000000\tm.1\t0\t1000000\t0\n"
		       "start\t2000000\tm.2\t22\t\t\tb\nafter\t2000000\tm.2\tx\ndone\t3000000\tm.2\t0\t1000000\t0\n"
		       "close\t3000000\tm\t2\ndone\t3000000\ts.2\t0\t2000000\t0\n"
		       "start\t3000000\ts.3\t23\t\t\t\t\t./test\ndone\t4000000\ts.3\t0\t1000000\t0\n"
		       "close\t4000000\ts\t3\n");
	ck_assert_double_eq_tol(whatif(dir, "", "wall_us"), 4e6, 1000);
	ck_assert_double_eq_tol(whatif(dir, "-j1", "wall_us"), 4e6, 1000);
	ck_assert_double_eq_tol(whatif(dir, "-j8", "wall_us"), 3e6, 1000);
}

/* A smaller share of hits is slower, and the interval says how much the choice matters. */
TEST(hits)
{
	const char *dir = recording(4, " -j1");
	double low_us = whatif(dir, "--cache-hit 50%", "wall_low_us");
	double high_us = whatif(dir, "--cache-hit 50%", "wall_high_us");

	ck_assert_double_gt(whatif(dir, "--cache-hit 50%", "wall_us"), 1732e3);
	ck_assert_double_gt(high_us - low_us, 1e6);
	ck_assert_double_eq_tol(whatif(dir, "--cache-hit 50% --seed 7", "wall_us"),
				whatif(dir, "--seed 7 --cache-hit 50%", "wall_us"), .5);
}

/* Of tasks without samples the largest process counts all the time. */
TEST(memory)
{
	const char *dir = recording(4, " -j1");

	ck_assert_double_eq(whatif(dir, "", "memory_kb"), 5000);
	ck_assert_double_eq(whatif(dir, "-j4", "memory_kb"), 10000);
	ck_assert_double_eq(whatif(dir, "-j2", "memory_kb"), 7000);
	support_expect(NULL, 0, NULL, "", BUILDBEAT " whatif -j4 --memory 9M %s | grep -q 'more than 9.0 MiB'", dir);
	support_expect(NULL, 0, NULL, "", BUILDBEAT " whatif -j4 --memory 10M %s | grep -q 'fits into'", dir);
}

TEST(curve)
{
	const char *dir = recording(4, " -j1");

	ck_assert_double_eq(whatif(dir, "--curve -j 6", "knee_jobs"), 4);
	ck_assert_double_eq(whatif(dir, "--curve -j 6 --memory 8M", "safe_jobs"), 2);
	ck_assert_double_eq(whatif(dir, "--curve -j 6 --memory 1M", "safe_jobs"), 0);
	ck_assert_double_eq(whatif(dir, "--curve -j 6 --memory 1G", "safe_jobs"), 6);
}

static const struct support_golden goldens[] = {
	{ "whatif-80.txt", "whatif -j2 --memory 6M rec", 80 },
	{ "whatif-curve-80.txt", "whatif --curve --memory 8M rec", 80 },
	{ "whatif.json", "whatif -j2 --json rec", 0 },
};

TEST_EACH(printed, goldens)
{
	recording(4, " -j1");
	support_prints(support_tmpdir(), &goldens[_i]);
}

static const struct refused {
	const char *options, *message;
} refused[] = {
	{ "--speedup link:", "expected PATTERN=FACTOR with a factor above 0, such as link:=2" },
	{ "--speedup link:=0", "with a factor above 0" },
	{ "--speedup link:=x", "with a factor above 0" },
	{ "--speedup a.o=-1", "with a factor above 0" },
	{ "--speedup a.o=nan", "with a factor above 0" },
	{ "--split a.o=1", "with 2 to 1000 parts" },
	{ "--split a.o=2.5", "with 2 to 1000 parts" },
	{ "--split a.o", "with 2 to 1000 parts" },
	{ "--without nothing.o", "--without: no task of the recording is called 'nothing.o'" },
	{ "--first 'lnik:*'", "no task of the recording is called 'lnik:*'" },
	{ "--memory 5s", "expected a size such as 8GiB" },
	{ "-j0", "option '--jobs'" },
	{ "--cores 0", "option '--cores'" },
	{ "--cache-hit 120%", "option '--cache-hit'" },
	{ "--job 3 --kurve", "did you mean" },
};

TEST_EACH(refused, refused)
{
	recording(4, " -j1");
	support_refuses(support_tmpdir(), support_path("whatif %s rec", refused[_i].options), refused[_i].message);
}

/* What a build that failed did not run is not part of the prediction. */
static const struct { const char *from, *to, *says, *json; } ends[] = {
	{ "status: 0", "status: 0", NULL, "true" },
	{ "status: 0", "status: 2", "\nOnly what ran is replayed: the build failed with exit status 2.\n", "false" },
	{ "end_us: 5700000\nstatus: 0", "", "\nOnly what ran is replayed: the build did not end.\n", "false" },
};

TEST_EACH(unfinished, ends)
{
	const char *dir = recording(4, " -j1"), *at;
	struct buf build = BUF_INIT;
	struct run r;

	support_read(&build, support_path("%s/build", dir));
	at = strstr(build.data, ends[_i].from);
	ck_assert_ptr_nonnull(at);
	support_writes(support_path("%s/build", dir),
		       support_path("%.*s%s%s", (int)(at - build.data), build.data, ends[_i].to, at + strlen(ends[_i].from)));
	buf_release(&build);
	for (int curve = 0; curve < 2; curve++) {
		support_buildbeat(&r, NULL, 0, support_path("whatif -j4 %s %s", curve ? "--curve" : "", dir));
		ck_assert_int_eq(r.status, 0);
		ck_assert_msg((strstr(r.out.data, ends[_i].says ? ends[_i].says : "Only what ran") != NULL) ==
			      (ends[_i].says != NULL), "%s", r.out.data);
		support_buildbeat(&r, NULL, 0, support_path("whatif --json %s %s", curve ? "--curve" : "", dir));
		ck_assert_msg(strstr(r.out.data, support_path("\"recorded_whole\": %s", ends[_i].json)) != NULL, "%s",
			      r.out.data);
	}
}

/* Without dependencies nothing can be replayed. */
TEST(no_dependencies)
{
	const char *dir = support_path("%s/script", support_tmpdir());

	mkdir(dir, 0755);
	support_writes(support_path("%s/build", dir), "buildbeat build 1\nstart_wall_ns: 1\nstart_mono_ns: 1\nend_us: 9\n");
	support_writes(support_path("%s/tasks.log", dir),
		       "buildbeat tasks 1\nopen\t0\ta\t10\t-1\t10\tx\nstart\t1\ta.1\t\t\t\tone\ndone\t5\ta.1\n");
	support_refuses(support_tmpdir(), "whatif script", "it is not recorded what the tasks waited for");
}

TEST_MAIN(whatif);
