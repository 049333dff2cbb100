/* SPDX-License-Identifier: MIT */
#include "archive/columns.h"
#include "base/array.h"
#include "tests/made_build.h"
#include "tests/support.h"

/* The builds of a series, read together. */

static void read_builds(struct builds *builds, struct archive *a, size_t newest)
{
	struct error err = { 0 };
	int r = archive_builds(a, MADE_REF, newest, builds, &err);

	ck_assert_msg(!r, "%s: %s", err.path, err.message);
}

static size_t task_of(const struct builds *builds, const char *name)
{
	for (size_t i = 0; i < builds->n_tasks; i++) {
		if (!strcmp(builds->task[i].name, name))
			return i;
	}
	return builds->n_tasks;
}

/* Values of all builds are those of the single build. */
static void check_values(const struct builds *builds, size_t build, enum metric m,
			const float *values, const struct values *f)
{
	size_t known = 0;

	for (size_t i = 0; i < f->n_tasks; i++) {
		size_t task = task_of(builds, f->task[i].name);
		double value = values_get(f, i, m);
		float got;

		if (f->total[TOTAL_FAILED] && f->column[COLUMN_STATUS] &&
		    f->column[COLUMN_STATUS][i] > 0)
			value = NAN;
		ck_assert_uint_lt(task, builds->n_tasks);
		got = values[task * builds->n + build];
		ck_assert_int_eq(isnan(value), isnan(got));
		if (!isnan(value))
			ck_assert(fabs(value - (double)got) <= 1e-3 * value);
		known += !isnan(got);
	}
	for (size_t i = 0; i < builds->n_tasks; i++)
		known -= !isnan(values[i * builds->n + build]);
	ck_assert_uint_eq(known, 0);
}

static void check_metric(const struct builds *builds, struct archive *a, enum metric m)
{
	float *values = malloc((builds->n * builds->n_tasks + 1) * sizeof *values);
	struct error err = { 0 };
	struct values f;

	ck_assert_ptr_nonnull(values);
	ck_assert_msg(!builds->load(builds, m, values, &err), "%s", err.message);
	for (size_t i = 0; i < builds->n; i++) {
		made_read(&f, a, builds->build[i].id);
		check_values(builds, i, m, values, &f);
		values_release(&f);
	}
	free(values);
}

/* Tasks come and go; where most of them are new, the archive begins a new dictionary. */
static const struct { size_t first, n; } range[] = {
	{ 0, 20 }, { 0, 20 }, { 5, 20 }, { 5, 15 }, { 1, 30 }, { 100, 10 }, { 100, 40 }, { 90, 90 },
	{ 200, 3 }, { 0, 20 }, { 0, 20 }, { 0, 20 }, { 0, 21 }, { 0, 20 }, { 3, 1 }, { 0, 0 }, { 2, 5 },
	{ 2, 5 }, { 0, 6 },
};

#define BUILDS ARRAY_SIZE(range)

static struct archive *add_all(void)
{
	struct archive *a = made_archive(made_repo());

	for (unsigned i = 0; i < BUILDS; i++)
		made_add_build(a, range[i].first, range[i].n, i);
	return a;
}

static void check_index(const struct builds *builds)
{
	for (size_t i = 0; i < builds->n; i++) {
		const struct build *build = &builds->build[i];
		unsigned number = (unsigned)(BUILDS - builds->n + i);
		char run[32], commit[41];

		snprintf(run, sizeof run, "night-%u", number);
		snprintf(commit, sizeof commit, "%040u", number);
		ck_assert_str_eq(build->run, run);
		ck_assert_int_eq(build->start_s, 1700000000 + (int64_t)number * 86400);
		ck_assert_int_eq(build->total[TOTAL_USER_US], 1000 + (int64_t)number);
		ck_assert_int_eq(build->total[4], -1);
		ck_assert_uint_eq(build->n_revisions, 1);
		ck_assert_str_eq(build->revision->commit, commit);
		ck_assert_str_eq(build->revision->source, "/src/one tree");
		ck_assert_int_eq(build->revision->count, -1);
	}
}

TEST(builds_have_the_values_of_each)
{
	static const size_t newest[] = { 0, 1, 2, 3, 7, 16, 17, BUILDS, 1000 };
	struct archive *a = add_all();
	struct builds builds;

	for (size_t i = 0; i < ARRAY_SIZE(newest); i++) {
		read_builds(&builds, a, newest[i]);
		ck_assert_uint_eq(builds.n, newest[i] && newest[i] < BUILDS ? newest[i] : BUILDS);
		check_index(&builds);
		for (int m = 0; m < METRICS; m++)
			check_metric(&builds, a, m);
		builds_release(&builds);
	}
	archive_close(a);
	made_fsck();
}

/* Whether a task with this status has a value, in a build in which so many tasks failed. */
static const struct { int64_t failed, status; bool is_value; } ending[] = {
	{ 3, 0, true }, { 3, -1, true }, { 3, 1, false }, { 3, 255, false },
	{ 3, STATUS_KILLED + 9, false }, { 3, STATUS_FAILED, false },
	{ 3, STATUS_UNFINISHED, false }, { -1, 0, true }, { -1, 2, false },
};

