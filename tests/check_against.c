/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "compare/against_target.h"
#include "tests/made_series.h"
#include "tests/paths.h"
#include "tests/support.h"

/*
 * `buildbeat check --against`: the branches of a real repository whose builds were really recorded,
 * and generated archives without sources. Memory is the same on a busy machine, so the checks
 * are about memory.
 */

#define BUILDBEAT TOP_BUILDDIR "/buildbeat"
#define GEN TOP_BUILDDIR "/tests/gen_archive"

static const char *dir;

static void sh(const char *command)
{
	struct run r;

	support_run(&r, dir, "%s", command);
	ck_assert_msg(r.status == 0, "%s: %d: %s%s", command, r.status, r.out.data, r.err.data);
}

static const char makefile[] =
	"include table.mk\n"
	"all: table.txt words.txt $(MORE)\n"
	"table.txt:\n\t@dd if=/dev/zero bs=$(TABLE)M count=1 2>dd.log | wc -c >$@\n"
	"words.txt more.txt:\n\t@tr -s ' ' '\\n' <Makefile | sort >$@\n";

/* A commit on the current branch: the size of the table in MiB, and what the file says besides. */
static void commit(int table, const char *besides)
{
	static int number;

	support_writes(support_path("%s/app/table.mk", dir),
		       support_path("TABLE = %d\n%s\n# %d\n", table, besides, number++));
	sh("cd app && git add -A && git commit -q -m change");
}

/* Builds what is checked out and archives it. The archive is that of the test. */
static void record(const char *branch)
{
	sh(support_path("cd app && git clean -qfdx && " BUILDBEAT " record -o ../stats -- make -s >/dev/null && "
			BUILDBEAT " archive --repo ../r.git --host h --machine m --branch %s "
			"../stats/latest", branch));
}

/* Seven builds of main, the fork, then two of main that need more memory. */
static void prepare(void)
{
	dir = support_tmpdir();
	setenv("HOME", dir, 1);
	setenv("XDG_CACHE_HOME", support_path("%s/cache", dir), 1);
	setenv("XDG_CONFIG_HOME", support_path("%s/config", dir), 1);
	support_writes(support_path("%s/.gitconfig", dir),
		       "[user]\n\tname = author\n\temail = author@example.org\n"
		       "[init]\n\tdefaultBranch = main\n");
	sh("git init -q app");
	support_writes(support_path("%s/app/Makefile", dir), makefile);
	support_writes(support_path("%s/app/.gitignore", dir), "*.txt\n*.log\n");
	support_writes(support_path("%s/memory.yaml", dir), "compare: {metrics: memory}\n");
	for (int i = 0; i < 7; i++) {
		commit(8, "");
		record("main");
	}
	sh("cd app && git tag fork");
	for (int i = 0; i < 2; i++) {
		commit(68, "");
		record("main");
	}
}

static void branch(const char *name, const char *from)
{
	sh(support_path("cd app && git checkout -q -b %s %s", name, from));
}

static void check(int status, const char *branch, const char *arguments, const char *const *said)
{
	struct run r;

	support_run(&r, support_path("%s/app", dir), BUILDBEAT " check -c ../memory.yaml --repo "
		    "../r.git --ref %s --against main %s", branch, arguments);
	ck_assert_msg(r.status == status, "%s: %d: %s%s", branch, r.status, r.out.data, r.err.data);
	for (; *said; said++)
		ck_assert_msg(strstr(buf_str(&r.out), *said) != NULL, "%s: '%s' is not in %s", branch,
			      *said, r.out.data);
	ck_assert_str_eq(buf_str(&r.err), "");
}

#define SAYS(...) (const char *const []){ __VA_ARGS__, NULL }

TEST_GROUP_ONCE("recorded", prepare, NULL);

/* The regression that main has since the fork is neither the branch's nor hides it. */
TEST(unchanged)
{
	branch("same", "fork");
	commit(8, "#");
	record("same");
	check(0, "same", "", SAYS("no regression: h/same/m", "against h/main/m: 7 builds up to ",
				  "the newest that this branch contains", "1 recording of this"));
	check(0, "same", "--json", SAYS("\"verdict\": \"no_regression\"", "\"by\": \"revision\"",
					"\"more_recordings\": 0", "\"why\": null"));
}

