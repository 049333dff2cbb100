/* SPDX-License-Identifier: MIT */
#include "archive/columns.h"
#include "base/arena.h"
#include "base/array.h"
#include "tests/made_build.h"
#include "tests/support.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *repo(void)
{
	return support_path("%s/builds.git", support_tmpdir());
}

/* git's word for it, without the newline. */
static const char *git(const char *what)
{
	static char out[4096];
	struct run r;

	support_run(&r, repo(), "git %s", what);
	ck_assert_msg(!r.status, "git %s: %s", what, r.err.data);
	ck_assert_uint_lt(r.out.len, sizeof out);
	memcpy(out, r.out.data, r.out.len + 1);
	out[strcspn(out, "\n")] = '\0';
	return out;
}

static void check_fsck(void)
{
	struct run r;

	support_run(&r, NULL, "git -C %s fsck --strict --no-dangling 2>&1", repo());
	ck_assert_msg(!r.status && (!r.out.len || !strncmp(r.out.data, "notice: HEAD", 12)),
		      "%s", r.out.data);
}

/* What was written is what is read */

static void same_figures(const struct values *a, const struct values *b)
{
	ck_assert_int_eq(a->start_s, b->start_s);
	ck_assert_uint_eq(a->n_facts, b->n_facts);
	for (size_t i = 0; i < a->n_facts; i++) {
		ck_assert_str_eq(a->fact[i].key, b->fact[i].key);
		ck_assert_str_eq(a->fact[i].value, b->fact[i].value);
	}
	for (int i = 0; i < TOTALS; i++)
		ck_assert_int_eq(a->total[i], b->total[i]);
	ck_assert_uint_eq(a->n_tasks, b->n_tasks);
	for (size_t i = 0; i < a->n_tasks; i++) {
		ck_assert_str_eq(a->task[i].name, b->task[i].name);
		ck_assert_str_eq(a->task[i].kind, b->task[i].kind);
	}
	for (int c = 0; c < COLUMNS; c++) {
		ck_assert_int_eq(!a->column[c], !b->column[c]);
		for (size_t i = 0; a->column[c] && i < a->n_tasks; i++)
			ck_assert_int_eq(column_rounded(a->column[c][i]), b->column[c][i]);
	}
	ck_assert_uint_eq(a->n_packages, b->n_packages);
	for (size_t i = 0; i < a->n_packages; i++) {
		ck_assert_str_eq(a->package[i].name, b->package[i].name);
		ck_assert_str_eq(a->package[i].version, b->package[i].version);
	}
}

static void read_figures(struct values *f, struct archive *a, const char *name)
{
	struct error err = { 0 };
	int r = archive_values(a, name, f, &err);

	ck_assert_msg(!r, "%s: %s", err.path, err.message);
}

static void back_and_forth(const struct values *f, unsigned build)
{
	struct archive *a = made_archive(repo());
	struct values back;

	read_figures(&back, a, made_add(a, f, build));
	same_figures(f, &back);
	values_release(&back);
	archive_close(a);
	check_fsck();
}

START_TEST(figures_come_back)
{
	struct values f;

	made_build(&f, 0, 300, 1);
	back_and_forth(&f, 1);
	values_release(&f);
}
END_TEST

/* No text of a build is one that the format cannot keep. */
START_TEST(texts_come_back)
{
	static const char *const text[] = {
		"", "a\tb", "a\nb\r", "back\\slash \\n", "\x01\x7f\x1b[31m", "gr\xc3\xbc\xc3\x9f",
		"\xff\xfe", ": ", "Run-Id: none", "a: b: c",
	};
	size_t n = ARRAY_SIZE(text);
	struct values_package packages[ARRAY_SIZE(text)];
	struct values f;

	made_build(&f, 0, n, 1);
	for (size_t i = 0; i < n; i++) {
		struct buf name = BUF_INIT;

		buf_addf(&name, "%zu%s", i, text[i]);
		f.task[i].name = arena_text(f.texts, name.data, name.len);
		f.task[i].kind = text[i];
		f.fact[i].value = text[i];
		packages[i] = (struct values_package){ f.task[i].name, text[i] };
		buf_release(&name);
	}
	f.package = packages;
	f.n_packages = n;
	back_and_forth(&f, 1);
	f.package = NULL;
	values_release(&f);
}
END_TEST

START_TEST(little_comes_back)
{
	struct values f;

	made_build(&f, 0, 0, 1);
	f.start_s = -1;
	f.n_facts = 0;
	for (int i = 0; i < TOTALS; i++)
		f.total[i] = -1;
	for (int c = 0; c < COLUMNS; c++) {
		if (c == COLUMN_RUNS)
			continue;
		free(f.column[c]);
		f.column[c] = NULL;
	}
	back_and_forth(&f, 1);
	values_release(&f);
}
END_TEST

