/* SPDX-License-Identifier: MIT */
#include "analyse/output_excerpt.h"
#include "convert/zstd.h"
#include "tests/launched.h"
#include "tests/recorded.h"

#include <errno.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Which task wrote a line: each line of random builds has the name of its task, @NAME@, and a
 * line with a task must be of that one, or of one in which it ran. */

struct found {
	uint64_t named, known;	/* lines with a name; of these, with a task */
	uint64_t unnamed;	/* lines without a name that have a task */
};

static bool is_inside(const struct recording *rec, uint32_t task, uint32_t around)
{
	while (task != NO_INDEX && task != around)
		task = rec->instance[rec->task[task].instance].parent_task;
	return task == around;
}

/* The first task with that name that is, or is inside, the found one. */
static bool is_of(const struct recording *rec, struct slice name, uint32_t found)
{
	for (uint32_t i = 0; i < rec->n_tasks; i++) {
		if (slice_is(name, rec->task[i].name) && is_inside(rec, i, found))
			return true;
	}
	return false;
}

static void check_line(struct found *f, const struct recording *rec,
		       const struct output_line *line, uint32_t task)
{
	/* of ninja's statuses on a terminal only the last one remains visible */
	const char *cr = memrchr(line->text.p, '\r', line->text.len), *begin = cr ? cr : line->text.p;
	const char *at = memchr(begin, '@', (size_t)(line->text.p + line->text.len - begin)), *end;
	struct slice name;

	if (!at || !(end = memchr(at + 1, '@', (size_t)(line->text.p + line->text.len - at - 1)))) {
		f->unnamed += task != NO_INDEX;
		return;
	}
	if (memmem(begin, (size_t)(at - begin), "no newline", 10))
		return;	/* the line is of two tasks */
	name = (struct slice){ at + 1, (size_t)(end - at - 1) };
	f->named++;
	if (task == NO_INDEX)
		return;
	f->known++;
	ck_assert_msg(is_of(rec, name, task), "line %llu '%.*s' is not of %s",
		      (unsigned long long)line->number, (int)line->text.len, line->text.p,
		      rec->task[task].name);
}

static struct found check_build(void)
{
	struct output_tasks tasks;
	struct output_line line;
	struct recording rec;
	struct error err = { 0 };
	struct output *o;
	struct found f = { 0 };
	uint64_t known = 0;
	size_t at = 0;
	int r;

	launched_read(&rec, "log");
	ck_assert_int_eq(output_open(&o, rec.path, &zstd_codec, &err), 0);
	ck_assert_int_eq(output_find_tasks(&tasks, o, &rec), 0);
	while ((r = output_next(o, &line, true)) > 0) {
		uint32_t task = output_task_of(&tasks, line.number, &at);

		known += task != NO_INDEX;
		check_line(&f, &rec, &line, task);
	}
	ck_assert_int_eq(r, 0);
	ck_assert_uint_eq(known, tasks.n_known);
	output_tasks_release(&tasks);
	output_close(o);
	recording_release(&rec);
	return f;
}

/* Makefiles */

struct shape {
	const char *flags;
	bool silent;		/* some commands are not printed */
	bool direct;		/* some are not collected, some expand functions, some fail */
	unsigned least;		/* percent of lines that must have a task */
};

static void add_command(struct buf *b, const struct shape *s, unsigned task, uint64_t *seed)
{
	unsigned n = (unsigned)random_below(seed, 4);

	buf_adds(b, "\t");
	if (s->silent && !random_below(seed, 2))
		buf_adds(b, "@");
	if (s->direct && !random_below(seed, 6))
		buf_adds(b, "+");
	if (s->direct && !random_below(seed, 6))
		buf_adds(b, "-false; ");
	if (random_below(seed, 2))
		buf_addf(b, "sleep 0.0%u; ", (unsigned)random_below(seed, 30));
	for (unsigned i = 0; i <= n; i++)
		buf_addf(b, "echo \"@t%u@  %u\"%s; ", task, i, random_below(seed, 3) ? "" : " >&2");
	if (!random_below(seed, 4))
		buf_addf(b, "\\\n\t  echo @t%u@ more; ", task);
	if (s->direct && !random_below(seed, 8))
		buf_adds(b, "$(shell sleep 0.005; echo shell >&2)");
	buf_adds(b, "true\n");
}

