/* SPDX-License-Identifier: MIT */
#include "analyse/chain.h"
#include "base/array.h"
#include "tests/make_host.h"
#include "tests/paths.h"
#include "tests/recorded.h"
#include "tests/support.h"

#define BUILD "cwd: /src\nend_us: 90000000\nstatus: 0\n"
#define OPEN "open\t0\tm\t10\t0\t10\tmake\t4.3\t/src\tmake\n"

/* What each task waited for, by start times, and the path. */
static const struct {
	const char *name;
	const char *tasks;
	const char *waits;	/* "name<before:why ..." */
	const char *path;
	int64_t path_us;
} cases[] = {
	{ "nothing", NULL, "", "", 0 },
	{ "one", OPEN "start\t5\tm.1\t\t\t\ta\ndone\t8\tm.1\n", "a<-:none ", "a ", 3 },
	{
		"the target that ended last, before it started",
		OPEN "start\t0\tm.1\t\t\t\ta.o\ndone\t500000\tm.1\n"
		"start\t0\tm.2\t\t\t\tb.o\ndone\t700000\tm.2\n"
		"start\t0\tm.3\t\t\t\tc.o\ndone\t950000\tm.3\n"
		"start\t900000\tm.4\t\t\t\tprog\nafter\t900000\tm.4\ta.o\tb.o\tc.o\tnone.h\n"
		"done\t2000000\tm.4\n",
		"a.o<-:none b.o<-:none c.o<-:none prog<b.o:target ", "b.o prog ", 1800000,
	}, {
		"another file that a task made; the last task that made it",
		OPEN "start\t0\tm.1\t\t\t\tparse.c\nout\t0\tm.1\tparse.h\ndone\t500000\tm.1\n"
		"start\t0\tm.2\t\t\t\tslow\ndone\t950000\tm.2\n"
		"start\t600000\tm.3\t\t\t\tagain\nout\t0\tm.3\t./parse.h\ndone\t700000\tm.3\n"
		"start\t720000\tm.4\t\t\t\tmain.o\nafter\t720000\tm.4\t/src/parse.h\tmain.c\n"
		"done\t990000\tm.4\n",
		"parse.c<-:none slow<-:none again<parse.c:worker main.o<again:target ",
		"parse.c again main.o ", 500000 + 100000 + 270000,
	}, {
		"a pool of one, while another task has a worker",
		"open\t0\tm\t10\t\t10\tninja\t1.11\t/src\tninja -j8\n"
		"start\t0\tm.1\t\t\t\ta\nplace\t0\tm.1\tbuild.ninja\t7\tlink\t1\n"
		"done\t500000\tm.1\n"
		"start\t0\tm.2\t\t\t\tc\nafter\t0\tm.2\tc.c\ndone\t901000\tm.2\n"
		"start\t502000\tm.3\t\t\t\tb\nplace\t0\tm.3\tbuild.ninja\t8\tlink\t1\n"
		"after\t502000\tm.3\tb.c\ndone\t900000\tm.3\n"
		"start\t902000\tm.4\t\t\t\td\nplace\t0\tm.4\tbuild.ninja\t9\tlink\t1\n"
		"after\t902000\tm.4\td.c\ndone\t990000\tm.4\n",
		"a<-:none c<-:none b<a:pool d<b:pool ", "a b d ", 500000 + 398000 + 88000,
	}, {
		"a stamp too early by a little",
		OPEN "start\t0\tm.1\t\t\t\ta.o\ndone\t501000\tm.1\n"
		"start\t500000\tm.2\t\t\t\tprog\nafter\t500000\tm.2\ta.o\ndone\t600000\tm.2\n",
		"a.o<-:none prog<a.o:target ", "a.o prog ", 601000,
	}, {
		"lines of a recipe; what is written in other ways",
		OPEN "start\t0\tm.1\t\t\t\tlib/a.o\ndone\t500000\tm.1\n"
		"start\t600000\tm.2\t\t\t\tdir/prog\nafter\t600000\tm.2\t./x/../lib//a.o\n"
		"done\t700000\tm.2\n"
		"start\t700100\tm.3\t\t\t\tdir/prog\nafter\t700100\tm.3\tlib/a.o\n"
		"done\t800000\tm.3\n"
		"start\t900000\tm.4\t\t\t\tall\nafter\t900000\tm.4\t/src/dir/prog\n"
		"done\t900001\tm.4\n"
		"start\t990000\tm.5\t\t\t\tlast\nafter\t990000\tm.5\tall/.\n"
		"done\t990001\tm.5\n",
		"lib/a.o<-:none dir/prog<lib/a.o:target dir/prog<dir/prog:line "
		"all<dir/prog:target last<all:target ",
		"lib/a.o dir/prog dir/prog all last ", 500000 + 100000 + 99900 + 2,
	}, {
		"tasks of bitbake, by recipe and name",
		"open\t0\tm\t10\t\t10\tbitbake\t2.8\t/src\tbitbake app\n"
		"start\t0\tm.1\t\t\t\tdo_install\tliba-1-r0\ndone\t500000\tm.1\n"
		"start\t0\tm.2\t\t\t\tdo_install\tmc:x:libb-1-r0\ndone\t300000\tm.2\n"
		"start\t310000\tm.3\t\t\t\tdo_compile\tapp-1-r0\n"
		"after\t310000\tm.3\tmc:x:libb-1-r0/do_install\tdo_install\tliba-1-r0\n"
		"done\t610000\tm.3\n",
		"do_install<-:none do_install<-:none do_compile<do_install:target ",
		"do_install do_compile ", 600000,
	}, {
		"without targets, not known why; after long only where nothing else ran",
		OPEN "start\t0\tm.1\t\t\t\ta\ndone\t100000\tm.1\n"
		"start\t0\tm.2\t\t\t\tb\ndone\t150000\tm.2\n"
		"start\t150100\tm.3\t\t\t\tc\nafter\t150100\tm.3\tc.c\ndone\t200000\tm.3\n"
		"start\t300001\tm.4\t\t\t\td\ndone\t900000\tm.4\n"
		"start\t310000\tm.5\t\t\t\te\ndone\t320000\tm.5\n"
		"start\t800000\tm.6\t\t\t\tf\ndone\t950000\tm.6\n",
		"a<-:none b<-:none c<b:unknown d<c:unknown e<-:none f<-:none ", "f ", 150000,
	}, {
		"a host that was busy itself",
		OPEN "start\t0\tm.1\t\t\t\ta\ndone\t100000\tm.1\n"
		"start\t300001\tm.2\t\t\t\tb\ndone\t400000\tm.2\n",
		"a<-:none b<a:unknown ", "a b ", 199999,
	}, {
		"a target long made, and a worker that was busy; one that was not",
		OPEN "start\t0\tm.1\t\t\t\ta.o\ndone\t500000\tm.1\n"
		"start\t0\tm.2\t\t\t\tslow.o\ndone\t800000\tm.2\n"
		"start\t500000\tm.3\t\t\t\tshort.o\ndone\t510000\tm.3\n"
		"start\t515000\tm.4\t\t\t\tb.o\nafter\t515000\tm.4\ta.o\ndone\t900000\tm.4\n"
		"start\t801000\tm.5\t\t\t\tprog\nafter\t801000\tm.5\ta.o\ndone\t1000000\tm.5\n"
		"start\t1200000\tm.6\t\t\t\tcheck\nafter\t1200000\tm.6\tslow.o\n"
		"done\t1300000\tm.6\n",
		"a.o<-:none slow.o<-:none short.o<a.o:worker b.o<short.o:worker "
		"prog<slow.o:worker check<prog:unknown ", "slow.o prog check ", 800000 + 199000 + 100000,
	}, {
		"what another make made; its own first tasks waited for it to run",
		OPEN "start\t0\tm.1\t\t\t\tconfig.h\ndone\t400000\tm.1\n"
		"start\t1000000\tm.2\t11\t\t\tlib\nafter\t1000000\tm.2\tconfig.h\n"
		"open\t1000100\ts\t12\t1\t12,11\tmake\t4.3\t/src/lib\tmake\n"
		"start\t1000200\ts.1\t\t\t\ta.o\nafter\t1000200\ts.1\ta.c\t../config.h\n"
		"done\t2000000\ts.1\n"
		"start\t1000200\ts.2\t\t\t\tb.o\nafter\t1000200\ts.2\tb.c\ndone\t1500000\ts.2\n"
		"start\t2000000\ts.3\t\t\t\tlibx.a\nafter\t2000000\ts.3\ta.o\tb.o\n"
		"done\t3000000\ts.3\nclose\t3000100\ts\ndone\t3100000\tm.2\n"
		"start\t3200000\tm.3\t\t\t\tprog\nafter\t3200000\tm.3\tlib/libx.a\n"
		"done\t4000000\tm.3\n"
		"start\t4000000\tm.4\t\t\t\tcheck\nafter\t4000000\tm.4\tlib\tprog\n"
		"done\t4000005\tm.4\n",
		"config.h<-:none lib<config.h:target a.o<lib:host b.o<lib:host "
		"libx.a<a.o:target prog<lib:target check<prog:target ",
		"config.h a.o libx.a prog check ", 400000 + 999800 + 1000000 + 800000 + 5,
	}, {
		"a path past the tasks that host",
		OPEN "start\t0\tm.1\t11\t\t\tlib\n"
		"open\t100\ts\t12\t1\t12,11\tmake\t4.3\t/src/lib\tmake\n"
		"start\t1000\ts.1\t13\t\t\tsub\n"
		"open\t1100\tu\t14\t2\t14,13\tmake\t4.3\t/src/lib/sub\tmake\n"
		"start\t2000\tu.1\t\t\t\ta.o\ndone\t500000\tu.1\nclose\t500000\tu\n"
		"done\t501000\ts.1\nclose\t501000\ts\ndone\t502000\tm.1\n"
		"start\t502000\tm.2\t21\t\t\tapp\nafter\t502000\tm.2\tlib\n"
		"open\t502100\tv\t22\t1\t22,21\tmake\t4.3\t/src/app\tmake\n"
		"start\t503000\tv.1\t\t\t\tb.o\ndone\t600000\tv.1\nclose\t600000\tv\n"
		"done\t601000\tm.2\n",
		"lib<-:none sub<lib:host a.o<sub:host app<lib:target b.o<app:host ",
		"a.o b.o ", 498000 + 97000,
	}, {
		"two makes one after the other in one recipe",
		OPEN "start\t0\tm.1\t11\t\t\tall\n"
		"open\t100\ts\t12\t1\t12,11\tmake\t4.3\t/src/a\tmake\n"
		"start\t2000\ts.1\t\t\t\ta.o\ndone\t500000\ts.1\nclose\t500000\ts\n"
		"open\t501000\tu\t13\t1\t13,11\tmake\t4.3\t/src/b\tmake\n"
		"start\t502000\tu.1\t\t\t\tb.o\ndone\t600000\tu.1\n"
		"start\t502000\tu.2\t\t\t\tc.o\ndone\t700000\tu.2\nclose\t700000\tu\n"
		"done\t701000\tm.1\n",
		"all<-:none a.o<all:host b.o<a.o:line c.o<a.o:line ", "a.o c.o ",
		498000 + 198000,
	}, {
		"what was made before an instance began is no reason in it",
		OPEN "start\t0\tm.1\t\t\t\tgen.h\ndone\t500000\tm.1\n"
		"start\t501000\tm.2\t11\t\t\tone\nafter\t501000\tm.2\tgen.h\n"
		"open\t502000\ts\t11\t1\t11\tmake\t4.3\t/src/one\tmake\n"
		"start\t503000\ts.1\t\t\t\ta.o\nafter\t503000\ts.1\t../gen.h\n"
		"done\t900000\ts.1\nclose\t900100\ts\ndone\t901000\tm.2\n"
		"start\t902000\tm.3\t12\t\t\ttwo\nafter\t902000\tm.3\tgen.h\n"
		"open\t903000\tu\t12\t1\t12\tmake\t4.3\t/src/two\tmake\n"
		"start\t904000\tu.1\t\t\t\tb.o\nafter\t904000\tu.1\t../gen.h\n"
		"done\t1300000\tu.1\n"
		"start\t1301000\tu.2\t\t\t\tc.o\nafter\t1301000\tu.2\t../gen.h\n"
		"done\t1400000\tu.2\nclose\t1400100\tu\ndone\t1401000\tm.3\n",
		"gen.h<-:none one<gen.h:target a.o<one:host two<one:worker b.o<two:host "
		"c.o<b.o:worker ", "gen.h a.o b.o c.o ", 500000 + 397000 + 396000 + 99000,
	}, {
		"short tasks one after the other, of which the first is the target",
		OPEN "start\t0\tm.1\t\t\t\ta\ndone\t3000\tm.1\n"
		"start\t3100\tm.2\t\t\t\tb\ndone\t6000\tm.2\n"
		"start\t6100\tm.3\t\t\t\tc\ndone\t9000\tm.3\n"
		"start\t9100\tm.4\t\t\t\td\nafter\t9100\tm.4\ta\ndone\t12000\tm.4\n",
		"a<-:none b<a:worker c<b:worker d<c:worker ", "a b c d ", 3000 + 3 * 2900,
	}, {
		"what $(shell) ran is no recipe, and what has no name neither",
		OPEN "start\t0\tm.1\t\t\tshell\t\t$(shell)\tuname\ndone\t10000\tm.1\n"
		"start\t20000\tm.2\t\t\t\ta\ndone\t500000\tm.2\n"
		"start\t500100\tm.3\t\t\tshell\t\t$(shell)\tdate\ndone\t510000\tm.3\n"
		"start\t510100\tm.4\t\t\t\tb\ndone\t520000\tm.4\n",
		"uname<-:none a<uname:shell date<a:unknown b<date:shell ", "uname a date b ", 10000 + 480000 + 2 * 9900,
	}, {
		"a make that executes itself anew, and one behind it",
		OPEN "start\t1000\tm.1\t\t\t\tMakefile\ndone\t500000\tm.1\n"
		"open\t502000\ts\t10\t0\t10\tmake\t4.3\t/src\tmake\n"
		"start\t900000\ts.1\t\t\t\ta\ndone\t1000000\ts.1\nclose\t1000100\ts\n"
		"open\t1002000\tu\t12\t0\t12\tmake\t4.3\t/src\tmake check\n"
		"start\t1003000\tu.1\t\t\t\tb\ndone\t1100000\tu.1\n",
		"Makefile<-:none a<Makefile:line b<a:line ", "Makefile a b ",
		499000 + 100000 + 97000,
	}, {
		"a worker that another make let go",
		"open\t0\tm\t10\t0\t10\tmake\t4.3\t/src\tmake -j2 all\n"
		"start\t0\tm.1\t11\t\t\tone\nstart\t0\tm.2\t12\t\t\ttwo\n"
		"open\t1000\ts\t11\t1\t11\tmake\t4.3\t/src/one\tmake\n"
		"open\t1000\tu\t12\t1\t12\tmake\t4.3\t/src/two\tmake\n"
		"start\t2000\ts.1\t\t\t\ta\ndone\t300000\ts.1\n"
		"start\t2000\tu.1\t\t\t\tb\n"
		"start\t301000\tu.2\t\t\t\tc\ndone\t400000\tu.2\ndone\t350000\tu.1\n",
		"one<-:none two<-:none a<one:host b<two:host c<a:unknown ", "a c ",
		298000 + 99000,
	}, {
		"in a circle, as nobody builds",
		OPEN "start\t5\tm.1\t\t\t\ta\nafter\t5\tm.1\ta\tb\ndone\t6\tm.1\n"
		"start\t5\tm.2\t\t\t\tb\nafter\t5\tm.2\ta\tb\ndone\t6\tm.2\n",
		"a<-:none b<a:target ", "a b ", 2,
	}, {
		"unfinished: nothing waited for it",
		OPEN "start\t0\tm.1\t\t\t\ta\n"
		"start\t500000\tm.2\t\t\t\tb\nafter\t500000\tm.2\ta\ndone\t600000\tm.2\n",
		"a<-:none b<-:none ", "a ", 90000000,
	},
};

