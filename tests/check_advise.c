/* SPDX-License-Identifier: MIT */
#include "base/text.h"
#include "rerun/advise.h"
#include "tests/launched.h"
#include "tests/nomem.h"
#include "tests/recorded.h"
#include "tests/support.h"

/* Builds with a planted cause: the first advice names it, and its gain is that of the replay. */

#define S 1000000

/* A task of make: its name, what it waits for, when it ran, its CPU time, its command. */
struct planned {
	const char *name, *after;
	unsigned start_ms, end_ms, cpu_ms;
	const char *kind, *command;
};

#define TASKS_MAX 12
#define COMPILE(...) { __VA_ARGS__, "compile", "cc -c" }
#define PROBE(start_ms, end_ms) { "$(shell)", NULL, start_ms, end_ms, 0, "shell", "git describe" }

static const struct build {
	const char *what;
	const char *jobs;
	unsigned cores, others_percent;	/* of all cores */
	const char *linker;
	struct planned task[TASKS_MAX];
	const char *about;	/* of the first advice; NULL: there is none */
	const char *whatif;
	double wall_s;
	const char *text;	/* in it */
} builds[] = {
	{ "one worker for four cores", "-j1", 4, 0, NULL, {
		COMPILE("a.o", "a.c", 0, 1000, 1000), COMPILE("b.o", "b.c", 1000, 2000, 1000),
		COMPILE("c.o", "c.c", 2000, 3000, 1000), COMPILE("d.o", "d.c", 3000, 4000, 1000),
		COMPILE("prog", "a.o\tb.o\tc.o\td.o", 4000, 4500, 500) },
	  "workers", "-j4", 1.5, "use -j4: there was 1 worker for 4 cores" },
	{ "a long task that starts last", "-j2", 2, 0, NULL, {
		COMPILE("a.o", "a.c", 0, 1000, 1000), COMPILE("b.o", "b.c", 0, 1000, 1000),
		COMPILE("c.o", "c.c", 1000, 2000, 1000), COMPILE("d.o", "d.c", 1000, 2000, 1000),
		COMPILE("long.o", "long.c", 2000, 6000, 4000),
		COMPILE("prog", "a.o\tb.o\tc.o\td.o\tlong.o", 6000, 6100, 100) },
	  "first", "--first long.o", 4.1, "start long.o earlier: it took 4.00 s, began at 2.00 s, and was ready at 0 s" },
	{ "serial link-time optimisation", "-j2", 4, 0, NULL, {
		COMPILE("a.o", "a.c", 0, 1000, 1000), COMPILE("b.o", "b.c", 0, 1000, 1000),
		{ "prog", "a.o\tb.o", 1000, 9000, 8000, "link", "gcc -O2 -flto -o prog a.o b.o" } },
	  "lto", "--speedup prog=4", 3, "link with -flto=auto" },
	{ "a slow linker", "-j2", 4, 0, "mold", {
		COMPILE("a.o", "a.c", 0, 1000, 1000), COMPILE("b.o", "b.c", 0, 1000, 1000),
		{ "prog", "a.o\tb.o", 1000, 4000, 3000, "link", "g++ -o prog a.o b.o" } },
	  "linker", "--speedup prog=3", 2, "link with -fuse-ld=mold: the link of prog ran alone for 3.00 s" },
	{ "the linker is that already", "-j2", 4, 0, "mold", {
		COMPILE("a.o", "a.c", 0, 1000, 1000), COMPILE("b.o", "b.c", 0, 1000, 1000),
		{ "prog", "a.o\tb.o", 1000, 4000, 3000, "link", "g++ -fuse-ld=mold -o prog a.o b.o" } },
	  NULL, NULL, 0, NULL },
	{ "no faster linker is installed", "-j2", 4, 0, NULL, {
		COMPILE("a.o", "a.c", 0, 1000, 1000), COMPILE("b.o", "b.c", 0, 1000, 1000),
		{ "prog", "a.o\tb.o", 1000, 4000, 3000, "link", "g++ -o prog a.o b.o" } },
	  NULL, NULL, 0, NULL },
	{ "one file that is most of it", "-j4", 4, 0, NULL, {
		COMPILE("a.o", "a.c", 0, 1000, 1000), COMPILE("big.o", "big.c", 0, 8000, 8000),
		COMPILE("prog", "a.o\tbig.o", 8000, 8100, 100) },
	  "split", "--split big.o=4", 3.1,	/* a part starts after a.o */
	  "split big.o: it used one core, and ran alone for 7.00 s" },
	{ "others use half of the machine", "-j2", 2, 50, NULL, {
		COMPILE("a.o", "a.c", 0, 2000, 1000), COMPILE("b.o", "b.c", 0, 2000, 1000),
		COMPILE("c.o", "c.c", 2000, 4000, 1000), COMPILE("d.o", "d.c", 2000, 4000, 1000) },
	  "quiet", "--quiet-machine", 2, "run it while nothing else uses the machine" },
	{ "as good as it can be", "-j2", 2, 0, NULL, {
		COMPILE("a.o", "a.c", 0, 1000, 1000), COMPILE("b.o", "b.c", 0, 1000, 1000),
		COMPILE("c.o", "c.c", 1000, 2000, 1000), COMPILE("d.o", "d.c", 1000, 2000, 1000) },
	  NULL, NULL, 0, NULL },
	{ "a chain", "-j4", 4, 0, NULL, {
		COMPILE("a", "x", 0, 1000, 1000), COMPILE("b", "a", 1000, 2000, 1000), COMPILE("c", "b", 2000, 3000, 1000),
		COMPILE("d", "c", 3000, 4000, 1000) },
	  "split", "--split a=4", 3.25, "split a" },
	{ "the same command of $(shell) again and again", "-j2", 2, 0, NULL, {
		PROBE(0, 500), PROBE(500, 1000), PROBE(1000, 1500), PROBE(1500, 2000),
		COMPILE("a.o", "a.c", 2000, 3000, 1000), COMPILE("b.o", "b.c", 2000, 3000, 1000) },
	  "probes", "--speedup 'git describe=4'", 1.5,
	  "set a variable with := from $(shell): git describe ran 4 times, which took 2.00 s" },
	{ "twice is no repetition", "-j2", 2, 0, NULL, {
		PROBE(0, 500), PROBE(500, 1000),
		COMPILE("a.o", "a.c", 1000, 2000, 1000), COMPILE("b.o", "b.c", 1000, 2000, 1000) },
	  NULL, NULL, 0, NULL },
	{ "a short build", "-j1", 4, 0, NULL, {
		COMPILE("a.o", "a.c", 0, 60, 60), COMPILE("b.o", "b.c", 60, 120, 60) },
	  NULL, NULL, 0, NULL },
	{ "it sleeps", "-j1", 1, 0, NULL, { { "all", "x", 0, 3000, 1, "shell", "sleep 3" } },
	  NULL, NULL, 0, NULL },
};

