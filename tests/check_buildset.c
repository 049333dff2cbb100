/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "cli/command.h"
#include "cli/buildset.h"
#include "tests/paths.h"
#include "tests/support.h"

/* How commands choose the builds of a series. */

#define GEN TOP_BUILDDIR "/tests/gen_archive --tasks 20 "

struct arguments {
	struct buildset_options buildset;
};

#define OPTIONS struct arguments
static const struct option table[] = {
	BUILDSET_REPO_OPTIONS(buildset),
	BUILDSET_REF_OPTION(buildset),
	BUILDSET_METRICS_OPTION(buildset),
	{ 0 }
};

static const struct command command = { .name = "test", .operands = "", .options = table };

/* Files, arguments, result. */
#define ONE GEN "--builds 12 --series a/main/x r.git"
#define TWO ONE " && " GEN "--builds 3 --series b/main/x r.git"
#define REPEATED GEN "--builds 50 --repeats 4 --series a/main/x r.git"
#define USUAL "wall,cpu,memory,io"

static const struct {
	const char *made;
	const char *config;	/* text of c.yaml */
	const char *words[5];	/* of the command */
	enum buildset_span span;
	const char *result;	/* series and number of builds, NULL: refused */
	const char *message;
} cases[] = {
	{ ONE, "{}", { "--repo", "r.git" }, BUILDSET_ALL, "a/main/x 12 " USUAL, NULL },
	{ ONE, "repo: r.git\n", { NULL }, BUILDSET_ALL, "a/main/x 12 " USUAL, NULL },
	{ ONE, "repo: other.git\ncompare: {window: 10}\n", { "--repo=r.git" }, BUILDSET_FRESH,
	  "a/main/x 12 " USUAL, NULL },
	{ ONE, "compare: {metrics: peak}\n", { "--repo=r.git", "--ref=a/main/x" },
	  BUILDSET_FRESH, "a/main/x 12 peak", NULL },
	{ ONE, "compare: {metrics: peak}\n", { "--repo=r.git", "--metrics", "cpu" },
	  BUILDSET_FRESH, "a/main/x 12 cpu", NULL },
	/* repeats are one build */
	{ REPEATED, "{}", { "--repo=r.git" }, BUILDSET_RECORDINGS, "a/main/x 50 " USUAL, NULL },
	{ REPEATED, "{}", { "--repo=r.git" }, BUILDSET_ALL, "a/main/x 13 " USUAL, NULL },
	{ REPEATED, "{}", { "--repo=r.git" }, BUILDSET_FRESH, "a/main/x 13 " USUAL, NULL },
	{ TWO, "{}", { "--repo=r.git", "--ref=b" }, BUILDSET_ALL, "b/main/x 3 " USUAL, NULL },

	{ "true", "{}", { NULL }, BUILDSET_ALL, NULL, "no archive: use --repo" },
	{ "true", "{}", { "--repo=r.git" }, BUILDSET_ALL, NULL, "r.git: " },
	{ "echo >r.git", "{}", { "--repo=r.git" }, BUILDSET_ALL, NULL, "r.git: " },
	{ "git init -q --bare r.git", "{}", { "--repo=r.git" }, BUILDSET_ALL, NULL, "r.git: " },
	{ ONE, "compare: {agre: 3}", { "--repo=r.git" }, BUILDSET_ALL, NULL,
	  "did you mean 'agree'" },
	{ TWO, "{}", { "--repo=r.git" }, BUILDSET_ALL, NULL, "b/main/x" },
	{ ONE, "{}", { "--repo=r.git", "--ref=nobody" }, BUILDSET_ALL, NULL, "nobody" },
};

static void describe(struct buf *b, const struct buildset *n)
{
	buf_addf(b, "%s %zu ", n->builds.ref, n->builds.n);
	for (enum metric m = 0, first = METRICS; m < METRICS; m++) {
		if (!(n->rules.metrics & METRIC_BIT(m)))
			continue;
		buf_addf(b, "%s%s", first == METRICS ? "" : ",", metric_word[m]);
		first = m;
	}
}

TEST_EACH(opened, cases)
{
	const char *top = support_tmpdir();
	static char words[8][32] = { "test", "--config", "c.yaml" };
	char *argv[9] = { words[0], words[1], words[2] };
	struct arguments o = { 0 };
	struct buildset n = BUILDSET_INIT;
	struct error err = { 0 };
	struct buf got = BUF_INIT;
	struct args a;
	int r, argc = 3;

	support_expect(top, 0, NULL, NULL, "%s", cases[_i].made);
	ck_assert_int_eq(chdir(top), 0);
	support_writes("c.yaml", cases[_i].config);
	for (const char *const *word = cases[_i].words; *word; word++, argc++)
		argv[argc] = strcpy(words[argc], *word);
	ck_assert(options_parse(&a, &command, &o, argc, argv));
	r = buildset_open(&n, &a, &o.buildset, cases[_i].span, &err);
	if (cases[_i].result) {
		ck_assert_msg(!r, "%s: %s", err.path, err.message);
		describe(&got, &n);
		ck_assert_str_eq(buf_str(&got), cases[_i].result);
	} else {
		ck_assert_int_lt(r, 0);
		buf_addf(&got, "%s: %s", err.path, err.message);
		ck_assert_msg(strstr(buf_str(&got), cases[_i].message) != NULL, "%s", buf_str(&got));
		ck_assert_str_ne(err.message, "");
	}
	buf_release(&got);
	buildset_release(&n);
	options_release(&a);
	ck_assert_int_eq(chdir("/"), 0);
}

TEST_PROGRAM(buildset)
{
	SKIP_PROGRAM_IF(!support_has("git"));
	setenv("HOME", "/nonexistent", 1);
	return support_main();
}
