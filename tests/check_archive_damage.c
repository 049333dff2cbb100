/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "tests/made_build.h"
#include "tests/support.h"

#include <errno.h>
#include <ftw.h>
#include <git2.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Archives in which something is not as it was written: whatever that is, one is told, or
 * reads what was written. */

#define BUILDS 3
#define TASKS 40

static const char *repo(void)
{
	return support_path("%s/builds.git", support_tmpdir());
}

static void make(void)
{
	struct archive *a = made_archive(repo());
	struct values f;

	for (unsigned build = 0; build < BUILDS; build++) {
		made_build(&f, build, TASKS, build);
		made_add(a, &f, build);
		values_release(&f);
	}
	archive_close(a);
}

/* All that is read of an archive, as one text; or the error. */

static void add_values(struct buf *out, const struct builds *builds, const float *values)
{
	for (size_t i = 0; i < builds->n * builds->n_tasks; i++)
		buf_addf(out, " %a", isnan(values[i]) ? -1 : (double)values[i]);
}

static int add_metrics(struct buf *out, const struct builds *builds, struct error *err)
{
	float *values = malloc((builds->n * builds->n_tasks + 1) * sizeof *values);
	int r = 0;

	ck_assert_ptr_nonnull(values);
	for (int m = 0; !r && m < METRICS; m++) {
		r = builds->load(builds, m, values, err);
		if (!r)
			add_values(out, builds, values);
	}
	free(values);
	return r;
}

static void add_figures(struct buf *out, const struct values *f)
{
	for (size_t i = 0; i < f->n_facts; i++)
		buf_addf(out, " %s=%s", f->fact[i].key, f->fact[i].value);
	for (size_t i = 0; i < f->n_tasks; i++)
		buf_addf(out, " %s %s", f->task[i].name, f->task[i].kind);
	for (int c = 0; c < COLUMNS; c++) {
		for (size_t i = 0; f->column[c] && i < f->n_tasks; i++)
			buf_addf(out, " %lld", (long long)f->column[c][i]);
	}
}

static int add_build(struct buf *out, struct archive *a, const struct build *build,
		     struct error *err)
{
	struct values f;
	int r = archive_values(a, build->id, &f, err);

	buf_addf(out, "\n%s %s %lld %llx", build->id, build->run, (long long)build->start_s,
		 (unsigned long long)build->circumstances);
	for (int i = 0; i < TOTALS; i++)
		buf_addf(out, " %lld", (long long)build->total[i]);
	if (!r)
		add_figures(out, &f);
	values_release(&f);
	return r;
}

static int read_all(struct buf *out, struct error *err)
{
	struct builds builds = BUILDS_INIT;
	struct archive *a;
	int r = archive_open(&a, repo(), ARCHIVE_READ, err);

	if (r)
		return r;
	r = archive_builds(a, MADE_REF, 0, &builds, err);
	if (!r)
		r = add_metrics(out, &builds, err);
	for (size_t i = 0; !r && i < builds.n; i++)
		r = add_build(out, a, &builds.build[i], err);
	builds_release(&builds);
	archive_close(a);
	return r;
}

static struct buf whole;	/* what an undamaged one reads */

/* One damage: it is told and where, or does not matter. How often it was told. */
static int check_damage(const char *what)
{
	struct buf out = BUF_INIT;
	struct error err = { 0 };
	int r = read_all(&out, &err);

	if (r)
		ck_assert_msg(err.message[0] && !strncmp(err.path, repo(), strlen(repo())),
			      "%s: %s: %s", what, err.path, err.message);
	else
		ck_assert_msg(!strcmp(buf_str(&out), whole.data), "%s: read as something else",
			      what);
	buf_release(&out);
	return r != 0;
}

/* Files of objects */

static char *object[1024];
static size_t n_objects;

static int note_object(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)at;
	if (type == FTW_F && !strstr(path, "/info/")) {
		ck_assert_uint_lt(n_objects, 1024);
		object[n_objects++] = strdup(path);
	}
	return 0;
}

static void find_objects(void)
{
	nftw(support_path("%s/objects", repo()), note_object, 8, FTW_PHYS);
	ck_assert_uint_gt(n_objects, 0);
}

static void overwrite(const char *path, const struct buf *content, size_t len)
{
	unlink(path);
	support_write(path, content->data, len);
}

/* Each byte of some, a few of the others. */
static int flip_bytes(const char *path, size_t step)
{
	struct buf content = BUF_INIT;
	int told = 0;

	support_read(&content, path);
	for (size_t i = 0; i < content.len; i += step) {
		char *byte = &content.data[i], kept = *byte;

		*byte ^= (char)(1 << i % 8);
		overwrite(path, &content, content.len);
		told += check_damage(support_path("%s, byte %zu", path, i));
		*byte = kept;
	}
	overwrite(path, &content, content.len);
	buf_release(&content);
	return told;
}

START_TEST(flipped_bits_are_told)
{
	struct error err = { 0 };
	struct run r;
	int told = 0;

	make();
	if (_i)
		support_run(&r, repo(), "git gc -q");
	ck_assert_int_eq(read_all(&whole, &err), 0);
	find_objects();
	for (size_t i = 0; i < n_objects; i++)
		told += flip_bytes(object[i], _i ? 307 : 101);
	ck_assert_int_gt(told, 20);
	ck_assert_int_eq(check_damage("repaired"), 0);
}
END_TEST

