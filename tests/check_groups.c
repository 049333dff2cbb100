/* SPDX-License-Identifier: MIT */
#include "analyse/groups.h"
#include "tests/recorded.h"
#include "tests/support.h"

/* Sums by directory, target, program, kind and build tool. */

#define BUILD "buildbeat build 1\ncwd: /b\nend_us: 900\nuser_us: 5000\nsystem_us: 0\nstatus: 0\n"
#define OPEN "open\t0\tm\t10\t0\t10,9\tmake\t4.3\t/b\tmake\n"

static void made(struct recorded *r, const char *tasks)
{
	recorded_make(r, BUILD, tasks, NULL);
}

static void make_groups(struct groups *g, const struct recorded *r, enum groups_by by)
{
	ck_assert_int_eq(groups_make(g, &r->sum, r->sum.order, r->sum.n_tasks, true, by), 0);
}

static const struct {
	const char *what;
	enum groups_by by;
	const char *tasks;
	const char *groups;	/* "NAME number cpu_us;", by name */
} cases[] = {
	{ "the directory of what is made", GROUPS_DIRECTORY,
	  OPEN "start\t1\tm.1\t11\t\t\tlib/a.o\t\tcc -c a.c\ndone\t2\tm.1\t0\t10\t1\t1\n"
	  "start\t1\tm.2\t12\t\t\tlib/x/../b.o\t\tcc -c b.c\ndone\t2\tm.2\t0\t20\t2\t1\n"
	  "start\t1\tm.3\t13\t\t\t/b/lib/c.o\t\tcc -c c.c\ndone\t2\tm.3\t0\t30\t3\t1\n"
	  "start\t1\tm.4\t14\t\t\tprog\t\tcc -o prog\ndone\t2\tm.4\t0\t40\t4\t1\n"
	  "start\t1\tm.5\t15\t\t\t/o/x\t\tcc -o x\ndone\t2\tm.5\t0\t50\t5\t1\n",
	  ". 1 44;/o 1 55;lib 3 66;" },
	{ "a make in another directory", GROUPS_DIRECTORY,
	  OPEN "start\t1\tm.1\t11\t\tmake\tall\t\tmake -C lib\n"
	  "open\t2\tn\t20\t1\t20,11,10\tmake\t4.3\t/b/lib\tmake\n"
	  "start\t3\tn.1\t21\t\t\ta.o\t\tcc -c a.c\ndone\t4\tn.1\t0\t10\t0\t1\n"
	  "start\t3\tn.2\t22\t\t\t../b.o\t\tcc -c b.c\ndone\t4\tn.2\t0\t20\t0\t1\nclose\t5\tn\n"
	  "done\t6\tm.1\t0\t100\t0\t1\n",
	  ". 2 90;lib 1 10;" },
	{ "the parts of a link belong to it", GROUPS_DIRECTORY,
	  OPEN "start\t1\tm.1\t11\t\tlink\tbin/prog\t\tcc -flto -o bin/prog\n"
	  "open\t2\tn\t20\t1\t20,11,10\tmake\t4.3\t/b\tmake\n"
	  "start\t3\tn.1\t21\t\t\t/tmp/ccX.ltrans0.o\t\tlto1\ndone\t4\tn.1\t0\t10\t0\t1\nclose\t5\tn\n"
	  "done\t6\tm.1\t0\t100\t0\t1\n",
	  "bin 2 100;" },
	{ "a command is no file", GROUPS_DIRECTORY,
	  OPEN "start\t1\tm.1\t11\t\t\tpytest tests/unit\t\tpytest tests/unit\ndone\t2\tm.1\t0\t1\t0\t1\n",
	  ". 1 1;" },
	{ "recipes without their versions", GROUPS_DIRECTORY,
	  "open\t0\tb\t10\t0\t10,9\tbitbake\t2.0\t/b\tbitbake\n"
	  "start\t1\tb.1\t11\t\tcompile\tdo_compile\tzlib-1.3-r0\t\ndone\t2\tb.1\t0\t1\t0\t1\n"
	  "start\t1\tb.2\t12\t\tinstall\tdo_install\tzlib-1.3-r0\t\ndone\t2\tb.2\t0\t2\t0\t1\n"
	  "start\t1\tb.3\t13\t\tcompile\tdo_compile\tgcc-12.2-r0\t\ndone\t2\tb.3\t0\t4\t0\t1\n"
	  "start\t1\tb.4\t14\t\tcompile\tdo_compile\tgcc-13.2-r0\t\ndone\t2\tb.4\t0\t8\t0\t1\n",
	  "gcc-12.2-r0 1 4;gcc-13.2-r0 1 8;zlib 2 3;" },
	{ "lines of a recipe of make are one target", GROUPS_TARGET,
	  OPEN "start\t1\tm.1\t11\t\t\ta\t\tcc\ndone\t2\tm.1\t0\t1\t0\t1\n"
	  "start\t3\tm.2\t12\t\t\ta\t\tstrip a\ndone\t4\tm.2\t0\t2\t0\t1\n"
	  "start\t3\tm.3\t13\t\t\tb\t\tcc\ndone\t4\tm.3\t0\t4\t0\t1\n",
	  "a 2 3;b 1 4;" },
	{ "targets of CMake", GROUPS_TARGET,
	  "open\t0\tm\t10\t0\t10,9\tninja\t1.11\t/b\tninja\n"
	  "start\t1\tm.1\t11\t\t\tlib/CMakeFiles/z_static.dir/src/a.c.o\tC_COMPILER__z_static_unscanned_Debug\tcc\n"
	  "done\t2\tm.1\t0\t1\t0\t1\n"
	  "start\t1\tm.2\t12\t\t\tlib/libz.a\tC_STATIC_LIBRARY_LINKER__z_static_Debug\tar\n"
	  "done\t2\tm.2\t0\t2\t0\t1\n"
	  "start\t1\tm.3\t13\t\t\tc\tCXX_EXECUTABLE_LINKER__a.2bb_\tc++\ndone\t2\tm.3\t0\t4\t0\t1\n"
	  "start\t1\tm.4\t14\t\t\td\tCXX_EXECUTABLE_LINKER__old\tc++\ndone\t2\tm.4\t0\t8\t0\t1\n"
	  "start\t1\tm.5\t15\t\t\tMyCMakeFiles/x.dir/a\t\tcp\ndone\t2\tm.5\t0\t16\t0\t1\n"
	  "start\t1\tm.6\t16\t\t\tCMakeFiles/.dir/a\t\tcp\ndone\t2\tm.6\t0\t32\t0\t1\n",
	  "CMakeFiles/.dir/a 1 32;MyCMakeFiles/x.dir/a 1 16;a+b 1 4;old 1 8;z_static 2 3;" },
	{ "main programs", GROUPS_PROGRAM,
	  OPEN "start\t1\tm.1\t11\t\t\ta\t\tcd x && ccache gcc -c a.c\ndone\t2\tm.1\t0\t1\t0\t1\n"
	  "start\t1\tm.2\t12\t\t\tb\t\t/usr/bin/gcc -c b.c\ndone\t2\tm.2\t0\t2\t0\t1\n"
	  "start\t1\tm.3\t13\t\t\tc\t\tar rc c\ndone\t2\tm.3\t0\t4\t0\t1\n",
	  "ar 1 4;gcc 2 3;" },
	{ "build tools", GROUPS_HOST,
	  OPEN "start\t1\tm.1\t11\t\tmake\tall\t\tninja\n"
	  "open\t2\tn\t20\t1\t20,11,10\tninja\t1.11\t/b\tninja\n"
	  "start\t3\tn.1\t21\t\t\ta.o\t\tcc\ndone\t4\tn.1\t0\t10\t0\t1\nclose\t5\tn\n"
	  "done\t6\tm.1\t0\t11\t0\t1\n",
	  "make 1 1;ninja 1 10;" },
	{ "a task that did not start is in no group", GROUPS_KIND,
	  OPEN "queue\t0\tm.9\t\tlater\nstart\t1\tm.1\t11\t\t\ta\t\tcc -c a.c\ndone\t2\tm.1\t0\t1\t0\t1\n",
	  "compile 1 1;" },
};

