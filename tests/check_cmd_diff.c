/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "tests/paths.h"
#include "tests/support.h"

/* `buildbeat diff`. UPDATE_GOLDEN=1 rewrites the golden files. */

#define BUILDBEAT TOP_BUILDDIR "/buildbeat"
#define DATA TOP_SRCDIR "/tests/data/diff"
/* Without the user's settings. */
#define ALONE "unset COLUMNS NO_COLOR; export XDG_CONFIG_HOME=/nonexistent HOME=/nonexistent; "

static const struct support_golden goldens[] = {
	{ "diff-two-80.txt", "diff old-0 new-0", 80 },
	{ "diff-two-50.txt", "diff old-0 new-0", 50 },
	{ "diff-two.json", "diff -j old-0 new-0", 0 },
	{ "diff-sets-120.txt", "diff --base old-* --new new-*", 120 },
	{ "diff-sets-80.txt", "diff --base old-* --new new-*", 80 },
	{ "diff-sets.json", "diff --base old-* --new new-* --json", 0 },
	{ "diff-sets.md", "diff --base old-* --new new-* --markdown", 0 },
	{ "diff-same-80.txt", "diff old-0 old-0", 80 },
	{ "diff-all.txt", "diff --metrics wall,written --all --sort name --reverse --top 3 old-0 "
			  "new-0", 0 },
	{ "diff-zero.txt", "diff --metrics wall --share 0 --amount 0 --floor 20s --sort share "
			   "--filter '*[ab].o' old-0 old-1", 0 },
	{ "diff-oe.txt", "diff ../oe/genuine ../recordings/nested", 100 },
};

static void run(struct run *r, unsigned columns, const char *command)
{
	support_buildbeat(r, DATA, columns, command);
}

TEST_EACH(golden, goldens)
{
	support_prints(DATA, &goldens[_i]);
}

TEST(valid_json)
{
	struct run r;

	SKIP_IF(!support_has("python3"));
	run(&r, 0, "diff -j --base old-* --new new-* | python3 -m json.tool > /dev/null");
	ck_assert_str_eq(r.err.data, "");
	ck_assert_int_eq(r.status, 0);
}

/* Only what was tested has a p value, in any output. */
TEST_LOOP(untested_has_no_p, 4)
{
	static const char *const outputs[] = { "", "--json", "--markdown", "--all" };
	struct run r;

	run(&r, 0, support_path("diff %s --base old-0 old-1 old-2 --new new-0", outputs[_i]));
	ck_assert_int_eq(r.status, 0);
	ck_assert_ptr_null(strstr(r.out.data, "\"p\""));
	ck_assert_ptr_null(strstr(r.out.data, "interval"));
	ck_assert_ptr_null(strstr(r.out.data, "rate"));
}

/* Every output has what was not tested, and the thresholds. */
static const struct { const char *arguments, *text; } untested[] = {
	{ "--metrics wall --floor 30s", "2 higher, 0 lower of 4 values tested; false discovery rate at most 1 %; "
	  "not tested: 2 below the thresholds" },
	{ "--metrics wall --floor 30s", "5 % and wall 25 ms of tasks from 30.0 s" },
	{ "--metrics wall --floor 1h", "nothing tested: 6 below the thresholds" },
	{ "--metrics wall --share 60%", "6 values tested, no difference beyond the thresholds" },
	{ "--metrics wall --share 7%", "1 higher, 0 lower, 2 uncertain of 6 values tested" },
};

TEST_EACH(says_what_was_not_tested, untested)
{
	static const char *const outputs[] = { "", "--markdown", "--html /dev/stdout" };
	struct run r;

	for (size_t i = 0; i < ARRAY_SIZE(outputs); i++) {
		run(&r, 0, support_path("diff %s %s --base old-* --new new-*", outputs[i],
					untested[_i].arguments));
		ck_assert_int_eq(r.status, 0);
		ck_assert_msg(strstr(r.out.data, untested[_i].text) != NULL, "%s: %s", outputs[i],
			      r.out.data);
	}
}