static const char *const words[] = {
	"none", "target", "line", "host", "worker", "unknown", "shell", "pool"
};

TEST_EACH(what_was_waited_for, cases)
{
	RELEASED(buf, b = BUF_INIT);
	RELEASED(recorded, r);
	RELEASED(chain, c);

	recorded_make(&r, BUILD, cases[_i].tasks, NULL);
	ck_assert_int_eq(chain_make(&c, &r.sum), 0);
	for (size_t i = 0; i < r.sum.n_ran; i++) {
		uint32_t task = r.sum.order[i], before = c.waits.task[task].before;

		buf_addf(&b, "%s<%s:%s ", r.rec.task[task].name,
			 before == NO_INDEX ? "-" : r.rec.task[before].name, words[c.waits.task[task].why]);
	}
	ck_assert_str_eq(buf_str(&b), cases[_i].waits);
	buf_clear(&b);
	for (size_t i = 0; i < c.n_path; i++)
		buf_addf(&b, "%s ", r.rec.task[c.path[i]].name);
	ck_assert_str_eq(buf_str(&b), cases[_i].path);
	ck_assert_int_eq(c.path_us, cases[_i].path_us);
}

/* Properties of any recording. */

static uint32_t *places(const struct recorded *r)
{
	uint32_t *place = calloc(r->rec.n_tasks + 1, sizeof *place);

	ck_assert_ptr_nonnull(place);
	for (size_t i = 0; i < r->sum.n_ran; i++)
		place[r->sum.order[i]] = (uint32_t)i;
	return place;
}

