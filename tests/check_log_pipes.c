/* SPDX-License-Identifier: MIT */
#include "tests/launched.h"
#include "tests/recorded.h"

#include "base/file.h"
#include "recording/output_writer.h"

#include <fcntl.h>
#include <string.h>

/* Each process of a make writes to a pipe of its own while the output is recorded: whose lines they are, and
 * that a build and its reader do not notice. */

#define LOGGED RECORD "--log -n log -- "
#define TRUTH "python3 -B " TOP_SRCDIR "/tests/output_truth.py " TOP_BUILDDIR "/buildbeat "

static const char *const redirections[] = {
	"2>&1 | cat >out; : >err", ">out 2>err", ">out 2>>out; : >err", "2>err | cat >out",
};

/* Every line has its task, no line another one, and the order is that of make. */
TEST_LOOP(truth, 2 * ARRAY_SIZE(redirections))
{
	SKIP_IF(!support_has("python3"));
	support_expect(support_tmpdir(), 0, "", "", TRUTH "%d '%s'", _i + 1, redirections[(unsigned)_i % ARRAY_SIZE(redirections)]);
}

/* The same if make collects what they write. A line of no task has none, "late" ones of a recipe that has ended are
 * those of its target. */
static const char *const collecting[][2] = {
	{ ">out 2>&1; : >err", "-Otarget" }, { ">out 2>err", "-Otarget" }, { "2>&1 | cat >out; : >err", "-Oline" },
	{ "2>err | cat >out", "-Otarget -s" },
};

TEST_EACH(collected_truth, collecting)
{
	SKIP_IF(!support_has("python3"));
	support_expect(support_tmpdir(), 0, "", "", TRUTH "%d '%s' make -k -j8 %s", _i + 11, collecting[_i][0], collecting[_i][1]);
}

/* A recipe and its make take turns: the bytes are those without us, and so is the log. */
TEST_LOOP(same_bytes, 2)
{
	struct run plain, logged;

	support_writes(support_path("%s/Makefile", support_tmpdir()),
		       "all: a b c d e\n\t@echo all done\n"
		       "a:\n\techo a; echo a again >&2\n\t@printf 'no newline'\n\t@echo next\n"
		       "b:\n\t@$(MAKE) -f Makefile a c\n\techo after\n"
		       "c:\n\t@seq 5000\n\t-@echo c; exit 3\n\t@seq 20000 | tr '\\n' ' '\n"
		       "d:\n\t$(info info)$(warning warning)@/nowhere/program\n\t@printf '\\000\\001\\n'\n"
		       "e:\n\t@echo $(shell echo shell; echo its error >&2)\n");
	support_run(&plain, support_tmpdir(), "make -k%s", _i ? " 2>&1" : "");
	support_run(&logged, support_tmpdir(), LOGGED "make -k%s", _i ? " 2>&1" : "");
	ck_assert_int_eq(plain.status, logged.status);
	ck_assert_uint_eq(plain.out.len, logged.out.len);
	ck_assert(!memcmp(plain.out.data, logged.out.data, plain.out.len));
	ck_assert_uint_eq(plain.err.len, logged.err.len);
	ck_assert(!memcmp(plain.err.data, logged.err.data, plain.err.len));
	if (_i)
		support_expect(support_tmpdir(), 0, "", "", "make -k 2>&1 | cmp - stats/log/output.log");
}

/* One target after the other, so that the order is always the same. */
static const char chain[] =
	"all: f\n\t@echo all done\n"
	"a:\n\techo a; echo a again >&2\n\t@printf 'no newline'\n\t@echo next\n\ttrue\n"
	"b: a\n\t@$(MAKE) -f in.mk\n\techo after\n"
	"c: b\n\t@seq 5000\n\t-@echo c; exit 3\n\t@seq 20000 | tr '\\n' ' '\n"
	"d: c\n\t-@$(info info)$(warning warning)/nowhere/program\n\t@printf '\\000\\001\\n'\n"
	"e: d\n\t@echo $(shell echo shell; echo its error >&2)\n\t@for i in $$(seq 300); do echo $$i; echo e$$i >&2; done\n"
	"f: e\n\t-echo two \\\n\tlines; false\n\t@:\n";

