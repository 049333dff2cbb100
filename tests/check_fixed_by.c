/* SPDX-License-Identifier: MIT */
#include "report/fix_look.h"
#include "tests/support.h"

/* Regressions that a revision was to fix: which builds have it. */

#define BUILDS 12

static struct build build[BUILDS];
static struct revision revision[BUILDS];
static char commit[BUILDS][41];
static struct builds builds = { .ref = "x", .n = BUILDS, .build = build };
static struct rules rules;

/* Build i is of commit i; a number in it is its order in the history. */
static void make(void)
{
	rules_init(&rules);
	for (size_t i = 0; i < BUILDS; i++) {
		snprintf(commit[i], sizeof commit[i], "%040zx", i);
		revision[i] = (struct revision){ .source = "/src", .commit = commit[i], .count = -1 };
		build[i] = (struct build){ .revision = &revision[i], .n_revisions = 1 };
	}
}

static size_t asked;

static bool follows(void *context, const struct revision *r, const char *fixed)
{
	(void)context;
	asked++;
	return strtoul(r->commit + 20, NULL, 16) >= strtoul(fixed + 1, NULL, 16);
}

static const struct {
	const char *fixed;
	unsigned note, failed;	/* builds; failed: a bit for each */
	bool history, invalid, accepted, overdue;
} cases[] = {
	/* three builds after the two that agree */
	{ "0000000000000000000000000000000000000009", 3, 0, false, false, false, true },
	{ "000000000000000000000000000000000000000a", 3, 0, false, false, false, false },
	{ "b9", 3, 0, true, false, false, true },	/* was never built itself */
	{ "ba", 3, 0, true, false, false, false },
	{ "b9", 3, 0, false, false, false, false },
	{ "b9", 3, 1 << 10, true, false, false, false },	/* that build failed */
	{ "b2", 8, 0, true, false, false, true },	/* older than the note */
	{ "b2", 9, 0, true, false, false, false },
	{ "b9", 3, 0, true, true, false, false },
	{ "b9", 3, 0, true, false, true, false },
};

TEST_EACH(overdue, cases)
{
	struct known k = {
		.kind = cases[_i].accepted ? KNOWN_ACCEPTED : KNOWN_ACKNOWLEDGED, .build = cases[_i].note,
		.pattern = "", .metrics = ~0u, .fixed_by = cases[_i].fixed, .invalid = cases[_i].invalid,
	};
	struct known_list list = { 1, &k };
	const struct fixed_by_history history = { follows, NULL };
	const struct known_subject total = { .task = TASK_TOTAL, .metric = METRIC_WALL };

	make();
	for (size_t i = 0; i < BUILDS; i++)
		build[i].total[TOTAL_STATUS] = cases[_i].failed >> i & 1;
	asked = 0;
	fixed_by_find(&list, &builds, &rules, cases[_i].history ? &history : NULL);
	ck_assert_int_eq(k.overdue, cases[_i].overdue);
	ck_assert_uint_le(asked, 4);
	ck_assert_ptr_eq(known_find(&list, k.kind, &builds, &total, 0, BUILDS - 1),
			 cases[_i].overdue ? NULL : &k);
}

/* Only a confirmed regression of the same task and metric that began before the note. */
TEST(marked)
{
	struct known k = { .kind = KNOWN_ACKNOWLEDGED, .build = 5, .pattern = "",
			   .metrics = METRIC_BIT(METRIC_WALL), .overdue = true };
	struct known_list list = { 1, &k };
	struct verdict_finding f[] = {
		{ .task = TASK_TOTAL, .metric = METRIC_WALL, .worse = true, .first = 5 },
		{ .task = TASK_TOTAL, .metric = METRIC_WALL, .worse = true, .first = 6 },
		{ .task = TASK_TOTAL, .metric = METRIC_WALL, .first = 5 },
		{ .task = TASK_TOTAL, .metric = METRIC_CPU, .worse = true, .first = 5 },
		{ .task = TASK_HOST, .metric = METRIC_WALL, .worse = true, .first = 5 },
		{ .task = TASK_TOTAL, .metric = METRIC_WALL, .worse = true, .first = 5,
		  .state = FINDING_SUSPECT },
	};
	struct verdict v = { .n = ARRAY_SIZE(f), .finding = f };

	make();
	fixed_by_mark(&v, &builds, &list);
	for (size_t i = 0; i < v.n; i++)
		ck_assert_ptr_eq(f[i].overdue, i ? NULL : &k);
	f[0].overdue = NULL;
	k.overdue = false;
	fixed_by_mark(&v, &builds, &list);
	ck_assert_ptr_null(f[0].overdue);
}