static void check_link(const struct recorded *r, const uint32_t *place, uint32_t first,
		       uint32_t second)
{
	ck_assert_uint_lt(place[first], place[second]);
	ck_assert_int_le(recording_task_end_us(&r->rec, &r->rec.task[first]),
			 r->rec.task[second].start_us + WAIT_STAMP_US);
}

static void check_chain(const struct chain *c, const struct recorded *r)
{
	uint32_t *place = places(r);
	int64_t path_us = 0;

	for (size_t i = 0; i < r->rec.n_tasks; i++) {
		bool none = c->waits.task[i].before == NO_INDEX;

		ck_assert_int_eq(none, c->waits.task[i].why == WAIT_NONE);
		if (none)
			continue;
		ck_assert(task_ran(&r->rec.task[i]) && task_ran(&r->rec.task[c->waits.task[i].before]));
		ck_assert_uint_lt(place[c->waits.task[i].before], place[i]);
		if (c->waits.task[i].why != WAIT_HOST)
			ck_assert_int_le(recording_task_end_us(&r->rec, &r->rec.task[c->waits.task[i].before]),
					 r->rec.task[i].start_us + WAIT_STAMP_US);
	}
	for (size_t i = 0; i < c->n_path; i++) {
		path_us += cost_wall_us(&r->rec, &r->rec.task[c->path[i]]);
		if (i)
			check_link(r, place, c->path[i - 1], c->path[i]);
	}
	ck_assert_int_eq(path_us, c->path_us);
	ck_assert_int_eq(c->n_path > 0, r->sum.n_ran > r->sum.n_hosting);
	free(place);
}