/* What make has collected is printed as without us. */
TEST_LOOP(collected_bytes, 6)
{
	static const char *const to[] = { "", " 2>&1", " 2>&1 | cat" };
	const char *how = to[_i % 3], *sync = _i < 3 ? "-Otarget" : "-Oline";
	struct run plain, logged;

	support_writes(support_path("%s/Makefile", support_tmpdir()), chain);
	support_writes(support_path("%s/in.mk", support_tmpdir()), "in: in2\n\techo in; seq 3\nin2:\n\t-echo in2; exit 1\n");
	support_run(&plain, support_tmpdir(), "make -k -j3 %s%s", sync, how);
	support_run(&logged, support_tmpdir(), LOGGED "make -k -j3 %s%s", sync, how);
	ck_assert_int_eq(plain.status, logged.status);
	ck_assert_uint_eq(plain.out.len, logged.out.len);
	ck_assert(!memcmp(plain.out.data, logged.out.data, plain.out.len));
	ck_assert_uint_eq(plain.err.len, logged.err.len);
	ck_assert(!memcmp(plain.err.data, logged.err.data, plain.err.len));
	support_expect(support_tmpdir(), 0, "output-pipe 12\noutput-sync\n", "", "sed -n 's/.*\\(output-[ps].*\\)/\\1/p' "
		       "stats/log/tasks.log | grep -v shared | sort -u");
}

/* Any number of silent commands takes no room. */
TEST(collected_silence)
{
	support_writes(support_path("%s/Makefile", support_tmpdir()),
		       "E := $(foreach i,$(shell seq 1100),a$(i))\n"
		       "all: said\n$(E):\n\t@true\nsaid: $(E)\n\t@echo said\n");
	support_expect(support_tmpdir(), 0, "said: said\n", "", LOGGED "make -j2 -Otarget >out 2>&1; grep -m 1 output-shared "
		       "stats/log/tasks.log; " BUILDBEAT " log -d stats --json log | "
		       "sed 's/.*\"task\":\"\\([a-z]*\\)\".*\"text\":\"\\([a-z]*\\)\".*/\\1: \\2/'");
}

/* The command of a task and the report of its failure are lines of it that it did not write. */
TEST_LOOP(reports, 2)
{
	static const char *const lines[] = { "echo \\", "said; exit 3", "said", "make: *** [Makefile:4: a] Error 3",
					     "false", "make: *** [Makefile:7: b] Error 1" };
	struct run r;

	support_writes(support_path("%s/Makefile", support_tmpdir()),
		       "all: a b\na:\n\t@echo '  CC a'\n\techo \\\n\tsaid; exit 3\nb:\n\tfalse\n");
	support_run(&r, support_tmpdir(), LOGGED "make -k -j2 %s >out 2>&1; " BUILDBEAT " log -d stats --failed log",
		    _i ? "-Otarget" : "");
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		ck_assert_msg(strstr(r.out.data, lines[i]) != NULL, "%s", r.out.data);
	ck_assert_ptr_null(strstr(r.out.data, "CC"));
	ck_assert_str_eq(r.err.data, "buildbeat: b (exit 1) wrote nothing\n");
}

/* The end of a process is known before all of its output was read: its line goes on. */
TEST(line_in_parts)
{
	support_writes(support_path("%s/Makefile", support_tmpdir()),
		       "T := $(shell seq 400)\nall: $(T)\n$(T):\n\t@printf abc; echo def\n");
	support_expect(support_tmpdir(), 0, "400\n0\n", "", LOGGED "make -j4 2>&1 | cat >out; " BUILDBEAT
		       " log -d stats --json log | grep -c '\"text\":\"abcdef\"'; grep -c ends stats/log/output_index.log; :");
}

/* What a process writes after make has waited for its parent. */
TEST(background)
{
	support_writes(support_path("%s/Makefile", support_tmpdir()),
		       "all: a b\na:\n\t@(until test -e go; do sleep 0.01; done; echo late) & echo early\n"
		       "b: a\n\t@: >go; until grep -q late stats/log/output.log; do sleep 0.01; done; echo b\n");
	support_expect(support_tmpdir(), 0, "early\nlate\nb\n", "", LOGGED "make 2>&1 | cat");
	support_expect(support_tmpdir(), 0, "a: early\na: late\nb: b\n", "", BUILDBEAT " log -d stats --json log | "
		       "sed 's/.*\"task\":\"\\(.\\)\".*\"text\":\"\\([a-z]*\\)\".*/\\1: \\2/'");
}

