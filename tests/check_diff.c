/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "compare/diff.h"
#include "stats/samples.h"
#include "tests/made_values.h"
#include "tests/noise.h"
#include "tests/support.h"

/* Differences between builds, calculated by hand. */

struct pair {
	struct values base, now;
	struct rules rules;
	struct diff d;
};

static void compare(struct pair *p, const char *base, const char *now, const char *filter)
{
	struct diff_options o = { &p->rules, filter };

	made_values(&p->base, base);
	made_values(&p->now, now);
	ck_assert_int_eq(diff_make(&p->d, &p->base, 1, &p->now, 1, &o), 0);
}

int __wrap_samples_moderate(struct samples *s, size_t n);
int __real_samples_moderate(struct samples *s, size_t n);

/* In place of the real one in all tests: without samples there is no address to pass. */
int __wrap_samples_moderate(struct samples *s, size_t n)
{
	ck_assert(s && n);
	return __real_samples_moderate(s, n);
}

static void pair_release(struct pair *p)
{
	diff_release(&p->d);
	values_release(&p->base);
	values_release(&p->now);
}

/* "a b(was) +new -gone", each with ! if its wall time differs much */
static void describe(struct buf *out, const struct diff *d)
{
	for (size_t i = 0; i < d->n_tasks; i++) {
		const struct diff_task *t = &d->task[i];

		buf_addf(out, "%s%s%s", i ? " " : "", t->presence == DIFF_NEW ? "+" :
			 t->presence == DIFF_GONE ? "-" : "", t->name);
		if (t->was)
			buf_addf(out, "(%s)", t->was);
		if (d->value[METRIC_WALL][i].large)
			buf_adds(out, "!");
	}
}

static const struct { const char *what, *base, *now, *filter, *found; } cases[] = {
	{ "nothing", "", "", NULL, "" },
	{ "a share and an amount", "a|cc|wall_us=100000000\nb|cc|wall_us=10000000\n"
	  "c|cc|wall_us=10000000\nd|cc|wall_us=2000000\n",
	  "a|cc|wall_us=104000000\nb|cc|wall_us=11900000\nc|cc|wall_us=12000000\n"
	  "d|cc|wall_us=0\n", NULL, "a b c! d!" },
	{ "from nothing", "a|cc|wall_us=0\nb|cc|wall_us=0\n", "a|cc|wall_us=2000000\n"
	  "b|cc|wall_us=0\n", NULL, "a! b" },
	{ "not known", "a|cc|wall_us=-1\nb|cc|\n", "a|cc|wall_us=9000000\nb|cc|\n", NULL, "a b" },
	{ "new and gone", "a|cc|\nb|cc|\n", "a|cc|\nzzz|ld|\n", NULL, "a -b +zzz" },
	{ "all gone", "a|cc|\nb|cc|\n", "", NULL, "-a -b" },
	{ "moved", "lib/store.o|cc|\n", "src/lib/store.o|cc|\n", NULL,
	  "src/lib/store.o(lib/store.o)" },
	{ "moved to another make", "a.o|cc|\n", "lib: a.o|cc|\n", NULL, "lib: a.o(a.o)" },
	{ "not of another kind", "lib/a|cc|\n", "src/a|ld|\n", NULL, "-lib/a +src/a" },
	{ "as many parts as it takes", "x/a/main.o|cc|\nx/b/main.o|cc|\n",
	  "y/a/main.o|cc|\ny/b/main.o|cc|\n", NULL, "y/a/main.o(x/a/main.o) "
	  "y/b/main.o(x/b/main.o)" },
	{ "two of them, nothing is guessed", "x/a/main.o|cc|\nx/b/main.o|cc|\n",
	  "y/main.o|cc|\n", NULL, "-x/a/main.o -x/b/main.o +y/main.o" },
	{ "similar", "s/store_read.o|cc|\n", "s/store_reader.o|cc|\n", NULL,
	  "s/store_reader.o(s/store_read.o)" },
	{ "not similar", "s/alpha.o|cc|\n", "s/beta.o|cc|\n", NULL, "-s/alpha.o +s/beta.o" },
	{ "similar to two", "test_a|run|\n", "test_b|run|\ntest_c|run|\n", NULL,
	  "-test_a +test_b +test_c" },
	{ "similar in another directory", "r/parser1.o|cc|\n", "s/parser2.o|cc|\n", NULL,
	  "-r/parser1.o +s/parser2.o" },
	{ "a recipe's tasks do not move", "@bash=1-r0\nbash: do_x|do_x|\n",
	  "@zlib=1-r0\nzlib: do_x|do_x|\n", NULL, "-bash: do_x +zlib: do_x" },
	{ "a recipe by another name",
	  "@linux-yocto=1-r0\nlinux-yocto: do_x|x|\nlinux-yocto: do_y|y|\n",
	  "@linux-yocto-rt=1-r0\nlinux-yocto-rt: do_x|x|\nlinux-yocto-rt: do_y|y|\n", NULL,
	  "linux-yocto-rt: do_x(linux-yocto: do_x) linux-yocto-rt: do_y(linux-yocto: do_y)" },
	{ "a recipe that is still there",
	  "@linux-yocto=1-r0\nlinux-yocto: do_x|x|\nlinux-yocto: do_y|y|\n",
	  "@linux-yocto=1-r0\n@linux-yocto-rt=1-r0\nlinux-yocto-rt: do_x|x|\n"
	  "linux-yocto: do_y|y|\n", NULL,
	  "+linux-yocto-rt: do_x -linux-yocto: do_x linux-yocto: do_y" },
	{ "a part of the name", "ab|cc|\ncd|cc|\n", "ab|cc|\nx|cc|\n", "b", "ab" },
	{ "a pattern", "ab|cc|\nb|cc|\n", "ab|cc|\nb|cc|\n", "b*", "b" },
	{ "the name it had", "x/ab|cc|\n", "y/ab|cc|\n", "x/*", "y/ab(x/ab)" },
};

