/* SPDX-License-Identifier: MIT */
#include "tests/make_host.h"
#include "tests/support.h"

/*
 * A real project with a file that `git mv` moves to another directory: it keeps its history and
 * its notes. The checked metric is memory, which is the same on a busy machine.
 */

#define BUILDBEAT TOP_BUILDDIR "/buildbeat"
#define BEFORE 8		/* builds with the old name */

/* The object parser/table.o, later in other directories; compiling it needs TABLE MiB. */
static const char makefile[] =
	"include table.mk\n"
	"OBJECTS := $(patsubst %.c,%.o,$(wildcard *.c */*.c */*/*.c))\n"
	"app: $(OBJECTS)\n\tcc $^ -o $@\n"
	"%.o: %.c\n"
	"\tdd if=/dev/zero bs=$(if $(findstring table,$<),$(TABLE),30)M count=1 2>/dev/null | "
	"wc -c >size; cc -c $< -o $@\n"
	"clean:\n\tfind . -name '*.o' -exec rm {} +\n\trm -f app size\n";

static const char settings[] =
	"compare:\n"
	"  metrics: memory\n";

static const char *top;

static void sh(const char *command)
{
	struct run r;

	support_run(&r, support_path("%s/app", top), "%s", command);
	ck_assert_msg(r.status == 0, "%s: %d: %s%s", command, r.status, r.out.data, r.err.data);
}

static void write_source(const char *path, const char *function)
{
	support_writes(support_path("%s/app/%s", top, path),
		       support_path("int %s(void);\nint %s(void)\n{\n\treturn 0;\n}\n", function,
				    function));
}

static void prepare(void)
{
	top = support_tmpdir();
	support_writes(support_path("%s/.gitconfig", top),
		       "[user]\n\tname = author\n\temail = author@example.org\n"
		       "[init]\n\tdefaultBranch = main\n");
	setenv("HOME", top, 1);
	support_run(&(struct run){ 0 }, top, "mkdir -p app/parser app/lib && git init -q app");
	write_source("main.c", "main");
	write_source("util.c", "util");
	write_source("parser/table.c", "table");
	write_source("parser/lexer.c", "lexer");
	write_source("lib/list.c", "list");
	support_writes(support_path("%s/app/Makefile", top), makefile);
	support_writes(support_path("%s/app/buildbeat.yaml", top), settings);
	support_writes(support_path("%s/app/.gitignore", top), "*.o\napp\nsize\n");
	sh("git add -A && git commit -q -m all");
}

/* Of a new revision, because recordings of one revision are one build. */
static void build(unsigned mib)
{
	support_writes(support_path("%s/app/table.mk", top), support_path("TABLE = %u\n", mib));
	sh("git add -A && git commit -q --allow-empty -m next && make -s clean && rm -rf ../rec && "
	   BUILDBEAT " record -o .. -n rec -- make >/dev/null && "
	   BUILDBEAT " archive --repo ../builds.git ../rec >/dev/null");
}

/* The output of a command about the archive, which ends with this status. */
static const char *prints(int status, const char *command)
{
	struct run r;

	support_run(&r, support_path("%s/app", top), BUILDBEAT " %s --repo ../builds.git",
		    command);
	ck_assert_msg(r.status == status, "%s: %d: %s%s", command, r.status, r.out.data,
		      r.err.data);
	return r.out.data;
}

static void has(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part) != NULL, "'%s' is not in: %s", part, text);
}

static void has_no(const char *text, const char *part)
{
	ck_assert_msg(!strstr(text, part), "'%s' is in: %s", part, text);
}

TEST(keeps_history)
{
	const char *text, *end;
	char *values;
	struct run r;

	prepare();
	for (int i = 0; i < BEFORE; i++)
		build(40);
	has_no(prints(0, "check"), "renamed");

	sh("mkdir -p lib/parser && git mv parser/table.c lib/parser/table.c && "
	   "git commit -q -m 'move the table'");
	build(40);
	text = prints(0, "check");
	has(text, "1 renamed");
	has(text, "renamed from parser/table.o (moved)");
	has(prints(0, "check --json"), "\"was\": \"parser/table.o\"");
	has(prints(0, "check --markdown"), "renamed from parser/table.o");
	has_no(prints(0, "check --junit"), "parser/table.o (moved)");
	prints(0, "report -o ../report");
	has(support_text(support_path("%s/report/index.html", top)), ": 1 renamed. CPU time");

	build(120);
	build(120);
	text = prints(1, "check");
	has(text, "lib/parser/table.o");
	has(text, "--task lib/parser/table.o --metric memory -- make");
	has_no(text, "renamed");
	has_no(prints(1, "check --json"), "\"parser/table.o\"");

	/* Every name has the same history of all builds. */
	values = strdup(prints(0, "history --json lib/parser/table.o"));
	ck_assert_str_eq(prints(0, "history --json parser/table.o"), values);
	has(values, "\"task\": \"lib/parser/table.o\"");
	has(values, "\"name\": \"parser/table.o\"");
	has(prints(0, "history parser/table.o"), ": parser/table.o");
	text = strstr(values, "\"memory\": [");
	ck_assert_ptr_nonnull(text);
	end = strchr(text, ']');
	for (int i = 0; i < BEFORE + 3; i++) {
		text = strpbrk(text + 1, ",]");
		ck_assert_ptr_nonnull(text);
	}
	ck_assert_ptr_eq(text, end);
	text = strstr(values, "\"memory\": [");
	ck_assert(!memmem(text, (size_t)(end - text), "null", 4));
	free(values);

	/* A note about the old name is about the task. */
	prints(0, "accept --known parser/table.o 'a larger table'");
	/* Whether the build, whose memory has its own noise, fails yet is another matter. */
	support_run(&r, support_path("%s/app", top), BUILDBEAT " check --repo ../builds.git");
	has(r.out.data, "a larger table");
	prints(0, "accept --known --total 'a larger table'");
	prints(0, "check");

	/* Moved and slower in one revision: the printed command finds it. */
	sh("mkdir lib/other && git mv lib/parser/table.c lib/other/table.c");
	build(360);
	build(360);
	text = prints(1, "check --all");
	has(text, " --task lib/other/table.o --task lib/parser/table.o ");
	end = strstr(text, " --task ");
	while (end > text && end[-1] != '\n')
		end--;
	values = strndup(end, strcspn(end, "\n"));
	sh(support_path("PATH=" TOP_BUILDDIR ":$PATH; %s >../found", values));
	free(values);
	has(support_text(support_path("%s/found", top)), "first bad commit");
}

TEST_PROGRAM(moved)
{
	SKIP_PROGRAM_IF(!make_host_can());
	return support_main();
}
