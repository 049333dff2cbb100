/* SPDX-License-Identifier: MIT */
/*
 * An archive without memory at every allocation: each operation does all that it should and
 * says so, or reports that memory ran out, leaves the archive as it was and works the next time.
 */
#include "archive/archive.h"
#include "archive/commit_count.h"
#include "base/arena.h"
#include "base/array.h"
#include "base/name_table.h"
#include "compare/builds.h"
#include "recording/recording.h"
#include "tests/made_build.h"
#include "tests/nomem.h"
#include "tests/recorded.h"
#include "tests/support.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TASKS 6

/* What an operation works on. */
struct subject {
	struct values values;		/* of the build to add */
	struct recording rec;
	long n;				/* allocations before the one that fails */
	bool wrong;			/* it says that it succeeded, and did not. Check needs memory itself */
	char found[512];		/* by fsck */
	float room[8 * 2 * TASKS];
};

/* With the spread of each task. */
static void make_set(struct values *f)
{
	f->spread[METRIC_WALL] = malloc(TASKS * sizeof(int64_t));
	for (size_t i = 0; i < TASKS; i++)
		f->spread[METRIC_WALL][i] = (int64_t)i;
}

static void add_builds(unsigned n)
{
	struct archive *a = made_archive(made_repo());
	struct builds builds;
	struct error err;

	for (unsigned i = 0; i < n; i++) {
		struct values f;

		made_build(&f, i, TASKS, i);
		make_set(&f);
		made_add(a, &f, i);
		values_release(&f);
	}
	ck_assert(!archive_builds(a, MADE_REF, 0, &builds, &err));
	ck_assert(!archive_say(a, &builds, &(struct known){ .build = 1, .pattern = "*", .metrics = 1,
				.reason = "a known reason", .by = "somebody" }, &err));
	builds_release(&builds);
	archive_close(a);
}

/* Reads all that there is of a series. */
static int read_values(const struct builds *builds, struct subject *s, struct error *err)
{
	uint64_t set[1] = { 0 };
	struct name_table names = NAME_TABLE_INIT;
	int r = 0;

	for (enum metric m = 0; !r && m < METRICS; m++) {
		r = builds->load(builds, m, s->room, err);
		if (!r)
			r = builds->row(builds, 2, m, s->room, err);
		if (!r)
			r = builds->spread(builds, 2, m, s->room, err);
	}
	if (!r)
		r = builds->ran(builds, 0, set, err);
	s->wrong |= !r && set[0] != (1 << TASKS) - 1;
	if (!r)
		r = builds->packages(builds, 0, &names, err);
	name_table_release(&names);
	return r;
}

static int read_builds(struct archive *a, struct subject *s, struct error *err)
{
	struct builds builds;
	struct known_list list = { 0 };
	int r = archive_builds(a, MADE_REF, 0, &builds, err);

	if (!r)
		r = archive_known(a, &builds, &list, err);
	s->wrong |= !r && (list.n != 1 || strcmp(list.known[0].reason, "a known reason"));
	if (!r && builds.n == 4 && builds.n_tasks == TASKS + 3)
		r = read_values(&builds, s, err);
	else
		s->wrong |= !r;
	free(list.known);
	builds_release(&builds);
	return r;
}

static int read_one(struct archive *a, struct subject *s, struct error *err)
{
	struct recording rec = RECORDING_INIT;
	struct values f;
	int r = archive_values(a, MADE_REF "~1", &f, err);

	s->wrong |= !r && f.n_tasks != TASKS;
	values_release(&f);
	if (!r)
		r = archive_recording(a, MADE_REF, &rec, err);
	s->wrong |= !r && rec.n_tasks != TASKS;
	recording_release(&rec);
	return r;
}

static int find_series(struct archive *a, struct subject *s, struct error *err)
{
	struct arena *texts = arena_new();
	struct buf ref = BUF_INIT;
	const char **all = NULL;
	char id[ARCHIVE_ID_SIZE];
	size_t n = 0;
	int r = texts ? archive_refs(a, texts, &all, &n, err) : error_sys(err, -ENOMEM, NULL, NULL);

	s->wrong |= !r && (n != 1 || strcmp(all[0], MADE_REF));
	if (!r)
		r = archive_choose(a, "host", &ref, err);
	s->wrong |= !r && strcmp(ref.data, MADE_REF);
	if (!r)
		r = archive_build_id(a, MADE_REF "~2", id, err);
	buf_release(&ref);
	arena_free(texts);
	return r;
}