TEST_EACH(failed_tasks_have_no_value, ending)
{
	struct archive *a = made_archive(made_repo());
	struct error err = { 0 };
	struct builds builds;
	struct values f;
	float value[2 * 6];

	for (unsigned build = 0; build < 2; build++) {
		made_build(&f, 0, 6, build);
		for (size_t i = 0; i < 6; i++) {
			f.column[COLUMN_STATUS][i] = 0;
			f.column[COLUMN_WALL_US][i] = 1000;
		}
		f.total[TOTAL_FAILED] = build ? ending[_i].failed : 0;
		f.column[COLUMN_STATUS][2] = build ? ending[_i].status : 0;
		made_add(a, &f, build);
		values_release(&f);
	}
	read_builds(&builds, a, 0);
	ck_assert_uint_eq(builds.n_tasks, 6);
	ck_assert_int_eq(builds.load(&builds, METRIC_WALL, value, &err), 0);
	for (size_t i = 0; i < 12; i++)
		ck_assert_int_eq(isnan(value[i]), i == 5 && !ending[_i].is_value);
	builds_release(&builds);
	archive_close(a);
}

/* Which tasks ran is known of each build, whatever their values are. */
TEST(tasks_that_ran)
{
	struct archive *a = add_all();
	struct builds builds;
	uint64_t set[8] = { 0 };

	read_builds(&builds, a, 0);
	ck_assert_uint_le(builds.n_tasks, 64 * ARRAY_SIZE(set));
	for (uint32_t i = 0; i < builds.n; i++) {
		uint64_t now[ARRAY_SIZE(set)] = { 0 };
		struct error err = { 0 };
		size_t n = 0;
		int r = builds.ran(&builds, i, now, &err);

		/* 1: those of the build before */
		ck_assert_int_eq(r, i && range[i].first == range[i - 1].first && range[i].n == range[i - 1].n);
		if (!r)
			memcpy(set, now, sizeof set);
		for (size_t k = 0; k < range[i].n; k++) {
			const char *name = support_path("dir0: task%05zu", range[i].first + k);
			size_t task = task_of(&builds, name);

			ck_assert_msg(task < builds.n_tasks && set[task / 64] >> task % 64 & 1, "%u: %s", i, name);
		}
		for (size_t k = 0; k < ARRAY_SIZE(set); k++)
			n += (size_t)__builtin_popcountll(set[k]);
		ck_assert_uint_eq(n, range[i].n);
	}
	builds_release(&builds);
	archive_close(a);
}

TEST(dictionary_only_grows)
{
	struct archive *a = add_all();
	char first[64];

	archive_close(a);
	/* no new task: the same blob; new tasks: more lines; most are gone: a new dictionary */
	strcpy(first, made_git("rev-parse " MADE_REF "~18:tasks"));
	ck_assert_str_eq(first, made_git("rev-parse " MADE_REF "~17:tasks"));
	ck_assert_str_eq(made_git("diff --shortstat " MADE_REF "~17 " MADE_REF "~16 -- tasks"),
			 " 1 file changed, 5 insertions(+)");
	strcpy(first, made_git("rev-parse " MADE_REF "~16:tasks"));
	ck_assert_str_eq(first, made_git("rev-parse " MADE_REF "~15:tasks"));
	ck_assert_str_eq(made_git("cat-file blob " MADE_REF "~13:tasks | wc -l"), "11");
	ck_assert_str_eq(made_git("cat-file blob " MADE_REF ":tasks | sed -n 2p"),
			 "dir0: task00003\tcc");
}

/* Host, machine, cores, memory and build tool are circumstances; what was built is not. */
static const struct { int fact; const char *value; bool other; } circumstance[] = {
	{ 0, "host2", true }, { 1, "aarch64", true }, { 2, "9", true }, { 3, "16303000", false },
	{ 3, "33554432", true }, { 4, "make -j8 some", false }, { 5, "ninja", true },
	{ 7, "1234", false }, { 8, "topic", false }, { 9, "yes", false },
};

TEST_EACH(circumstances_differ, circumstance)
{
	struct archive *a = made_archive(made_repo());
	struct builds builds;
	struct values f;

	for (unsigned build = 0; build < 2; build++) {
		made_build(&f, 0, 3, build);
		if (build)
			f.fact[circumstance[_i].fact].value = circumstance[_i].value;
		made_add(a, &f, build);
		values_release(&f);
	}
	read_builds(&builds, a, 0);
	ck_assert_int_eq(builds.build[0].circumstances != builds.build[1].circumstances,
			 circumstance[_i].other);
	builds_release(&builds);
	archive_close(a);
}

