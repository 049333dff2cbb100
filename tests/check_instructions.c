/* SPDX-License-Identifier: MIT */
#include "sampler/counter.h"
#include "tests/launched.h"
#include "tests/make_host.h"
#include "tests/recorded.h"
#include "tests/support.h"

/*
 * `buildbeat record --instructions`, from the build to the commit that is to blame. Page faults in
 * user mode, which tests/faults causes, take the place of instructions: see sampler/counter.h.
 */
#define COUNT "export BUILDBEAT_INSTRUCTIONS=page-faults; unset MAKEFLAGS MFLAGS MAKELEVEL MAKEFILES; "
#define FAULTS TOP_BUILDDIR "/tests/faults "
#define NOISE 400	/* of shells, makes and loaders, in faults, at most */

static bool cannot_count(void)
{
	return !make_host_can() || counter_try(COUNTER_PAGE_FAULTS);
}

static void read_one(struct recorded *r)
{
	recorded_read(r, support_path("%s/stats/one", support_tmpdir()));
}

static int64_t own_count(const struct recorded *r, const char *name)
{
	return value_get(VALUE_INSTRUCTIONS, &r->sum.nest[recorded_task(r, name)].cost);
}

static void assert_near(int64_t n, int64_t faults, const char *what)
{
	ck_assert_msg(n >= faults * COUNTER_FAULT && n <= (faults + NOISE) * COUNTER_FAULT,
		      "%s: %lld instead of %lld,000", what, (long long)n, (long long)faults);
}

/* Each task has its own, those of its shell and of all its processes; a task that is a make without
 * those of the tasks inside it. */
#define MAKEFILE                                                           \
	"all: a b c sub\na:\n\t" FAULTS "3000\n"                            \
	"b:\n\t@" FAULTS "1000 2000 4000; " FAULTS "500\n"                  \
	"c:\n\t@true\nsub:\n\t$(MAKE) -f sub.mk\n"
#define SUB_MAKE "all: x y\nx:\n\t" FAULTS "6000\ny:\n\t" FAULTS "9000 7000\n"

static const struct { const char *name; int64_t faults; } tasks[] = {
	{ "a", 3000 }, { "b", 7500 }, { "c", 0 }, { "sub", 0 }, { "x", 6000 }, { "y", 16000 },
};

TEST_LOOP(tasks_of_make, 4)
{
	int64_t sum = 0, build;
	struct recorded r;

	SKIP_IF(cannot_count());
	support_writes(support_path("%s/Makefile", support_tmpdir()), MAKEFILE);
	support_writes(support_path("%s/sub.mk", support_tmpdir()), SUB_MAKE);
	support_expect(support_tmpdir(), 0, NULL, "", COUNT RECORD "-n one --instructions -- make -s -j%d", _i + 1);
	read_one(&r);
	for (size_t i = 0; i < ARRAY_SIZE(tasks); i++) {
		assert_near(own_count(&r, tasks[i].name), tasks[i].faults, tasks[i].name);
		sum += own_count(&r, tasks[i].name);
	}
	build = recording_build_number(&r.rec, "instructions");
	ck_assert_int_gt(build, sum);
	assert_near(build - sum, 0, "make");
	ck_assert_int_eq(r.rec.task[recorded_task(&r, "sub")].instructions,
			 own_count(&r, "sub") + own_count(&r, "x") + own_count(&r, "y"));
	ck_assert_str_eq(recording_build(&r.rec, "counted"), "page-faults");
	recorded_release(&r);
}

TEST(tasks_of_ninja)
{
	struct recorded r;

	SKIP_IF(cannot_count() || !support_has("ninja"));
	support_writes(support_path("%s/build.ninja", support_tmpdir()),
		       "rule touch\n command = " FAULTS "$n && touch $out\n"
		       "build a: touch\n n = 4000\nbuild b: touch\n n = 1000 2000\n");
	support_expect(support_tmpdir(), 0, NULL, "", COUNT RECORD "-n one --instructions -- ninja -j2");
	read_one(&r);
	assert_near(own_count(&r, "a"), 4000, "a");
	assert_near(own_count(&r, "b"), 3000, "b");
	recorded_release(&r);
}

TEST(one_task)
{
	struct recorded r;

	SKIP_IF(cannot_count());
	support_expect(support_tmpdir(), 0, NULL, "", COUNT RECORD "-n one --instructions -- "
		       BUILDBEAT " task one -- " FAULTS "2000 500");
	read_one(&r);
	assert_near(own_count(&r, "one"), 2500, "one");
	recorded_release(&r);
}

/* Threads that start and wait for processes at once, by posix_spawn(), fork() and vfork(). */
static const char *const waiting[] = { "each", "any" };