/* Without a name of the run, it is made from its values. */
static int add_build(struct archive *a, struct subject *s, struct error *err)
{
	struct archive_build build = { .values = &s->values, .rec = &s->rec };
	char id[ARCHIVE_ID_SIZE];
	bool added;
	int r = archive_add(a, MADE_REF, &build, id, &added, err);

	s->wrong |= added != !r || strlen(id) != ARCHIVE_ID_SIZE - 1;
	return r;
}

static int add_note(struct archive *a, struct subject *s, struct error *err)
{
	struct known k = { .build = 2, .pattern = "t", .metrics = 2, .by = "s", .reason = "r", .time_s = s->n };
	struct builds builds;
	int r = archive_builds(a, MADE_REF, 0, &builds, err);

	if (!r)
		r = archive_say(a, &builds, &k, err);
	builds_release(&builds);
	return r;
}

static int remove_note(struct archive *a, struct subject *s, struct error *err)
{
	struct known k = { .build = 1, .pattern = "*", .metrics = 1, .by = "s", .reason = "" };
	struct builds builds;
	bool found = true;
	int r = archive_builds(a, MADE_REF, 0, &builds, err);

	if (!r)
		r = archive_unsay(a, &builds, &k, &found, err);
	s->wrong |= !r && !found;
	builds_release(&builds);
	return r;
}

static int prune(struct archive *a, struct subject *s, struct error *err)
{
	struct archive_prune what = { .before_s = -1, .keep = 2 };
	struct archive_pruned done;
	int r = archive_prune(a, MADE_REF, &what, &done, err);

	s->wrong |= !r && (done.gone != 2 || done.kept != 2);
	return r;
}

static void keep_found(void *context, const char *what)
{
	struct subject *s = context;

	snprintf(s->found, sizeof s->found, "%s", what);
}

/* What cannot be read for want of memory may be reported as damaged, but nothing is changed. */
static int fsck(struct archive *a, struct subject *s, struct error *err)
{
	struct archive_fsck f = { .found = keep_found, .context = s };
	int r = archive_fsck(a, &f, err);

	return r;
}

static int fsck_broken(struct archive *a, struct subject *s, struct error *err)
{
	struct archive_fsck f = { .found = keep_found, .context = s };
	int r = archive_fsck(a, &f, err);

	s->wrong |= !r && !f.n;
	return r;
}

static int repair(struct archive *a, struct subject *s, struct error *err)
{
	struct archive_fsck f = { .repair = true, .found = keep_found, .context = s };

	return archive_fsck(a, &f, err);
}

static const struct operation {
	int (*run)(struct archive *a, struct subject *s, struct error *err);
	enum archive_use use;
	long least;		/* at least so many allocations are tried */
	size_t builds, notes;	/* of MADE_REF, once it succeeded */
} operations[] = {
	{ read_builds, ARCHIVE_READ, 60, 4, 1 },
	{ read_one, ARCHIVE_READ, 20, 4, 1 },
	{ find_series, ARCHIVE_READ, 4, 4, 1 },
	{ add_build, ARCHIVE_WRITE_FAST, 20, 5, 1 },
	{ add_note, ARCHIVE_WRITE_FAST, 20, 4, 2 },
	{ remove_note, ARCHIVE_WRITE_FAST, 20, 4, 0 },
	{ prune, ARCHIVE_WRITE_FAST, 10, 2, 0 },
	{ fsck, ARCHIVE_FSCK, 20, 4, 1 },
};

static void has(size_t n_builds, size_t n_notes, long n)
{
	struct known_list list = { 0 };
	struct builds builds;
	struct archive *a;
	struct error err;

	ck_assert_int_eq(archive_open(&a, made_repo(), ARCHIVE_READ, &err), 0);
	ck_assert_int_eq(archive_builds(a, MADE_REF, 0, &builds, &err), 0);
	ck_assert_int_eq(archive_known(a, &builds, &list, &err), 0);
	ck_assert_msg(builds.n == n_builds && list.n == n_notes, "allocation %ld: %zu builds, %zu notes",
		      n, builds.n, list.n);
	free(list.known);
	builds_release(&builds);
	archive_close(a);
}

/* True if the allocation failed. */
static bool run_failing(const struct operation *o, struct subject *s)
{
	const char *repo = made_repo();
	struct archive *a = NULL;
	struct error err = { 0 };
	bool failed;
	int r;

	nomem_after(s->n);
	r = archive_open(&a, repo, o->use, &err);
	if (!r)
		r = o->run(a, s, &err);
	failed = nomem_failed();
	nomem_after(-1);
	archive_close(a);
	ck_assert_msg(!s->wrong && (!r || (r < 0 && failed)), "allocation %ld: %d %s; %s", s->n, r, err.message,
		      s->found);
	/* libgit2 forgets some reasons */
	ck_assert_msg(!r || *err.message, "allocation %ld", s->n);
	ck_assert_msg(r != -ENOMEM || strstr(err.message, "Cannot allocate memory"), "allocation %ld: %s", s->n,
		      err.message);
	if (r)
		has(4, 1, s->n);
	else
		has(o->builds, o->notes, s->n);
	return failed;
}

