/* SPDX-License-Identifier: MIT */
#include "analyse/output_nearby.h"
#include "convert/zstd.h"
#include "recording/event.h"
#include "tests/launched.h"
#include "tests/recorded.h"

#include <stdio.h>
#include <string.h>

/* Whose line it is if several tasks can have written it: lines that name a file, and what follows. */

/* Small logs. Their tasks run all the time. */

struct command {
	const char *name, *command;
};

struct line {
	const char *text;
	int task;		/* from 0, or NONE */
};

#define NONE (-1)
#define LATER(task) ((task) + 100)	/* read alone, after the lines before */
#define TASKS_MAX 4
#define LINES_MAX 24

struct log {
	struct command task[TASKS_MAX];
	struct line line[LINES_MAX];
};

#define COMPILE(name) { name ".o", "gcc -c " name ".c -o " name ".o" }
#define TWO { COMPILE("a"), COMPILE("b") }

static const struct log logs[] = {
	/* kinds of messages */
	{ TWO, { { "a.c:1:24: error: x", 0 }, { "./b.c:7: warning: x", 1 }, { "a.c(3): error C2065", 0 },
		 { "b.c(3,5): error TS1005: x", 1 }, { "a.c: In function 'f':", 0 },
		 { "In file included from b.c:1:", 1 }, { "gcc: error: a.c: No such file or directory", 0 },
		 { "cc1: fatal error: b.c: No such file or directory", 1 },
		 { "Assembler: b.c: x", 1 }, { "c.c:1:24: error: x", NONE }, { "a.c: x", NONE },
		 { "see a.c:1:24: error", NONE }, { "a.c:x: error", NONE }, { "collect2: error: x", NONE },
		 { "a.o", NONE }, { "", NONE }, { ":", NONE }, { "a.c", NONE }, { "a.c:", NONE },
		 { "a.c:1", NONE }, { ": : a.c:1:", NONE } } },
	{ TWO, { { "\033[01m\033[Ka.c:1:24:\033[m\033[K \033[01;31m\033[Kerror: \033[m\033[Kx", 0 },
		 { "    1 | int \033[01;31m\033[Kx\033[m\033[K;\r", 0 }, { "a.c:1:1: x\rb", NONE } } },
	{ { { "m", "gcc a.o b.o -o m -lx" }, COMPILE("c"), COMPILE("a") },
	  { { "/usr/bin/ld: b.o: in function `f':", 0 }, { "z.c:(.text+0x5): undefined reference to `g'", 0 },
	    { "/usr/bin/ld: /lib/libx.a(a.o): in function `f':", NONE },
	    { "/usr/bin/ld: cannot find -lx: No such file or directory", 0 },
	    { "/usr/bin/ld: cannot find -ly: No such file or directory", NONE },
	    /* no compiler says this */
	    { "c.c:(.text+0x5): undefined reference to `g'", NONE },
	    { "c.c:3: undefined reference to `g'", NONE } } },
	{ { { "m", "gcc m.c n.c -o m" }, COMPILE("c") },
	  { { "/usr/bin/ld: /tmp/cc1.o: in function `main':", NONE },
	    { "m.c:(.text+0x5): undefined reference to `g'", 0 },
	    { "/usr/bin/ld: m.c:9: undefined reference to `h'", 0 } } },
	{ { { "A.class", "javac A.java" }, { "B.class", "javac B.java" } },
	  { { "A.java:3: error: cannot find symbol", 0 }, { "class A { int x = y; }", 0 },
	    { "                  ^", 0 }, { "1 error", NONE } } },
	{ { { "a", "rustc a.rs" }, { "b", "rustc b.rs" } },
	  { { "error[E0425]: cannot find value `y`", 0 }, { " --> a.rs:1:27", 0 }, { "  |", 0 },
	    { "1 | fn main() { let x = y; }", 0 }, { "  |                     ^ not found", 0 },
	    { "  = note: x", 0 }, { "", NONE }, { "error: aborting", LATER(NONE) }, { " --> b.rs:1:2", LATER(1) } } },
	{ { { "a", "python3 a.py" }, { "b", "python3 lib/b.py" } },
	  { { "Traceback (most recent call last):", NONE }, { "  File \"/t/a.py\", line 3, in <module>", 0 },
	    { "    f()", 0 }, { "  File \"/usr/lib/python3/x.py\", line 3, in f", 0 }, { "    g()", 0 },
	    { "    ~^^", 0 }, { "NameError: name 'g' is not defined", 0 }, { "ValueError", NONE },
	    { "  File \"lib/b.py\", line 1", 1 }, { "    x", LATER(NONE) } } },
	/* announcements */
	{ { { "a.o", "set -e; echo '  CC      a.o'; gcc -c a.c -o a.o" }, { "liba.a", "ar rc liba.a a.o" },
	    { "d/b.o", "printf '    %b %b\\n' CC d/b.o 1>&2; gcc -c d/b.c" } },
	  { { "  CC      a.o", 0 }, { "    \033[34mCC\033[0m \033[33md/b.o\033[0m", 2 }, { "  AR  liba.a", 1 },
	    { "  CC  b.o", NONE }, { "  LD  c.o", NONE }, { "  cc  liba.a", NONE } } },
	{ { { "a.o", "echo \"  CC a.o\"" }, { "a.o", "gcc -c a.c -o a.o" }, { "b.o", "echo Making b.o now" },
	    { "c.o", "gcc -c c.c -o c.o" } },
	  { { "  CC a.o", 0 }, { "Making b.o now", 2 }, { "Making b.o", NONE }, { "  CC c.o", 3 } } },
	{ { { "x/a.c.o", "cmake -E cmake_echo_color \"--switch=\" \"Building C object x/a.c.o\"" },
	    { "x/a.c.o", "cc -o x/a.c.o -c /s/a.c" } },
	  { { "[  5%] Building C object x/a.c.o", 0 }, { "/s/a.c:1:2: error: x", 1 } } },
	/* who else can name the file */
	{ { COMPILE("a"), { "b", "sh x.sh 'a.c'" } }, { { "a.c:1:24: error: x", NONE } } },
	{ { COMPILE("a"), { "b", "lint *.c" } }, { { "a.c:1:24: error: x", NONE }, { "a.h:1:2: x", NONE } } },
	{ { COMPILE("a"), { "b", "(cd lib && gcc -c lib/a.c)" } }, { { "a.c:1:24: error: x", NONE },
								      { "lib/a.c:1: x", NONE } } },
	{ { COMPILE("lib/a"), COMPILE("bin/a") }, { { "lib/a.c:1:24: error: x", 0 },
						    { "bin/a.c:1:24: error: x", 1 },
						    { "a.c:1:24: error: x", NONE } } },
	{ { COMPILE("lib/a"), { "lint", "cppcheck lib" } }, { { "lib/a.c:1:24: error: x", NONE } } },
	{ { COMPILE("a"), { "lint", "cppcheck ." } }, { { "a.c:1:24: error: x", NONE } } },
	{ { COMPILE("a"), { "b", "gcc x ~#1234" } }, { { "a.c:1:24: error: x", NONE } } },
	{ { COMPILE("a"), { "b", "" } }, { { "a.c:1:24: error: x", NONE } } },
	{ { COMPILE("a"), { "Makefile", "sh config.status Makefile" }, { "a.d", "gcc -MM x -o a.d" } },
	  { { "Makefile:3: warning: x", NONE }, { "a.d:1: *** missing separator.  Stop.", NONE } } },
	/* what follows */
	{ TWO, { { "a.c:1:24: error: x", 0 }, { "    1 | int x;", 0 }, { "      |     ^", LATER(0) },
		 { "  +++ |+int y;", LATER(0) }, { "text", NONE }, { "    1 | int x;", NONE } } },
	{ TWO, { { "a.c:1:24: error: x", 0 }, { "      |     ^", NONE } } },
	{ TWO, { { "a.c: In function 'f':", 0 }, { "    1 | int x;", NONE } } },
	{ TWO, { { "c.c:1:24: error: x", NONE }, { "    1 | int x;", NONE }, { "      | ^", NONE }, { "a.c:1:24: error: x", 0 },
		 { "    1 | int x;", 0 } } },
	{ TWO, { { "c.c:1:24: error: x", NONE }, { "a.c:1:24: error: x", 0 }, { "    1 | x;", NONE } } },
	{ TWO, { { "c.c:9:24: error: x", NONE }, { "a.c:21:24: error: x", 0 }, { "   20 | x;", 0 },
		 { "   21 | x;", 0 }, { "      | ^", NONE } } },
	{ TWO, { { "b.c:90:1: error: x", 1 }, { "   90 | x;", 1 }, { "a.c:21:24: error: x", 0 },
		 { "   21 | x;", 0 }, { "      | ^", NONE } } },
	{ TWO, { { "b.c:90:1: error: x", 1 }, { "a.c:21:24: error: x", 0 }, { "   21 | x;", 0 },
		 { "      | ^", 0 }, { "   90 | x;", NONE } } },
	{ TWO, { { "b.c:9:3: error: x", 1 }, { "a.c:1:7: error: x", 0 }, { "  int x = y;", 0 },
		 { "      ^~", 0 } } },
	{ TWO, { { "b.c:1:24: error: x", 1 }, { "a.c:1:24: error: x", 0 }, { "    1 | x;", NONE },
		 { "b.c:1:24: error: x", 1 }, { "    1 | x;", NONE } } },
	{ TWO, { { "a.c:1:7: error: x", 0 }, { "  int x = y;", 0 }, { "      ^~", 0 },
		 { "a.c:1:7: error: x", 0 }, { "  int x = y;", NONE }, { "       ^", NONE },
		 { "a.c:1:7: error: x", 0 }, { "  int x = y;", NONE }, { "      ^", LATER(NONE) } } },
	{ TWO, { { "b.c:1:7: error: x", 1 }, { "a.c:1:7: error: x", 0 }, { "  int x = y;", NONE },
		 { "      ^~", NONE } } },
	{ TWO, { { "In file included from ./d.h:1,", NONE }, { "d.h:1:2: error: x", NONE } } },
	{ TWO, { { "In file included from a.c:1,", 0 },
		 { "                 from d.h:3:", 0 }, { "e.h:5:9: error: x", 0 }, { "    5 | x", 0 },
		 { "e.h:6:9: error: x", NONE }, { "    6 | x", NONE } } },
	{ TWO, { { "In file included from a.c:1:", 0 }, { "d.h: In function 'f':", 0 },
		 { "d.h:5:9: warning: x", 0 }, { "    5 | x", 0 } } },
	{ TWO, { { "In file included from b.c:1:", 1 }, { "d.h: In function 'f':", 1 },
		 { "In file included from a.c:1:", 0 }, { "d.h: In function 'f':", NONE },
		 { "d.h:5:9: warning: x", NONE }, { "    5 | x", NONE } } },
};