TEST_EACH(every_way, waiting)
{
	struct recorded r;

	SKIP_IF(cannot_count());
	support_expect(support_tmpdir(), 0, "480 ended, 240 failed, 0 wrong\n", "",
		       COUNT RECORD "-n one --instructions -- " TOP_BUILDDIR "/tests/fake_spawner 60 %s",
		       waiting[_i]);
	read_one(&r);
	ck_assert_uint_eq(r.rec.n_tasks, 480);
	for (size_t i = 0; i < r.rec.n_tasks; i++) {
		int64_t n = r.rec.task[i].instructions;

		ck_assert_msg(n > 10 * COUNTER_FAULT && n < NOISE * COUNTER_FAULT, "%lld", (long long)n);
	}
	recorded_release(&r);
}

/* The processes of a script and of its subshells, of pipes and in the background. A program that does not
 * exist executes none. */
TEST(shell_script)
{
	struct recorded r;

	SKIP_IF(cannot_count());
	support_writes(support_path("%s/b", support_tmpdir()),
		       FAULTS "1000\n(" FAULTS "2000; " FAULTS "3000 10)\n" FAULTS "4000 | " FAULTS "5000\n"
		       FAULTS "6000 &\nx=$(" FAULTS "7000)\nwait\n./none 2>&3\nsh -c 'exec " FAULTS "8000'\n");
	support_expect(support_tmpdir(), 0, NULL, "", COUNT RECORD "-n one --instructions -- sh b 3>&1");
	read_one(&r);
	ck_assert_uint_eq(r.rec.n_tasks, 9);
	for (size_t i = 0; i < r.rec.n_tasks; i++) {
		const struct task *t = &r.rec.task[i];
		const char *number = strstr(recording_command(&r.rec, t), "faults ");

		if (t->status == 127) {
			ck_assert_int_eq(t->instructions, -1);
			continue;
		}
		ck_assert_ptr_nonnull(number);
		assert_near(t->instructions, strtol(number + strlen("faults "), NULL, 10), number);
	}
	recorded_release(&r);
}

static const char *const fakes[] = { "spawn", "spawnp", "vfork" };

/* makes of other versions: in some, a child of vfork() executes the command. */
TEST_EACH(other_makes, fakes)
{
	struct recorded r;
	struct fixture f;

	SKIP_IF(cannot_count());
	fixture_begin(&f, support_tmpdir(), "rec", counter_flags(COUNTER_PAGE_FAULTS), NULL, NULL);
	support_expect(support_tmpdir(), 0, NULL, NULL,
		       "MAKEFILES='%s' " TOP_BUILDDIR "/tests/fake_make " PLUGIN " %s 6", f.makefiles.data, fakes[_i]);
	recorded_read(&r, f.store.path);
	ck_assert_uint_eq(r.rec.n_tasks, 6);
	for (size_t i = 0; i < 6; i++) {
		bool ran = r.rec.task[i].status != 127;

		ck_assert_int_eq(r.rec.task[i].instructions > 10 * COUNTER_FAULT, ran);
	}
	recorded_release(&r);
	fixture_end(&f);
}

/* A tool that may open few files: its tasks run, and the user gets to know what is unknown. */
TEST(few_descriptors)
{
	struct recorded r;

	SKIP_IF(cannot_count());
	support_writes(support_path("%s/Makefile", support_tmpdir()), "all:\n\t@true\n\t@true\n");
	launched_expect(0, "", "the instructions of 2 tasks are unknown: the build tool has too many open files",
			COUNT RECORD "-n one --instructions -- sh -c 'ulimit -n 60; exec make -s'");
	read_one(&r);
	ck_assert_int_eq(own_count(&r, "all"), -1);
	recorded_release(&r);
}

/* A make with a task of unknown count has an unknown count of its own. */
static const struct { const char *inside; int64_t own; } unknown[] = { { "300", 200 }, { "", -1 }, { "0", 500 } };

TEST_EACH(unknown_inside, unknown)
{
	struct recorded r;

	recorded_make(&r, "cwd: /src\nend_us: 1000\nstatus: 0\n", support_path(
		"open\t0\ta\t10\t0\t10,1\tmake\t4.3\t/src\tmake\n"
		"start\t1\ta.1\t11\t\t\tsub\t\tmake -C sub\n"
		"open\t2\tb\t11\t1\t11,10,1\tmake\t4.3\t/src/sub\tmake\n"
		"start\t3\tb.1\t12\t\t\tx\t\tcc x.c\n"
		"done\t4\tb.1\t0\t1\t1\t1\t1\t1\t1\t1\t1\t1\t\t\t\t\t\t\t\t%s\n"
		"start\t5\tb.2\t13\t\t\ty\t\tcc y.c\n"
		"done\t6\tb.2\t0\t1\t1\t1\t1\t1\t1\t1\t1\t1\t\t\t\t\t\t\t\t0\nclose\t7\tb\t2\n"
		"done\t8\ta.1\t0\t5\t5\t5\t5\t5\t5\t5\t5\t5\t\t\t\t\t\t\t\t500\nclose\t9\ta\t1\n",
		unknown[_i].inside), NULL);
	ck_assert_int_eq(own_count(&r, "sub"), unknown[_i].own);
	recorded_release(&r);
}