static const char *record(const struct build *p)
{
	static char dir[4096];
	struct buf tasks = BUF_INIT, stat = BUF_INIT;
	unsigned end_ms = 0, cpu_ms = 0;

	snprintf(dir, sizeof dir, "%s/rec", support_tmpdir());
	mkdir(dir, 0755);
	buf_addf(&tasks, "buildbeat tasks 1\nopen\t0\tm\t10\t0\t10,1\tmake\t4.3\t/src\tmake %s\n", p->jobs);
	for (unsigned i = 0; i < TASKS_MAX && p->task[i].name; i++) {
		const struct planned *t = &p->task[i];

		buf_addf(&tasks, "start\t%u000\tm.%u\t%u\t\t%s\t%s\t%s\t%s\n", t->start_ms, i + 1, 20 + i, t->kind,
			 t->after ? t->name : "", t->after ? "" : t->name, t->command);
		if (t->after)
			buf_addf(&tasks, "after\t%u000\tm.%u\t%s\n", t->start_ms, i + 1, t->after);
		buf_addf(&tasks, "done\t%u000\tm.%u\t0\t%u000\t0\t1000\n", t->end_ms, i + 1, t->cpu_ms);
		end_ms = t->end_ms > end_ms ? t->end_ms : end_ms;
		cpu_ms += t->cpu_ms;
	}
	buf_addf(&tasks, "close\t%u000\tm\n", end_ms);
	/* the CPU time of the build and of others */
	buf_adds(&stat, "buildbeat proc_stat 1 1000 user:10ms:c\n@0 \n");
	for (unsigned ms = 1000; ms <= end_ms; ms += 1000)
		buf_addf(&stat, "@%u %u\n", ms, cpu_ms / (end_ms / 1000) / 10 + p->others_percent * p->cores);
	support_writes(support_path("%s/tasks.log", dir), buf_str(&tasks));
	if (p->others_percent)
		support_writes(support_path("%s/proc_stat.log", dir), buf_str(&stat));
	support_writes(support_path("%s/build", dir),
		       support_path("buildbeat build 1\nstart_wall_ns: 1000000000\nstart_mono_ns: 1\ncores: %u\n"
				    "end_us: %u000\nstatus: 0\nuser_us: %u000\nsystem_us: 0\n", p->cores, end_ms, cpu_ms));
	buf_release(&tasks);
	buf_release(&stat);
	return dir;
}

