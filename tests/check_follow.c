/* SPDX-License-Identifier: MIT */
/* Tasks that are renamed in a series of builds. */
#include "compare/follow_renames.h"
#include "compare/presence.h"
#include "compare/known.h"

#include "base/arena.h"
#include "tests/made_tasks.h"
#include "tests/noise.h"
#include "tests/support.h"

#define BUILDS 16

/* The names of every task that was renamed: "a.o>b.o@3" (b.o from build 3 on), sorted by newest
 * name. */
static struct buf *joined(const struct builds *builds)
{
	static struct buf text;

	buf_clear(&text);
	for (size_t t = 0; t < builds->n_tasks; t++) {
		const struct builds_task *task = &builds->task[t];

		for (size_t i = 0; i < task->n_held; i++)
			buf_addf(&text, i ? ">%s@%u" : "%s%.0u", task->held[i].name,
				 task->held[i].first);
		if (task->n_held)
			ck_assert_str_eq(task->held[task->n_held - 1].name, task->name);
		if (task->n_held)
			buf_addc(&text, ' ');
	}
	return &text;
}

static const struct {
	const char *what;
	const char *build[BUILDS];
	const char *joined;
} cases[] = {
	{ "nothing", { "" }, "" },
	{ "no rename", { "a.o b.o", "a.o b.o" }, "" },
	{ "moved", { "a.o b.o", "a.o b.o", "lib/a.o b.o" }, "a.o>lib/a.o@2 " },
	{ "moved at once", { "a.o b.o", "lib/a.o b.o" }, "a.o>lib/a.o@1 " },
	{ "similar", { "one/source.o b.o", "one/sources.o b.o" },
	  "one/source.o>one/sources.o@1 " },
	{ "chain", { "x/m.o k.o", "y/m.o k.o", "y/m.o k.o", "z/m.o k.o" },
	  "x/m.o>y/m.o@1>z/m.o@3 " },
	{ "back", { "x/m.o k.o", "y/m.o k.o", "x/m.o k.o" }, "x/m.o>y/m.o@1>x/m.o@2 " },
	{ "all of them", { "x/m.o x/n.o", "y/m.o y/n.o", "y/m.o y/n.o" },
	  "x/m.o>y/m.o@1 x/n.o>y/n.o@1 " },
	{ "both run later", { "x/m.o k.o", "y/m.o k.o", "x/m.o y/m.o k.o" }, "" },
	{ "both ran before", { "x/m.o y/m.o k.o", "x/m.o k.o", "y/m.o k.o" }, "" },
	{ "both in a failed build", { "x/m.o k.o", "y/m.o k.o", "!x/m.o y/m.o" }, "" },
	{ "alternating", { "x/m.o k.o", "y/m.o k.o", "x/m.o k.o", "y/m.o k.o", "x/m.o k.o" }, "" },
	{ "two candidates", { "x/m.o y/m.o k.o", "z/m.o k.o j.o" }, "" },
	{ "failed between", { "x/m.o k.o", "!", "!k.o", "y/m.o k.o" }, "x/m.o>y/m.o@3 " },
	{ "failed newest", { "x/m.o k.o", "x/m.o k.o", "!y/m.o" }, "" },
	{ "failed is the first with the name", { "x/m.o k.o", "!y/m.o", "y/m.o k.o" },
	  "x/m.o>y/m.o@1 " },
	{ "incremental newest: not known yet", { "x/m.o a.o b.o c.o d.o", "y/m.o" }, "" },
	{ "incremental, then whole", { "x/m.o a.o b.o c.o d.o", "y/m.o", "y/m.o a.o b.o c.o d.o" },
	  "x/m.o>y/m.o@1 " },
	{ "did not run in an incremental build", { "x/m.o a.o b.o c.o d.o", "y/m.o",
	  "x/m.o y/m.o a.o b.o c.o d.o" }, "" },
	{ "only sometimes", { "x/m.o a.o b.o c.o", "a.o b.o c.o", "x/m.o a.o b.o c.o",
	  "y/m.o a.o b.o c.o" }, "" },
	{ "missed once of ten", { "x/m.o k.o", "x/m.o k.o", "x/m.o k.o", "k.o", "x/m.o k.o",
	  "x/m.o k.o", "x/m.o k.o", "x/m.o k.o", "x/m.o k.o", "x/m.o k.o", "y/m.o k.o" },
	  "x/m.o>y/m.o@10 " },
	{ "recipe", { "glibc-2.1:~do_build gcc:~do_build [glibc-2.1 gcc]",
	  "glibc-2.2:~do_build gcc:~do_build [glibc-2.2 gcc]" },
	  "glibc-2.1: do_build>glibc-2.2: do_build@1 " },
	{ "not the whole recipe", { "glibc-2.1:~do_build gcc:~do_build [glibc-2.1 gcc]",
	  "glibc-2.2:~do_build gcc:~do_build [glibc-2.1 glibc-2.2 gcc]" }, "" },
	{ "of one task that ends and one that begins later",
	  { "x/m.o a.o b.o c.o", "a.o b.o c.o", "y/m.o a.o b.o c.o" }, "" },
};