static void make_recording(struct recorded *r, const struct log *log)
{
	RELEASED(buf, tasks = BUF_INIT, text = BUF_INIT, index = BUF_INIT);

	event_add_open(&tasks, 0, "m", &(struct event_open){ .pid = 5, .tool = "make", .version = "4.3",
		       .cwd = "/t", .command = "make -j4" });
	for (unsigned i = 0; i < TASKS_MAX && log->task[i].name; i++)
		event_add_start(&tasks, 10, "m", i + 1, &(struct event_task){ .name = log->task[i].name,
				.pid = 10 + (int)i, .slot = -1, .command = log->task[i].command });
	buf_adds(&index, OUTPUT_HEADER);
	for (size_t i = 0; i < LINES_MAX && log->line[i].text; i++) {
		if (i && log->line[i].task >= LATER(NONE))
			buf_addf(&index, "%d 100 12 %zu\n", 1000 * (int)i, text.len);
		buf_addf(&text, "%s\n", log->line[i].text);
	}
	buf_addf(&index, "900000 100 12 %zu\n", text.len);
	support_write(support_path("%s/" OUTPUT_LOG, support_tmpdir()), text.data, text.len);
	support_write(support_path("%s/" OUTPUT_INDEX, support_tmpdir()), index.data, index.len);
	recorded_make(r, "end_us: 1000000\n", buf_str(&tasks), NULL);
}

