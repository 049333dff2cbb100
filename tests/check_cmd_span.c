/* SPDX-License-Identifier: MIT */
/* `buildbeat span`: parts of the tasks of scripts and of make. */
#include "recording/identity.h"
#include "recording/recording.h"
#include "tests/paths.h"
#include "tests/recorded.h"
#include "tests/support.h"

#define BUILDBEAT TOP_BUILDDIR "/buildbeat"
#define RECORD BUILDBEAT " record --no-git -o stats -n one -- "
#define SPAN BUILDBEAT " span "

static struct recording rec;

static void read_one(void)
{
	rec = (struct recording)RECORDING_INIT;
	recorded_open(&rec, support_path("%s/stats/one", support_tmpdir()), NULL);
	ck_assert_uint_eq(rec.n_warnings, 0);
}

static void finish(void)
{
	recording_release(&rec);
}

/* Record a script, whose output is known, and read the recording. */
static void record(const char *script, const char *out)
{
	support_writes(support_path("%s/script", support_tmpdir()), script);
	support_expect(support_tmpdir(), 0, out, "", RECORD "sh ./script");
	read_one();
}

static const struct span *named(const char *name)
{
	for (size_t i = 0; i < rec.n_spans; i++) {
		if (!strcmp(rec.span[i].name, name))
			return &rec.span[i];
	}
	ck_abort_msg("no span %s", name);
}

static const char *parent_of(const char *name)
{
	const struct span *s = named(name);

	return s->parent == NO_INDEX ? "" : rec.span[s->parent].name;
}

/* The name of its task, "" without one. */
static const char *task_of(const char *name)
{
	const struct span *s = named(name);

	return s->task == NO_INDEX ? "" : rec.task[s->task].name;
}

static void expect_faults(uint64_t no_begin, uint64_t unended)
{
	for (int i = 0; i < SPAN_FAULTS; i++)
		ck_assert_uint_eq(rec.span_faults[i], i == SPAN_NO_BEGIN ? no_begin :
				  i == SPAN_UNENDED ? unended : 0);
}

TEST(nested)
{
	record(SPAN "one -- sh -c '" SPAN "two true; " SPAN "begin three; " SPAN "four echo x; "
	       SPAN "end; " SPAN "five true'\n", "x\n");
	ck_assert_uint_eq(rec.n_spans, 5);
	ck_assert_str_eq(parent_of("one"), "");
	ck_assert_str_eq(parent_of("two"), "one");
	ck_assert_str_eq(parent_of("three"), "one");
	ck_assert_str_eq(parent_of("four"), "three");
	ck_assert_str_eq(parent_of("five"), "one");
	ck_assert_int_le(named("three")->end_us, named("five")->begin_us);
	expect_faults(0, 0);
	finish();
}

/* Simultaneous ones are inside what is around both, also if they were begun and not run. */
TEST(parallel)
{
	record(SPAN "begin all\n(" SPAN "begin a; " SPAN "b true; " SPAN "end a) &\n"
	       "(" SPAN "begin c; " SPAN "d true; " SPAN "end c) &\nwait\n" SPAN "end all\n", "");
	ck_assert_uint_eq(rec.n_spans, 5);
	ck_assert_str_eq(parent_of("a"), "all");
	ck_assert_str_eq(parent_of("c"), "all");
	ck_assert_str_eq(parent_of("b"), "a");
	ck_assert_str_eq(parent_of("d"), "c");
	expect_faults(0, 0);
	finish();
}