TEST_EACH(group_of, cases)
{
	RELEASED(buf, text = BUF_INIT);
	const uint32_t *order;
	RELEASED(recorded, r);
	RELEASED(groups, g);
	size_t n;

	made(&r, cases[_i].tasks);
	make_groups(&g, &r, cases[_i].by);
	n = groups_top(&g, VALUE_NAME, SIZE_MAX, &order);
	for (size_t i = 0; i < n; i++)
		buf_addf(&text, "%s %d %d;", g.group[order[i]].name, (int)g.group[order[i]].n,
			 (int)g.group[order[i]].cost.cpu_us);
	ck_assert_msg(!strcmp(buf_str(&text), cases[_i].groups), "%s: %s, not %s", cases[_i].what,
		      buf_str(&text), cases[_i].groups);
	/* the build used 5 ms, but bitbake's tasks are not its descendants */
	ck_assert_int_eq(g.total.cost.cpu_us, r.sum.cpu_us);
	ck_assert(!r.sum.cpu_exact || g.total.cost.cpu_us == 5000);
}

static bool is_same(const struct group *a, const struct group *b)
{
	return a->n == b->n && a->cost.start_us == b->cost.start_us && a->cost.wall_us == b->cost.wall_us &&
	       a->cost.cpu_us == b->cost.cpu_us && a->cost.memory_kb == b->cost.memory_kb &&
	       a->cost.read_bytes == b->cost.read_bytes &&
	       a->cost.written_bytes == b->cost.written_bytes;
}

/* Groups of any kind, and any first ones with all others, add up to the same. */
TEST_LOOP(sums, 8)
{
	struct group total = { 0 };
	RELEASED(recorded, r);

	recorded_random(&r, 5u << _i, (uint64_t)_i);
	for (enum groups_by by = 0; by < GROUPINGS; by++) {
		const uint32_t *order;
		struct group all, some;
		struct groups g;

		ck_assert_int_eq(groups_make(&g, &r.sum, r.sum.order, r.sum.n_tasks, false, by), 0);
		ck_assert(!g.rest.measured && !g.of_processes);
		ck_assert_uint_eq(g.total.n, r.sum.n_ran);
		for (enum value key = 0; key < VALUE_SORTS; key++) {
			size_t n = groups_top(&g, key, g.n / 2, &order);

			ck_assert_uint_eq(n, g.n / 2);
			for (size_t i = 1; i < n; i++)
				ck_assert_int_le(value_order(key, &g.group[order[i - 1]].cost,
							     &g.group[order[i]].cost), 0);
			groups_add_up(&all, &g, order, g.n);
			ck_assert(is_same(&all, &g.total));
			groups_add_up(&some, &g, order, n);
			groups_add_up(&all, &g, order + n, g.n - n);
			ck_assert_uint_eq(some.n + all.n, g.total.n);
			ck_assert_int_eq(some.cost.wall_us + all.cost.wall_us,
					 g.total.cost.wall_us);
		}
		if (!by)
			total = g.total;
		ck_assert(is_same(&total, &g.total));
		groups_release(&g);
	}
}

TEST_MAIN(groups);