/* One recording is not enough, two are. */
TEST(slower)
{
	branch("slow", "fork");
	commit(8, "#");
	record("slow");
	commit(68, "#");
	record("slow");
	check(0, "slow", "", SAYS("unknown: 1 more recording would decide about ", "table.txt",
				  "1 recording of this revision", "record this revision again, 1 time:",
				  "      buildbeat record -- make -s", "      buildbeat archive --config ../memory.yaml --repo ../r.git\n",
				  " --ref h/main/m --metrics memory table.txt"));
	check(3, "slow", "--need-history --json", SAYS("\"verdict\": \"unknown\"",
						       "\"more_recordings\": 1"));
	check(0, "slow", "--markdown", SAYS("**unknown: 1 more recording would decide"));
	record("slow");
	check(1, "slow", "", SAYS("confirmed", "table.txt", "2 recordings of this revision",
				  "against h/main/m: 7 builds up to ", "    show the history of the target:\n",
				  " --ref h/main/m --metrics memory table.txt"));
	check(1, "slow", "--json", SAYS("\"verdict\": \"regression\"", "\"recordings\": 2"));
}

/* The thresholds depend on the build, unless the user set them. */
TEST(little)
{
	branch("little", "fork");
	commit(13, "#");
	record("little");
	record("little");
	check(1, "little", "", SAYS("confirmed", "table.txt", " --metric memory --amount 1024KiB -- "));
	support_writes(support_path("%s/memory.yaml", dir),
		       "compare: {metrics: memory, rules: [{amount: 16MiB}]}\n");
	check(0, "little", "", SAYS("no regression"));
	support_writes(support_path("%s/memory.yaml", dir), "compare: {metrics: memory}\n");
}

/* A branch of the slow main is as slow as that. */
TEST(later)
{
	branch("later", "main");
	commit(68, "#");
	record("later");
	record("later");
	check(0, "later", "", SAYS("no regression", "against h/main/m: 9 builds up to "));
}

/* After a merge of main, its newest builds are in the branch's history. */
TEST(merged)
{
	branch("merge", "fork");
	sh("cd app && echo x >x && git add x && git commit -q -m x");
	record("merge");
	check(0, "merge", "", SAYS("against h/main/m: 7 builds up to "));
	sh("cd app && git merge -q -m merge main");
	record("merge");
	check(0, "merge", "", SAYS("against h/main/m: 9 builds up to "));
}

TEST(other_tasks)
{
	branch("tasks", "fork");
	commit(8, "MORE = more.txt");
	record("tasks");
	check(0, "tasks", "", SAYS("more.txt", "1 new"));
}

/* Without the sources, or with a part of their history only, the time decides, and check says why. */
TEST(without_sources)
{
	struct run r;

	branch("alone", "fork");
	commit(8, "#");
	record("alone");
	sh("mv app elsewhere && mkdir app");
	check(0, "alone", "", SAYS("against h/main/m: 9 builds up to ", "the newest before this one, "
				   "because neither ", " nor the working directory has the revision"));
	sh("rmdir app && git clone -q --depth 1 -b alone file://$PWD/elsewhere app");
	check(0, "alone", "", SAYS("9 builds up to ", "is incomplete (a shallow clone)"));
	/* the working directory is as good */
	support_run(&r, support_path("%s/elsewhere", dir), "mv ../app ../shallow; " BUILDBEAT
		    " check -c ../memory.yaml --repo ../r.git --ref alone --against main");
	ck_assert_msg(strstr(buf_str(&r.out), "7 builds up to ") != NULL, "%s%s", r.out.data, r.err.data);
}