TEST(anything)
{
	size_t why[WAITS] = { 0 };

	for (unsigned i = 0; i < 40; i++) {
		struct recorded r;
		struct chain c;

		recorded_random(&r, 20u << i % 7, i);
		ck_assert_int_eq(chain_make(&c, &r.sum), 0);
		check_chain(&c, &r);
		for (size_t k = 0; k < r.rec.n_tasks; k++)
			why[c.waits.task[k].why]++;
		chain_release(&c);
		recorded_release(&r);
	}
	for (unsigned i = 0; i <= WAIT_WORKER; i++)
		ck_assert_uint_gt(why[i], 0);
}

/*
 * Generated recursive makes with one worker: each runs recipe lines, $(shell) commands and
 * other makes, often several in one line, with pauses. Many tasks wait for files that were
 * made long before, in this make or another.
 */

#define MAKE_DEPTH 4

struct making {
	uint64_t state;
	struct buf tasks;
	int64_t now_us;
	unsigned n_instances, n_targets, n_leaves;
};

static void pass(struct making *m, uint64_t most_us)
{
	m->now_us += (int64_t)random_below(&m->state, most_us + 1);
}

static void run_make(struct making *m, unsigned parent_pid, unsigned depth);

/* A line has the name of its target, or of $(shell). */
static void run_line(struct making *m, unsigned instance, unsigned seq, unsigned target,
		     unsigned depth)
{
	static const uint64_t lengths[] = { 100, 3000, 30000, 400000 };
	unsigned pid = 100000 + 1000 * instance + seq;
	bool hosts = target && depth < MAKE_DEPTH && !random_below(&m->state, 5);

	buf_addf(&m->tasks, "start\t%lld\ti%u.%u\t%u\t\t\t", (long long)m->now_us, instance,
		 seq, pid);
	if (target)
		buf_addf(&m->tasks, "t%u\t\tcc\n", target);
	else
		buf_adds(&m->tasks, "\t$(shell)\tdate\n");
	for (unsigned i = 0; target > 1 && i < 3; i++)
		buf_addf(&m->tasks, "after\t%lld\ti%u.%u\tt%u\n", (long long)m->now_us, instance,
			 seq, 1 + (unsigned)random_below(&m->state, target - 1));
	m->n_leaves += !hosts;
	if (hosts) {
		for (uint64_t n = 1 + random_below(&m->state, 3); n; n--)
			run_make(m, pid, depth + 1);
	} else {
		m->now_us += 1;
		pass(m, lengths[random_below(&m->state, 4)]);
	}
	buf_addf(&m->tasks, "done\t%lld\ti%u.%u\n", (long long)m->now_us, instance, seq);
}