TEST_EACH(tasks, cases)
{
	RELEASED(buf, found = BUF_INIT);
	RELEASED(pair, p);

	rules_init(&p.rules);
	compare(&p, cases[_i].base, cases[_i].now, cases[_i].filter);
	describe(&found, &p.d);
	ck_assert_msg(!strcmp(buf_str(&found), cases[_i].found), "%s: %s, not %s",
		      cases[_i].what, buf_str(&found), cases[_i].found);
	ck_assert(!p.d.tested && !p.d.n_tests && !diff_is_worse(&p.d));
}

TEST(exceptions)
{
	struct rule rule[] = {
		{ .pattern = "*.o", .metrics = METRIC_BIT(METRIC_WALL), .share = 0.5,
		  .amount = NAN, .floor = NAN, .ignored = -1 },
		{ .pattern = "x*", .metrics = ~0u, .share = NAN, .amount = NAN, .floor = NAN,
		  .ignored = 1 },
		{ .pattern = "small", .metrics = ~0u, .share = NAN, .amount = 0, .floor = 30000000,
		  .ignored = -1 },
	};
	RELEASED(buf, found = BUF_INIT);
	RELEASED(pair, p);

	rules_init(&p.rules);
	p.rules.rule = rule;
	p.rules.n = ARRAY_SIZE(rule);
	compare(&p, "a.o|cc|wall_us=10000000\nb|cc|wall_us=10000000\nbig|cc|wall_us=10000000\n"
		"small|cc|wall_us=10000000\nx|cc|wall_us=10000000\n",
		"a.o|cc|wall_us=14000000\nb|cc|wall_us=14000000\nbig|cc|wall_us=30000000\n"
		"small|cc|wall_us=29000000\nx|cc|wall_us=90000000\n", NULL);
	describe(&found, &p.d);
	ck_assert_str_eq(buf_str(&found), "a.o b! big! small x");
}