/* Generated archives. */
static const struct {
	const char *arguments;
	int status;
	const char *out, *err;
} uses[] = {
	{ "--ref fast%2Fx --against main", 0, "no regression: h/fast%2Fx/m", "" },
	{ "--ref h/slow/m --against main", 1, "3 recordings of this revision", "" },
	{ "--ref slow --against main --junit", 1, "<failure", "" },
	{ "--ref big --against main", 0, "cores differs: 16 -> 64\n", "" },
	{ "--ref big --against main --json", 0, "\"key\": \"cores\"", "" },
	{ "--ref big --against main --markdown", 0, "- cores differs: 16", "" },
	/* a rate that no number of recordings reaches */
	{ "-c strict.yaml --repo young.git --ref mr --against main", 0, "unknown: 10 more recordings would not decide about 2 "
	  "changes: h/mr/m, build ", "" },
	{ "-c strict.yaml --repo young.git --ref mr --against main", 0, " (+15 %), not decided by more recordings\n", "" },
	{ "-c strict.yaml --repo young.git --ref mr --against main", 0, "show the history of the target:\n      buildbeat history "
	  "--config strict.yaml --repo young.git --ref h/main/m --metrics wall 'recipe-00000: do_configure'\n", "" },
	{ "-c strict.yaml --repo young.git --ref mr --against main --need-history", 3, "unknown: ", "" },
	{ "-c strict.yaml --repo young.git --ref mr --against main --json", 0, "\"verdict\": \"unknown\"", "" },
	{ "-c strict.yaml --repo young.git --ref mr --against main --json", 0, "\"more_recordings\": null", "" },
	{ "-c strict.yaml --repo young.git --ref mr --against main --junit", 0, "<skipped message=\"unknown: a change is undecided\"", "" },
	{ "-c strict.yaml --repo young.git --ref mr --against main --markdown", 0, "**unknown: 10 more recordings would not decide about 2 changes**", "" },
	{ "--ref slow --against mian", 2, "", "no builds of the branch 'mian' on the host 'h' and "
	  "machine 'm'; did you mean 'main'?" },
	{ "--ref slow --against xyzzy", 2, "", "; they have big, early, fast%2Fx, main" },
	{ "--ref slow --against slow", 2, "", "h/slow/m is of the branch 'slow' itself" },
	{ "--ref slow --against", 2, "", "--against" },
	{ "--ref slow --agianst main", 2, "", "did you mean '--against'" },
	{ "--ref alone --against main", 2, "", "host 'other' and machine 'm'" },
	{ "--against main", 2, "", "several series" },
	{ "--ref early --against main", 2, "", "h/main/m has no build before the newest one of h/early/m" },
};

static void generate(void)
{
	dir = support_tmpdir();
	setenv("HOME", dir, 1);
	setenv("XDG_CONFIG_HOME", support_path("%s/config", dir), 1);
	sh(GEN " --tasks 60 --first 5 --builds 40 --seed 3 --noise 0.02 --series h/main/m g.git");
	sh(GEN " --tasks 60 --first 0 --builds 1 --seed 3 --noise 0.02 --series h/early/m g.git");
	sh(GEN " --tasks 60 --first 39 --builds 40 --seed 3 --noise 0.02 --series h/fast%2Fx/m g.git");
	sh(GEN " --tasks 60 --first 39 --builds 42 --repeats 3 --step 3-4/0/0.5 --seed 3 --noise 0.02 "
	   "--series h/slow/m g.git");
	sh(GEN " --tasks 60 --first 39 --builds 40 --cores 64 --seed 3 --noise 0.02 --series h/big/m g.git");
	sh(GEN " --tasks 60 --first 39 --builds 40 --seed 3 --noise 0.02 --series other/alone/m g.git");
	support_writes(support_path("%s/strict.yaml", dir), "compare: {rate: 0}\n");
	sh(GEN " --tasks 300 --builds 18 --seed 1 --noise 0.03 --spikes 0.01 --series h/main/m young.git");
	sh(GEN " --tasks 300 --first 18 --builds 21 --repeats 3 --step 3/0/0.15 --seed 1 --noise 0.03 "
	   "--spikes 0.01 --series h/mr/m young.git");
}

TEST_GROUP_ONCE("generated", generate, NULL);