static void run_make(struct making *m, unsigned parent_pid, unsigned depth)
{
	unsigned instance = m->n_instances++, pid = 10 + instance, seq = 1;
	uint64_t n = 1 + random_below(&m->state, 6);

	pass(m, 4000);
	buf_addf(&m->tasks, "open\t%lld\ti%u\t%u\t%u\t%u,%u\tmake\t4.3\t/src\tmake\n",
		 (long long)m->now_us, instance, pid, depth, pid, parent_pid);
	for (; n; n--) {
		unsigned target = random_below(&m->state, 6) ? ++m->n_targets : 0;

		for (uint64_t lines = 1 + random_below(&m->state, target ? 3 : 1); lines; lines--) {
			pass(m, random_below(&m->state, 10) ? 3000 : 300000);
			run_line(m, instance, seq++, target, depth);
		}
	}
	pass(m, 3000);
	buf_addf(&m->tasks, "close\t%lld\ti%u\n", (long long)m->now_us, instance);
}

/* Every task is in the path, because each ran after another. */
static void is_all_in_path(const struct chain *c, const struct recorded *r)
{
	int64_t all_us = 0;

	for (size_t i = 0; i < r->rec.n_tasks; i++) {
		if (!r->rec.task[i].hosts)
			all_us += cost_wall_us(&r->rec, &r->rec.task[i]);
	}
	ck_assert_int_eq(c->path_us, all_us);
	ck_assert_uint_eq(c->n_path, r->sum.n_ran - r->sum.n_hosting);
}