/* Without the option, or without counters. */
TEST(not_counted)
{
	struct recorded r;

	SKIP_IF(cannot_count());
	support_writes(support_path("%s/Makefile", support_tmpdir()), "all:\n\t@true\n");
	support_expect(support_tmpdir(), 0, NULL, "", COUNT RECORD "-n one -- make -s");
	read_one(&r);
	ck_assert_int_eq(own_count(&r, "all"), -1);
	ck_assert_int_eq(recording_build_number(&r.rec, "instructions"), -1);
	ck_assert_ptr_null(recording_build(&r.rec, "counted"));
	recorded_release(&r);
}

TEST(no_counters)
{
	struct recorded r;

	SKIP_IF(!make_host_can() || !counter_try(COUNTER_INSTRUCTIONS));
	support_writes(support_path("%s/Makefile", support_tmpdir()), "all:\n\t@true\n");
	launched_expect(0, "", "buildbeat: no instructions are counted: ", RECORD "-n one --instructions -- make -s");
	read_one(&r);
	ck_assert_int_eq(own_count(&r, "all"), -1);
	ck_assert_int_eq(recording_build_number(&r.rec, "instructions"), -1);
	ck_assert_ptr_null(recording_build(&r.rec, "counted"));
	recorded_release(&r);
	support_expect(support_tmpdir(), ANY_STATUS, "1\n", NULL,
		       BUILDBEAT " doctor | grep -c '^limited  instructions *--instructions counts nothing: '");
}

#define ONE_PERCENT                                                                                  \
	"printf 'all: small large\\nlarge:\\n\\t" FAULTS "$(N)\\nsmall:\\n\\t" FAULTS "2000\\n' >Makefile; " \
	"printf 'compare: {rules: [{metrics: instructions, amount: 100000}]}\\n' >c.yaml; "             \
	"build() { " RECORD "-q -n $1 --instructions -- make -s N=$2 && "                               \
	BUILDBEAT " archive --repo r.git stats/$1 >/dev/null; }; "

/* One percent more of one task is found by two builds. Times are those of this machine now. */
TEST(one_percent)
{
	struct run r;

	SKIP_IF(cannot_count());
	support_run(&r, support_tmpdir(), COUNT ONE_PERCENT
		    "for i in $(seq 20); do build $i 20000; done; build 21 20200; build 22 20200; "
		    BUILDBEAT " check --repo r.git -c c.yaml --metrics memory,io,instructions; echo $?; "
		    BUILDBEAT " history --repo r.git -c c.yaml --metrics instructions large; "
		    BUILDBEAT " diff -c c.yaml stats/20 stats/22 | grep 'user instructions$'");
	ck_assert_str_eq(r.err.data, "");
	ck_assert_msg(strstr(r.out.data, "\n  since ") && strstr(r.out.data, ", 2 builds\n    large  ") &&
		      strstr(r.out.data, " user instructions +1.0 % "), "%s", r.out.data);
	ck_assert_ptr_nonnull(strstr(r.out.data, "\n1\n"));
	ck_assert_ptr_nonnull(strstr(strstr(r.out.data, "\n1\n"), "+1.0 %"));
	ck_assert_ptr_nonnull(strstr(r.out.data, " %  user instructions\n"));	/* of the build, by diff */
}

/* Whose commit was it? */
TEST(bisected)
{
	struct run r;

	SKIP_IF(cannot_count() || !support_has("git"));
	support_run(&r, support_tmpdir(), COUNT
		    "export HOME=$PWD XDG_CACHE_HOME=$PWD/cache GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a "
		    "GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; "
		    "git init -q -b main src && cd src && for n in 20000 20001 20002 20202 20203; do "
		    "printf 'all:\\n\\t" FAULTS "%%s\\n' $n >Makefile; git add .; git commit -qm \"commit $n\"; done; "
		    "printf 'compare: {rules: [{metrics: instructions, amount: 100000}]}\\n' >../c.yaml; "
		    BUILDBEAT " bisect -c ../c.yaml --good HEAD~4 --metric instructions -- make -s");
	ck_assert_msg(r.status == 0 && strstr(r.out.data, "commit 20202\n"), "%s%s", r.out.data, r.err.data);
}

TEST_MAIN(instructions);