/* Values of all metrics; a value that one build lacks is not compared. */
TEST(values_of_all_metrics)
{
	RELEASED(pair, p);
	const struct diff_value *f;

	rules_init(&p.rules);
	p.rules.metrics = ~0u >> (32 - METRICS);
	compare(&p, "a|cc|wall_us=4000000 user_us=3000000 system_us=1000000 max_rss_kb=1000 "
		"read_bytes=10 written_bytes=20 runs=2\n+wall_us=5000000\n+tasks=1\n",
		"a|cc|wall_us=8000000 user_us=1000000 system_us=1000000 peak_kb=70 "
		"read_bytes=30 written_bytes=50 runs=3\n+wall_us=4000000\n", NULL);
	f = &p.d.value[METRIC_WALL][0];
	ck_assert(f->value[DIFF_BASE] == 4e6 && f->value[DIFF_NOW] == 8e6 && f->change == 4e6 &&
		  f->share == 1 && f->large && !f->test && f->verdict == VERDICT_UNKNOWN);
	f = &p.d.value[METRIC_CPU][0];
	ck_assert(f->value[DIFF_BASE] == 4e6 && f->change == -2e6 && f->share == -0.5);
	f = &p.d.value[METRIC_IO][0];
	ck_assert(f->value[DIFF_BASE] == 30 && f->value[DIFF_NOW] == 80 && !f->large);
	f = &p.d.value[METRIC_MEMORY][0];
	ck_assert(f->value[DIFF_BASE] == 1000 && isnan(f->value[DIFF_NOW]) && isnan(f->change));
	f = &p.d.value[METRIC_PEAK][0];
	ck_assert(isnan(f->value[DIFF_BASE]) && f->value[DIFF_NOW] == 70 && !f->large);
	ck_assert(p.d.task[0].parts[DIFF_BASE] == 2 && p.d.task[0].parts[DIFF_NOW] == 3);
	ck_assert(p.d.whole[METRIC_WALL].share == -0.2);
	ck_assert(p.d.total[TOTAL_TASKS].value[DIFF_BASE] == 1 &&
		  isnan(p.d.total[TOTAL_TASKS].value[DIFF_NOW]));
	ck_assert(isnan(p.d.common[METRIC_WALL]));
}

TEST(how_tasks_ended)
{
	static const struct {
		int base, now;	/* -1: not known, -2: no such task */
		enum diff_end end;
	} ends[] = {
		{ 0, 0, DIFF_END_SAME }, { 0, 2, DIFF_END_FAILS }, { 2, 0, DIFF_END_FIXED },
		{ 2, 2, DIFF_END_SAME }, { 2, STATUS_KILLED + 9, DIFF_END_OTHER },
		{ -1, 2, DIFF_END_FAILS }, { 2, -1, DIFF_END_SAME }, { -2, 1, DIFF_END_FAILS },
		{ -2, 0, DIFF_END_SAME }, { 1, -2, DIFF_END_SAME },
		{ 0, STATUS_UNFINISHED, DIFF_END_FAILS },
	};
	struct buf text[DIFF_SIDES] = { BUF_INIT, BUF_INIT };
	struct pair p;

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		if (ends[i].base > -2)
			buf_addf(&text[0], "t%02zu|%zu|status=%d\n", i, i, ends[i].base);
		if (ends[i].now > -2)
			buf_addf(&text[1], "t%02zu|%zu|status=%d\n", i, i, ends[i].now);
	}
	rules_init(&p.rules);
	compare(&p, buf_str(&text[0]), buf_str(&text[1]), NULL);
	ck_assert_uint_eq(p.d.n_tasks, ARRAY_SIZE(ends));
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		ck_assert_msg(p.d.task[i].end == ends[i].end, "%zu: %d", i, p.d.task[i].end);
	ck_assert(p.d.n_fails == 4 && p.d.n_fixed == 1);
	pair_release(&p);
	buf_release(&text[0]);
	buf_release(&text[1]);
}

static const struct {
	const char *base, *now;	/* NULL: there is none */
	int change;		/* -1: none */
} versions[] = {
	{ "1.2-r0", "1.2-r0", -1 },
	{ NULL, "1-r0", PACKAGE_NEW },
	{ "1-r0", NULL, PACKAGE_GONE },
	{ "1.2-r0", "1.2-r1", PACKAGE_REVISION },
	{ "1.2-r0", "1.3-r0", PACKAGE_UPGRADED },
	{ "1.10-r0", "1.9-r0", PACKAGE_DOWNGRADED },
	{ "1.9-r0", "1.10-r0", PACKAGE_UPGRADED },
	{ "1.02-r0", "1.3-r0", PACKAGE_UPGRADED },
	{ "1.2-r0", "1.2.1-r0", PACKAGE_UPGRADED },
	{ "1.2a-r0", "1.2b-r0", PACKAGE_UPGRADED },
	{ "6.12-rc3-r0", "6.12-r0", PACKAGE_UPGRADED },
	{ "6.12-r0", "6.12rc1-r0", PACKAGE_DOWNGRADED },
	{ "9-r0", "1:1-r0", PACKAGE_EPOCH },
	{ "1:2-r0", "2:1-r0", PACKAGE_EPOCH },
	{ "1.2+git0+abc-r0", "1.2+git0+012-r0", PACKAGE_SOURCES },
	{ "1.2+git0+abc-r0", "1.3+git0+012-r0", PACKAGE_UPGRADED },
};