TEST(one_worker)
{
	size_t hosting = 0;

	for (unsigned i = 0; i < 300; i++) {
		struct making m = { .state = i };
		struct recorded r;
		struct chain c;

		run_make(&m, 1, 0);
		if (i % 3 == 0)		/* and another one after it */
			run_make(&m, 1, 0);
		recorded_make(&r, support_path("cwd: /src\nend_us: %lld\nstatus: 0\n",
					       (long long)m.now_us), buf_str(&m.tasks), NULL);
		ck_assert_uint_eq(r.sum.n_ran - r.sum.n_hosting, m.n_leaves);
		ck_assert_int_eq(chain_make(&c, &r.sum), 0);
		check_chain(&c, &r);
		is_all_in_path(&c, &r);
		ck_assert_int_le(c.path_us, r.sum.wall_us);
		hosting += r.sum.n_hosting;
		chain_release(&c);
		recorded_release(&r);
		buf_release(&m.tasks);
	}
	ck_assert_uint_gt(hosting, 100);
}

/* OpenEmbedded: image waited for a task of another recipe, as its own previous task ended
 * long before. */
TEST(recipes)
{
	static const char *const files[][4] = {
		{ "a-1-r0", "do_fetch", "100.00", "101.00" },
		{ "a-1-r0", "do_compile", "101.10", "109.00" },
		{ "image-1-r0", "do_fetch", "100.00", "100.50" },
		{ "image-1-r0", "do_rootfs", "109.08", "111.00" },
	};
	const char *dir = support_tmpdir();
	RELEASED(recorded, r);
	RELEASED(chain, c);
	uint32_t rootfs, compile;

	support_writes(support_path("%s/build_stats", dir),
		       "Host Info: Linux h 6.1 #1 x86_64 \nBuild Started: 99.00 \n"
		       "Elapsed time: 13.00 seconds \n");
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct run run;

		support_run(&run, dir, "mkdir -p %s && printf 'Event: TaskStarted \\nStarted: %s\\n"
			    "%s: %s\\nStatus: PASSED \\nEnded: %s \\n' > %s/%s", files[i][0],
			    files[i][2], files[i][0], files[i][1], files[i][3], files[i][0],
			    files[i][1]);
		ck_assert_int_eq(run.status, 0);
	}
	recorded_read(&r, dir);
	ck_assert_int_eq(chain_make(&c, &r.sum), 0);
	check_chain(&c, &r);
	rootfs = recorded_task(&r, "do_rootfs");
	compile = recorded_task(&r, "do_compile");
	ck_assert_uint_eq(c.waits.task[rootfs].before, compile);
	ck_assert_int_eq(c.waits.task[rootfs].why, WAIT_UNKNOWN);
	ck_assert_uint_eq(c.waits.task[compile].before, r.sum.order[0]);
	ck_assert_int_eq(c.waits.task[compile].why, WAIT_ORDER);
	ck_assert_int_eq(c.waits.task[compile].ready_us, -1);
	ck_assert_uint_eq(c.n_path, 3);
}