TEST_EACH(log, logs)
{
	const struct line *line = logs[_i].line;
	struct output_tasks tasks;
	uint64_t n = 0, known = 0;
	struct error err;
	struct output *o;
	RELEASED(recorded, r);
	size_t at = 0;

	make_recording(&r, &logs[_i]);
	ck_assert_int_eq(output_open(&o, r.rec.path, NULL, &err), 0);
	ck_assert_int_eq(output_find_tasks(&tasks, o, &r.rec), 0);
	for (; n < LINES_MAX && line[n].text; n++) {
		uint32_t found = output_task_of(&tasks, n, &at);
		int task = line[n].task < LATER(NONE) ? line[n].task : line[n].task - LATER(0);

		ck_assert_msg((found == NO_INDEX ? NONE : (int)found) == task,
			      "line %llu '%s' is of %d", (unsigned long long)n + 1, line[n].text, (int)found);
		known += found != NO_INDEX;
	}
	ck_assert_uint_eq(tasks.n_lines, n);
	ck_assert_uint_eq(tasks.n_known, known);
	output_tasks_release(&tasks);
	output_close(o);
}

/* What was written while a failed task ran of which no line is known. */

static const char nearby_tasks[] = "buildbeat tasks 1\nopen\t0\tm\t10\t0\t10,9\tmake\t4.3\t/t\tmake\n"
	"start\t10\tm.1\t11\t\t\tlong\t\tsleep 9\nstart\t20\tm.2\t12\t\t\tbad.o\t\tgcc -c bad.c -o bad.o\n"
	"start\t30\tm.3\t13\t\t\tmute\t\tsh mute\nfail\t3000000\tm.2\t1\t0\t0\t100\n"
	"fail\t3000010\tm.3\t1\t0\t0\t100\ndone\t9000000\tm.1\t0\t0\t0\t100\n";