/* Whether a task was there is known of every build, however little is. */
START_TEST(tasks_without_figures_come_back)
{
	struct archive *a = made_archive(repo());
	struct values f, back;

	made_build(&f, 0, 5, 1);
	for (int c = 0; c < COLUMNS; c++) {
		free(f.column[c]);
		f.column[c] = NULL;
	}
	read_figures(&back, a, made_add(a, &f, 1));
	ck_assert_uint_eq(back.n_tasks, 5);
	ck_assert_ptr_null(back.column[COLUMN_WALL_US]);
	values_release(&back);
	values_release(&f);
	archive_close(a);
}
END_TEST

static const char *const names[] = {
	MADE_REF, MADE_REF "~1", MADE_REF "^", "refs/heads/" MADE_REF, NULL
};

START_TEST(build_has_gits_names)
{
	struct archive *a = made_archive(repo());
	struct error err = { 0 };
	struct values f;

	for (unsigned build = 0; build < 3; build++) {
		made_build(&f, 0, 3, build);
		made_add(a, &f, build);
		values_release(&f);
	}
	for (int i = 0; names[i]; i++) {
		read_figures(&f, a, names[i]);
		ck_assert_str_eq(f.path, names[i]);
		ck_assert_int_eq(f.start_s, 1700000000 + (strpbrk(names[i], "~^") ? 1 : 2) * 86400);
		values_release(&f);
	}
	read_figures(&f, a, git("rev-parse --short " MADE_REF "~2"));
	ck_assert_int_eq(f.start_s, 1700000000);
	values_release(&f);
	ck_assert_int_eq(archive_values(a, "nothing", &f, &err), -ENOENT);
	ck_assert_ptr_nonnull(strstr(err.message, "'nothing'"));
	values_release(&f);
	archive_close(a);
}
END_TEST

/* Many builds */

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

/* As the figures of that build say it. */
static void check_build_recording(const struct builds *builds, size_t build, enum metric m,
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
		read_figures(&f, a, builds->build[i].id);
		check_build_recording(builds, i, m, values, &f);
		values_release(&f);
	}
	free(values);
}

/* Tasks come and go; then all are others, and the dictionary begins anew. */
static const struct { size_t first, n; } range[] = {
	{ 0, 20 }, { 0, 20 }, { 5, 20 }, { 5, 15 }, { 1, 30 }, { 100, 10 }, { 100, 40 }, { 90, 90 },
	{ 200, 3 }, { 0, 20 }, { 0, 20 }, { 0, 20 }, { 0, 21 }, { 0, 20 }, { 3, 1 }, { 0, 0 }, { 2, 5 },
	{ 2, 5 }, { 0, 6 },
};

#define BUILDS ARRAY_SIZE(range)

static struct archive *add_all(void)
{
	struct archive *a = made_archive(repo());
	struct values f;

	for (unsigned i = 0; i < BUILDS; i++) {
		made_build(&f, range[i].first, range[i].n, i);
		made_add(a, &f, i);
		values_release(&f);
	}
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

START_TEST(builds_say_what_figures_say)
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
	check_fsck();
}
END_TEST

/* Of a build in which so many failed: is the value of a task that ended so one. */
static const struct { int64_t failed, status; bool is_value; } ending[] = {
	{ 3, 0, true }, { 3, -1, true }, { 3, 1, false }, { 3, 255, false },
	{ 3, STATUS_KILLED + 9, false }, { 3, STATUS_FAILED, false },
	{ 3, STATUS_UNFINISHED, false }, { -1, 0, true }, { -1, 2, false },
};