TEST_EACH(use, uses)
{
	struct run r;

	support_run(&r, dir, BUILDBEAT " check %s %s", strstr(uses[_i].arguments, "--repo") ? "" :
		    "--repo g.git", uses[_i].arguments);
	ck_assert_msg(r.status == uses[_i].status, "%s: %d: %s%s", uses[_i].arguments, r.status,
		      r.out.data, r.err.data);
	ck_assert_msg(strstr(buf_str(&r.out), uses[_i].out) != NULL, "%s: %s%s", uses[_i].arguments,
		      r.out.data, r.err.data);
	ck_assert_msg(strstr(buf_str(&r.err), uses[_i].err) != NULL, "%s: %s", uses[_i].arguments,
		      r.err.data);
}

/* The printed commands run as they are. */
TEST(commands)
{
	struct run r;

	support_run(&r, dir, "PATH=%s:$PATH; " BUILDBEAT " check -c strict.yaml --repo young.git --ref mr --against main >said && "
		    "grep -c '^      buildbeat' said && grep '^      buildbeat' said >commands && sh -e commands",
		    TOP_BUILDDIR);
	ck_assert_msg(r.status == 0, "%s%s", buf_str(&r.out), buf_str(&r.err));
	ck_assert_ptr_nonnull(strstr(r.out.data, "4\n"));
	ck_assert_ptr_nonnull(strstr(r.out.data, " values tested"));
}

/* A branch of 300 tasks of 8 s, with 3 % noise, in many seeds: how often its verdict is unknown without a change,
 * and how often a change of one task is confirmed or undecided. Spikes are one value that is larger by 30 % or
 * more; alike is the correlation of consecutive builds. */
#define CHANGED 7
#define SEEDS 20

static const struct {
	size_t history, recordings;
	double spikes, alike;
	int student;
	double by;
	size_t bound;		/* of SEEDS: reported at least; without a change, unknown at most */
} rates[] = {
	{ 30, 1, 0, 0, 0, 0, 2 },
	{ 30, 1, 0.02, 0, 0, 0, 5 },
	{ 8, 3, 0.01, 0, 0, 0, 2 },
	{ 18, 3, 0.01, 0, 0, 0, 2 },
	{ 18, 3, 0, 0, 3, 0, 2 },
	{ 18, 3, 0.01, 0.6, 0, 0, 2 },
	{ 18, 2, 0.01, 0, 0, 0, 3 },
	{ 30, 1, 0, 0, 0, 1, 20 },
	{ 8, 1, 0, 0, 0, 0.3, 19 },
	{ 12, 2, 0.01, 0, 0, 0.3, 14 },
	{ 8, 3, 0.01, 0, 0, 0.15, 19 },
	{ 18, 3, 0.01, 0, 0, 0.15, 19 },
	{ 18, 3, 0, 0, 3, 0.15, 15 },
	{ 18, 3, 0, 0, 0, 0.1, 17 },
};

static bool is_told(const struct verdict *v, const struct against_list *list)
{
	for (size_t i = 0; i < v->n; i++) {
		if (v->finding[i].task == CHANGED && v->finding[i].fails)
			return true;
	}
	for (size_t i = 0; i < list->n; i++) {
		if (list->item[i].task == CHANGED)
			return true;
	}
	return false;
}