static void make_nearby(const char *path, unsigned n, const char *own)
{
	RELEASED(buf, text = BUF_INIT, index = BUF_INIT);

	support_expect(NULL, 0, NULL, NULL, "mkdir -p '%s'", path);
	buf_adds(&index, OUTPUT_HEADER);
	buf_adds(&text, "too early\n");
	buf_addf(&index, "1900000 100 12 %zu\n", text.len);
	for (unsigned i = 1; i <= n; i++)
		buf_addf(&text, "text %u\n", i);
	buf_addf(&text, "%smake: *** Waiting for unfinished jobs....\n", own);
	buf_addf(&index, "2950000 100 12 %zu\n", text.len);
	buf_adds(&text, "make: *** [Makefile:5: bad.o] Error 1\ntoo late\n");
	buf_addf(&index, "3000200 100 12 %zu\n", text.len);
	support_write(support_path("%s/" OUTPUT_LOG, path), text.data, text.len);
	support_write(support_path("%s/" OUTPUT_INDEX, path), index.data, index.len);
	support_writes(support_path("%s/tasks.log", path), nearby_tasks);
	support_writes(support_path("%s/build", path), "buildbeat build 1\ncwd: /t\nend_us: 9000000\nstatus: 2\n");
}

TEST(nearby)
{
	static const char heads[] = "No message is known to come from %s (exit 1). " NEARBY_TEXT "\n";
	RELEASED(buf, lines = BUF_INIT, expected = BUF_INIT);
	char path[200];
	struct run r;

	snprintf(path, sizeof path, "%s/rec", support_tmpdir());
	make_nearby(path, 25, "");
	for (unsigned i = 6; i <= 25; i++)
		buf_addf(&lines, "text %u\n", i);
	buf_addf(&expected, "\nNo message is known to come from bad.o (exit 1). " NEARBY_TEXT "\n%s",
		 buf_str(&lines));
	support_run(&r, NULL, BUILDBEAT " log --failed '%s'", path);
	ck_assert_msg(strstr(r.out.data, buf_str(&expected)) != NULL, "%s", r.out.data);
	ck_assert_ptr_nonnull(strstr(r.out.data, "from mute (exit 1)"));
	support_run(&r, NULL, BUILDBEAT " show --markdown '%s'", path);
	ck_assert_msg(strstr(r.out.data, buf_str(&lines)) && strstr(r.out.data, NEARBY_TEXT) &&
		      !strstr(r.out.data, "text 5\n"), "%s", r.out.data);
	support_run(&r, NULL, BUILDBEAT " log --failed --json '%s'", path);
	ck_assert_msg(strstr(r.out.data, "\"task\":null,\"id\":null,\"text\":\"text 6\",\"continues\":false,"
			     "\"while_ran\":[\"") != NULL, "%s", r.out.data);
	ck_assert_ptr_null(strstr(r.out.data, "\"text 5\""));
	ck_assert_ptr_null(strstr(r.out.data, "too late"));
	/* an announcement is no message */
	make_nearby(path, 2, "  CC bad.o\n");
	support_run(&r, NULL, BUILDBEAT " log --failed '%s'", path);
	buf_clear(&expected);
	buf_addf(&expected, heads, "bad.o");
	ck_assert_msg(strstr(r.out.data, buf_str(&expected)) != NULL, "%s", r.out.data);
	ck_assert_ptr_null(strstr(r.out.data, "too early"));
	make_nearby(path, 2, "bad.c:1:24: error: x\n");
	support_run(&r, NULL, BUILDBEAT " log --failed '%s'", path);
	ck_assert_ptr_null(strstr(r.out.data, buf_str(&expected)));
	ck_assert_ptr_nonnull(strstr(r.out.data, "bad.c:1:24: error: x\n"));
}