/* The end of the pipe is the reader's, and every recipe gets the signal. */
TEST(closed_pipe)
{
	struct run r;

	support_writes(support_path("%s/Makefile", support_tmpdir()), "all: a b c\na b c:\n"
		       "\t@: >$@.on; until test -e a.on && test -e b.on && test -e c.on; do sleep 0.01; done; exec yes word\n");
	support_run(&r, support_tmpdir(), "{ " LOGGED "make -j3 2>err; echo $? >status; } | head -n 2; cat status; "
		    "grep -c 'Broken pipe' err");
	ck_assert_str_eq(r.out.data, "word\nword\n2\n3\n");
}

#define RELAYS "$$(pgrep -P $$(cat pid) -x buildbeat-relay)"

/* A make that prints what it has collected ends as it would. */
TEST(closed_pipe_of_collected)
{
	support_writes(support_path("%s/Makefile", support_tmpdir()), "all: a b c\na b c:\n\t@seq 100000\n");
	support_expect(support_tmpdir(), 0, "1\n2\nended\n", NULL, "{ sh -c 'make -j3 -Otarget'; echo $? >plain; } | head -n 2 >out; "
		       "{ " LOGGED "make -j3 -Otarget; echo $? >status; } | head -n 2; test $(cat plain) != 0 && test $(cat status) != 0 && echo ended");
}

/* Nothing is lost, and no process gets a signal. Makes go on without pipes. */
TEST_LOOP(killed_relay, 2)
{
	struct run r;

	SKIP_IF(!support_has("pgrep"));
	support_writes(support_path("%s/Makefile", support_tmpdir()),
		       "all: a b c d\na b c:\n\t@seq 3000; : >$@.on; until test -e go; do sleep 0.01; done; seq 3000\n"
		       "kill:\n\t@until test -e a.on && test -e b.on && test -e c.on; do sleep 0.01; done; "
		       "kill -9 " RELAYS " && : >go; seq 3000\nd: kill\n\t@seq 3000\n");
	support_run(&r, support_tmpdir(), "sh -c 'echo $$ >pid; exec " LOGGED "make -j4%s' | wc -c",
		    _i ? " -Otarget" : "");
	ck_assert_str_eq(r.out.data, "111144\n");
}

/* Without descriptors for pipes the build is as it was. */
TEST_LOOP(few_descriptors, 6)
{
	static const int limit[] = { 48, 130, 200 };
	const char *sync = _i < 3 ? "" : " -Otarget";

	support_writes(support_path("%s/Makefile", support_tmpdir()),
		       "T := $(shell seq 60)\nall: $(T)\n$(T):\n\techo $@\n\t@seq $@\n");
	support_expect(support_tmpdir(), 0, "same\n", NULL, "make -j4 2>&1 | sort >plain; (ulimit -n %d; "
		       LOGGED "make -j4%s) 2>&1 | grep -v ^buildbeat: | sort >got; cmp plain got && echo same",
		       limit[_i % 3], sync);
}

/* Where a process would see something else than without us, it gets what it would have had. */
static const char *const others[][2] = {
	{ "make -Otarget -j2", "12" }, { "make -Oline -f in.mk", "" }, { "make -j2 2>&1 | cat", "" },
	{ "make >other 2>&1", "" }, { "make -j2 CFLAGS=-O2", "12" }, { "make -j2 2>other", "1" },
	{ "make >other", "2" }, { "make -f in.mk", "12" },
};

TEST_EACH(only_ours, others)
{
	support_writes(support_path("%s/in.mk", support_tmpdir()), "all:\n\t@$(MAKE) -f Makefile\n");
	support_writes(support_path("%s/Makefile", support_tmpdir()), "all: a b\na b:\n\t@echo $@\n");
	support_expect(support_tmpdir(), 0, others[_i][1], "", LOGGED "sh -c '%s' >out 2>&1; "
		       "sed -n 's/.*output-pipe //p' stats/log/tasks.log | sort -u | tr -d '\\n'", others[_i][0]);
}

