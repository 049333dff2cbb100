/* SPDX-License-Identifier: MIT */
#include "base/arena.h"
#include "base/array.h"
#include "report/culprit_names.h"
#include "report/culprits.h"
#include "tests/support.h"

/* Commits between builds in a real repository, and the similarity of names. */

static const struct { const char *path, *task; double likeness; } names[] = {
	{ "src/foo.c", "src: foo.o", 1 },
	{ "src/foo.c", "src/foo.o", 1 },
	{ "src/foo.c", "./src/foo.o", 1 },
	{ "lib/src/foo.c", "src: foo.o", 1 },
	{ "src/foo.c", "lib/src: foo.o", 1 },
	{ "src/foo.c", "lib: src/foo.o", 1 },
	{ "foo.c", "foo.o", 1 },
	{ "src/foo.cc", "CMakeFiles/app.dir/src/foo.cc.o", 1 },
	{ "src/.hidden", "src: .hidden", 1 },
	{ "include/foo.h", "src: foo.o", 0.6 },
	{ "src/foo.c", "foo.o", 0.6 },
	{ "src/bar.h", "src: foo.o", 0.5 },
	{ "src/deep/bar.h", "src: foo.o", 0.5 },
	{ "lib/src/bar.h", "src: foo.o", 0.5 },
	{ "osrc/bar.h", "src: foo.o", 0 },
	{ "srcs/bar.h", "src: foo.o", 0 },
	{ "bar.c", "foo.o", 0 },
	{ "Makefile", "src: foo.o", 0.2 },
	{ "cmake/flags.cmake", "src: foo.o", 0.2 },
	{ "src/Makefile", "src: foo.o", 0.5 },
	{ "meta/recipes-core/zlib/zlib_1.3.bb", "zlib: do_compile", 0.9 },
	{ "meta/recipes-core/zlib/files/fix.patch", "zlib: do_compile", 0.9 },
	{ "meta/recipes-core/all/zlib.inc", "zlib: do_compile", 0.9 },
	{ "meta/recipes-core/zlib-ng/zlib-ng_2.bb", "zlib: do_compile", 0 },
	{ "meta/conf/local.conf", "zlib: do_compile", 0.2 },
	{ "meta/classes/base.bbclass", "zlib: do_compile", 0.2 },
	{ "", "src: foo.o", 0 },
	{ "src/foo.c", "", 0 },
	{ "/", ": ", 0 },
};

TEST_GROUP("names");

TEST_EACH(likeness, names)
{
	ck_assert_double_eq_tol(culprit_likeness(names[_i].path, names[_i].task),
				names[_i].likeness, 1e-9);
}

/* The repository: one commit after another, with git's ids. */

#define GIT "git -c user.name=Somebody -c user.email=some@body.example -c commit.gpgsign=false " \
	"-c init.defaultBranch=main -c core.hooksPath=/dev/null "

static const char *repo;
static char commit_id[8][41];

static void git(const char *command)
{
	support_expect(repo, 0, NULL, NULL,
		       "HOME=%s GIT_CONFIG_NOSYSTEM=1 && export HOME GIT_CONFIG_NOSYSTEM && %s", support_tmpdir(), command);
}

/* Files separated by blanks; a day of November 2026. */
static void commit(int i, const char *files, const char *subject, int day)
{
	struct run r;

	support_run(&r, repo, "HOME=%s GIT_CONFIG_NOSYSTEM=1 "
		    "GIT_AUTHOR_DATE=2026-11-%02dT12:00:00Z GIT_COMMITTER_DATE=2026-11-%02dT12:00:00Z "
		    "&& export HOME GIT_CONFIG_NOSYSTEM GIT_AUTHOR_DATE GIT_COMMITTER_DATE && "
		    "for f in %s; do mkdir -p $(dirname $f) && echo %d >>$f || exit 1; done && "
		    GIT "add -A && " GIT "commit -qm '%s' && git rev-parse HEAD", support_tmpdir(),
		    day, day, files, i, subject);
	ck_assert_msg(!r.status, "%s", r.err.data);
	ck_assert_uint_eq(r.out.len, 41);
	memcpy(commit_id[i], r.out.data, 40);
}

static void make_repository(void)
{
	repo = support_path("%s/src", support_tmpdir());
	repo = strdup(repo);
	support_expect(NULL, 0, NULL, NULL, GIT "init -q %s", repo);
	commit(0, "src/foo.c src/bar.c Makefile", "first", 1);
	commit(1, "doc/manual.txt", "pages", 2);
	commit(2, "src/foo.c src/foo.h", "foo: <b>twice</b> as slow", 3);
	commit(3, "Makefile", "flags", 4);
	commit(4, "src/bar.c", "bar: a comment", 5);
}