/* Builds: each line has the name of its target, "@t3.o@". */

struct shape {
	const char *flags;
	bool gcc;		/* otherwise a script that prints messages */
	bool pieces;		/* each line is written alone */
	bool quiet;		/* "  CC t3.o", by an echo of its own or by the task */
	unsigned least;		/* percent of lines that must have a task */
};

static const struct shape shapes[] = {
	{ "-j2", true, false, false, 90 }, { "-j8", true, false, true, 90 },
	{ "-j4", false, false, false, 70 }, { "-j8", false, false, true, 70 },
	{ "-j8", false, true, false, 20 }, { "-j3", false, true, true, 20 },
	{ "-j8", false, true, true, 20 }, { "-j8 -O", false, false, true, 70 },
};

#define SEEDS 2
#define TARGETS 40

static void add_source(struct buf *b, const struct shape *s, unsigned target, uint64_t *seed)
{
	if (s->gcc) {
		buf_adds(b, "#include \"common.h\"\n");
		for (uint64_t n = random_below(seed, 4); n; n--)
			buf_addf(b, "#warning @t%u.o@\n", target);
		buf_addf(b, "int x%u;\n", target);
		return;
	}
	for (uint64_t n = 1 + random_below(seed, 4); n; n--) {
		bool header = !random_below(seed, 3);
		unsigned line = 1 + (unsigned)random_below(seed, 300);
		unsigned column = 1 + (unsigned)random_below(seed, 7);
		const char *next = s->pieces ? "'\nprintf '" : "";

		buf_adds(b, "{ printf '");
		if (header)
			buf_addf(b, "In file included from t%u.c:1: @t%u.o@\\n%s", target, target, next);
		buf_addf(b, "%s%u.%c:%u:%u: error: @t%u.o@\\n%s", header ? "common" : "t",
			 header ? 0 : target, header ? 'h' : 'c', line, column,
			 target, next);
		if (random_below(seed, 2))
			buf_addf(b, "   %2u | @t%u.o@\\n%s      |       ^~~ @t%u.o@\\n", line, target, next,
				 target);
		else if (!s->pieces || random_below(seed, 2))
			buf_addf(b, "int x @t%u.o@;\\n%s%*c~~\\n", target, next, (int)column, '^');
		buf_adds(b, random_below(seed, 2) ? "'; }\n" : "'; } >&2\n");
		if (!random_below(seed, 3))
			buf_addf(b, "sleep 0.0%u\n", (unsigned)random_below(seed, 20));
		if (!random_below(seed, 3))
			buf_addf(b, "echo '@t%u.o@ text'\n", target);
	}
}