static void make_makefile(const struct shape *s, uint64_t seed)
{
	unsigned n = 24 + (unsigned)random_below(&seed, 24), subs = 3;
	struct buf b = BUF_INIT;

	buf_adds(&b, "all:");
	for (unsigned i = 0; i < n; i++)
		buf_addf(&b, " t%u", i);
	buf_adds(&b, " sub\n.PHONY: all sub\nsub:\n\t$(MAKE) -f sub.mk\n");
	for (unsigned i = 0; i < n; i++) {
		unsigned commands = 1 + (unsigned)random_below(&seed, 3);

		buf_addf(&b, "t%u:", i);
		if (i && random_below(&seed, 2))
			buf_addf(&b, " t%u", (unsigned)random_below(&seed, i));
		buf_adds(&b, "\n");
		for (unsigned k = 0; k < commands; k++)
			add_command(&b, s, i, &seed);
	}
	support_writes(support_path("%s/Makefile", support_tmpdir()), buf_str(&b));
	buf_clear(&b);
	buf_adds(&b, "all:");
	for (unsigned i = 0; i < subs; i++)
		buf_addf(&b, " t%u", 1000 + i);
	buf_adds(&b, "\n");
	for (unsigned i = 0; i < subs; i++) {
		buf_addf(&b, "t%u:\n", 1000 + i);
		add_command(&b, s, 1000 + i, &seed);
	}
	support_writes(support_path("%s/sub.mk", support_tmpdir()), buf_str(&b));
	buf_release(&b);
}

static const struct shape shapes[] = {
	{ "-O -j4", false, false, 99 }, { "-Otarget -j8", false, false, 99 },
	{ "-Oline -j4", false, false, 99 }, { "-Orecurse -j4", false, false, 99 },
	{ "-O", false, false, 99 }, { "-j1", false, false, 0 },
	{ "-O -j4", true, false, 0 }, { "-Oline -j8", true, true, 0 }, { "-O -j4", true, true, 0 },
	{ "-Orecurse -k -j4", true, true, 0 }, { "-j4", false, false, 0 },
	{ "-j8", true, true, 0 }, { "-j1", true, true, 0 }, { "-k", false, true, 0 },
};

static const char *const outputs[] = { ">out 2>&1", "2>err >out" };

#define SEEDS 1

TEST_LOOP(makes, SEEDS * ARRAY_SIZE(shapes))
{
	const struct shape *s = &shapes[_i % ARRAY_SIZE(shapes)];
	unsigned seed = (unsigned)_i / ARRAY_SIZE(shapes);
	struct found f;
	struct run r;

	SKIP_IF(!support_can_be_loaded());
	make_makefile(s, 7 * seed + (unsigned)_i);
	support_run(&r, support_tmpdir(), RECORD "--log -n log -- make %s %s", s->flags,
		    outputs[_i % 3 == 2]);
	ck_assert_msg(s->direct || !r.status, "%s", r.err.data);
	f = check_build();
	ck_assert_uint_gt(f.named, 50);
	if (_i % 3 != 2)
		ck_assert_msg(f.known * 100 >= f.named * s->least, "%s: %llu of %llu", s->flags,
			      (unsigned long long)f.known, (unsigned long long)f.named);
}

/* ninja */

static void make_ninja(uint64_t seed, bool console)
{
	unsigned n = 40;
	struct buf b = BUF_INIT;

	buf_adds(&b, "rule run\n  command = $cmd && touch $out\n  description = $what\n");
	for (unsigned i = 0; i < n; i++) {
		buf_addf(&b, "build t%u: run", i);
		if (i && random_below(&seed, 2))
			buf_addf(&b, " t%u", (unsigned)random_below(&seed, i));
		buf_addf(&b, "\n  what = %s @t%u@ %s\n", random_below(&seed, 3) ? "CC" : "a long description "
			 "that does not fit into the width of a usual terminal at all, so that it is "
			 "shortened in its middle", i, random_below(&seed, 2) ? "x" : "");
		buf_adds(&b, "  cmd = ");
		if (random_below(&seed, 2))
			buf_addf(&b, "sleep 0.0%u; ", (unsigned)random_below(&seed, 30));
		for (uint64_t k = random_below(&seed, 4); k; k--)
			buf_addf(&b, "echo @t%u@ %u%s; ", i, (unsigned)k,
				 random_below(&seed, 2) ? " >&2" : "");
		buf_adds(&b, random_below(&seed, 4) ? "true\n" : "printf 'no newline'\n");
		if (console && !random_below(&seed, 5))
			buf_adds(&b, "  pool = console\n");
	}
	support_writes(support_path("%s/build.ninja", support_tmpdir()), buf_str(&b));
	buf_release(&b);
}

static bool can_ninja(void)
{
	return support_has("ninja") && support_can_be_loaded();
}

TEST_LOOP(ninjas, 6)
{
	bool console = _i % 3 == 2;
	struct found f;
	struct run r;

	SKIP_IF(!can_ninja());
	make_ninja((uint64_t)_i, console);
	support_run(&r, support_tmpdir(), RECORD "--log -n log -- ninja -j%d%s >out 2>&1", 1 + _i,
		    _i % 2 ? " -v" : "");
	ck_assert_int_eq(r.status, 0);
	f = check_build();
	ck_assert_uint_gt(f.named, 40);
	ck_assert(console || f.known == f.named);
}