/* A real build: gen makes config.h, then lib (a make of its own) libx.a of two objects, then the
 * program. What can run beside slow.o ends while that runs, and the makes have noticed it. */
#define UNTIL(condition) "n=0; until " condition " || test $$((n += 1)) = 30000; do sleep 0.02; done; "

static const char top_makefile[] =
	"all: prog other\n"
	"config.h:\n\tsleep 0.1; touch $@\n"
	"lib: config.h\n\t$(MAKE) -C lib\n"
	"prog: lib main.o\n\tcat lib/libx.a main.o > $@\n\tsleep 0.05\n"
	"main.o: config.h\n"
	"main.o other:\n\t" UNTIL("test -e lib/begun") "echo $$$$ > $@\n"
	".PHONY: all lib\n";
static const char lib_makefile[] =
	"libx.a: quick.o slow.o\n\tcat quick.o slow.o > $@\n"
	"quick.o: ../config.h\n\t" UNTIL("test -e begun") "echo $$$$ > $@\n"
	"slow.o: ../config.h\n\ttouch begun; for f in quick.o ../main.o ../other; do "
	UNTIL("test -s $$f && ! kill -0 `cat $$f` 2>/dev/null") "done; touch $@\n";

static const char *const expected[] = { "config.h", "slow.o", "libx.a", "prog", "prog" };