/* Begun in one process and ended in another; by its id in any order. */
TEST(ended_elsewhere)
{
	record("x=$(" SPAN "begin --print-id x)\ny=$(" SPAN "--print-id begin y)\n" SPAN "end \"$x\"\n" SPAN "z true\n"
	       SPAN "end \"$y\"\nsh -c '" SPAN "begin deep; true'\n" SPAN "begin outer\n"
	       "sh -c '" SPAN "end outer; true'\n" SPAN "end nothing\n" SPAN "begin never\ntrue\n", "");
	ck_assert_uint_eq(rec.n_spans, 6);
	/* x ended first, and y with it */
	ck_assert_str_eq(parent_of("y"), "x");
	ck_assert_int_eq(named("y")->end_us, named("x")->end_us);
	ck_assert_uint_eq(named("y")->faults, 1u << SPAN_OUTLIVED);
	ck_assert_uint_eq(named("outer")->faults, 0);
	ck_assert_uint_eq(rec.span_faults[SPAN_NO_BEGIN], 1);
	ck_assert_uint_eq(named("never")->faults, 1u << SPAN_UNENDED);
	ck_assert_uint_eq(named("deep")->faults, 1u << SPAN_UNENDED);
	finish();
}

TEST(in_make)
{
	SKIP_IF(!support_can_be_loaded() || !support_has("make"));
	support_writes(support_path("%s/Makefile", support_tmpdir()),
		       "all: a b c d\n"
		       "a:\n\t@" SPAN "begin a1; " SPAN "a2 true; " SPAN "end a1\n"
		       "b:\n\t@" SPAN "begin of-make\n\t@" SPAN "end of-make\n"
		       "c:\n\t@" SPAN "c1 -- $(MAKE) -s e\n"
		       "d:\n\t@" SPAN "begin killed; kill -9 $$$$\n"
		       "e:\n\t@" SPAN "e1 true\n");
	support_expect(support_tmpdir(), 2, "", NULL, RECORD "make -k -j4");
	read_one();
	ck_assert_uint_eq(rec.n_spans, 6);
	ck_assert_str_eq(task_of("a1"), "a");
	ck_assert_str_eq(task_of("a2"), "a");
	ck_assert_str_eq(parent_of("a2"), "a1");
	ck_assert_str_eq(task_of("of-make"), "");
	ck_assert_uint_eq(named("of-make")->faults, 0);
	/* the make's, which is not the first to write if its spans are quick */
	ck_assert_uint_eq(recording_span_instance(&rec, named("of-make")),
			  rec.task[named("a1")->task].instance);
	ck_assert_str_eq(task_of("c1"), "c");
	ck_assert_str_eq(task_of("e1"), "e");
	ck_assert_str_eq(task_of("killed"), "d");
	ck_assert_int_eq(named("killed")->end_us, rec.task[named("killed")->task].end_us);
	expect_faults(0, 1);
	/* the make below c1 runs in it */
	for (size_t i = 0; i < rec.n_instances; i++) {
		if (!strcmp(rec.instance[i].tool, "make") && rec.instance[i].level == 1)
			ck_assert_uint_eq(rec.instance[i].parent_span, named("c1") - rec.span);
	}
	finish();
}

#define PARENT "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

/* What a command finds in its environment is the id that a reader finds. */
static void expect_id(const char *line, uint64_t id_value)
{
	struct identity id;
	char expect[IDENTITY_TRACEPARENT_SIZE];

	identity_of(&id, &rec);
	ck_assert_str_eq(id.trace, "0af7651916cd43dd8448eb211c80319c");
	ck_assert_uint_eq(id.parent, UINT64_C(0xb7ad6b7169203331));
	identity_traceparent(expect, &id, id_value);
	ck_assert_msg(!strncmp(line, expect, strlen(expect)), "%s instead of %s", line, expect);
}

TEST(traceparent)
{
	struct identity id;
	struct run r;
	const char *line;

	support_writes(support_path("%s/Makefile", support_tmpdir()), "all:\n\t@printenv TRACEPARENT\n");
	support_run(&r, support_tmpdir(), "TRACEPARENT=" PARENT " " BUILDBEAT
		    " record --traceparent --no-git -o stats -n one -- sh -c 'printenv TRACEPARENT; "
		    SPAN "x printenv TRACEPARENT; " BUILDBEAT " task t printenv TRACEPARENT; "
		    "make -s; true'");
	ck_assert_int_eq(r.status, 0);
	read_one();
	identity_of(&id, &rec);
	line = r.out.data;
	expect_id(line, identity_build(&id));
	line = strchr(line, '\n') + 1;
	expect_id(line, identity_span(&id, &rec, (uint32_t)(named("x") - rec.span)));
	line = strchr(line, '\n') + 1;
	for (uint32_t i = 0; i < rec.n_tasks; i++) {
		if (!strcmp(rec.task[i].name, "t"))
			expect_id(line, identity_task(&id, &rec, i));
	}
	line = strchr(line, '\n') + 1;
	for (uint32_t i = 0; i < rec.n_tasks && support_can_be_loaded(); i++) {
		if (!strcmp(rec.task[i].name, "all"))
			expect_id(line, identity_task(&id, &rec, i));
	}
	finish();
}