/* Its status lines replace one another. */
TEST_LOOP(ninja_on_terminal, 2)
{
	bool console = _i == 1;
	struct winsize size = { .ws_row = 24, .ws_col = 80 };
	const char *top = support_tmpdir();
	char chunk[4096];
	struct found f;
	int master, status;
	pid_t pid;

	SKIP_IF(!can_ninja());
	make_ninja(77 + (uint64_t)_i, console);
	pid = forkpty(&master, NULL, NULL, &size);
	ck_assert_int_ge(pid, 0);
	if (!pid) {
		if (!chdir(top) && !setenv("TERM", "xterm", 1))
			execl("/bin/sh", "sh", "-c", RECORD "--log -n log -- ninja -j4",
			      (char *)NULL);
		_exit(99);
	}
	while (read(master, chunk, sizeof chunk) > 0)
		;
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	close(master);
	ck_assert_int_eq(status, 0);
	f = check_build();
	ck_assert_uint_gt(f.named, 40);
	ck_assert_uint_gt(f.known, console ? 0 : f.named / 4);
}

/* A build tool inside a task: its lines are the task's. */
TEST_LOOP(ninja_in_make, 2)
{
	struct run r;

	SKIP_IF(!can_ninja());
	make_ninja(5, false);
	support_writes(support_path("%s/Makefile", support_tmpdir()),
		       "all: a b c\na: ; ninja -j2\nb: ; for i in 1 2 3 4 5 6; do echo @b@ $$i; "
		       "sleep 0.02; done\nc: ; for i in 1 2 3; do echo @c@ $$i; sleep 0.03; done\n");
	support_run(&r, support_tmpdir(), RECORD "--log -n log -- make -j3 %s", _i ? "-O" : "");
	ck_assert_int_eq(r.status, 0);
	check_build();
}

/* The last task of a make writes nothing when that make has ended. */
TEST(after_sub_make)
{
	struct found f;

	SKIP_IF(!support_can_be_loaded());
	support_writes(support_path("%s/Makefile", support_tmpdir()),
		       "all: a b\nsub: ; @+$(MAKE) -f sub.mk\na: sub; @echo @a@\n"
		       "x: a; echo @x@\nb: x; @echo @b@\n");
	support_writes(support_path("%s/sub.mk", support_tmpdir()), "c: ; @echo @c@\n");
	support_expect(support_tmpdir(), 0, NULL, NULL, RECORD "--log -n log -- make -O -j2");
	f = check_build();
	ck_assert_uint_eq(f.named, 5);
	/* the command of x comes after the end of c and of a, if make had time to print it then */
	ck_assert_uint_ge(f.known, 1);
}

static bool is_report(const char *line)
{
	return strstr(line, "] Error ") || strstr(line, "] Killed") || strstr(line, "] Segmentation fault");
}

/* make's own line about a failure names the task. Of two tasks with equal names it could be either. */
TEST(failures)
{
	struct output_tasks tasks;
	struct output_line line;
	struct recording rec;
	struct error err = { 0 };
	struct output *o;
	unsigned n = 0, in_sub = 0;
	bool inside;
	size_t at = 0;
	struct run r;

	SKIP_IF(!support_can_be_loaded());
	support_writes(support_path("%s/Makefile", support_tmpdir()),
		       "all: a b kill odd]\\ name sub\na:\n\t@exit 3\nb:\n\t@sleep 0.1; exit 4\n"
		       "kill:\n\t@kill -9 $$$$\nodd]\\ name:\n\t-@kill -SEGV $$$$\n"
		       "sub:\n\t@$(MAKE) -f sub.mk; $(MAKE) -f sub.mk\n");
	support_writes(support_path("%s/sub.mk", support_tmpdir()),
		       "all: a twin\na:\n\t@exit 3\ntwin:\n\t@exit 5\n");
	support_run(&r, support_tmpdir(), RECORD "--log -n log -- make -k -j4 >out 2>&1");
	ck_assert_int_ne(r.status, 0);
	launched_read(&rec, "log");
	ck_assert_int_eq(output_open(&o, rec.path, &zstd_codec, &err), 0);
	ck_assert_int_eq(output_find_tasks(&tasks, o, &rec), 0);
	while (output_next(o, &line, true) > 0) {
		uint32_t task = output_task_of(&tasks, line.number, &at);
		char text[200];

		snprintf(text, sizeof text, "%.*s", (int)line.text.len, line.text.p);
		if (!is_report(text))
			continue;
		inside = !strncmp(text, "make[1]", 7);
		in_sub += inside;
		/* known if the other make had not failed yet */
		ck_assert_msg(inside || task != NO_INDEX, "%s", text);
		if (task == NO_INDEX)
			continue;
		ck_assert_msg(strstr(text, rec.task[task].name), "%s", text);
		ck_assert_int_eq(rec.instance[rec.task[task].instance].level, inside);
		ck_assert_uint_eq(tasks.lines[task], 0);
		ck_assert_int_eq(rec.task[task].slot, -1);
		n += !inside;
	}
	ck_assert_uint_eq(n, 5);
	ck_assert_uint_eq(in_sub, 4);
	output_tasks_release(&tasks);
	output_close(o);
	recording_release(&rec);
}