/* Builds of it, and a change between two. */

static struct revision revision[4][2];
static struct build build[4];
static struct builds_task task[] = {
	{ .name = "src: foo.o", .kind = "compile" }, { .name = "src: bar.o", .kind = "compile" },
	{ .name = "doc: all", .kind = "document" },
};
static struct builds builds = { .n = 4, .build = build, .n_tasks = 3, .task = task };
static struct history_change change[] = {
	{ .task = 0, .metric = METRIC_CPU, .change = { .before = 1e6, .after = 10e6 } },
	{ .task = 1, .metric = METRIC_CPU, .change = { .before = 1e6, .after = 2e6 } },
};
static struct history_event event = { .at = 2, .first = 2, .last = 2, .worse = true, .n_changes = 2 };
static struct history history = { .n_events = 1, .event = &event, .n_changes = 2, .change = change };

static void set_builds(const char *from, const char *to)
{
	for (int i = 0; i < 4; i++) {
		revision[i][0] = (struct revision){ .source = "/srv/src", .commit = i < 2 ? from : to };
		build[i] = (struct build){ .n_revisions = 1, .revision = revision[i] };
	}
	event.first = event.last = 2;
}

static struct source_log *opened(void)
{
	struct source_log *log;
	struct error err = { 0 };

	ck_assert_msg(!source_log_open(&log, repo, &err), "%s", err.message);
	return log;
}

TEST_GROUP_WITH("commits", make_repository, NULL);

TEST(the_likeliest_first)
{
	struct source_log *log = opened();
	const struct culprit_range *r;
	struct culprits c;

	set_builds(commit_id[0], commit_id[4]);
	revision[2][0].dirty = true;
	ck_assert_int_eq(culprits_find(&c, &builds, &history, &event, &log, 1), 0);
	ck_assert_uint_eq(c.n, 1);
	r = &c.range[0];
	ck_assert_str_eq(r->source, "/srv/src");
	ck_assert(!r->from_dirty && r->to_dirty);
	ck_assert_ptr_null(r->trouble);
	ck_assert_uint_eq(r->n_commits, 4);
	ck_assert_uint_eq(r->n_culprits, 4);
	/* foo.o is nine tenths of the change, and bar.o is in the same directory. */
	ck_assert_str_eq(r->culprit[0].subject, "foo: <b>twice</b> as slow");
	ck_assert_str_eq(r->culprit[0].id, commit_id[2]);
	ck_assert_str_eq(r->culprit[0].author, "Somebody");
	ck_assert_int_eq(r->culprit[0].time_s, 1793707200);
	ck_assert_double_eq_tol(r->culprit[0].likely, 0.9 + 0.1 * 0.5, 1e-9);
	ck_assert_uint_eq(r->culprit[0].n_touched, 2);
	ck_assert_str_eq(r->culprit[0].file[0].path, "src/foo.c");
	ck_assert_str_eq(r->culprit[0].file[0].task, "src: foo.o");
	ck_assert_str_eq(r->culprit[1].subject, "bar: a comment");
	ck_assert_double_eq_tol(r->culprit[1].likely, 0.9 * 0.5 + 0.1, 1e-9);
	ck_assert_str_eq(r->culprit[2].subject, "flags");
	ck_assert_str_eq(r->culprit[3].subject, "pages");
	ck_assert_double_eq(r->culprit[3].likely, 0);
	ck_assert_ptr_null(r->culprit[3].file[0].task);
	culprits_release(&c);
	source_log_close(log);
}

/* Between the last build surely without and the first surely with the change. */
TEST(as_far_as_the_interval)
{
	struct source_log *log = opened();
	struct culprits c;

	set_builds(commit_id[0], commit_id[2]);
	revision[1][0].commit = commit_id[1];
	revision[3][0].commit = commit_id[3];
	ck_assert_int_eq(culprits_find(&c, &builds, &history, &event, &log, 1), 0);
	ck_assert_uint_eq(c.range[0].n_commits, 1);
	culprits_release(&c);
	event.first = 1;
	event.last = 3;
	ck_assert_int_eq(culprits_find(&c, &builds, &history, &event, &log, 1), 0);
	ck_assert_uint_eq(c.range[0].n_commits, 3);
	ck_assert_str_eq(c.range[0].from, commit_id[0]);
	ck_assert_str_eq(c.range[0].to, commit_id[3]);
	culprits_release(&c);
	event.first = 0;
	ck_assert_int_eq(culprits_find(&c, &builds, &history, &event, &log, 1), 0);
	ck_assert_ptr_null(c.range[0].from);
	ck_assert_uint_eq(c.range[0].n_commits, 0);
	culprits_release(&c);
	source_log_close(log);
}

