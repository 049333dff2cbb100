/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "tests/paths.h"
#include "tests/support.h"

/*
 * A fortnight of the nightly example: its script, from the source repository to the report,
 * over a real project with a program that uses more memory from the tenth build on. Memory
 * is the same on a busy machine, so the check is about memory.
 */

#define BUILDS 14
#define HUNGRY 10		/* the first build with more memory */

/* The first checked build: five before it, and two that agree. */
#define ENOUGH 7

#define BUILDBEAT TOP_BUILDDIR "/buildbeat"
#define NIGHTLY TOP_SRCDIR "/examples/nightly/nightly.sh"
#define ENVIRONMENT "PATH=" TOP_BUILDDIR ":$PATH; export PATH; " 	"SOURCE=%s/app REPO=%s/builds.git REPORT=%s/report; export SOURCE REPO REPORT; "

static const char makefile[] =
	"all: lib.o table.txt words.txt\n"
	"lib.o: lib.c\n\tcc -c $< -o $@\n"
	"table.txt: lib.c\n\tdd if=/dev/zero bs=$(TABLE)M count=1 2>dd.log | wc -c >$@\n"
	"words.txt: lib.c\n\ttr -s ' ' '\\n' <$< | sort >$@\n"
	"clean:\n\trm -f lib.o table.txt words.txt dd.log\n"
	"include table.mk\n";

static const char settings[] =
	"compare:\n"
	"  metrics: memory\n";

static void sh(const char *dir, const char *command)
{
	struct run r;

	support_run(&r, dir, "%s", command);
	ck_assert_msg(r.status == 0, "%s: %d: %s%s", command, r.status, r.out.data, r.err.data);
}

/* What was pushed on that day. */
static void push_day(const char *top, int day)
{
	support_writes(support_path("%s/author/lib.c", top),
		       support_path("int day(void);\nint day(void)\n{\n\treturn %d;\n}\n", day));
	support_writes(support_path("%s/author/table.mk", top),
		       day < HUNGRY ? "TABLE = 8\n" : "TABLE = 68\n");
	sh(support_path("%s/author", top), support_path(
	   "git add -A && git commit -q -m 'day %d' && git push -q origin HEAD:main", day));
}

static void prepare(const char *top)
{
	support_writes(support_path("%s/.gitconfig", top),
		       "[user]\n\tname = author\n\temail = author@example.org\n"
		       "[init]\n\tdefaultBranch = main\n");
	setenv("HOME", top, 1);
	setenv("XDG_CACHE_HOME", support_path("%s/cache", top), 1);
	sh(top, "git init -q --bare app.git && git clone -q app.git author 2>/dev/null");
	support_writes(support_path("%s/author/Makefile", top), makefile);
	support_writes(support_path("%s/author/buildbeat.yaml", top), settings);
	push_day(top, 0);
	sh(top, "git clone -q app.git app");
}

static void build(struct run *r, const char *top)
{
	support_run(r, top, ENVIRONMENT NIGHTLY, top, top, top);
}

/* One more day; the output of the build. */
static void expect(const char *top, int day, int status, const char *const *said)
{
	struct run r;

	push_day(top, day);
	build(&r, top);
	ck_assert_msg(r.status == status, "day %d: status %d: %s%s", day, r.status, r.out.data,
		      r.err.data);
	for (; *said; said++)
		ck_assert_msg(strstr(r.out.data, *said) != NULL, "day %d: '%s' is not in: %s", day,
			      *said, r.out.data);
	ck_assert_str_eq(r.err.data, "");
}

#define SAYS(...) (const char *const []){ __VA_ARGS__, NULL }

/* The printed beginning of the archive's commit of a day. */
static void build_of(char id[16], const char *top, int day)
{
	struct run r;

	support_run(&r, top, "git -C builds.git rev-list --reverse --branches | sed -n %dp", day);
	ck_assert_uint_gt(r.out.len, 40);
	snprintf(id, 16, "(%.7s", r.out.data);
}

static void says(const char *path, const char *what)
{
	RELEASED(buf, text = BUF_INIT);

	support_read(&text, path);
	ck_assert_msg(strstr(buf_str(&text), what) != NULL, "'%s' is not in %s", what, path);
}

TEST(fortnight)
{
	const char *top = support_tmpdir();
	char since[16];
	int day = 1;

	prepare(top);
	for (; day < ENOUGH; day++)
		expect(top, day, 0, SAYS("too few builds"));
	for (; day <= HUNGRY; day++)
		expect(top, day, 0, SAYS("no regression"));
	build_of(since, top, HUNGRY);
	expect(top, day++, 1, SAYS("Worse", "table.txt", "memory", since));
	expect(top, day++, 1, SAYS("Worse", "table.txt", since));
	says(support_path("%s/report/check.xml", top), "<failure");
	says(support_path("%s/report/index.html", top), "table.txt");

	sh(top, BUILDBEAT " accept --repo builds.git --message 'the table holds all words now' table.txt");
	sh(top, BUILDBEAT " accept --repo builds.git --message 'the table is the largest' --total");
	expect(top, day++, 0, SAYS("no regression"));
	says(support_path("%s/report/check.xml", top), "failures=\"0\"");
	expect(top, day, 0, SAYS("no regression"));
	ck_assert_int_eq(day, BUILDS);
}

/* A failure of the tools, distinguished from a failed check. */
static const struct { const char *script, *said; int status; } broken[] = {
	{ "unset REPO", "REPO", 2 },
	{ "SOURCE=nowhere", "cannot enter the source tree", 4 },
	{ "rm -rf app.git", "cannot prepare", 4 },
	{ "export BUILD=false", "the build failed: false", 4 },
	{ "echo 'compare: {agre: 1}' >app/buildbeat.yaml", "did you mean 'agree'", 2 },
	{ "echo text >builds.git", "builds.git", 2 },
};

TEST_EACH(no_build, broken)
{
	const char *top = support_tmpdir();
	struct run r;

	prepare(top);
	support_run(&r, top, ENVIRONMENT "%s; " NIGHTLY, top, top, top, broken[_i].script);
	ck_assert_msg(r.status == broken[_i].status, "%s: %d", r.err.data, r.status);
	ck_assert_msg(strstr(r.err.data, broken[_i].said) != NULL, "'%s' is not in: %s",
		      broken[_i].said, r.err.data);
	ck_assert(!support_exists(support_path("%s/report/index.html", top)));
}

TEST_PROGRAM(nightly)
{
	SKIP_PROGRAM_IF(!support_can_be_loaded() || !support_has("git") || !support_has("make"));
	setenv("TZ", "UTC", 1);
	return support_main();
}