TEST_EACH(nth_fails, operations)
{
	const struct operation *o = &operations[_i];
	struct subject s = { .rec = RECORDING_INIT };

	add_builds(4);
	support_expect(support_tmpdir(), 0, NULL, "", "cp -r builds.git saved.git");
	made_build(&s.values, 0, TASKS, 9);
	recorded_open(&s.rec, TOP_SRCDIR "/tests/data/recordings/nested", NULL);
	for (; run_failing(o, &s); s.n++) {
		if (o->use == ARCHIVE_WRITE_FAST)
			support_expect(support_tmpdir(), 0, NULL, "", "rm -r builds.git && cp -r saved.git builds.git");
	}
	ck_assert_int_ge(s.n, o->least);
	made_fsck();
	recording_release(&s.rec);
	values_release(&s.values);
}

/* Each object gets a file of its own. */
static void explode(void)
{
	support_expect(made_repo(), 0, NULL, "", "mv objects/pack . && mkdir objects/pack && "
		       "for p in pack/*.pack; do git unpack-objects -q <$p || exit 1; done; rm -rf pack");
}

/* Our own reader of such files, and a branch that cannot be read. */
TEST(nth_fails_for_objects_in_files)
{
	static const struct operation read = { read_one, ARCHIVE_READ, 20, 4, 1 };
	static const struct operation check = { fsck_broken, ARCHIVE_FSCK, 20, 4, 1 };
	struct subject s = { .rec = RECORDING_INIT };

	add_builds(4);
	explode();
	while (run_failing(&read, &s))
		s.n++;
	ck_assert_int_ge(s.n, read.least);
	support_expect(made_repo(), 0, NULL, "", "mkdir -p refs/heads/o/p && echo x >refs/heads/o/p/q");
	s.n = 0;
	while (run_failing(&check, &s))
		s.n++;
	ck_assert_int_ge(s.n, check.least);
}

/* A repair that fails changes nothing that the next one needs: the notes of builds remain. */
TEST(nth_fails_for_repair)
{
	bool failed = true;
	long n = 0;

	add_builds(4);
	explode();
	support_expect(made_repo(), 0, NULL, "", "id=$(git rev-parse " MADE_REF "~3:columns/wall_us); "
		       "rm -f objects/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-); cp -r . ../saved.git");
	for (; failed; n += 1 + n / 8) {	/* not each of thousands */
		struct subject s = { .n = n };
		struct archive *a = NULL;
		struct error err = { 0 };
		int r;

		support_expect(support_tmpdir(), 0, NULL, "", "rm -r builds.git && cp -r saved.git builds.git");
		nomem_after(n);
		r = archive_open(&a, made_repo(), ARCHIVE_FSCK, &err);
		if (!r)
			r = repair(a, &s, &err);
		failed = nomem_failed();
		nomem_after(-1);
		archive_close(a);
		ck_assert_msg(!r || (r < 0 && failed), "allocation %ld: %d %s", n, r, err.message);
		ck_assert_int_eq(archive_open(&a, made_repo(), ARCHIVE_FSCK, &err), 0);
		ck_assert_msg(!repair(a, &s, &err), "allocation %ld: %s", n, err.message);
		archive_close(a);
		has(3, 1, n);
	}
	ck_assert_int_ge(n, 60);
}

/* The facts are whole, with a count or without it. */
TEST(nth_fails_for_commit_count)
{
	bool failed = true;
	struct values f;
	long n = 0;

	add_builds(2);
	for (; failed; n++) {
		size_t counts = 0;
		int r;

		made_build(&f, 0, TASKS, 1);
		f.fact = realloc(f.fact, 16 * sizeof *f.fact);
		f.fact[6].value = made_repo();
		f.fact[7].value = made_git("rev-parse " MADE_REF);
		nomem_after(n);
		r = commit_count_add(&f);
		failed = nomem_failed();
		nomem_after(-1);
		ck_assert_int_eq(r, failed ? -ENOMEM : 0);
		for (size_t i = 0; i < f.n_facts && !r; i++)
			counts += !strcmp(f.fact[i].key, "commit_count") && !strcmp(f.fact[i].value, "2");
		ck_assert_uint_eq(counts, !r);
		ck_assert_str_eq(f.fact[7].key, "revision");
		values_release(&f);
	}
	ck_assert_int_gt(n, 1);
}

TEST_PROGRAM(nomem_archive)
{
	made_environment();
	return support_main();
}
