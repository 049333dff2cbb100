/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "compare/pairs.h"
#include "tests/recorded.h"
#include "tests/support.h"

/* The corresponding task of the other build: "name=name", by the start of ours; tasks of one
 * name by their start in ms. */
static const struct {
	const char *name;
	const char *build[2], *tasks[2];
	const char *same;
	size_t only_b;
} cases[] = {
	{ "nothing", { "cwd: /a\n", "cwd: /b\n" }, { NULL, NULL }, "", 0 },
	{
		"in another directory, in another order, one more and one less",
		{ "cwd: /a\n", "cwd: /b\n" },
		{
			"open\t0\tm\t10\t0\t10\tmake\t4.3\t/a\tmake\n"
			"start\t1000\tm.1\t\t\t\tx.o\nstart\t2000\tm.2\t\t\t\told.o\n"
			"start\t3000\tm.3\t\t\t\t/a/out/z.o\n",
			"open\t0\tn\t10\t0\t10\tmake\t4.3\t/b\tmake\n"
			"start\t1000\tn.1\t\t\t\t/b/out/z.o\nstart\t2000\tn.2\t\t\t\tnew.o\n"
			"start\t3000\tn.3\t\t\t\tx.o\n",
		},
		"x.o@1=x.o@3 old.o@2=- /a/out/z.o@3=/b/out/z.o@1 ", 1,
	}, {
		"one name in two directories; a key is no part of a name",
		{ "cwd: /a\n", "cwd: /b\n" },
		{
			"open\t0\tm\t10\t0\t10\tmake\t4.3\t/a/x\tmake\n"
			"open\t0\tn\t11\t0\t11\tmake\t4.3\t/a/y\tmake\n"
			"start\t1000\tm.1\t\t\t\tp.o\nstart\t2000\tn.1\t\t\t\tp.o\n"
			"start\t3000\tm.2\t\t\t\tq.o\tdebug\n",
			"open\t0\tm\t10\t0\t10\tmake\t4.3\t/b/y\tmake\n"
			"open\t0\tn\t11\t0\t11\tmake\t4.3\t/b/x\tmake\n"
			"start\t1000\tm.1\t\t\t\tp.o\nstart\t2000\tn.1\t\t\t\tp.o\n"
			"start\t3000\tn.2\t\t\t\tq.o\trelease\n",
		},
		"p.o@1=p.o@2 p.o@2=p.o@1 q.o@3=q.o@3 ", 0,
	}, {
		"renamed, as diff pairs them",
		{ "cwd: /a\n", "cwd: /b\n" },
		{
			"open\t0\tm\t10\t0\t10\tmake\t4.3\t/a\tmake\n"
			"start\t1000\tm.1\t\t\t\tsrc/lib/store.o\nstart\t2000\tm.2\t\t\t\tx.o\n",
			"open\t0\tn\t10\t0\t10\tmake\t4.3\t/b\tmake\n"
			"start\t1000\tn.1\t\t\t\tlib/store.o\nstart\t2000\tn.2\t\t\t\tother.o\n",
		},
		"src/lib/store.o@1=lib/store.o@1 x.o@2=- ", 1,
	}, {
		"lines of a recipe, in their order; a third that is new",
		{ "cwd: /a\n", "cwd: /a\n" },
		{
			"open\t0\tm\t10\t0\t10\tmake\t4.3\t/a\tmake\n"
			"start\t1000\tm.1\t\t\t\tp\nstart\t2000\tm.2\t\t\t\tp\n"
			"queue\t3000\tm.3\t\tr\n",
			"open\t0\tm\t10\t0\t10\tmake\t4.3\t/a\tmake\n"
			"start\t4000\tm.1\t\t\t\tp\nstart\t5000\tm.2\t\t\t\tp\n"
			"start\t6000\tm.3\t\t\t\tp\nqueue\t7000\tm.4\t\tr\n",
		},
		"p@1=p@4 p@2=p@5 ", 1,
	},
};