/* The first four and the last four lines of each task, as a terminal shows them. */
static void check_excerpt(const struct output_excerpt *x, const struct output_tasks *tasks,
			  const struct recording *rec)
{
	const char *at = x->text.data;
	uint64_t n = 0;

	for (size_t i = 0; i < x->n; i++) {
		uint32_t task = x->task[i];
		const char *end = memchr(at, '\n', (size_t)(x->text.data + x->text.len - at));
		uint64_t all = tasks->lines[task], number;
		char expected[80];

		ck_assert_ptr_nonnull(end);
		n = i && x->task[i - 1] == task ? n + 1 : 1;
		number = n <= EXCERPT_LINES || all <= 2 * EXCERPT_LINES ? n :
			 all - EXCERPT_LINES + n - EXCERPT_LINES - 1;
		snprintf(expected, sizeof expected, "%s line %d", rec->task[task].name, (int)number);
		if (n == EXCERPT_LINES + 1 && all > 2 * EXCERPT_LINES)
			snprintf(expected, sizeof expected, "...");
		ck_assert_msg((size_t)(end - at) == strlen(expected) &&
			      !memcmp(at, expected, strlen(expected)), "'%.*s', not '%s'",
			      (int)(end - at), at, expected);
		at = end + 1;
	}
	ck_assert_ptr_eq(at, x->text.data + x->text.len);
}

TEST(excerpt)
{
	struct buf makefile = BUF_INIT;
	struct output_excerpt x;
	struct output_tasks tasks;
	struct recording rec;
	struct error err = { 0 };
	struct output *o;

	SKIP_IF(!support_can_be_loaded());
	/* no two end at once: nobody knows whose lines come then */
	buf_adds(&makefile, "all: $(foreach i,1 2 3 4 7 8 9 10 30,t$i)\nt%:\n\t@i=1; "
		 "while [ $$i -le $* ]; do printf 'gone\\r\\033[1;31m%s\\033[0m line %d\\n' $@ $$i; "
		 "i=$$((i + 1)); done; sleep 0.$$((10 + 3 * $*))\n");
	support_writes(support_path("%s/Makefile", support_tmpdir()), buf_str(&makefile));
	buf_release(&makefile);
	support_expect(support_tmpdir(), 0, NULL, NULL, RECORD "--log -n log -- make -O -j2");
	launched_read(&rec, "log");
	ck_assert_int_eq(output_open(&o, rec.path, &zstd_codec, &err), 0);
	ck_assert_int_eq(output_find_tasks(&tasks, o, &rec), 0);
	ck_assert_int_eq(output_excerpt_make(&x, o, &tasks, &rec), 0);
	check_excerpt(&x, &tasks, &rec);
	ck_assert_uint_ge(x.n, 1);	/* of those whose lines are known */
	output_excerpt_release(&x);
	output_tasks_release(&tasks);
	output_close(o);
	recording_release(&rec);
}

TEST(single_tasks)
{
	struct found f;

	support_expect(support_tmpdir(), 0, NULL, "", RECORD "--log -n log -- sh -c '"
		       BUILDBEAT " task one -- sh -c \"for i in 1 2 3; do sleep 0.05; echo @one@; "
		       "done; sleep 0.1\"; echo @nobody@; sleep 0.1; "
		       BUILDBEAT " task two -- sh -c \"sleep 0.1; echo @two@; sleep 0.1\"'");
	f = check_build();
	ck_assert_uint_eq(f.named, 5);
	ck_assert_uint_ge(f.known, 1);
}

/* A lost index is one that ends early; without the output there is nothing. */
TEST(index_is_lost)
{
	const char *dir = support_tmpdir();
	struct error err = { 0 };
	struct output *o;

	ck_assert_int_eq(output_open(&o, dir, NULL, &err), -ENOENT);
	ck_assert_ptr_null(o);
	support_writes(support_path("%s/" OUTPUT_LOG, dir), "text\n");
	ck_assert_int_eq(output_open(&o, dir, NULL, &err), 0);
	output_close(o);
}

TEST_MAIN(log_tasks);
