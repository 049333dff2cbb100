/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "compare/follow_renames.h"
#include "compare/population.h"
#include "compare/presence.h"
#include "tests/made_build.h"
#include "tests/support.h"

#include <ftw.h>
#include <git2.h>

/* A damaged archive: reading it reports an error, or returns what was written. */

#define BUILDS 3
#define TASKS 40

static void make(void)
{
	struct archive *a = made_archive(made_repo());

	for (unsigned build = 0; build < BUILDS; build++)
		made_add_build(a, build, TASKS, build);
	archive_close(a);
}

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

/* The tasks that ran, after renames were followed. */
static int add_tasks(struct buf *out, struct builds *builds, struct error *err)
{
	struct population p = { 0 };
	int r = follow_renames(builds, err);

	for (uint32_t i = 0; !r && i < builds->n; i++) {
		for (uint32_t t = 0; t < builds->n_tasks; t++)
			buf_addc(out, presence_ran(builds->presence, i, t) ? '+' : '.');
	}
	r = r ? r : population_make(&p, builds, err);
	buf_addf(out, " %zu %zu %a", p.n_before, p.n_now, p.total_now[0]);
	population_release(&p);
	return r;
}

static void add_build_values(struct buf *out, const struct values *f)
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
		add_build_values(out, &f);
	values_release(&f);
	return r;
}

/* Everything in the archive, as one text. */
static int read_all(struct buf *out, struct error *err)
{
	struct builds builds = BUILDS_INIT;
	struct archive *a;
	int r = archive_open(&a, made_repo(), ARCHIVE_READ, err);

	if (r)
		return r;
	r = archive_builds(a, MADE_REF, 0, &builds, err);
	if (!r)
		r = add_metrics(out, &builds, err);
	if (!r)
		r = add_tasks(out, &builds, err);
	for (size_t i = 0; !r && i < builds.n; i++)
		r = add_build(out, a, &builds.build[i], err);
	builds_release(&builds);
	archive_close(a);
	return r;
}

static struct buf whole;	/* of the undamaged archive */

/* Whether the damage was reported; otherwise it has no effect. */
static int check_damage(const char *what)
{
	struct buf out = BUF_INIT;
	struct error err = { 0 };
	int r = read_all(&out, &err);

	if (r)
		ck_assert_msg(err.message[0] && !strncmp(err.path, made_repo(), strlen(made_repo())),
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
	nftw(support_path("%s/objects", made_repo()), note_object, 8, FTW_PHYS);
	ck_assert_uint_gt(n_objects, 0);
}

static void overwrite(const char *path, const struct buf *content, size_t len)
{
	unlink(path);
	support_write(path, content->data, len);
}

/* Flip a bit in every step-th byte; returns how often that was reported. */
static int flip_bytes(const char *path, size_t step)
{
	struct buf content = BUF_INIT;
	int reported = 0;

	support_read(&content, path);
	for (size_t i = 0; i < content.len; i += step) {
		char *byte = &content.data[i], kept = *byte;

		*byte ^= (char)(1 << i % 8);
		overwrite(path, &content, content.len);
		reported += check_damage(support_path("%s, byte %zu", path, i));
		*byte = kept;
	}
	overwrite(path, &content, content.len);
	buf_release(&content);
	return reported;
}

TEST_LOOP(flipped_bits, 2)
{
	struct error err = { 0 };
	struct run r;
	int reported = 0;

	make();
	if (_i)
		support_run(&r, made_repo(), "git gc -q");
	ck_assert_int_eq(read_all(&whole, &err), 0);
	find_objects();
	for (size_t i = 0; i < n_objects; i++)
		reported += flip_bytes(object[i], _i ? 307 : 101);
	ck_assert_int_gt(reported, 20);
	ck_assert_int_eq(check_damage("repaired"), 0);
}

TEST(truncated_and_missing_objects)
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

/* Valid objects with invalid content. */
static const struct { const char *path, *content, *message; } invalid[] = {
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
	support_writes(support_path("%s/content", support_tmpdir()), content);
	support_expect(made_repo(), 0, NULL, NULL,
		       "GIT_INDEX_FILE=x git read-tree " MADE_REF " && "
		       "GIT_INDEX_FILE=x git update-index --add --cacheinfo "
		       "100644,$(git hash-object -w ../content),%s && "
		       "git update-ref refs/heads/" MADE_REF " $(git log -1 --format=%%B " MADE_REF " |"
		       " git commit-tree -p " MADE_REF " $(GIT_INDEX_FILE=x git write-tree))", path);
}

TEST_EACH(invalid_content, invalid)
{
	RELEASED(buf, out = BUF_INIT);
	struct error err = { 0 };
	const char *place;

	make();
	replace(invalid[_i].path, invalid[_i].content);
	ck_assert_int_eq(read_all(&out, &err), -EINVAL);
	place = support_path("%s:%u: %s", err.path, err.line, err.message);
	ck_assert_msg(strstr(place, invalid[_i].message) && !strncmp(place, made_repo(), strlen(made_repo())),
		      "%s", place);
}

/* A name that occurs twice, unknown columns, missing columns: everything else is read. */
static const struct { const char *path, *content; } unknown[] = {
	{ "totals", "buildbeat totals 1\n" },
	{ "totals", "buildbeat totals 1\nwall_us: 3\nwall_us: 4\nlight_years: many\n" },
	{ "build", "buildbeat build 1\nhost: a\nhost: b\n" },
	{ "columns/colour", "red" },
	{ "extra", "text" },
};

TEST_EACH(unknown_content, unknown)
{
	RELEASED(buf, out = BUF_INIT);
	struct error err = { 0 };

	make();
	replace(unknown[_i].path, unknown[_i].content);
	ck_assert_msg(!read_all(&out, &err), "%s: %s", err.path, err.message);
}

/* A new build needs only the commit and the tree of its parent. */
TEST(writing_does_not_need_the_dictionary)
{
	struct values f, back;
	struct error err = { 0 };
	struct archive *a;

	make();
	support_expect(made_repo(), 0, NULL, NULL,
		       "id=$(git rev-parse " MADE_REF ":tasks); "
		       "rm -f objects/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-)");
	a = made_archive(made_repo());
	made_build(&f, 7, TASKS, 7);
	ck_assert_int_eq(archive_values(a, made_add(a, &f, 7), &back, &err), 0);
	ck_assert_uint_eq(back.n_tasks, TASKS);
	ck_assert_str_eq(back.task[0].name, f.task[0].name);
	values_release(&back);
	values_release(&f);
	archive_close(a);
}

TEST_PROGRAM(archive_damage)
{
	made_environment();
	git_libgit2_init();	/* once: it reads certificates */
	return support_main();
}