#define GONE "0123456789abcdef0123456789abcdef0123456"

static const struct {
	int from, to;		/* -1: gone */
	bool with_log;
	const char *trouble;	/* begins with; NULL: no commit */
	size_t n;
} troubles[] = {
	{ 2, 2, true, NULL, 0 },
	{ 0, 4, false, NULL, 0 },
	{ 0, -1, true, "one of the two is missing", 0 },
	{ -1, -1, true, "no source repository", 0 },
	{ 3, 1, true, "the newer one is not a descendant", 0 },
};

TEST_EACH(damage_is_reported_and_not_fatal, troubles)
{
	struct source_log *log = opened();
	struct culprits c;

	set_builds(troubles[_i].from < 0 ? GONE "8" : commit_id[troubles[_i].from],
		   troubles[_i].to < 0 ? GONE "7" : commit_id[troubles[_i].to]);
	ck_assert_int_eq(culprits_find(&c, &builds, &history, &event, &log, troubles[_i].with_log), 0);
	ck_assert_uint_eq(c.range[0].n_commits, troubles[_i].n);
	if (troubles[_i].trouble)
		ck_assert_msg(c.range[0].trouble && !strncmp(c.range[0].trouble, troubles[_i].trouble,
			      strlen(troubles[_i].trouble)), "%s", c.range[0].trouble);
	else
		ck_assert_ptr_null(c.range[0].trouble);
	culprits_release(&c);
	source_log_close(log);
}

TEST(a_shallow_clone)
{
	const char *whole = repo, *shallow = support_path("%s/shallow", support_tmpdir());
	struct source_log *log;
	struct culprits c;
	char *copy = strdup(shallow);

	git(support_path(GIT "clone -q --depth 2 file://%s %s", whole, shallow));
	repo = copy;
	log = opened();
	set_builds(commit_id[1], commit_id[4]);
	ck_assert_int_eq(culprits_find(&c, &builds, &history, &event, &log, 1), 0);
	ck_assert_str_eq(c.range[0].trouble, "one of the two is missing from the shallow clone");
	culprits_release(&c);
	/* The last commit has a parent that is missing. */
	set_builds(commit_id[3], commit_id[4]);
	ck_assert_int_eq(culprits_find(&c, &builds, &history, &event, &log, 1), 0);
	ck_assert_str_eq(c.range[0].trouble, "shallow clone: only commits along first parents are listed");
	ck_assert_uint_eq(c.range[0].n_commits, 1);
	ck_assert_uint_eq(c.range[0].culprit[0].n_touched, 1);
	culprits_release(&c);
	source_log_close(log);
	repo = whole;
	free(copy);
}

TEST(a_merge_has_no_files)
{
	struct source_log *log;
	struct culprits c;

	git(GIT "checkout -qb side HEAD~1");
	commit(5, "src/foo.c", "foo: aside", 6);
	git("GIT_COMMITTER_DATE=2026-11-07T12:00:00Z && export GIT_COMMITTER_DATE && "
	    GIT "checkout -q main && " GIT "merge -q --no-edit -m together side");
	commit(6, "README", "words", 8);
	log = opened();
	set_builds(commit_id[4], commit_id[6]);
	ck_assert_int_eq(culprits_find(&c, &builds, &history, &event, &log, 1), 0);
	ck_assert_uint_eq(c.range[0].n_commits, 3);
	ck_assert_str_eq(c.range[0].culprit[0].subject, "foo: aside");
	for (size_t i = 0; i < 3; i++) {
		const struct culprit *culprit = &c.range[0].culprit[i];

		ck_assert_int_eq(culprit->merge, !strcmp(culprit->subject, "together"));
		ck_assert_uint_eq(culprit->n_touched, !culprit->merge);
	}
	culprits_release(&c);
	source_log_close(log);
}

TEST(no_repository)
{
	struct source_log *log;
	struct error err = { 0 };

	ck_assert_int_lt(source_log_open(&log, support_path("%s/none", support_tmpdir()), &err), 0);
	ck_assert_ptr_null(log);
	ck_assert_str_ne(err.message, "");
	source_log_close(NULL);
}

TEST_PROGRAM(culprits)
{
	SKIP_PROGRAM_IF(!support_has("git"));
	return support_main();
}
