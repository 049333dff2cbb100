/* SPDX-License-Identifier: MIT */
#include "tests/made_build.h"

#include "base/arena.h"
#include "base/array.h"
#include "tests/support.h"

static const char *keep(struct values *f, const char *text)
{
	const char *kept = arena_text(f->texts, text, strlen(text));

	ck_assert_ptr_nonnull(kept);
	return kept;
}

int64_t made_value(size_t task, enum value_column c, unsigned build)
{
	uint64_t z = (task * 31 + (uint64_t)c) * UINT64_C(0x9e3779b97f4a7c15) + build * 977;

	if (c == COLUMN_RUNS)
		return 1;
	if (c == COLUMN_STATUS)
		return (int64_t)(task % 4);
	z = (z ^ z >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
	return task % 7 == 3 ? -1 : (int64_t)(z >> (24 + task % 40));
}

static void set_facts(struct values *f, unsigned build)
{
	char commit[41];
	const struct values_fact fact[] = {
		{ "host", "host" }, { "machine", "x86_64" }, { "cores", "8" },
		{ "memory_kb", "16303428" }, { "command", "make -j8 all" }, { "tool", "make" },
		{ "source", "/src/one tree" }, { "revision", NULL },
		{ "branch", "main" }, { "dirty", "no" },
	};

	snprintf(commit, sizeof commit, "%040u", build);
	f->fact = malloc(sizeof fact);
	ck_assert_ptr_nonnull(f->fact);
	memcpy(f->fact, fact, sizeof fact);
	f->n_facts = ARRAY_SIZE(fact);
	f->fact[7].value = keep(f, commit);
}

void made_build(struct values *f, size_t first, size_t n, unsigned build)
{
	char name[64];

	*f = (struct values){ .texts = arena_new(), .path = "made",
			       .start_s = 1700000000 + (int64_t)build * 86400, .n_tasks = n };
	ck_assert_ptr_nonnull(f->texts);
	f->task = malloc((n + 1) * sizeof *f->task);
	ck_assert_ptr_nonnull(f->task);
	for (size_t i = 0; i < n; i++) {
		snprintf(name, sizeof name, "dir%zu: task%05zu", (first + i) / 100000, first + i);
		f->task[i] = (struct values_task){ keep(f, name), "cc" };
	}
	for (int c = 0; c < COLUMNS; c++) {
		if (c == COLUMN_PEAK_KB)
			continue;
		f->column[c] = malloc((n + 1) * sizeof *f->column[c]);
		ck_assert_ptr_nonnull(f->column[c]);
		for (size_t i = 0; i < n; i++)
			f->column[c][i] = made_value(first + i, c, build);
	}
	for (int t = 0; t < TOTALS; t++)
		f->total[t] = t % 5 == 4 ? -1 : 1000 * t + (int64_t)build;
	f->total[TOTAL_STATUS] = 0;
	set_facts(f, build);
}

const char *made_repo(void)
{
	return support_path("%s/builds.git", support_tmpdir());
}

const char *made_git(const char *arguments)
{
	static char out[4096];
	struct run r;

	support_run(&r, made_repo(), "git %s", arguments);
	ck_assert_msg(!r.status, "git %s: %s", arguments, r.err.data);
	snprintf(out, sizeof out, "%.*s", (int)strcspn(r.out.data, "\n"), r.out.data);
	return out;
}

void made_fsck(void)
{
	struct run r;

	support_run(&r, made_repo(), "git fsck --strict --no-dangling --no-progress 2>&1");
	ck_assert_msg(!r.status && (!r.out.len || !strncmp(r.out.data, "notice: HEAD", 12)),
		      "%s", r.out.data);
	/* the same bytes for the same build, wherever it is archived */
	support_run(&r, made_repo(), "git log --all --author=buildbeat --format='%%ad %%cd' --date=format:%%z | "
		    "sort -u");
	ck_assert_msg(!r.status && (!r.out.len || !strcmp(r.out.data, "+0000 +0000\n")), "%s%s",
		      r.out.data, r.err.data);
}

struct archive *made_archive(const char *path)
{
	struct error err = { 0 };
	struct archive *a;
	int r = archive_open(&a, path, ARCHIVE_WRITE_FAST, &err);

	ck_assert_msg(!r, "%s: %s", err.path, err.message);
	return a;
}

const char *made_add(struct archive *a, const struct values *f, unsigned build)
{
	static char id[ARCHIVE_ID_SIZE];
	struct error err = { 0 };
	char run[32];
	bool added;
	int r;

	snprintf(run, sizeof run, "night-%u", build);
	r = archive_add(a, MADE_REF, &(struct archive_build){ .values = f, .run = run }, id,
			&added, &err);
	ck_assert_msg(!r, "%s: %s", err.path, err.message);
	ck_assert(added);
	return id;
}

void made_add_build(struct archive *a, size_t first, size_t n, unsigned build)
{
	struct values f;

	made_build(&f, first, n, build);
	made_add(a, &f, build);
	values_release(&f);
}

void made_add_builds(unsigned n)
{
	struct archive *a = made_archive(made_repo());

	for (unsigned build = 0; build < n; build++)
		made_add_build(a, 0, 3, build);
	archive_close(a);
}

void made_read(struct values *f, struct archive *a, const char *name)
{
	struct error err = { 0 };
	int r = archive_values(a, name, f, &err);

	ck_assert_msg(!r, "%s: %s", err.path, err.message);
}

void made_environment(void)
{
	setenv("HOME", "/nonexistent", 1);
	setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
	setenv("XDG_CACHE_HOME", "/nonexistent", 1);
	setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
	setenv("GIT_CONFIG_SYSTEM", "/dev/null", 1);
	setenv("GIT_AUTHOR_NAME", "somebody", 1);
	setenv("GIT_AUTHOR_EMAIL", "somebody@example.org", 1);
	setenv("GIT_COMMITTER_NAME", "somebody", 1);
	setenv("GIT_COMMITTER_EMAIL", "somebody@example.org", 1);
}