static void make_tree(const struct shape *s, uint64_t seed)
{
	RELEASED(buf, makefile = BUF_INIT, source = BUF_INIT);
	const char *top = support_tmpdir();

	buf_adds(&makefile, "all:");
	for (unsigned i = 0; i < TARGETS; i++)
		buf_addf(&makefile, " t%u.o", i);
	buf_adds(&makefile, "\n");
	for (unsigned i = 0; i < TARGETS; i++) {
		bool own = random_below(&seed, 2);

		buf_addf(&makefile, "t%u.o:\n\t", i);
		if (s->quiet)
			buf_addf(&makefile, "@echo '  CC t%u.o'%s", i, own ? "\n\t@" : "; ");
		if (s->gcc)
			buf_addf(&makefile, "gcc '-DNAME=\"@t%u.o@\"' -c t%u.c -o t%u.o\n", i, i, i);
		else
			buf_addf(&makefile, "sh t%u.c -o t%u.o\n", i, i);
		buf_clear(&source);
		add_source(&source, s, i, &seed);
		support_writes(support_path("%s/t%u.c", top, i), buf_str(&source));
	}
	support_writes(support_path("%s/common.h", top), "#pragma message(NAME)\n");
	support_writes(support_path("%s/Makefile", top), buf_str(&makefile));
}

struct found {
	uint64_t named, known;
};

static bool name_of(struct slice text, struct slice *name)
{
	const char *at = memchr(text.p, '@', text.len), *end = text.p + text.len;
	const char *stop = at ? memchr(at + 1, '@', (size_t)(end - at - 1)) : NULL;

	if (text.len > 5 && !memcmp(text.p, "  CC ", 5)) {
		*name = (struct slice){ text.p + 5, text.len - 5 };
		return true;
	}
	if (stop)
		*name = (struct slice){ at + 1, (size_t)(stop - at - 1) };
	return stop;
}

static struct found check_build(void)
{
	struct output_tasks tasks;
	struct output_line line;
	struct recording rec;
	struct error err = { 0 };
	struct found f = { 0 };
	struct slice name;
	struct output *o;
	size_t at = 0;

	launched_read(&rec, "log");
	ck_assert_int_eq(output_open(&o, rec.path, &zstd_codec, &err), 0);
	ck_assert_int_eq(output_find_tasks(&tasks, o, &rec), 0);
	while (output_next(o, &line, true) > 0) {
		uint32_t task = output_task_of(&tasks, line.number, &at);

		if (!name_of(line.text, &name))
			continue;
		f.named++;
		f.known += task != NO_INDEX;
		ck_assert_msg(task == NO_INDEX || slice_is(name, rec.task[task].name),
			      "line %llu '%.*s' is not of %s", (unsigned long long)line.number + 1,
			      (int)line.text.len, line.text.p, rec.task[task].name);
	}
	output_tasks_release(&tasks);
	output_close(o);
	recording_release(&rec);
	return f;
}

TEST_LOOP(build, SEEDS * ARRAY_SIZE(shapes))
{
	const struct shape *s = &shapes[_i % ARRAY_SIZE(shapes)];
	bool two = _i >= (int)ARRAY_SIZE(shapes);
	struct found f;
	struct run r;

	SKIP_IF(!support_can_be_loaded());
	make_tree(s, (uint64_t)_i);
	support_run(&r, support_tmpdir(), RECORD "--log -n log -- make %s %s", s->flags,
		    two ? "2>err >out" : ">out 2>&1");
	ck_assert_msg(!r.status, "%s", r.err.data);
	f = check_build();
	ck_assert_uint_gt(f.named, TARGETS);
	ck_assert_msg(f.known * 100 >= f.named * s->least, "%s: %llu of %llu", s->flags,
		      (unsigned long long)f.known, (unsigned long long)f.named);
}

TEST_MAIN(log_evidence);