/* The verdict ends with the first advice, if there is one, and is as before otherwise. No linker is advised for a build
 * of another machine, so nothing is expected with one. */
static void check_answer(const struct summary *s, const struct chain *c, const struct advise *a)
{
	const struct advice *i = a && a->n ? &a->item[0] : NULL;
	const struct answer_sentence *last;
	struct idle idle = { 0 };
	struct answer plain, advised;

	idle_find(&idle, s->rec);
	ck_assert_int_eq(answer_make(&plain, s, c, &idle), 0);
	ck_assert_int_eq(answer_make(&advised, s, c, &idle), 0);
	ck_assert_int_eq(advise_answer(&advised, s, c), 0);
	ck_assert_uint_eq(advised.n, plain.n + (i != NULL));
	for (size_t k = 0; k < plain.n; k++)
		ck_assert_str_eq(advised.sentence[k].text, plain.sentence[k].text);
	if (i) {
		struct buf says = BUF_INIT, was = BUF_INIT;

		text_add_time(&says, i->wall_us);
		text_add_time(&was, s->wall_us);
		buf_addf(&says, " instead of %s", buf_str(&was));
		last = &advised.sentence[plain.n];
		ck_assert_int_eq(last->about, ANSWER_ADVICE);
		ck_assert_uint_eq(last->task, i->task);
		ck_assert_msg(strstr(last->text, says.data) != NULL, "%s", last->text);
		if (i->about != ADVICE_QUIET) {
			ck_assert_msg(strstr(last->text, support_path("To be faster, %.*s (", (int)i->action, i->text)) ==
				      last->text, "%s", last->text);
			ck_assert_msg(strstr(last->text, support_path("): %s.", i->text + i->action + 2)) != NULL, "%s",
				      last->text);
		}
		buf_release(&says);
		buf_release(&was);
	}
	answer_release(&plain);
	answer_release(&advised);
}

TEST_EACH(planted, builds)
{
	const struct build *p = &builds[_i];
	const struct advise_tools tools = { .linker = p->linker };
	RELEASED(recorded, r);
	RELEASED(chain, c);
	struct rerun replay;
	struct advise a;
	struct error err;

	recorded_read(&r, record(p));
	ck_assert_int_eq(chain_make(&c, &r.sum), 0);
	ck_assert_int_eq(rerun_make(&replay, &r.sum, &c, &err), 0);
	ck_assert_int_eq(advise_make(&a, &replay, &tools, &err), 0);
	if (!p->about) {
		ck_assert_msg(!a.n, "%s: %s", p->what, a.n ? a.item[0].text : "");
	} else {
		ck_assert_msg(a.n, "%s: nothing", p->what);
		ck_assert_str_eq(advise_word[a.item[0].about], p->about);
		ck_assert_str_eq(a.item[0].whatif, p->whatif);
		ck_assert_msg(strstr(a.item[0].text, p->text) != NULL, "%s: %s", p->what, a.item[0].text);
		ck_assert_double_eq_tol((double)a.item[0].wall_us, p->wall_s * S, .05 * p->wall_s * S);
	}
	for (size_t i = 1; i < a.n; i++)
		ck_assert_int_ge(a.item[i].wall_us, a.item[i - 1].wall_us);
	check_answer(&r.sum, &c, p->linker ? NULL : &a);
	advise_release(&a);
	rerun_release(&replay);
}

/* What a failed build did not run is unknown, so nothing is advised. */
TEST(failed)
{
	const char *dir = record(&builds[0]);
	struct buf build = BUF_INIT;
	char *status;

	support_read(&build, support_path("%s/build", dir));
	status = strstr(build.data, "status: 0");
	ck_assert_ptr_nonnull(status);
	status[strlen("status: ")] = '2';
	support_writes(support_path("%s/build", dir), build.data);
	buf_release(&build);
	support_expect(NULL, 0, "The build did not end well: what it would have run is unknown.\n", "", BUILDBEAT " advise %s", dir);
	support_expect(NULL, 1, "", "", BUILDBEAT " show %s | grep 'To be faster'", dir);
}