/* Without the option nothing changes; a wrong one is a warning. */
TEST(traceparent_unchanged)
{
	SKIP_IF(!support_can_be_loaded());
	support_expect(support_tmpdir(), 0, PARENT "\n" PARENT "\n" PARENT "\n", "", "TRACEPARENT=" PARENT
		       " " RECORD "sh -c 'printenv TRACEPARENT; " SPAN "x printenv TRACEPARENT; " BUILDBEAT
		       " task t printenv TRACEPARENT'");
	read_one();
	ck_assert_str_eq(recording_build(&rec, "traceparent"), PARENT);
	finish();
	support_expect(support_tmpdir(), 0, "00-x\n", "", "rm -r stats; TRACEPARENT=00-x TRACESTATE=a=b "
		       RECORD "printenv TRACEPARENT");
	recorded_open(&rec, support_path("%s/stats/one", support_tmpdir()), NULL);
	ck_assert_ptr_null(recording_build(&rec, "traceparent"));
	ck_assert_ptr_null(recording_build(&rec, "tracestate"));
	ck_assert_uint_eq(rec.n_warnings, 1);
	finish();
}

TEST(like_the_command)
{
	support_expect(support_tmpdir(), 7, "in\n", "err\n",
		       RECORD "sh -c 'echo in | " SPAN "x -- sh -c \"cat; echo err >&2; exit 7\"'");
	support_expect(support_tmpdir(), 128 + SIGTERM, NULL, NULL, "rm -r stats; "
		       RECORD SPAN "x -- sh -c 'kill $$'");
	read_one();
	ck_assert_uint_eq(named("x")->faults, 0);
	finish();
	support_expect(support_tmpdir(), 127, NULL, NULL, SPAN "x ./missing");
}

/* Silent outside of a recorded build. */
TEST(not_recorded)
{
	support_expect(support_tmpdir(), 3, "out\n", "",
		       SPAN "begin x; " SPAN "begin --print-id x; " SPAN "x sh -c 'echo out'; " SPAN "end x; "
		       SPAN "end; " SPAN "end -- sh -c 'exit 3'");
}

static const struct {
	const char *words, *message;
} wrong[] = {
	{ "", "buildbeat: span: too few operands; expected: NAME [CMD...], such as: buildbeat span NAME -- make\n" },
	{ "x", "buildbeat: span: expected: NAME [--] CMD...\n" },
	{ "x --", "buildbeat: span: expected: NAME [--] CMD...\n" },
	{ "x -l", "buildbeat: span: option '-l': options come before NAME; put '--' before a command that "
	  "begins with '-'\n" },
	{ "begin", "buildbeat: span: expected: begin [-p] NAME\n" },
	{ "begin a b", "buildbeat: span: expected: begin [-p] NAME\n" },
	{ "end a b", "buildbeat: span: expected: end [ID|NAME], with ID as 'begin --print-id' prints it\n" },
	{ "end ''", "buildbeat: span: expected: end [ID|NAME], with ID as 'begin --print-id' prints it\n" },
	{ "end @A.1", "buildbeat: span: expected: end [ID|NAME], with ID as 'begin --print-id' prints it\n" },
	{ "--print-id x true", "buildbeat: span: --print-id is for 'begin' only\n" },
};

TEST_EACH(misuse, wrong)
{
	support_expect(support_tmpdir(), 2, "", wrong[_i].message,
		       SPAN "%s", wrong[_i].words);
}

TEST_MAIN(cmd_span);