/* Of a make whose standard error alone has pipes, too, make's report is of the task that it is about. */
TEST(errors_alone)
{
	struct run r;

	support_writes(support_path("%s/in.mk", support_tmpdir()), "all:\n\t@$(MAKE) -f Makefile\n");
	support_writes(support_path("%s/Makefile", support_tmpdir()), "all: a b\na:\n\t@echo $@ >&2\nb:\n\t@exit 3\n");
	support_run(&r, support_tmpdir(), LOGGED "sh -c 'make -f in.mk >other' >out 2>err");
	ck_assert_int_eq(r.status, 2);
	support_expect(support_tmpdir(), 0, "b: make[1]: *** [Makefile:5: b] Error 3\n", "", BUILDBEAT " log -d stats --json log | "
		       "sed -n 's/.*\"task\":\"\\(.\\)\".*\"text\":\"\\(make\\[1\\]: [*][^\"]*\\)\".*/\\1: \\2/p'");
}

/* The same if make collects: what goes elsewhere is left alone. */
TEST(collected_errors_alone)
{
	support_writes(support_path("%s/in.mk", support_tmpdir()), "all:\n\t@$(MAKE) -f Makefile\n");
	support_writes(support_path("%s/Makefile", support_tmpdir()), "all: a b\na b:\n\t@echo out $@; echo err $@ >&2\n");
	support_expect(support_tmpdir(), 0, "a: err a\nb: err b\nout a\nout b\n", "", LOGGED
		       "sh -c 'make -j2 -Otarget >other' >out 2>err; grep shared stats/log/tasks.log; " BUILDBEAT " log -d stats --json log | "
		       "sed 's/.*\"task\":\"\\(.\\)\".*\"text\":\"\\([^\"]*\\)\".*/\\1: \\2/' | sort; grep -h out other | sort");
}

/* The reader: lines of tasks are whole, whatever is between their parts. */
TEST(reader)
{
	struct output_line line;
	struct output *o;
	struct error err;
	struct buf got = BUF_INIT;
	struct output_place start;

	support_writes(support_path("%s/output.log", support_tmpdir()), "a1b1\na2 endb2\nown\nb3c");
	support_writes(support_path("%s/output_index.log", support_tmpdir()),
		       "buildbeat output 1\n10 1 1 2 x 1\n11 1 1 5 y 2\n12 1 1 11 x 1\n12 0 1 11 x 1 ends\n"
		       "13 1 1 14 y 2\n14 1 1 18\n15 1 1 20 y 2\n15 1 1 21 x\n16 1 1 21 x 1 ends\n");
	ck_assert_int_eq(output_open(&o, support_tmpdir(), NULL, &err), 0);
	ck_assert(output_place(o, &start));
	for (int turn = 0; turn < 3; turn++) {
		buf_clear(&got);
		while (output_next(o, &line, true) > 0)
			buf_addf(&got, "%llu %s.%llu %.*s%s", (unsigned long long)line.number, line.inst,
				 (unsigned long long)line.task, (int)line.text.len, line.text.p,
				 line.newline ? "\n" : "|");
		ck_assert_str_eq(buf_str(&got), "0 y.2 b1\n1 x.1 a1a2 end|2 y.2 b2\n3 .0 own\n4 x.1 c|5 y.2 b3|");
		ck_assert_uint_eq(output_damaged(o), turn < 2 ? 1 : 2);	/* a place does not have their number */
		if (turn)
			output_go(o, &start);
		else
			output_rewind(o);
	}
	output_close(o);
	buf_release(&got);
}

/* The end of a task is noticed after the log was closed, which is no error. */
TEST(closed_writer)
{
	struct output_writer w = { .log_fd = -1 };
	struct output_source s = { .inst = "x", .task = 1 };
	int dir_fd = file_open_at(AT_FDCWD, support_tmpdir(), O_RDONLY | O_DIRECTORY);

	ck_assert_int_eq(output_create(dir_fd), 0);
	ck_assert_int_eq(output_writer_open(&w, dir_fd, OUTPUT_STDOUT, false), 0);
	output_writer_add(&w, &s, "begun", 5, 1, 2);
	output_writer_flush(&w, &s);
	output_writer_close(&w);
	output_writer_end(&w, &s, 3);
	ck_assert_int_eq(w.error, 0);
	ck_assert_uint_eq(w.lost, 0);
	output_source_release(&s);
	file_close(dir_fd);
}

TEST_PROGRAM(log_pipes)
{
	SKIP_PROGRAM_IF(!support_can_be_loaded());
	SKIP_PROGRAM_IF(!support_has("make"));
	return support_main();
}