TEST_EACH(packages, versions)
{
	const char *base = versions[_i].base, *now = versions[_i].now;
	RELEASED(pair, p);

	rules_init(&p.rules);
	compare(&p, base ? support_path("@a=1-r0\n@pkg=%s\n", base) : "@a=1-r0\n",
		now ? support_path("@a=1-r0\n@pkg=%s\n", now) : "@a=1-r0\n", NULL);
	ck_assert_uint_eq(p.d.n_packages, versions[_i].change >= 0);
	if (p.d.n_packages) {
		ck_assert_str_eq(p.d.package[0].name, "pkg");
		ck_assert_int_eq((int)p.d.package[0].change, versions[_i].change);
	}
}

TEST(circumstances)
{
	static const char base[] =
		"!host=forge\n!kernel=6.1\n!cores=8\n!memory_kb=1000000\n!command=make\n"
		"!tool=make\n!version=4.3\n!source=/a\n!revision=0123456789abcdef\n!branch=main\n"
		"!dirty=no\n!source=/b\n!revision=fedcba9876543210\n!uses=make 4.3\n";
	static const char now[] =
		"!host=forge\n!kernel=6.5\n!cores=8\n!memory_kb=1000100\n"
		"!tool=make\n!version=4.4\n!source=/a\n!revision=0123456789abcdef\n!branch=main\n"
		"!dirty=yes\n!source=/b\n!revision=fedcba9876543210\n!uses=make 4.4\n"
		"!uses=ninja 1.11\n";
	static const char *const expected[][3] = {
		{ "kernel", "6.1", "6.5" }, { "command", "make", "" },
		{ "tool", "make 4.3", "make 4.4" },
		{ "tools", "make 4.3", "make 4.4 + ninja 1.11" },
		{ "revision", "a: 0123456789ab (main) + b: fedcba987654",
		  "a: 0123456789ab (main, with changes) + b: fedcba987654" },
	};
	RELEASED(pair, p);

	rules_init(&p.rules);
	compare(&p, base, now, NULL);
	ck_assert_uint_eq(p.d.n_facts, ARRAY_SIZE(expected));
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		ck_assert_str_eq(p.d.fact[i].key, expected[i][0]);
		ck_assert_str_eq(p.d.fact[i].value[DIFF_BASE], expected[i][1]);
		ck_assert_str_eq(p.d.fact[i].value[DIFF_NOW], expected[i][2]);
	}
}

/* Several runs a side */

#define TASKS 400
#define SLOWER 20		/* of them slower by a fifth */

static const struct {
	size_t n_base, n_now;
	double host;		/* the new side's */
	int found_least, false_most;
} sets[] = {
	{ 5, 5, 1, SLOWER, 1 },
	{ 5, 5, 1.15, SLOWER, 1 },
	{ 5, 5, 0.8, SLOWER, 1 },
	{ 3, 3, 1, SLOWER - 2, 1 },
	{ 2, 5, 1, SLOWER - 2, 1 },
	{ 10, 12, 1.1, SLOWER, 1 },
};

static void make_run(struct values *f, struct noise *noise, bool now, double host)
{
	RELEASED(buf, text = BUF_INIT);

	host *= exp(0.02 * noise_normal(noise));
	for (size_t i = 0; i < TASKS; i++) {
		double us = 2e7 * (1 + (double)(i % 50)) * host * exp(0.03 * noise_normal(noise));

		if (now && i < SLOWER)
			us *= 1.2;
		buf_addf(&text, "t%03zu|cc|wall_us=%lld max_rss_kb=%d\n", i, (long long)us,
			 100000 + (int)(i % 3 ? 0 : 100 * noise_normal(noise)));
	}
	buf_addf(&text, "+wall_us=%lld\n", (long long)(1e9 * host));
	made_values(f, buf_str(&text));
}