TEST(source_trees_have_revisions)
{
	static const struct values_fact fact[] = {
		{ "source", "/a b" }, { "revision", "12ab" }, { "dirty", "yes" },
		{ "commit_count", "1234" }, { "source", "/none" }, { "source", "/c\n" },
		{ "revision", "00ff" }, { "host", "h" },
	};
	struct archive *a = made_archive(made_repo());
	struct values f, plain;
	struct builds builds;

	made_build(&f, 0, 1, 1);
	plain = f;
	f.fact = (struct values_fact *)fact;
	f.n_facts = ARRAY_SIZE(fact);
	made_add(a, &f, 1);
	read_builds(&builds, a, 0);
	ck_assert_uint_eq(builds.build->n_revisions, 2);
	ck_assert_str_eq(builds.build->revision[0].source, "/a b");
	ck_assert_str_eq(builds.build->revision[0].commit, "12ab");
	ck_assert_int_eq(builds.build->revision[0].count, 1234);
	ck_assert(builds.build->revision[0].dirty);
	ck_assert_str_eq(builds.build->revision[1].source, "/c\n");
	ck_assert_str_eq(builds.build->revision[1].commit, "00ff");
	ck_assert_int_eq(builds.build->revision[1].count, -1);
	ck_assert(!builds.build->revision[1].dirty);
	ck_assert_str_eq(made_git("log -1 --format='%(trailers:key=Commit-Count,valueonly)'"
			     " " MADE_REF), "1234");
	builds_release(&builds);
	values_release(&plain);
	archive_close(a);
}

/* Two builds start at one time, another before its parent. */
TEST(order_is_of_commits)
{
	static const int64_t start_s[] = { 1700000000, 1700000000, 1600000000, -1, 0 };
	struct archive *a = made_archive(made_repo());
	struct builds builds;
	struct values f;

	for (unsigned i = 0; i < 5; i++) {
		made_build(&f, 0, 1, i);
		f.start_s = start_s[i];
		made_add(a, &f, i);
		values_release(&f);
	}
	read_builds(&builds, a, 0);
	ck_assert_uint_eq(builds.n, 5);
	for (int i = 0; i < 5; i++)
		ck_assert_int_eq(builds.build[i].start_s, start_s[i]);
	builds_release(&builds);
	archive_close(a);
	made_fsck();
}

/* The same builds are the same commits, whoever archives them at any time. */
TEST(archive_is_deterministic)
{
	struct archive *a = add_all();
	char id[64];

	archive_close(a);
	strcpy(id, made_git("rev-parse " MADE_REF));
	made_git("update-ref -d refs/heads/" MADE_REF);
	setenv("TZ", "Asia/Kolkata", 1);
	setenv("GIT_AUTHOR_DATE", "2001-01-01T00:00:00", 1);
	a = add_all();
	archive_close(a);
	ck_assert_str_eq(id, made_git("rev-parse " MADE_REF));
}

/* Commits on the branch that are not builds. */
static const char *const foreign[] = {
	"checkout -q --orphan x && git -c commit.gpgsign=false commit -q --allow-empty -m x && "
	"git branch -f " MADE_REF " x",
	"branch -f " MADE_REF " $(git commit-tree -m 'not a build' -p " MADE_REF " "
	MADE_REF "^{tree})",
	"branch -f " MADE_REF " $(git commit-tree -m 'a merge' -m 'Run-Id: x' -p " MADE_REF
	" -p " MADE_REF "~1 " MADE_REF "^{tree})",
	"branch -f " MADE_REF " $(git commit-tree -m 'nothing in it' -m 'Run-Id: x' -p " MADE_REF
	" $(git hash-object -t tree -w /dev/null))",
};

TEST_EACH(foreign_commit_is_not_extended, foreign)
{
	struct archive_build build;
	char id[ARCHIVE_ID_SIZE], tip[64];
	struct error err = { 0 };
	struct archive *a;
	struct values f;
	struct run r;
	bool added;

	support_run(&r, NULL, "git init -q %s", made_repo());
	made_add_builds(2);
	made_git(foreign[_i]);
	strcpy(tip, made_git("rev-parse " MADE_REF));
	made_build(&f, 0, 3, 7);
	build = (struct archive_build){ .values = &f };
	a = made_archive(made_repo());
	ck_assert_int_eq(archive_add(a, MADE_REF, &build, id, &added, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.message, MADE_REF " is not a build"));
	ck_assert_str_eq(tip, made_git("rev-parse " MADE_REF));
	values_release(&f);
	archive_close(a);
}

/* A build whose parent is a foreign commit. */
TEST_EACH(foreign_commits_are_skipped, foreign)
{
	struct builds builds;
	struct archive *a;
	struct run r;

	support_run(&r, NULL, "git init -q %s", made_repo());
	made_add_builds(2);
	made_git("tag build " MADE_REF);
	made_git(foreign[_i]);
	made_git("branch -f " MADE_REF " $(git log -1 --format=%B build | sed s/night-1/night-9/ | "
	    "git commit-tree -p " MADE_REF " build^{tree})");
	a = made_archive(made_repo());
	read_builds(&builds, a, 0);
	ck_assert_uint_eq(builds.n, _i ? 3 : 1);
	ck_assert_str_eq(builds.build[builds.n - 1].run, "night-9");
	check_metric(&builds, a, METRIC_WALL);
	builds_release(&builds);
	archive_close(a);
}

TEST_PROGRAM(archive_builds)
{
	made_environment();
	return support_main();
}