/* The page has every key of the output. */
TEST(keys_are_documented)
{
	RELEASED(buf, page);
	struct run r;

	support_read(&page, TOP_SRCDIR "/man/buildbeat-diff.1");
	run(&r, 0, "diff -j --metrics wall,cpu,memory,peak,io,read,written --base old-* --new "
	    "new-* | sed -n '/\"totals\"/,/\"common\"/d; s/^ *\"\\([a-z_]*\\)\": .*/\\1/p' | "
	    "sort -u");
	ck_assert_uint_gt(r.out.len, 100);
	for (char *key = strtok(r.out.data, "\n"); key; key = strtok(NULL, "\n")) {
		const char *p = strstr(page.data, ".Ss JSON");

		while (p && (p = strstr(p + 1, key)) &&
		       !(p[-1] == ' ' && strchr(" \n", p[strlen(key)])))
			;
		ck_assert_msg(p != NULL, "not documented: %s", key);
	}
}

static const struct { const char *command; int status; } exits[] = {
	{ "diff --fail --base old-* --new new-*", 1 },
	{ "diff --base old-* --new new-*", 0 },
	{ "diff --fail --base new-0 new-2 new-3 --new old-*", 0 },
	{ "diff old-0 new-0", 0 },
	{ "diff --fail old-0 new-0", 3 },	/* one build cannot be tested */
	{ "diff --fail --filter nothing --metrics io --base old-* --new new-*", 0 },
	{ "diff --fail --metrics wall --floor 1h --base old-* --new new-*", 3 },
	{ "diff --fail --amount 1h --metrics wall --base old-* --new new-*", 3 },
	{ "diff --fail --amount 20s --metrics wall --base old-* --new new-*", 0 },
	{ "diff --fail --base old-0 old-1 --new old-2 old-3", 0 },
};

TEST_EACH(exit_status, exits)
{
	struct run r;

	run(&r, 0, exits[_i].command);
	ck_assert_str_eq(r.err.data, "");
	ck_assert_int_eq(r.status, exits[_i].status);
}

static const struct { const char *command, *says; } errors[] = {
	{ "diff old-0", "nothing to compare 'old-0' with" },
	{ "diff old-0 not-there", "not-there: no such recording" },
	{ "diff old-0 new-0 new-1", "too many operands: 'new-1'" },
	{ "diff --base old-0", "--base and --new require each other" },
	{ "diff --base old-0 --new new-0 -- new-1", "--base and --new require each other" },
	{ "diff --base old-0 ../../golden --new new-0", "not a recording" },
	{ "diff --amount 2 old-0 new-0", "expected an amount such as 2s or 16MiB, not '2'" },
	{ "diff --floor much old-0 new-0", "expected an amount such as 2s or 16MiB, not 'much'" },
	{ "diff --share x old-0 new-0", "expected a share" },
	{ "diff --metrics wall,size old-0 new-0", "not 'size'" },
	{ "diff --json --markdown old-0 new-0", "--json and --markdown exclude each other" },
	{ "diff --sort size old-0 new-0", "not 'size'" },
	{ "diff --html /nonexistent/x.html old-0 new-0", "/nonexistent/x.html" },
	{ "diff --repo /nonexistent old-0 new-0", "/nonexistent" },
	{ "diff --repo . old-0 new-0", "." },
	{ "diff --bas old-0", "did you mean '--base'?" },
};

TEST_EACH(clear_errors, errors)
{
	support_refuses(DATA, errors[_i].command, errors[_i].says);
}

/* The newest two of a directory, as buildstats-diff takes them. */
TEST(without_operands)
{
	struct run r;

	support_run(&r, support_tmpdir(), "mkdir -p buildstats && cp -r %s/old-0 %s/new-0 %s/old-3 "
		    "buildstats && " ALONE BUILDBEAT " diff && rm -r buildstats/old-3 "
		    "buildstats/new-0 && " BUILDBEAT " diff", DATA, DATA, DATA);
	ck_assert_int_eq(r.status, 2);
	ck_assert_ptr_nonnull(strstr(r.out.data, "/old-3, 2026-11-18\n"));
	ck_assert_ptr_nonnull(strstr(r.out.data, "/new-0, 2026-11-25\n"));
	ck_assert_ptr_nonnull(strstr(r.err.data, "fewer than two recordings: record the build once more, or name two builds: buildbeat diff A B\n"));
}