TEST_EACH(runs, sets)
{
	struct noise noise = { 7 };
	struct values run[24];
	size_t n_base = sets[_i].n_base, n_now = sets[_i].n_now, found = 0, wrong = 0;
	struct rules rules;
	struct diff_options o = { &rules, NULL };
	struct diff d;

	rules_init(&rules);
	for (size_t i = 0; i < n_base + n_now; i++)
		make_run(&run[i], &noise, i >= n_base, i >= n_base ? sets[_i].host : 1);
	ck_assert_int_eq(diff_make(&d, run, n_base, run + n_base, n_now, &o), 0);
	ck_assert(d.tested);
	/* and the build as a whole, of which memory and bytes are not known */
	ck_assert_uint_eq(d.n_tests, 2 * TASKS + 1);
	for (size_t i = 0; i < TASKS; i++) {
		enum samples_verdict v = d.value[METRIC_WALL][i].verdict;

		found += i < SLOWER && v == VERDICT_HIGHER;
		wrong += i >= SLOWER && (v == VERDICT_HIGHER || v == VERDICT_LOWER);
		ck_assert(d.value[METRIC_MEMORY][i].verdict == VERDICT_SAME);
	}
	ck_assert_msg((int)found >= sets[_i].found_least && (int)wrong <= sets[_i].false_most,
		      "%zu found, %zu of them wrong", found + wrong, wrong);
	ck_assert_uint_eq(d.n_higher[METRIC_WALL] + d.n_lower[METRIC_WALL], found + wrong);
	ck_assert(diff_is_worse(&d));
	ck_assert_msg(fabs(d.common[METRIC_WALL] / sets[_i].host - 1) < 0.04, "%g",
		      d.common[METRIC_WALL]);
	diff_release(&d);
	for (size_t i = 0; i < n_base + n_now; i++)
		values_release(&run[i]);
}

/* A task that is missing in some runs, fails in some, or has no variance. */
TEST(uneven_runs)
{
	static const char *const text[] = {
		"a|cc|wall_us=5000000 status=0\nb|cc|wall_us=9000000\n",
		"b|cc|wall_us=9000000\nc|cc|wall_us=3000000\n",
		"a|cc|wall_us=8000000 status=1\nb|cc|wall_us=9000000\n",
		"a|cc|wall_us=9000000 status=0\nb|cc|wall_us=9000000\nc|cc|wall_us=-1\n",
	};
	struct values run[ARRAY_SIZE(text)];
	struct rules rules;
	struct diff_options o = { &rules, NULL };
	struct diff d;

	rules_init(&rules);
	for (size_t i = 0; i < ARRAY_SIZE(text); i++)
		made_values(&run[i], text[i]);
	ck_assert_int_eq(diff_make(&d, run, 2, run + 2, 2, &o), 0);
	ck_assert_uint_eq(d.n_tasks, 3);
	ck_assert(d.value[METRIC_WALL][0].value[DIFF_NOW] == 8.5e6);
	ck_assert(!d.value[METRIC_WALL][0].test && d.value[METRIC_WALL][0].large);
	ck_assert(d.value[METRIC_WALL][1].verdict == VERDICT_SAME);
	ck_assert(isnan(d.value[METRIC_WALL][2].value[DIFF_NOW]));
	ck_assert(d.task[0].end == DIFF_END_FAILS && d.task[0].n_failed[DIFF_NOW] == 1);
	ck_assert(!diff_is_worse(&d));
	diff_release(&d);
	for (size_t i = 0; i < ARRAY_SIZE(text); i++)
		values_release(&run[i]);
}