TEST_EACH(rate, rates)
{
	uint32_t first = (uint32_t)rates[_i].history;
	struct made_change change = {
		.task = CHANGED, .metrics = METRIC_BIT(METRIC_WALL) | METRIC_BIT(METRIC_CPU),
		.build = first, .by = rates[_i].by,
	};
	struct rules rules;
	size_t unknown = 0, told = 0;

	rules_init(&rules);
	rules.metrics = METRIC_BIT(METRIC_WALL) | METRIC_BIT(METRIC_CPU);
	rules.gate[METRIC_WALL].amount = rules.gate[METRIC_CPU].amount = 1e5;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct made made = {
			.seed = seed, .tasks = 300, .builds = first + rates[_i].recordings,
			.noise = 0.03, .spikes = rates[_i].spikes, .alike = rates[_i].alike,
			.student = rates[_i].student, .host = 0.02, .level_us = 8e6,
			.n_changes = 1, .change = &change,
		};
		struct against_list list;
		struct builds builds;
		struct verdict v;
		struct error err;

		ck_assert_int_eq(made_series(&builds, &made), 0);
		ck_assert_int_eq(verdict_make(&v, &builds, &rules, NULL, &err), 0);
		ck_assert_int_eq(against_find_undecided(&list, &v, &builds, &rules, first, &err), 0);
		unknown += list.n > 0;
		told += is_told(&v, &list);
		for (size_t i = 0; i < list.n; i++)
			ck_assert_double_gt(list.item[i].now, list.item[i].before);
		free(list.item);
		verdict_release(&v);
		builds_release(&builds);
	}
	if (rates[_i].by > 0)
		ck_assert_msg(told >= rates[_i].bound, "%zu told", told);
	else
		ck_assert_msg(unknown <= rates[_i].bound, "%zu unknown", unknown);
}

/* What the target has too is not undecided: its level since a change of its own, and a task with two
 * levels. */
TEST_LOOP(of_the_target, 2)
{
	const struct made_change change = { .task = CHANGED, .build = 13, .by = _i ? 0 : 0.3 };
	const struct made made = {
		.seed = 9, .tasks = 300, .builds = 21, .noise = 0.03, .level_us = 8e6, .n_changes = 1,
		.change = &change,
	};
	struct against_list list;
	struct builds builds;
	struct verdict v = { 0 };	/* that found nothing */
	struct rules rules;
	struct error err;

	rules_init(&rules);
	rules.metrics = METRIC_BIT(METRIC_WALL);
	ck_assert_int_eq(made_series(&builds, &made), 0);
	for (size_t b = 0; _i && b < builds.n; b++) {
		float *value = made_series_values(&builds, METRIC_WALL) + CHANGED * builds.n + b;

		*value *= b % 3 == 0 || b >= 18 ? 1.4f : 1;
	}
	ck_assert_int_eq(against_find_undecided(&list, &v, &builds, &rules, 18, &err), 0);
	ck_assert_uint_eq(list.n, 0);
	free(list.item);
	builds_release(&builds);
}

/* A task that is slower makes the build slower, which is no second change; if tasks are not looked at, it is the
 * only one. */
TEST_LOOP(of_a_task, 2)
{
	static const struct rule ignores_tasks = {
		.pattern = "*", .metrics = METRIC_BIT(METRIC_WALL) | METRIC_BIT(METRIC_CPU),
		.share = NAN, .amount = NAN, .floor = NAN, .ignored = 1,
	};
	const struct made_change change = {
		.task = 1, .metrics = METRIC_BIT(METRIC_WALL) | METRIC_BIT(METRIC_CPU), .build = 18,
		.by = 1,
	};
	const struct made made = {
		.seed = 4, .tasks = 5, .builds = 20, .noise = 0.03, .level_us = 8e6, .n_changes = 1,
		.change = &change,
	};
	struct against_list list;
	struct builds builds;
	struct verdict v = { 0 };
	struct rules rules;
	struct error err;

	rules_init(&rules);
	rules.metrics = METRIC_BIT(METRIC_WALL) | METRIC_BIT(METRIC_CPU);
	rules.rule = &ignores_tasks;
	rules.n = _i;
	ck_assert_int_eq(made_series(&builds, &made), 0);
	ck_assert_int_eq(against_find_undecided(&list, &v, &builds, &rules, 18, &err), 0);
	ck_assert_uint_gt(list.n, 0);
	for (size_t i = 0; i < list.n; i++)
		ck_assert_uint_eq(list.item[i].task, _i ? TASK_TOTAL : 1);
	free(list.item);
	builds_release(&builds);
}

TEST_PROGRAM(against)
{
	SKIP_PROGRAM_IF(!support_has("git") || !support_has("make") || !support_can_be_loaded());
	return support_main();
}