static size_t count(const char *const *build)
{
	size_t n = 0;

	while (n < BUILDS && build[n])
		n++;
	return n;
}

static void follow(struct builds *builds, const char *const *build, size_t n)
{
	struct error err;

	made_tasks(builds, build, n);
	ck_assert_msg(!follow_renames(builds, &err), "%s", err.message);
}

TEST_EACH(renamed, cases)
{
	struct builds builds;

	follow(&builds, cases[_i].build, count(cases[_i].build));
	ck_assert_msg(!strcmp(buf_str(joined(&builds)), cases[_i].joined), "%s: '%s'",
		      cases[_i].what, buf_str(joined(&builds)));
	builds_release(&builds);
	buf_release(joined(&builds));
}

TEST(names)
{
	static const char *const text[] = { "k.o l.o x/m.o", "k.o l.o y/m.o", "k.o l.o x/m.o",
					    "k.o l.o z/m.o" };
	struct known_list known;
	struct known note = { .pattern = "y/*", .metrics = ~0u, .build = 2 };
	struct known_subject subject;
	RELEASED(builds, builds);
	uint32_t task;

	follow(&builds, text, 4);
	ck_assert_uint_eq(builds.n_tasks, 3);
	task = builds_find(&builds, "z/m.o");
	ck_assert_uint_eq(task, 2);
	ck_assert_uint_eq(builds_find(&builds, "y/m.o"), task);
	ck_assert_uint_eq(builds_find(&builds, "x/m.o"), task);
	ck_assert_uint_eq(builds_find(&builds, "m.o"), builds.n_tasks);
	ck_assert_str_eq(builds_name_at(&builds, task, 0), "x/m.o");
	ck_assert_str_eq(builds_name_at(&builds, task, 1), "y/m.o");
	ck_assert_str_eq(builds_name_at(&builds, task, 2), "x/m.o");
	ck_assert_str_eq(builds_name_at(&builds, task, 3), "z/m.o");
	ck_assert_str_eq(builds_name_at(&builds, 0, 3), "k.o");
	ck_assert(builds_task_fits(&builds, task, "y/*"));
	ck_assert(!builds_task_fits(&builds, task, "k*"));
	ck_assert(!builds_task_fits(&builds, task, ""));
	ck_assert(builds_task_fits(&builds, UINT32_MAX, ""));

	known = (struct known_list){ 1, &note };
	subject = (struct known_subject){ .task = task, .metric = METRIC_WALL };
	ck_assert_ptr_eq(known_find(&known, note.kind, &builds, &subject, 0, 3), &note);
	subject.task = 0;
	ck_assert_ptr_null(known_find(&known, note.kind, &builds, &subject, 0, 3));
}