/* Limits of the configuration, also of one task. */
TEST(configuration)
{
	const char *path = support_path("%s/rules.yaml", support_tmpdir());
	struct run r;

	support_writes(path, "compare:\n  metrics: [wall]\n  rules:\n    - tasks: 'lib/b.o'\n"
		       "      ignore: true\n");
	run(&r, 0, support_path("diff -c %s old-0 new-0", path));
	ck_assert_str_eq(r.err.data, "");
	ck_assert_ptr_null(strstr(r.out.data, "lib/b.o"));
	ck_assert_ptr_null(strstr(r.out.data, "CPU time"));
}

/* An HTML page with all differences, which loads nothing from elsewhere. */
TEST(page)
{
	const char *path = support_path("%s/page.html", support_tmpdir());
	RELEASED(buf, text);
	struct run r;

	run(&r, 80, support_path("diff --html %s --top 1 --base old-* --new new-*", path));
	ck_assert_int_eq(r.status, 0);
	ck_assert_ptr_nonnull(strstr(r.out.data, "verdict"));
	support_read(&text, path);
	ck_assert_ptr_nonnull(strstr(text.data, "<h1>The build is worse</h1>"));
	ck_assert_ptr_nonnull(strstr(text.data, "<th class=\"name worse\" scope=\"row\">lib/b.o</th>"));
	ck_assert_ptr_nonnull(strstr(text.data, "scope=\"row\">src/lib/c.o</th>"));
	ck_assert_ptr_nonnull(strstr(text.data, "6.1.0"));
	ck_assert_ptr_null(strstr(text.data, "http"));
	ck_assert_ptr_null(strstr(text.data, "src="));
}

/* The pictures of the page, compared with the JSON of the same builds. */
static const char *const drawn[] = {
	"old-0 new-0", "new-0 old-0", "--base old-* --new new-*", "old-0 old-0",
	"--metrics wall,cpu --amount 0 --share 0 old-0 old-1", "../oe/genuine ../recordings/nested",
};

TEST_EACH(pictures, drawn)
{
	const char *dir = support_tmpdir();
	struct run r;

	SKIP_IF(!support_has("python3"));
	run(&r, 0, support_path("diff -j --html %s/page.html %s > %s/page.json && python3 -B "
				TOP_SRCDIR "/tests/diff_page.py %s/page.json %s/page.html", dir,
				drawn[_i], dir, dir, dir));
	ck_assert_str_eq(r.err.data, "");
	ck_assert_int_eq(r.status, 0);
}

/* Builds of an archive, by git's names. */
TEST(builds)
{
	const char *repo = support_path("%s/builds.git", support_tmpdir());
	struct run r;

	support_run(&r, NULL, "%s/tests/gen_archive --tasks 50 --builds 6 --noise 0.01 "
		    "--series forge/main/x86 --step 3/3/0.5 %s", TOP_BUILDDIR, repo);
	ck_assert_msg(!r.status, "%s", r.err.data);
	run(&r, 0, support_path("diff --repo %s", repo));
	ck_assert_str_eq(r.err.data, "");
	ck_assert_ptr_nonnull(strstr(r.out.data, "base       forge/main/x86~1"));
	ck_assert_ptr_nonnull(strstr(r.out.data, "50 compared"));
	run(&r, 0, support_path("diff --fail --repo %s --base forge/main/x86~5 forge/main/x86~4 "
				"forge/main/x86~3 --new forge/main/x86~2 forge/main/x86~1 "
				"forge/main/x86", repo));
	ck_assert_str_eq(r.err.data, "");
	ck_assert_int_eq(r.status, 1);
	ck_assert_ptr_nonnull(strstr(r.out.data, "Wall time: 1 higher"));
	run(&r, 0, support_path("diff --repo %s forge/main/x86~77 forge/main/x86", repo));
	ck_assert_int_eq(r.status, 2);
	ck_assert_ptr_nonnull(strstr(r.err.data, "forge/main/x86~77"));
}

TEST_MAIN(cmd_diff);