static void add_task(struct buf *b, const struct recorded *r, uint32_t task)
{
	if (task == NO_INDEX)
		buf_addc(b, '-');
	else
		buf_addf(b, "%s@%d", r->rec.task[task].name,
			 (int)(r->rec.task[task].start_us / 1000));
}

TEST_EACH(by_hand, cases)
{
	RELEASED(recorded, a, b);
	RELEASED(buf, told = BUF_INIT);
	RELEASED(pairs, m);
	size_t common = 0;

	recorded_make(&a, cases[_i].build[0], cases[_i].tasks[0], NULL);
	/* In another directory, because a test has one directory. */
	support_cleanup();
	recorded_make(&b, cases[_i].build[1], cases[_i].tasks[1], NULL);
	ck_assert_int_eq(pairs_make(&m, &b.sum, &a.sum), 0);
	for (size_t i = 0; i < a.sum.n_ran; i++) {
		uint32_t task = a.sum.order[i];

		add_task(&told, &a, task);
		buf_addc(&told, '=');
		add_task(&told, &b, m.same[task]);
		buf_addc(&told, ' ');
		common += m.same[task] != NO_INDEX;
	}
	ck_assert_str_eq(buf_str(&told), cases[_i].same);
	ck_assert_uint_eq(m.n_same, common);
	ck_assert_uint_eq(m.n_only_now, a.sum.n_ran - common);
	ck_assert_uint_eq(m.n_only_base, cases[_i].only_b);
}

/* A build compared with itself: every task corresponds to itself. */
TEST_LOOP(itself, 10)
{
	RELEASED(recorded, r);
	RELEASED(pairs, m);

	recorded_random(&r, 500, (uint64_t)_i);
	ck_assert_int_eq(pairs_make(&m, &r.sum, &r.sum), 0);
	for (size_t i = 0; i < r.rec.n_tasks; i++)
		ck_assert_uint_eq(m.same[i], task_ran(&r.rec.task[i]) ? i : NO_INDEX);
	ck_assert_uint_eq(m.n_same, r.sum.n_ran);
	ck_assert_uint_eq(m.n_only_now + m.n_only_base, 0);
}

static void write_oe(const char *dir, const char *const recipe[2])
{
	support_expect(NULL, 0, NULL, NULL,
		       "mkdir -p %s && cd %s && "
		       "printf 'Host Info: Linux h 6.1 #1 x86_64 \\nBuild Started: 99.00 \\n' > build_stats && "
		       "for r in %s %s; do mkdir $r && printf 'Event: TaskStarted \\nStarted: 100.00\\n"
		       "'$r': do_compile\\nStatus: PASSED \\nEnded: 101.00 \\n' > $r/do_compile; done",
		       dir, dir, recipe[0], recipe[1]);
}

/* Version, epoch and revision of a recipe do not distinguish tasks. */
TEST(versions_of_recipes)
{
	static const char *const recipe[2][2] = {
		{ "gcc-cross-13.2-r0", "zlib-1.3-r1" },
		{ "gcc-cross-1_14.1+git-r2", "xz-1.3-r1" },
	};
	const char *dir = support_tmpdir();
	struct recorded r[2];
	struct pairs m;
	uint32_t gcc;

	for (int i = 0; i < 2; i++) {
		const char *path = support_path("%s/%d", dir, i);

		write_oe(path, recipe[i]);
		recorded_read(&r[i], path);
		ck_assert(r[i].rec.source.recipe_keys);
	}
	ck_assert_int_eq(pairs_make(&m, &r[1].sum, &r[0].sum), 0);
	ck_assert_uint_eq(m.n_same, 1);
	ck_assert_uint_eq(m.n_only_now, 1);
	ck_assert_uint_eq(m.n_only_base, 1);
	gcc = !strncmp(r[0].rec.task[0].key, "gcc", 3) ? 0 : 1;
	ck_assert_uint_ne(m.same[gcc], NO_INDEX);
	ck_assert_str_eq(r[1].rec.task[m.same[gcc]].key, recipe[1][0]);
	pairs_release(&m);
	recorded_release(&r[0]);
	recorded_release(&r[1]);
}

TEST_MAIN(pairs);
