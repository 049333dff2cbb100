/* SPDX-License-Identifier: MIT */
#include "analyse/capacity.h"
#include "analyse/chain.h"
#include "analyse/workers.h"
#include "recording/recording.h"
#include "tests/make_host.h"
#include "tests/recorded.h"
#include "tests/support.h"

/* Command lines */

static const struct {
	const char *command;
	int64_t jobs;
	double load;		/* 0: none */
} commands[] = {
	{ "", -1, 0 }, { "make", -1, 0 }, { "make -j", WORKERS_ANY, 0 }, { "make -j all", WORKERS_ANY, 0 },
	{ "make -j4", 4, 0 }, { "make -j 4", 4, 0 }, { "make --jobs=8 -l2.5", 8, 2.5 },
	{ "make --jobs 3 --load-average=1", 3, 1 }, { "make -skj2 x", 2, 0 },
	{ "make --max-load 7 -l", -1, 0 }, { "make -j2 -j5", 5, 0 }, { "make -C j9 -f-j3", -1, 0 },
	{ "make -C -j3", -1, 0 }, { "make a-j3 j4", -1, 0 }, { "ninja -C out -j 16 -l 1.5", 16, 1.5 },
	{ "ninja -k0 -j1", 1, 0 }, { "ninja -vj6", 6, 0 }, { "make -j0", -1, 0 }, { "make --", -1, 0 },
	{ "make -j999999999999", -1, 0 }, { "make -j -", WORKERS_ANY, 0 }, { "make --jobserver-x=2", -1, 0 },
	{ "make -wkj3", 3, 0 }, { "make -d -j3", 3, 0 }, { "ninja -d stats -j3", 3, 0 },
};

TEST_EACH(command_line, commands)
{
	const struct instance in = { .command = commands[_i].command };
	struct workers given = workers_given(&in);

	ck_assert_msg(given.jobs == commands[_i].jobs, "%s: %lld", in.command,
		      (long long)given.jobs);
	ck_assert_msg(commands[_i].load > 0 ? fabs(given.load - commands[_i].load) < 1e-9 :
		      isnan(given.load), "%s: load %f", in.command, given.load);
}

/* Capacities against one boolean a microsecond */

#define CAPACITY_US 400

TEST(capacity_is_exact)
{
	for (uint64_t seed = 0; seed < 300; seed++) {
		uint64_t state = seed;
		struct capacity g = { .limit = 1 + (int64_t)random_below(&state, 3) };
		bool full[CAPACITY_US + 1] = { false };
		int64_t n = 0, slack_us = (int64_t)random_below(&state, 12), last = -1;

		for (int64_t us = 0; us < CAPACITY_US; us++) {
			while (random_below(&state, 20) == 0 && n < 6) {
				capacity_enter(&g, us);
				n++;
			}
			while (n && random_below(&state, 12) == 0) {
				ck_assert_int_eq(capacity_leave(&g, us), 0);
				n--;
			}
			full[us] = n >= g.limit;
		}
		for (; n; n--)
			ck_assert_int_eq(capacity_leave(&g, CAPACITY_US), 0);
		capacity_close(&g, slack_us);
		for (int64_t us = 0; us < CAPACITY_US; us++) {
			if (full[us] && last >= 0 && us - last - 1 <= slack_us)
				memset(&full[last], true, (size_t)(us - last));
			last = full[us] ? us : last;
		}
		for (unsigned i = 0; i < 40; i++) {
			int64_t from = (int64_t)random_below(&state, CAPACITY_US);
			int64_t to = from + (int64_t)random_below(&state, (uint64_t)(CAPACITY_US - from));
			int64_t sum = 0, end;

			for (int64_t us = from; us < to; us++)
				sum += full[us];
			ck_assert_int_eq(capacity_full_us(&g, from, to), sum);
			ck_assert_int_le(capacity_waited_us(&g, from, to, &end), sum);
			ck_assert_int_ge(end, from);
			ck_assert_int_le(end, to);
		}
		capacity_release(&g);
	}
}

