/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "tests/paths.h"
#include "tests/support.h"

/*
 * `buildbeat history` over archives of tests/gen_archive. The output is in
 * tests/golden/history; UPDATE_GOLDEN=1 rewrites it.
 */

#define HISTORY TOP_BUILDDIR "/buildbeat history "
#define GEN TOP_BUILDDIR "/tests/gen_archive "

/* Made once for all tests: a step of some tasks, one of the memory of a single task, one
 * back. */
static const char *const make =
	GEN "--tasks 60 --builds 70 --noise 2% --host 2% --step 3-20/40/25% --step 20-25/30/150%/memory "
	"--step 30-45/55/-60% a.git && " GEN "--tasks 60 --builds 1 one.git && "
	GEN "--tasks 60 --builds 3 three.git && " GEN "--tasks 0 --builds 20 none.git && git init -q --bare "
	"empty.git && echo text >file && printf 'compare: {metrics: [wall, memory]}\\n' >c.yaml && "
	"printf 'compare: {metrics: [wal]}\\n' >bad.yaml";

static const char *dir;

static void setup(void)
{
	struct run r;

	dir = strdup(support_tmpdir());
	setenv("HOME", dir, 1);
	setenv("XDG_CACHE_HOME", dir, 1);
	setenv("TMPDIR", dir, 1);
	setenv("TZ", "America/New_York", 1);
	unsetenv("COLUMNS");
	support_run(&r, dir, "%s", make);
	ck_assert_msg(r.status == 0, "%s", buf_str(&r.err));
}

static void teardown(void)
{
	free((char *)dir);
	support_cleanup();
}

static const struct {
	const char *golden;
	const char *environment;
	const char *arguments;
} goldens[] = {
	{ "all.txt", "LC_ALL=C.UTF-8", "--repo a.git" },
	{ "all-60.txt", "LC_ALL=C COLUMNS=60", "--repo a.git --top 2" },
	{ "all.json", "LC_ALL=C", "--repo a.git --json" },
	{ "memory.txt", "LC_ALL=C.UTF-8", "--repo a.git -c c.yaml memory" },
	{ "task.txt", "LC_ALL=C.UTF-8", "--repo a.git 'recipe-00000: do_configure'" },
	{ "task.json", "LC_ALL=C", "--repo a.git --metrics wall -j 'recipe-00000: do_configure'" },
	{ "total.txt", "LC_ALL=C", "--repo a.git total --metrics cpu,memory" },
	{ "host.txt", "LC_ALL=C", "--repo a.git host" },
	{ "one.txt", "LC_ALL=C.UTF-8", "--repo one.git" },
	{ "three.txt", "LC_ALL=C.UTF-8", "--repo three.git" },
	{ "none.txt", "LC_ALL=C.UTF-8", "--repo none.git" },
};

TEST_GROUP_ONCE("history", setup, teardown);

TEST_EACH(printed, goldens)
{
	struct run r;

	support_run(&r, dir, "env %s " HISTORY "%s", goldens[_i].environment, goldens[_i].arguments);
	ck_assert_str_eq(buf_str(&r.err), "");
	ck_assert_int_eq(r.status, 0);
	support_is_golden(&r.out, support_path("history/%s", goldens[_i].golden));
}

/* Properties that the golden files do not show. */
TEST(json_is_json)
{
	struct run r;

	support_run(&r, dir, HISTORY "--repo a.git -j | python3 -c 'import json, sys; "
		    "d = json.load(sys.stdin); print(d[\"ref\"], len(d[\"builds\"]), "
		    "sorted(e[\"at\"][\"index\"] for e in d[\"events\"]))'");
	ck_assert_str_eq(buf_str(&r.out), "nightly-1/master/x86_64 70 [30, 40, 55]\n");
}

/* git log can read the revisions, each the parent of the next. */
TEST(twice_the_same)
{
	support_expect(dir, 0, NULL, NULL,
		       HISTORY "--repo a.git >x && LC_ALL=C TZ=Asia/Tokyo taskset 1 " HISTORY
		       "--repo a.git -t 0 -j >1; TZ=UTC " HISTORY "--repo a.git -t 1 -j >2; cmp 1 2");
}

static const struct { const char *arguments; const char *message; } refused[] = {
	{ "", "no archive: use --repo" },
	{ "--repo nowhere.git", "nowhere.git: " },
	{ "--repo file", "file: " },
	{ "--repo empty.git", "empty.git: " },
	{ "--repo a.git --ref nobody", "nobody" },
	{ "--repo a.git nobody", "no task or metric is named 'nobody'" },
	{ "--repo a.git recipe", "is part of the names of 60 tasks" },
	{ "--repo a.git -c bad.yaml", "bad.yaml:1:" },
	{ "--repo a.git --metrics wal", "wal" },
	{ "--repo a.git --plto x.svg", "did you mean" },
	{ "--repo a.git --plot x.gif", "x.gif: the name of a picture ends with .svg, .png or .pdf" },
	{ "--repo a.git --plot picture", "ends with .svg" },
	{ "--repo a.git --plot nowhere/x.svg", "nowhere/x.svg" },
	{ "--series file gcc", "takes no TASK" },
	{ "a b", "too many" },
};

TEST_EACH(refuses, refused)
{
	struct run r;

	support_run(&r, dir, HISTORY "%s", refused[_i].arguments);
	ck_assert_int_eq(r.status, 2);
	ck_assert_str_eq(buf_str(&r.out), "");
	ck_assert_msg(strstr(buf_str(&r.err), refused[_i].message) != NULL, "%s", buf_str(&r.err));
	ck_assert(!support_exists(support_path("%s/x.svg", dir)));
}

static const struct { const char *file, *begin; } pictures[] = {
	{ "x.svg", "<?xml" }, { "x.png", "\x89PNG" }, { "x.pdf", "%PDF" },
};

TEST_EACH(plotted, pictures)
{
	const char *file = pictures[_i].file, *path = support_path("%s/%s", dir, file);
	RELEASED(buf, picture = BUF_INIT);
	struct run r;

	SKIP_IF(!support_has("gnuplot"));
	support_run(&r, dir, HISTORY "--repo a.git 'recipe-00000: do_configure' --plot %s", file);
	ck_assert_str_eq(buf_str(&r.err), "");
	ck_assert_int_eq(r.status, 0);
	support_read(&picture, path);
	ck_assert(picture.len > 1000 && !memcmp(picture.data, pictures[_i].begin, 4));
	unlink(path);
}

TEST(plotted_here)
{
	struct run r;

	SKIP_IF(!support_has("gnuplot"));
	support_run(&r, dir, "COLUMNS=80 " HISTORY "--repo a.git --plot -");
	ck_assert_int_eq(r.status, 0);
	ck_assert_ptr_nonnull(strstr(buf_str(&r.out), "wall time"));
	ck_assert_ptr_nonnull(strstr(buf_str(&r.out), "2026-01-01"));
}

TEST_MAIN(cmd_history);