/* Each output has the same advice. */
TEST(everywhere)
{
	const char *dir = record(&builds[1]);

	for (int i = 0; i < 6; i++) {
		static const char *const commands[] = {
			"show", "show --all", "show --markdown", "show --json", "show --html -", "chart -o -"
		};
		struct run r;

		support_buildbeat(&r, NULL, 0, support_path("%s %s", commands[i], dir));
		ck_assert_msg(!r.status, "%s: %s", commands[i], r.err.data);
		ck_assert_msg(strstr(r.out.data, "start long.o earlier (about 4.10 s instead of 6.10 s)") != NULL, "%s: %s",
			      commands[i], r.out.data);
	}
}

static size_t count_advices(const char *dir, size_t n_tasks)
{
	struct answer a = { 0 };
	struct recorded r;
	struct chain c;
	size_t n;

	recorded_read(&r, dir);
	ck_assert_uint_eq(r.rec.n_tasks, n_tasks);
	ck_assert_int_eq(chain_make(&c, &r.sum), 0);
	ck_assert_int_eq(advise_answer(&a, &r.sum, &c), 0);
	n = a.n;
	answer_release(&a);
	chain_release(&c);
	recorded_release(&r);
	return n;
}

/* Nobody waits for the advice about a large build. */
TEST(large)
{
	const char *dir = record(&builds[0]);
	struct buf tasks = BUF_INIT;

	support_read(&tasks, support_path("%s/tasks.log", dir));
	/* there are five */
	for (unsigned n = 6; n <= ADVISE_TASKS_MOST + 1; n++) {
		buf_addf(&tasks, "start\t4500000\tm.%u\t30\t\tcompile\tx%u\t\tcc\ndone\t4500000\tm.%u\t0\t0\t0\t0\n", n, n, n);
		if (n < ADVISE_TASKS_MOST)
			continue;
		support_writes(support_path("%s/tasks.log", dir), buf_str(&tasks));
		ck_assert_uint_eq(count_advices(dir, n), n == ADVISE_TASKS_MOST);
	}
	buf_release(&tasks);
}

/* A name is no pattern. */
TEST(hostile_names)
{
	static const struct build hostile = {
		"a file that is most of it", "-j4", 4, 0, NULL, {
			COMPILE("a.o", "a.c", 0, 1000, 1000), COMPILE("b[1]*\\=3.o", "big.c", 0, 8000, 8000) },
		"split", "--split 'b\\[1]\\*\\\\=3.o=4'", 3.1, "split b[1]*" };
	const char *dir = record(&hostile);
	struct run r;

	support_buildbeat(&r, NULL, 0, support_path("advise %s", dir));
	ck_assert_int_eq(r.status, 0);
	ck_assert_msg(strstr(r.out.data, hostile.whatif) != NULL, "%s", r.out.data);
}

/* What is printed can be repeated, and predicts the same. */
TEST_EACH(repeated, builds)
{
	const struct build *p = &builds[_i];
	const char *dir;
	struct run r;

	if (!p->about || p->linker)
		return;
	dir = record(p);
	support_buildbeat(&r, NULL, 0, support_path("advise %s", dir));
	ck_assert_int_eq(r.status, 0);
	ck_assert_msg(strstr(r.out.data, support_path("buildbeat whatif %s\n", p->whatif)) != NULL, "%s", r.out.data);
	support_expect(NULL, 0, NULL, "", "a=$(" BUILDBEAT " advise --json %s | sed -n 's/.*\"wall_us\": //p' | sed -n 2p); "
		       "w=$(" BUILDBEAT " whatif --json %s %s | sed -n 's/^  \"wall_us\": //p'); test -n \"$a\" && test \"$a\" = \"$w\"",
		       dir, p->whatif, dir);
}

static const struct { const char *argv[8]; } commands[] = {
	{ { "advise", "rec" } }, { { "advise", "--json", "rec" } }, { { "show", "rec" } },
	{ { "whatif", "--split", "long.o=2", "--first", "long.o", "rec" } }, { { "whatif", "--curve", "rec" } },
	{ { "whatif", "--json", "--cache-hit", "80%", "-j4", "rec" } },
};

/* Without memory at any place: all of it, or a message. */
TEST_EACH(nth_fails, commands)
{
	const char *dir = record(&builds[1]);

	setenv("COLUMNS", "80", 1);
	setenv("HOME", "/nonexistent", 1);
	ck_assert_int_gt(nomem_command(support_path("%s/..", dir), commands[_i].argv), 60);
}

TEST(printed)
{
	const char *dir = record(&builds[1]);

	support_prints(support_path("%s/..", dir), &(struct support_golden){ "advise-80.txt", "advise rec", 80 });
	support_prints(support_path("%s/..", dir), &(struct support_golden){ "advise.json", "advise --json rec", 0 });
}

TEST_MAIN(advise);