TEST(capacity_wait)
{
	RELEASED(capacity, g = { .limit = 1 });
	int64_t end;

	capacity_enter(&g, 100);
	capacity_leave(&g, 200);
	capacity_enter(&g, 210);	/* taken by another: still waiting */
	capacity_leave(&g, 300);
	capacity_enter(&g, 310);	/* the own entry */
	capacity_leave(&g, 500);
	capacity_close(&g, 20);
	ck_assert_int_eq(capacity_waited_us(&g, 50, 310, &end), 200);
	ck_assert_int_eq(end, 300);
	ck_assert_int_eq(capacity_waited_us(&g, 302, 310, &end), 0);
	ck_assert_int_eq(capacity_waited_us(&g, 150, 160, &end), 10);
}

/* Recordings with a known answer: "name=ready:worker,pool,load,delayed,other" in ms */

#define MS(n) #n "000"
#define OPEN(command) "open\t0\tm\t10\t0\t10\tmake\t4.3\t/src\t" command "\n"
#define NINJA(command) "open\t0\tm\t10\t\t10\tninja\t1.11\t/src\t" command "\n"
#define RUN(n, from, to, name) "start\t" MS(from) "\tm." n "\t\t\t\t" name "\n" \
	"done\t" MS(to) "\tm." n "\n"
#define AFTER(n, at, names) "after\t" MS(at) "\tm." n "\t" names "\n"
#define POOL(n, depth) "place\t0\tm." n "\tbuild.ninja\t7\tlink\t" depth "\n"

static const struct {
	const char *what, *tasks, *expected;
} known[] = {
	{ "two workers", OPEN("make -j2") RUN("1", 5, 105, "a") AFTER("1", 5, "a.c")
	  RUN("2", 6, 206, "b") AFTER("2", 6, "b.c") RUN("3", 106, 306, "c") AFTER("3", 106, "c.c")
	  RUN("4", 207, 307, "d") AFTER("4", 207, "c.c"),
	  "a=0:0,0,0,5,0,0 b=0:0,0,0,5,1,0 c=0:99,0,0,5,2,0 d=0:200,0,0,5,2,0 " },
	{ "ready when its target was made", OPEN("make -j1") RUN("1", 5, 105, "a")
	  AFTER("1", 5, "a.c") RUN("2", 106, 206, "b") AFTER("2", 106, "a"),
	  "a=0:0,0,0,5,0,0 b=105:0,0,0,0,1,0 " },
	{ "the line before it", OPEN("make -j2") RUN("1", 5, 105, "a") AFTER("1", 5, "a.c")
	  RUN("2", 108, 200, "a") AFTER("2", 108, "a.c"), "a=0:0,0,0,5,0,0 a=105:0,0,0,0,3,0 " },
	{ "without a -j, as many as ran at once", OPEN("make") RUN("1", 5, 105, "a") AFTER("1", 5, "x")
	  RUN("2", 105, 205, "b") AFTER("2", 105, "x"), "a=0:0,0,0,5,0,0 b=0:100,0,0,5,0,0 " },
	{ "any number of workers", OPEN("make -j") RUN("1", 5, 105, "a") AFTER("1", 5, "x")
	  RUN("2", 105, 205, "b") AFTER("2", 105, "x"), "a=0:0,0,0,5,0,0 b=0:0,0,0,5,100,0 " },
	{ "a pool of one", NINJA("ninja -j8") RUN("1", 5, 105, "a") POOL("1", "1")
	  RUN("2", 106, 206, "b") POOL("2", "1") RUN("3", 6, 300, "c") AFTER("3", 6, "c.c"),
	  "a=0:0,0,0,5,0,0 b=0:0,100,0,5,1,0 c=0:0,0,0,5,1,0 " },
	{ "a pool, then a worker", NINJA("ninja -j2") RUN("1", 5, 105, "a") POOL("1", "1")
	  RUN("2", 5, 55, "x") RUN("3", 55, 205, "y") RUN("4", 105, 200, "z")
	  RUN("5", 201, 300, "b") POOL("5", "1") AFTER("5", 201, "c"),
	  "a=0:0,0,0,5,0,0 x=0:0,0,0,5,0,0 y=0:50,0,0,5,0,0 z=0:100,0,0,5,0,0 b=0:95,100,0,5,1,0 " },
	{ "a pool in which others ran meanwhile", NINJA("ninja -j9") RUN("1", 5, 50, "a") POOL("1", "1")
	  RUN("2", 52, 100, "b") POOL("2", "1") RUN("3", 103, 200, "c") POOL("3", "1")
	  AFTER("3", 103, "c.c"), "a=0:0,0,0,5,0,0 b=0:0,45,0,5,2,0 c=0:0,95,0,5,3,0 " },
	{ "the load average", OPEN("make -j8 -l2") RUN("1", 5, 105, "a") AFTER("1", 5, "x")
	  RUN("2", 105, 205, "b") AFTER("2", 105, "x"), "a=0:0,0,0,5,0,0 b=0:0,0,100,5,0,0 " },
	{ "queued by the host", "open\t0\tm\t10\t\t10\thost\t1\t/src\thost\n" RUN("1", 5, 20, "x")
	  "queue\t" MS(30) "\tm.2\t\ta\n" RUN("2", 42, 50, "a"), "x=-1 a=30:0,0,0,0,12,0 " },
	{ "queued late by the host", "open\t0\tm\t10\t\t10\thost\t1\t/src\thost -j4\n" RUN("1", 5, 20, "x")
	  "queue\t" MS(30) "\tm.2\t\ta\n" RUN("2", 42, 50, "a") AFTER("2", 42, "x"),
	  "x=0:0,0,0,5,0,0 a=20:0,0,0,10,12,0 " },
	{ "no waits recorded", "open\t0\tm\t10\t\t10\tcargo\t1\t/src\tcargo\n" RUN("1", 5, 20, "x"), "x=-1 " },
	{ "a make inside occupies one worker", OPEN("make -j2") "start\t" MS(5) "\tm.1\t11\t\t\tlib\n"
	  AFTER("1", 5, "x") "open\t" MS(10) "\ts\t12\t1\t12,11\tmake\t4.3\t/src/lib\tmake\n"
	  "start\t" MS(20) "\ts.1\t\t\t\ta.o\nafter\t" MS(20) "\ts.1\ta.c\ndone\t" MS(120) "\ts.1\n"
	  "start\t" MS(21) "\ts.2\t\t\t\tb.o\nafter\t" MS(21) "\ts.2\ta.c\ndone\t" MS(220) "\ts.2\n"
	  "close\t" MS(230) "\ts\ndone\t" MS(240) "\tm.1\n"
	  RUN("2", 121, 300, "prog") AFTER("2", 121, "y"),
	  "lib=0:0,0,0,5,0,0 a.o=10:0,0,0,10,0,0 b.o=10:0,0,0,10,1,0 prog=0:99,0,0,5,17,0 " },
};