START_TEST(failed_tasks_have_no_value)
{
	struct archive *a = made_archive(repo());
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
END_TEST

START_TEST(dictionary_only_grows)
{
	struct archive *a = add_all();
	char first[64];

	archive_close(a);
	/* none new: the same blob; one new: one line more; most gone: begun anew */
	strcpy(first, git("rev-parse " MADE_REF "~18:tasks"));
	ck_assert_str_eq(first, git("rev-parse " MADE_REF "~17:tasks"));
	ck_assert_str_eq(git("diff --shortstat " MADE_REF "~17 " MADE_REF "~16 -- tasks"),
			 " 1 file changed, 5 insertions(+)");
	strcpy(first, git("rev-parse " MADE_REF "~16:tasks"));
	ck_assert_str_eq(first, git("rev-parse " MADE_REF "~15:tasks"));
	ck_assert_str_eq(git("cat-file blob " MADE_REF "~13:tasks | wc -l"), "11");
	ck_assert_str_eq(git("cat-file blob " MADE_REF ":tasks | sed -n 2p"),
			 "dir0: task00003\tcc");
}
END_TEST

/* Host, machine, kernel, cores, memory, tools; not what was built. */
static const struct { int fact; const char *value; bool other; } circumstance[] = {
	{ 0, "host2", true }, { 1, "aarch64", true }, { 2, "9", true }, { 3, "16303000", false },
	{ 3, "33554432", true }, { 4, "make -j8 some", false }, { 5, "ninja", true },
	{ 7, "1234", false }, { 8, "topic", false }, { 9, "yes", false },
};

START_TEST(circumstances_are_told_apart)
{
	struct archive *a = made_archive(repo());
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
END_TEST

START_TEST(trees_have_revisions)
{
	static const struct values_fact fact[] = {
		{ "host", "h" }, { "source", "/a b" }, { "revision", "12ab" }, { "dirty", "yes" },
		{ "commit_count", "1234" }, { "source", "/none" }, { "source", "/c\n" },
		{ "revision", "00ff" },
	};
	struct archive *a = made_archive(repo());
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
	ck_assert_str_eq(git("log -1 --format='%(trailers:key=Commit-Count,valueonly)'"
			     " " MADE_REF), "1234");
	builds_release(&builds);
	values_release(&plain);
	archive_close(a);
}
END_TEST

/* Two with one time, and one before the one before. */
START_TEST(order_is_that_of_commits)
{
	static const int64_t start_s[] = { 1700000000, 1700000000, 1600000000, -1, 0 };
	struct archive *a = made_archive(repo());
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
	check_fsck();
}
END_TEST

/* Adding */

START_TEST(run_is_added_once)
{
	char id[ARCHIVE_ID_SIZE], first[ARCHIVE_ID_SIZE];
	struct error err = { 0 };
	struct archive *a;
	struct values f;
	bool added;

	for (unsigned i = 0; i < 3; i++) {
		for (unsigned build = 0; build < 4; build++) {
			struct archive_build n = { .figures = &f };

			a = made_archive(repo());
			made_build(&f, 0, 3, build);
			ck_assert_int_eq(archive_add(a, MADE_REF, &n, id, &added, &err), 0);
			ck_assert_int_eq(added, !i);
			if (!i && !build)
				strcpy(first, id);
			if (i && !build)
				ck_assert_str_eq(first, id);
			values_release(&f);
			archive_close(a);
		}
	}
	ck_assert_str_eq(git("rev-list --count " MADE_REF), "4");
}
END_TEST

/* The same builds are the same commits, whenever and by whomever they are archived. */
START_TEST(archive_is_deterministic)
{
	struct archive *a = add_all();
	char id[64];

	archive_close(a);
	strcpy(id, git("rev-parse " MADE_REF));
	git("update-ref -d refs/heads/" MADE_REF);
	setenv("TZ", "Asia/Kolkata", 1);
	setenv("GIT_AUTHOR_DATE", "2001-01-01T00:00:00", 1);
	a = add_all();
	archive_close(a);
	ck_assert_str_eq(id, git("rev-parse " MADE_REF));
}
END_TEST

/* Somebody's commits: what is done to the branch, and what then becomes of it. */
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

static void add_two(void)
{
	struct archive *a = made_archive(repo());
	struct values f;

	for (unsigned build = 0; build < 2; build++) {
		made_build(&f, 0, 3, build);
		made_add(a, &f, build);
		values_release(&f);
	}
	archive_close(a);
}

START_TEST(nothing_is_put_on_foreign_commits)
{
	struct archive_build build;
	char id[ARCHIVE_ID_SIZE], tip[64];
	struct error err = { 0 };
	struct archive *a;
	struct values f;
	struct run r;
	bool added;

	support_run(&r, NULL, "git init -q %s", repo());
	add_two();
	git(foreign[_i]);
	strcpy(tip, git("rev-parse " MADE_REF));
	made_build(&f, 0, 3, 7);
	build = (struct archive_build){ .figures = &f };
	a = made_archive(repo());
	ck_assert_int_eq(archive_add(a, MADE_REF, &build, id, &added, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.message, MADE_REF " is not a build"));
	ck_assert_str_eq(tip, git("rev-parse " MADE_REF));
	values_release(&f);
	archive_close(a);
}
END_TEST

/* But on top of them somebody put a build: it goes on. */
START_TEST(foreign_commits_are_passed_over)
{
	struct builds builds;
	struct archive *a;
	struct run r;

	support_run(&r, NULL, "git init -q %s", repo());
	add_two();
	git("tag build " MADE_REF);
	git(foreign[_i]);
	git("branch -f " MADE_REF " $(git log -1 --format=%B build | sed s/night-1/night-9/ | "
	    "git commit-tree -p " MADE_REF " build^{tree})");
	a = made_archive(repo());
	read_builds(&builds, a, 0);
	ck_assert_uint_eq(builds.n, _i ? 3 : 1);
	ck_assert_str_eq(builds.build[builds.n - 1].run, "night-9");
	check_metric(&builds, a, METRIC_WALL);
	builds_release(&builds);
	archive_close(a);
}
END_TEST

/* Names */

static const struct { const char *host, *branch, *machine, *ref; } ref_case[] = {
	{ "nightly-1", "main", "x86_64", "nightly-1/main/x86_64" },
	{ NULL, "", NULL, "unknown/unknown/unknown" },
	{ "a.example.org", "release/1.2", "qemux86-64", "a.example.org/release%2F1.2/qemux86-64" },
	{ "-x", ".hidden", "a.lock", "%2Dx/%2Ehidden/a%2Elock" },
	{ "a..b", "a.", "lock.lock.lock", "a%2E.b/a%2E/lock.lock%2Elock" },
	{ "100%", "a b\tc", "@{1}", "100%25/a%20b%09c/%40{1}" },
	{ "~^:?*[\\", "@", "\x7f", "%7E%5E%3A%3F%2A%5B%5C/@/%7F" },
	{ "gr\xc3\xbcn", "a@b", "...", "gr\xc3\xbcn/a@b/%2E%2E%2E" },
};

START_TEST(names_are_gits)
{
	struct buf ref = BUF_INIT;
	struct run r;

	archive_ref(&ref, ref_case[_i].host, ref_case[_i].branch, ref_case[_i].machine);
	ck_assert_str_eq(buf_str(&ref), ref_case[_i].ref);
	support_run(&r, NULL, "git check-ref-format --branch '%s'", ref.data);
	ck_assert_int_eq(r.status, 0);
	buf_release(&ref);
}
END_TEST

static const struct { const char *what, *ref, *message; } choice[] = {
	{ "a/main/x86_64", "a/main/x86_64", NULL },
	{ "a/topic", "a/topic/x86_64", NULL },
	{ "b", "b/main/x86_64", NULL },
	{ "topic", "a/topic/x86_64", NULL },
	{ "a", NULL, "several series match: a/main/x86_64, a/topic/x86_64" },
	{ "main/x86_64", NULL, "several series match: a/main/x86_64, b/main/x86_64" },
	{ "ain", NULL, "has no series 'ain'; it has a/main/x86_64, a/topic/x86_64, b/main/x86_64" },
	{ "mai", NULL, "has no series 'mai'; it has a/main/x86_64, a/topic/x86_64, b/main/x86_64" },
	{ NULL, NULL, "several series match: a/main/x86_64, a/topic/x86_64, b/main/x86_64" },
	{ "", NULL, "several series match: a/main/x86_64, a/topic/x86_64, b/main/x86_64" },
};

START_TEST(part_of_a_name_is_enough)
{
	struct archive *a;
	struct buf ref = BUF_INIT;
	struct error err = { 0 };
	int r;

	add_two();
	git("branch b/main/x86_64 " MADE_REF);
	git("branch a/topic/x86_64 " MADE_REF);
	git("branch a/main/x86_64 " MADE_REF);
	git("branch four/parts/are/foreign " MADE_REF);
	git("branch is/no/build $(git commit-tree -m x " MADE_REF "^{tree})");
	git("update-ref -d refs/heads/" MADE_REF);
	a = made_archive(repo());
	r = archive_choose(a, choice[_i].what, &ref, &err);
	if (choice[_i].ref) {
		ck_assert_int_eq(r, 0);
		ck_assert_str_eq(ref.data, choice[_i].ref);
	} else {
		ck_assert_int_eq(r, -EINVAL);
		ck_assert_str_eq(err.message, choice[_i].message);
	}
	buf_release(&ref);
	archive_close(a);
}
END_TEST

START_TEST(only_one_need_not_be_named)
{
	struct buf ref = BUF_INIT;
	struct error err = { 0 };
	struct archive *a;

	a = made_archive(repo());
	ck_assert_int_eq(archive_choose(a, NULL, &ref, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.message, "has no builds"));
	archive_close(a);
	add_two();
	a = made_archive(repo());
	ck_assert_int_eq(archive_choose(a, NULL, &ref, &err), 0);
	ck_assert_str_eq(ref.data, MADE_REF);
	buf_release(&ref);
	archive_close(a);
}
END_TEST

START_TEST(hundred_hosts_are_told_in_short)
{
	struct buf ref = BUF_INIT;
	struct error err = { 0 };
	struct archive *a;

	add_two();
	git("rev-parse " MADE_REF " | { read id; for i in $(seq 100 199); do echo create "
	    "refs/heads/builder-$i.example.org/main/x86_64 $id; done; } | "
	    "git update-ref --stdin");
	a = made_archive(repo());
	ck_assert_int_eq(archive_choose(a, "main", &ref, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.message, "several series match: builder-100.example.org"));
	ck_assert_ptr_nonnull(strstr(err.message, " and "));
	ck_assert_ptr_nonnull(strstr(err.message, " more"));
	ck_assert_int_eq(archive_choose(a, "builder-142.example.org", &ref, &err), 0);
	ck_assert_str_eq(ref.data, "builder-142.example.org/main/x86_64");
	buf_release(&ref);
	archive_close(a);
}
END_TEST

/* What is no archive */

static const struct { const char *make; enum archive_use use; int error; const char *message; }
no_archive[] = {
	{ "true", ARCHIVE_READ, -ENOENT, "No such file" },
	{ "mkdir x", ARCHIVE_READ, -EINVAL, "not a git repository" },
	{ "mkdir x && touch x/file", ARCHIVE_READ, -EINVAL, "not a git repository" },
	{ "mkdir x && touch x/file", ARCHIVE_WRITE, -EINVAL, "not a git repository" },
	{ "touch x", ARCHIVE_READ, -ENOTDIR, "Not a directory" },
	{ "touch x", ARCHIVE_WRITE, -ENOTDIR, "Not a directory" },
	{ "git init -q x && mkdir x/y && mv x/y z && rm -rf x/.git/objects", ARCHIVE_READ, -EINVAL,
	  "not a git repository" },
	{ "git init -q . && mkdir x && touch x/file", ARCHIVE_WRITE, -EINVAL,
	  "not a git repository" },
};

START_TEST(what_is_no_repository_is_refused)
{
	const char *path = support_path("%s/x", support_tmpdir());
	struct error err = { 0 };
	struct archive *a;
	struct run r;

	support_run(&r, support_tmpdir(), "%s", no_archive[_i].make);
	ck_assert_int_eq(r.status, 0);
	ck_assert_int_eq(archive_open(&a, path, no_archive[_i].use, &err), no_archive[_i].error);
	ck_assert_ptr_null(a);
	ck_assert_str_eq(err.path, path);
	ck_assert_msg(strstr(err.message, no_archive[_i].message) != NULL, "%s", err.message);
}
END_TEST

static const char *const place[] = { "x", "deep/below/x", "x/", "mkdir x" };

START_TEST(repository_is_made)
{
	const char *path = support_path("%s/%s", support_tmpdir(),
					_i == 3 ? "x" : place[_i]);
	struct archive *a;
	struct run r;

	support_run(&r, support_tmpdir(), "%s", _i == 3 ? place[_i] : "true");
	a = made_archive(path);
	archive_close(a);
	support_run(&r, NULL, "git -C %s rev-parse --is-bare-repository && ls -A %s/..", path,
		    path);
	ck_assert_int_eq(r.status, 0);
	ck_assert_str_eq(r.out.data, "true\nx\n");
}
END_TEST

int main(void)
{
	made_environment();
	return support_main("archive", TEST(figures_come_back), TEST(texts_come_back),
			    TEST(little_comes_back), TEST(tasks_without_figures_come_back),
			    TEST(build_has_gits_names), TEST(builds_say_what_figures_say),
			    TEST_EACH(failed_tasks_have_no_value, ending),
			    TEST(dictionary_only_grows),
			    TEST_EACH(circumstances_are_told_apart, circumstance),
			    TEST(trees_have_revisions), TEST(order_is_that_of_commits),
			    TEST(run_is_added_once), TEST(archive_is_deterministic),
			    TEST_EACH(nothing_is_put_on_foreign_commits, foreign),
			    TEST_EACH(foreign_commits_are_passed_over, foreign),
			    TEST_EACH(names_are_gits, ref_case),
			    TEST_EACH(part_of_a_name_is_enough, choice),
			    TEST(only_one_need_not_be_named), TEST(hundred_hosts_are_told_in_short),
			    TEST_EACH(what_is_no_repository_is_refused, no_archive),
			    TEST_EACH(repository_is_made, place));
}