/* Why values of two runs a side are not tested. */
TEST(untested)
{
	static const char *const text[] = {
		"alone|cc|wall_us=900000\nfew|cc|wall_us=900000\nignored|cc|wall_us=900000\n"
		"small|cc|wall_us=9000\ntested|cc|wall_us=900000\nzero|cc|wall_us=0\n"
		"zeros|cc|wall_us=0\n+wall_us=1000000\n",
		"alone|cc|wall_us=900000\nignored|cc|wall_us=900000\nsmall|cc|wall_us=8000\n"
		"tested|cc|wall_us=910000\nzero|cc|wall_us=0\nzeros|cc|wall_us=0\n+wall_us=1000000\n",
		"few|cc|wall_us=900000\nignored|cc|wall_us=900000\nsmall|cc|wall_us=9000\n"
		"tested|cc|wall_us=1900000\nzero|cc|wall_us=90000\nzeros|cc|wall_us=0\n",
		"few|cc|wall_us=900000\nignored|cc|wall_us=900000\nsmall|cc|wall_us=9000\n"
		"tested|cc|wall_us=1910000\nzero|cc|wall_us=90000\nzeros|cc|wall_us=0\n",
	};
	static const enum diff_untested why[] = {
		DIFF_NOTHING, DIFF_FEW_RUNS, DIFF_IGNORED, DIFF_SMALL, DIFF_TESTED, DIFF_FROM_ZERO,
		DIFF_NOTHING,
	};
	const struct rule ignored = {
		.pattern = "ignored", .metrics = ~0u, .share = NAN, .amount = NAN, .floor = NAN, .ignored = 1,
	};
	struct values run[ARRAY_SIZE(text)];
	struct rules rules;
	struct diff_options o = { &rules, NULL };
	struct diff d;

	rules_init(&rules);
	rules.metrics = METRIC_BIT(METRIC_WALL);
	rules.rule = &ignored;
	rules.n = 1;
	for (size_t i = 0; i < ARRAY_SIZE(text); i++)
		made_values(&run[i], text[i]);
	ck_assert_int_eq(diff_make(&d, run, 2, run + 2, 2, &o), 0);
	ck_assert_uint_eq(d.n_tasks, ARRAY_SIZE(why));
	for (size_t i = 0; i < ARRAY_SIZE(why); i++) {
		const struct diff_value *f = &d.value[METRIC_WALL][i];

		ck_assert_msg(f->untested == why[i], "%s: %d", d.task[i].name, f->untested);
		ck_assert(!f->test == (why[i] != DIFF_TESTED));
	}
	/* the build is known on one side */
	ck_assert(d.n_untested[DIFF_FEW_RUNS] == 2 && d.n_untested[DIFF_IGNORED] == 1);
	ck_assert(d.n_untested[DIFF_SMALL] == 1 && d.n_untested[DIFF_FROM_ZERO] == 1);
	ck_assert(d.n_tests == 1 && d.n_uncertain == 0 && d.n_higher[METRIC_WALL] == 1);
	ck_assert_double_eq(d.gate[METRIC_WALL].amount, 1e4);
	diff_release(&d);
	rules.gate[METRIC_WALL] = (struct gate){ .share = 0.05, .amount = 2e6, .chosen = true };
	ck_assert_int_eq(diff_make(&d, run, 2, run + 2, 2, &o), 0);
	ck_assert(d.gate[METRIC_WALL].amount == 2e6 && !d.n_tests && !diff_is_worse(&d));
	ck_assert_uint_eq(d.n_untested[DIFF_SMALL], 3);
	diff_release(&d);
	for (size_t i = 0; i < ARRAY_SIZE(text); i++)
		values_release(&run[i]);
}

/* "machine command", of builds that may not be of one thing */
static const struct { const char *base, *now, *filter, *unlike; } pairs[] = {
	{ "", "", NULL, "" },
	{ "!host=a\n!cwd=/x/p\n!command=make\n!source=/x/p\nt|cc|\n",
	  "!host=a\n!cwd=/y/p\n!command=make\n!source=/y/p\nt|cc|\n", NULL, "" },
	{ "!host=a\n!cwd=/x/p\n!command=make\n!source=/x/p\n!source=/x/l\nt|cc|\n",
	  "!host=b\n!cwd=/x/q\n!command=make -j2\n!source=/x/q\nt|cc|\n", NULL,
	  "machine directory command source tree " },
	{ "!source=/x/p\n!source=/x/l\nt|cc|\n", "!source=/y/l\nt|cc|\n", NULL, "" },
	{ "!host=a\nt|cc|\n", "t|cc|\n", NULL, "" },
	{ "a|cc|\nb|cc|\nc|cc|\n", "a|cc|\nx|ld|\n", NULL, "tasks " },
	{ "a|cc|\nb|cc|\nc|cc|\n", "a|cc|\nb|cc|\n", "c", "" },
	{ "lib/store.o|cc|\n", "src/lib/store.o|cc|\n", NULL, "" },
	{ "a|cc|\n", "", NULL, "tasks " },
};

TEST_EACH(different_builds, pairs)
{
	static const char *const word[DIFF_UNLIKES] = {
		"machine", "directory", "command", "source tree", "tasks",
	};
	RELEASED(pair, p);
	RELEASED(buf, found = BUF_INIT);

	rules_init(&p.rules);
	compare(&p, pairs[_i].base, pairs[_i].now, pairs[_i].filter);
	for (unsigned u = 0; u < DIFF_UNLIKES; u++) {
		if (p.d.unlike & DIFF_UNLIKE_BIT(u))
			buf_addf(&found, "%s ", word[u]);
	}
	ck_assert_str_eq(buf_str(&found), pairs[_i].unlike);
}

TEST_MAIN(diff);