static void add_known(struct buf *out, const struct recorded *r, const struct waits *q)
{
	for (size_t i = 0; i < r->rec.n_tasks; i++) {
		const struct wait_task *t = &q->task[i];

		buf_addf(out, "%s=%lld", r->rec.task[i].name,
			 (long long)(t->ready_us < 0 ? -1 : t->ready_us / 1000));
		for (int k = 0; t->ready_us >= 0 && k < QUEUE_CAUSES; k++)
			buf_addf(out, "%c%lld", k ? ',' : ':', (long long)t->us[k] / 1000);
		buf_addc(out, ' ');
	}
}

/* The parts are never negative, and they are the queue time. */
static void check_sums(const struct recorded *r, const struct waits *q)
{
	for (uint32_t i = 0; i < r->rec.n_tasks; i++) {
		const struct wait_task *t = &q->task[i];
		int64_t sum_us = 0;

		for (int k = 0; k < QUEUE_CAUSES; k++) {
			ck_assert_int_ge(t->us[k], 0);
			sum_us += t->us[k];
		}
		if (t->ready_us < 0) {
			ck_assert_int_eq(sum_us, 0);
			continue;
		}
		ck_assert(task_ran(&r->rec.task[i]));
		ck_assert_int_eq(sum_us, wait_queue_us(q, &r->rec, i));
		if (r->rec.task[i].pool == NO_INDEX)
			ck_assert_int_eq(t->us[QUEUE_POOL], 0);
	}
}

static void find_waits(struct chain *c, const struct recorded *r)
{
	ck_assert_int_eq(chain_make(c, &r->sum), 0);
	check_sums(r, &c->waits);
}