TEST(a_real_build)
{
	const char *dir = support_tmpdir();
	RELEASED(recorded, r);
	RELEASED(chain, c);
	struct run run;

	SKIP_IF(!make_host_can());
	support_run(&run, dir, "mkdir lib");
	support_writes(support_path("%s/Makefile", dir), top_makefile);
	support_writes(support_path("%s/lib/Makefile", dir), lib_makefile);
	support_expect(dir, 0, NULL, NULL,
		       TOP_BUILDDIR "/buildbeat record --no-git -o stats -n x make -j8");
	recorded_read(&r, support_path("%s/stats/x", dir));
	ck_assert_int_eq(chain_make(&c, &r.sum), 0);
	check_chain(&c, &r);
	ck_assert_uint_eq(c.n_path, ARRAY_SIZE(expected));
	for (size_t i = 0; i < c.n_path; i++)
		ck_assert_str_eq(r.rec.task[c.path[i]].name, expected[i]);
	ck_assert_int_eq(c.waits.task[c.path[4]].why, WAIT_LINE);
	ck_assert_int_eq(c.waits.task[c.path[3]].why, WAIT_TARGET);
	ck_assert_uint_eq(c.waits.task[c.path[3]].before, recorded_task(&r, "lib"));
}

/* Real makes with one worker, nested in all the usual ways. */

static void write_makefile(uint64_t *state, const char *dir, const char *up, unsigned depth)
{
	static const char *const lines[] = { "\t@true\n", "\t@sleep 0.02\n", "\t@echo a; true\n" };
	static const char *const calls[] = {
		"\t@$(MAKE) -C s0\n\t@$(MAKE) -C s1\n", "\t@$(MAKE) -C s0 && $(MAKE) -C s1\n",
		"\t@for d in s0 s1; do $(MAKE) -C $$d || exit; done\n",
		"\t@(cd s1 && $(MAKE))\n\t@true\n\t@$(MAKE) -C s0\n",
	};
	bool calling = depth && (depth > 1 || random_below(state, 2));
	struct buf b = BUF_INIT;
	struct run r;

	support_run(&r, NULL, "mkdir -p %s/s0 %s/s1", dir, dir);
	buf_addf(&b, "x := $(shell true)\nall: t0 t1 t2 t3\n.PHONY: all t0 t1 t2 t3\n"
		 "%sgen.h:\n\t@sleep 0.05; touch $@\n", up);
	for (unsigned i = 0; i < 4; i++) {
		buf_addf(&b, "t%u: %sgen.h", i, up);
		for (unsigned k = 0; k < i; k++) {
			if (!random_below(state, 3))
				buf_addf(&b, " t%u", k);
		}
		buf_addc(&b, '\n');
		if (calling && i == 2)
			buf_adds(&b, calls[random_below(state, 4)]);
		for (uint64_t n = 1 + random_below(state, 2); n; n--)
			buf_adds(&b, lines[random_below(state, 3)]);
	}
	support_writes(support_path("%s/Makefile", dir), buf_str(&b));
	buf_release(&b);
	for (int i = 0; calling && i < 2; i++) {
		char sub[4096], above[64];

		snprintf(sub, sizeof sub, "%s/s%d", dir, i);
		snprintf(above, sizeof above, "%s../", up);
		write_makefile(state, sub, above, depth - 1);
	}
}

TEST_LOOP(real_makes, 4)
{
	const char *dir = support_tmpdir();
	uint64_t state = (uint64_t)_i;
	struct recorded r;
	struct chain c;

	SKIP_IF(!make_host_can());
	write_makefile(&state, dir, "", 3);
	support_expect(dir, 0, NULL, NULL,
		       TOP_BUILDDIR "/buildbeat record --no-git -o stats -n x make -j1");
	recorded_read(&r, support_path("%s/stats/x", dir));
	ck_assert_uint_gt(r.sum.n_hosting, 2);
	ck_assert_int_eq(chain_make(&c, &r.sum), 0);
	check_chain(&c, &r);
	is_all_in_path(&c, &r);
	ck_assert_int_le(c.path_us, r.sum.wall_us);
	chain_release(&c);
	recorded_release(&r);
	/* with several workers the path is shorter, but as connected */
	support_expect(dir, 0, NULL, NULL,
		       "rm gen.h; " TOP_BUILDDIR "/buildbeat record --no-git -o stats -n y "
		       "make -j3");
	recorded_read(&r, support_path("%s/stats/y", dir));
	ck_assert_int_eq(chain_make(&c, &r.sum), 0);
	check_chain(&c, &r);
	ck_assert_int_le(c.path_us, r.sum.wall_us);
	chain_release(&c);
	recorded_release(&r);
}

TEST_MAIN(chain);