START_TEST(cut_and_missing_objects_are_told)
{
	struct error err = { 0 };

	make();
	ck_assert_int_eq(read_all(&whole, &err), 0);
	find_objects();
	for (size_t i = 0; i < n_objects; i++) {
		struct buf content = BUF_INIT;

		support_read(&content, object[i]);
		overwrite(object[i], &content, 0);
		ck_assert_int_eq(check_damage(object[i]), 1);
		overwrite(object[i], &content, content.len / 2);
		ck_assert_int_eq(check_damage(object[i]), 1);
		overwrite(object[i], &content, content.len - 1);
		ck_assert_int_eq(check_damage(object[i]), 1);
		ck_assert_int_eq(unlink(object[i]), 0);
		ck_assert_int_eq(check_damage(object[i]), 1);
		overwrite(object[i], &content, content.len);
		buf_release(&content);
	}
	ck_assert_int_eq(check_damage("repaired"), 0);
}
END_TEST

/* What somebody else wrote: the shell's word for it, and where that is told. */
static const struct { const char *path, *content, *message; } strange[] = {
	{ "totals", "", ":totals:1: expected \"buildbeat totals 1\"" },
	{ "totals", "buildbeat totals 2\nwall_us: 3\n", ":totals:1: expected" },
	{ "totals", "buildbeat totals 1\nwall_us: 3\nuser_us 3\n", ":totals:3: expected" },
	{ "totals", "buildbeat totals 1\nwall_us: three\n", ":totals:2: expected" },
	{ "totals", "buildbeat totals 1\nwall_us: -3\n", ":totals:2: expected" },
	{ "totals", "buildbeat totals 1\nwall_us: 3", ":totals:2: expected" },
	{ "build", "buildbeat recording 1\n", ":build:1: expected" },
	{ "build", "buildbeat build 1\n: none\n", ":build:2: expected" },
	{ "tasks", "buildbeat dictionary 1\nname\tcc\nno kind\n", ":tasks:3: expected" },
	{ "tasks", "nothing", ":tasks:1: expected" },
	{ "tasks", "buildbeat dictionary 1\na\tcc\n", "of 1 values, one for each task" },
	{ "columns/wall_us", "buildbeat column 1 0\n", ":columns/wall_us:1: expected a column" },
	{ "columns/user_us", "buildbeat column 1 40\n", ":columns/user_us:1: expected a column" },
	{ "columns/max_rss_kb", "", ":columns/max_rss_kb:1: expected a column" },
};

static void replace(const char *path, const char *content)
{
	struct run r;

	support_writes(support_path("%s/content", support_tmpdir()), content);
	support_run(&r, repo(), "GIT_INDEX_FILE=x git read-tree " MADE_REF " && "
		    "GIT_INDEX_FILE=x git update-index --add --cacheinfo "
		    "100644,$(git hash-object -w ../content),%s && "
		    "git update-ref refs/heads/" MADE_REF " $(git log -1 --format=%%B " MADE_REF " |"
		    " git commit-tree -p " MADE_REF " $(GIT_INDEX_FILE=x git write-tree))", path);
	ck_assert_msg(!r.status, "%s", r.err.data);
}

START_TEST(strange_content_is_told)
{
	struct buf out = BUF_INIT;
	struct error err = { 0 };
	const char *told;

	make();
	replace(strange[_i].path, strange[_i].content);
	ck_assert_int_eq(read_all(&out, &err), -EINVAL);
	told = support_path("%s:%u: %s", err.path, err.line, err.message);
	ck_assert_msg(strstr(told, strange[_i].message) && !strncmp(told, repo(), strlen(repo())),
		      "%s", told);
	buf_release(&out);
}
END_TEST

/* One name twice, columns that nobody knows, none at all: as good as it gets. */
static const struct { const char *path, *content; } odd[] = {
	{ "totals", "buildbeat totals 1\n" },
	{ "totals", "buildbeat totals 1\nwall_us: 3\nwall_us: 4\nlight_years: many\n" },
	{ "build", "buildbeat build 1\nhost: a\nhost: b\n" },
	{ "columns/colour", "red" },
	{ "extra", "text" },
};

START_TEST(odd_content_is_read)
{
	struct buf out = BUF_INIT;
	struct error err = { 0 };

	make();
	replace(odd[_i].path, odd[_i].content);
	ck_assert_msg(!read_all(&out, &err), "%s: %s", err.path, err.message);
	buf_release(&out);
}
END_TEST

/* A new build does not need what the one before has but its commit and tree. */
START_TEST(writing_goes_on_without_the_dictionary)
{
	struct values f, back;
	struct error err = { 0 };
	struct archive *a;
	struct run r;

	make();
	support_run(&r, repo(), "id=$(git rev-parse " MADE_REF ":tasks); "
		    "rm -f objects/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-)");
	ck_assert_int_eq(r.status, 0);
	a = made_archive(repo());
	made_build(&f, 7, TASKS, 7);
	ck_assert_int_eq(archive_values(a, made_add(a, &f, 7), &back, &err), 0);
	ck_assert_uint_eq(back.n_tasks, TASKS);
	ck_assert_str_eq(back.task[0].name, f.task[0].name);
	values_release(&back);
	values_release(&f);
	archive_close(a);
}
END_TEST

int main(void)
{
	made_environment();
	git_libgit2_init();	/* once: it reads certificates */
	return support_main("archive_damage", TEST_LOOP(flipped_bits_are_told, 2),
			    TEST(cut_and_missing_objects_are_told),
			    TEST_EACH(strange_content_is_told, strange),
			    TEST_EACH(odd_content_is_read, odd),
			    TEST(writing_goes_on_without_the_dictionary));
}