TEST_EACH(known_answers, known)
{
	RELEASED(buf, found = BUF_INIT);
	RELEASED(recorded, r);
	RELEASED(chain, c);

	recorded_make(&r, "cwd: /src\nend_us: 1000000\nstatus: 0\n", known[_i].tasks, NULL);
	find_waits(&c, &r);
	add_known(&found, &r, &c.waits);
	ck_assert_msg(!strcmp(buf_str(&found), known[_i].expected), "%s:\n%s\nnot %s",
		      known[_i].what, buf_str(&found), known[_i].expected);
}

/* Generated recordings: any nesting, any order, with and without pools and limits */

TEST(parts_add_up)
{
	uint64_t state = 7;
	int64_t waited[QUEUE_CAUSES] = { 0 };

	for (uint64_t seed = 0; seed < 300; seed++) {
		struct recorded r;
		struct chain c;
		struct pool pools[2] = { { 0, "one", 1 }, { 0, "two", 2 } };

		recorded_random(&r, 1 + (unsigned)(seed * 7 % 400), seed);
		for (size_t i = 0; i < r.rec.n_tasks && seed % 3; i++)
			if (!random_below(&state, 3) && !r.rec.task[i].instance)
				r.rec.task[i].pool = (uint32_t)random_below(&state, 2);
		r.rec.pool = pools;
		r.rec.n_pools = 2;
		for (size_t i = 0; i < r.rec.n_instances; i++)
			r.rec.instance[i].command = commands[random_below(&state,
				ARRAY_SIZE(commands))].command;
		for (size_t i = 0; i < r.rec.n_instances; i++)
			r.rec.instance[i].serial = !random_below(&state, 5);
		find_waits(&c, &r);
		for (size_t i = 0; i < r.rec.n_tasks; i++)
			for (int k = 0; k < QUEUE_CAUSES; k++)
				waited[k] += c.waits.task[i].us[k];
		r.rec.pool = NULL;
		chain_release(&c);
		recorded_release(&r);
	}
	for (int k = 0; k < QUEUE_CAUSES; k++)
		ck_assert_msg(waited[k] > 0, "nothing waited for cause %d", k);
}

/* Real builds */

static void read_build(struct recorded *r, struct chain *c, const char *dir,
		       const char *command)
{
	support_expect(dir, 0, NULL, NULL, "'%s/buildbeat' record -o rec -- %s", TOP_BUILDDIR,
		       command);
	recorded_read(r, support_path("%s/rec/latest", dir));
	find_waits(c, r);
}

static void end_build(struct recorded *r, struct chain *c)
{
	chain_release(c);
	recorded_release(r);
}

/* n tasks with a sleep of 0.2 s, w workers: the i-th waits for i / w sleeps, at least. On a
 * loaded machine everything takes longer, but not less. */
#define SLEEP_US 200000

static void check_waits(const struct recorded *r, const struct waits *q, enum queue_cause cause,
			unsigned workers)
{
	int64_t other_us = 0, waited_us = 0;
	unsigned n = 0;

	for (size_t i = 0; i < r->sum.n_ran; i++) {
		uint32_t t = r->sum.order[i];

		if (strncmp(r->rec.task[t].name, "s", 1))
			continue;
		ck_assert_int_ge(q->task[t].us[cause], (int64_t)(n / workers) * SLEEP_US * 3 / 4);
		waited_us += q->task[t].us[cause];
		for (int k = 0; k < QUEUE_CAUSES; k++)
			other_us += k != (int)cause && k != QUEUE_DELAYED && k != QUEUE_OTHER ?
				    q->task[t].us[k] : 0;
		n++;
	}
	ck_assert_uint_eq(n, 6);
	ck_assert_int_eq(other_us, 0);
	ck_assert_int_gt(waited_us, 0);
}