/* A plan: tasks live, move to other directories, and are missing in incremental builds. */
struct plan {
	struct builds builds;
	size_t n_tasks, n_builds;
	char (*name)[32];		/* [task * n_builds + build], "" if it did not run */
};

static void make_plan(struct plan *p, struct noise *noise, bool incremental)
{
	struct buf text[40] = { BUF_INIT };
	const char *build[40];
	struct error err;

	p->n_tasks = 5 + (size_t)(noise_uniform(noise) * 40);
	p->n_builds = 3 + (size_t)(noise_uniform(noise) * 36);
	p->name = calloc(p->n_tasks * p->n_builds, sizeof *p->name);
	for (size_t t = 0; t < p->n_tasks; t++) {
		unsigned directory = 0;

		for (size_t i = 0; i < p->n_builds; i++) {
			/* The first build is whole; a task that moves is built. */
			bool partial = incremental && i && i % 7;
			bool moves = noise_uniform(noise) < 0.04 && i > 2;

			directory += moves && directory < 4;
			if (partial && !moves && noise_uniform(noise) < 0.9)
				continue;
			snprintf(p->name[t * p->n_builds + i], sizeof *p->name, "dir%u/%zu.o",
				 directory, t);
			buf_addf(&text[i], " %s", p->name[t * p->n_builds + i]);
		}
	}
	for (size_t i = 0; i < p->n_builds; i++)
		build[i] = buf_str(&text[i]);
	made_tasks(&p->builds, build, p->n_builds);
	ck_assert_msg(!follow_renames(&p->builds, &err), "%s", err.message);
	for (size_t i = 0; i < 40; i++)
		buf_release(&text[i]);
}

static void release_plan(struct plan *p)
{
	builds_release(&p->builds);
	free(p->name);
}

/* Every value of the builds is in one row, and each row has one number of a file. */
static size_t check_rows(const struct plan *p)
{
	const struct builds *b = &p->builds;
	float *values = malloc(b->n_tasks * b->n * sizeof *values);
	struct error err;
	size_t known = 0, planned = 0;

	ck_assert_int_eq(b->load(b, METRIC_WALL, values, &err), 0);
	for (size_t t = 0; t < p->n_tasks; t++) {
		for (size_t i = 0; i < p->n_builds; i++) {
			const char *name = p->name[t * p->n_builds + i];
			uint32_t task = *name ? builds_find(b, name) : 0;

			if (!*name)
				continue;
			planned++;
			ck_assert_uint_lt(task, b->n_tasks);
			ck_assert_str_eq(builds_name_at(b, task, (uint32_t)i), name);
			ck_assert(!isnan(values[task * b->n + i]));
			ck_assert(presence_ran(b->presence, (uint32_t)i, task));
		}
	}
	for (size_t i = 0; i < b->n_tasks * b->n; i++)
		known += !isnan(values[i]);
	ck_assert_uint_eq(known, planned);
	free(values);
	return b->n_tasks;
}

TEST_LOOP(whole_builds, 200)
{
	struct noise noise = { (uint64_t)_i + 1 };
	struct plan p;

	make_plan(&p, &noise, false);
	ck_assert_uint_eq(check_rows(&p), p.n_tasks);
	release_plan(&p);
}

/* Files are never confused, and most moves are found. */
TEST_LOOP(incremental_builds, 200)
{
	struct noise noise = { (uint64_t)_i + 1 };
	struct plan p;

	make_plan(&p, &noise, true);
	ck_assert_uint_ge(check_rows(&p), p.n_tasks);
	for (size_t t = 0; t < p.builds.n_tasks; t++) {
		const struct builds_task *task = &p.builds.task[t];

		for (size_t i = 0; i < task->n_held; i++)
			ck_assert_str_eq(strchr(task->held[i].name, '/'),
					 strchr(task->name, '/'));
	}
	release_plan(&p);
}

TEST_MAIN(follow);