/* The history of a real source tree, or of the working directory: a fix on a branch counts once it is
 * merged. */
TEST_LOOP(source_tree, 2)
{
	struct known k = { .kind = KNOWN_ACKNOWLEDGED, .build = 2, .pattern = "", .metrics = ~0u };
	struct known_list list = { 1, &k };
	const char *tree = support_path("%s/src", support_tmpdir());
	struct run r;
	char *id;

	SKIP_IF(!support_has("git"));
	make();
	support_run(&r, support_tmpdir(), "git init -q src && cd src && git config user.name a && "
		    "git config user.email a@b && for i in 0 1 2 3 4; do git commit -q --allow-empty -m $i; "
		    "git rev-parse HEAD; done; git checkout -q -b fix; git commit -q --allow-empty -m fix; "
		    "git checkout -q -; for i in 5 6 7; do git commit -q --allow-empty -m $i; "
		    "git rev-parse HEAD; done; git merge -q --no-edit fix; git rev-parse HEAD; "
		    "for i in 9 10 11; do git commit -q --allow-empty -m $i; git rev-parse HEAD; done; "
		    "git rev-parse fix");
	ck_assert_int_eq(r.status, 0);
	id = r.out.data;
	for (size_t i = 0; i < BUILDS; i++) {
		snprintf(commit[i], sizeof commit[i], "%.40s", strsep(&id, "\n"));
		revision[i].source = _i ? "/nowhere" : tree;
	}
	k.fixed_by = strsep(&id, "\n");
	ck_assert_int_eq(strlen(k.fixed_by), 40);
	ck_assert_int_eq(chdir(_i ? tree : "/"), 0);
	for (builds.n = 8; builds.n <= BUILDS; builds.n++) {
		k.overdue = false;
		ck_assert_int_eq(fix_look(&list, &builds, &rules), 0);
		ck_assert_msg(k.overdue == (builds.n >= 11), "%zu builds", builds.n);
	}
	builds.n = BUILDS;
	ck_assert_int_eq(chdir("/"), 0);
}

/* Notes that hold in every series. Build i has commit i, and is commit number 100 + 10 i. */
static const struct {
	const char *ref, *source, *commit;
	int64_t count;
	size_t n_trees;
	size_t same;
} places[] = {
	{ "h/main/m", "/src", "0000000000000000000000000000000000000004", -1, 1, 4 },
	{ "h/main/m", "/src", "ffff", 135, 1, 4 },
	{ "h/main/m", "/src", "ffff", 140, 1, 4 },
	{ "h/main/m", "/elsewhere", "ffff", 141, 1, 5 },
	{ "h/main/m", "/src", "ffff", 10, 1, 0 },
	{ "h/main/m", "/src", "ffff", 1000, 1, BUILDS },
	{ "h/main/m", "/src", "ffff", -1, 1, BUILDS },
	{ "h/other/m", "/src", "ffff", 135, 1, BUILDS },	/* counts are those of a branch */
	{ "h/other/m", "/src", "0000000000000000000000000000000000000004", 140, 1, 4 },
	{ "h/mainly/m", "/src", "ffff", 135, 1, BUILDS },
	{ "h/main/m", "/src", "ffff", 135, 2, BUILDS },
	{ "h/main/m", "/src", "ffff", 135, 0, BUILDS },
};

TEST_EACH(same_build, places)
{
	const struct revision r[2] = {
		{ .source = places[_i].source, .commit = places[_i].commit, .count = places[_i].count },
		{ .source = "/other", .commit = "1", .count = -1 },
	};

	make();
	builds.ref = "farm2/main/m";
	for (size_t i = 0; i < BUILDS; i++)
		revision[i].count = 100 + 10 * (int64_t)i;
	ck_assert_uint_eq(known_same_build(&builds, places[_i].ref, r, places[_i].n_trees), places[_i].same);
}

TEST_MAIN(fixed_by);