TEST(real_make)
{
	const char *dir = support_tmpdir();
	struct recorded r;
	struct chain c;

	SKIP_IF(!make_host_can() || !support_has("make"));
	support_writes(support_path("%s/Makefile", dir),
		       "all: s1 s2 s3 s4 s5 s6\ns1 s2 s3 s4 s5 s6: Makefile\n\tsleep 0.2; touch $@\n");
	read_build(&r, &c, dir, "make -s -j2");
	check_waits(&r, &c.waits, QUEUE_WORKER, 2);
	for (size_t i = 0; i < r.rec.n_tasks && *r.rec.instance[0].version == '4'; i++) {
		ck_assert_str_eq(r.rec.task[i].file, "Makefile");
		ck_assert_int_eq(r.rec.task[i].line, 3);
	}
	end_build(&r, &c);
}

/* make -l lets one task run, whatever the load. */
TEST(real_load)
{
	const char *dir = support_tmpdir();
	struct recorded r;
	struct chain c;
	int64_t load_us = 0;

	SKIP_IF(!make_host_can() || !support_has("make"));
	support_writes(support_path("%s/Makefile", dir),
		       "all: s1 s2 s3\ns1 s2 s3: Makefile\n\tsleep 0.2; touch $@\n");
	read_build(&r, &c, dir, "make -s -j8 -l 0.001");
	for (size_t i = 0; i < r.rec.n_tasks; i++) {
		ck_assert_int_eq(c.waits.task[i].us[QUEUE_WORKER], 0);
		load_us += c.waits.task[i].us[QUEUE_LOAD];
	}
	/* an idle machine can have a load of 0.00 */
	if (r.sum.running_max == 1)
		ck_assert_int_ge(load_us, (SLEEP_US + 2 * SLEEP_US) * 9 / 10);
	end_build(&r, &c);
}

TEST_LOOP(real_ninja, 2)
{
	const char *dir = support_tmpdir();
	struct recorded r;
	struct chain c;
	struct buf text = BUF_INIT;

	SKIP_IF(!make_host_can() || !support_has("ninja"));
	buf_adds(&text, "pool narrow\n  depth = 1\nrule nap\n  command = sleep 0.2; touch $out\n"
		 "rule slow\n  command = sleep 0.2; touch $out\n  pool = narrow\n");
	for (int i = 0; i < 6; i++)
		buf_addf(&text, "build s%d: %s\n%s", i, _i ? "slow" : "nap",
			 _i == 2 ? "  pool = narrow\n" : "");
	support_writes(support_path("%s/build.ninja", dir), buf_str(&text));
	buf_release(&text);
	read_build(&r, &c, dir, _i ? "ninja -j8" : "ninja -j2");
	check_waits(&r, &c.waits, _i ? QUEUE_POOL : QUEUE_WORKER, _i ? 1 : 2);
	for (size_t i = 0; i < r.rec.n_tasks; i++) {
		ck_assert_str_eq(r.rec.task[i].file, "build.ninja");
		ck_assert_int_gt(r.rec.task[i].line, 5);
	}
	end_build(&r, &c);
}

/* Builds of make, ninja and samurai that were generated, or are known by hand: tests/waits.py works
 * out what they waited for. */
#define PLANS 8

TEST_LOOP(planned, 4)
{
	SKIP_IF(!make_host_can() || !support_has("make"));
	support_expect(support_tmpdir(), 0, NULL, NULL,
		       _i ? "python3 -B '%s/tests/waits.py' '%s/buildbeat' %s %d %d" :
		       "python3 -B '%s/tests/waits.py' '%s/buildbeat' %s known", TOP_SRCDIR, TOP_BUILDDIR, support_tmpdir(), (_i - 1) * PLANS, _i * PLANS);
}

/* GNU make says what it can do. */
TEST(waits_of_make_44)
{
	struct run run;

	SKIP_IF(!make_host_can() || !support_has("make") || !support_has("python3"));
	support_writes(support_path("%s/Makefile", support_tmpdir()), "$(info $(.FEATURES))\nall:;\n");
	support_run(&run, support_tmpdir(), "make --version; make -s -n");
	/* GNU make 4.4 has .WAIT */
	SKIP_IF(strstr(run.out.data, "GNU Make 4.3") || !strstr(run.out.data, "notintermediate"));
	support_expect(support_tmpdir(), 0, NULL, NULL,
		       "python3 -B '%s/tests/waits.py' '%s/buildbeat' %s known44", TOP_SRCDIR, TOP_BUILDDIR, support_tmpdir());
}

TEST_MAIN(wait);
