/* SPDX-License-Identifier: MIT */
#include "base/json.h"
#include "live/earlier.h"
#include "tests/recorded.h"
#include "tests/support.h"

/* Recordings of a build of ten tasks of a second each, one after the other. */
#define TASKS 10

struct written {
	const char *name, *command, *cwd;
	int start_s, status;	/* status -1: it runs */
	int n;			/* tasks */
};

static void write_recording(const char *dir, const struct written *w)
{
	const char *path = support_path("%s/%s", dir, w->name);
	RELEASED(buf, build = { 0 }, tasks = { 0 });

	ck_assert(!mkdir(path, 0700));
	buf_addf(&build, "buildbeat build 1\nstart_wall_ns: %d000000000\nstart_mono_ns: 1000000000\n"
		 "start: 2026-01-01T00:00:00Z\ncommand: %s\ncwd: %s\nhost: h\n", w->start_s, w->command, w->cwd);
	if (w->status >= 0)
		buf_addf(&build, "end: %d\nend_us: %d\nend_wall_ns: %d000000000\nstatus: %d\n", w->n * 1000000,
			 w->n * 1000000, w->start_s + w->n, w->status);
	buf_addf(&tasks, "buildbeat tasks 1\nopen\t0\ta\t1\t0\t1\tmake\t4.3\t%s\t%s\n", w->cwd, w->command);
	for (int i = 0; i < w->n; i++) {
		buf_addf(&tasks, "start\t%d\ta.%d\t%d\t\t\tt%d.o\t\tcc -c t%d.c\n", i * 1000000, i + 1, 100 + i, i, i);
		if (w->status >= 0 || i + 1 < w->n)
			buf_addf(&tasks, "done\t%d\ta.%d\t0\t1000\t0\t1000\t0\t0\t0\t0\t0\t0\n",
				 (i + 1) * 1000000, i + 1);
	}
	support_writes(support_path("%s/%s/build", dir, w->name), buf_str(&build));
	support_writes(support_path("%s/%s/tasks.log", dir, w->name), buf_str(&tasks));
}

/* Which recordings are earlier ones of "make -j4 all" in /p that began at 1000. */
static const struct {
	struct written written;
	bool earlier;
} one_of[] = {
	{ { "same", "make -j4 all", "/p", 900, 0, TASKS }, true },
	{ { "other-jobs", "make -j 2 all", "/p", 900, 0, TASKS }, true },
	{ { "no-jobs", "make all", "/p", 900, 0, TASKS }, true },
	{ { "long-option", "make --jobs=16 -l 2.5 all", "/p", 900, 0, TASKS }, true },
	{ { "unlimited", "make -j all", "/p", 900, 0, TASKS }, true },
	{ { "target", "make -j4 install", "/p", 900, 0, TASKS }, false },
	{ { "more", "make -j4 all V=1", "/p", 900, 0, TASKS }, false },
	{ { "directory", "make -j4 all", "/q", 900, 0, TASKS }, false },
	{ { "later", "make -j4 all", "/p", 1100, 0, TASKS }, false },
	{ { "failed", "make -j4 all", "/p", 900, 2, TASKS }, false },
	{ { "runs", "make -j4 all", "/p", 900, -1, TASKS }, false },
	{ { "two", "make -j4 all; make all", "/p", 900, 0, TASKS }, false },
};

static const struct written now = { "now", "make -j4 all", "/p", 1000, -1, TASKS / 2 };

static struct remaining_estimate estimate(const char *dir)
{
	struct recording rec = RECORDING_INIT;
	struct remaining_estimate e;
	struct remaining *r;
	struct error err = { 0 };

	ck_assert_msg(!earlier_learn(&r, support_path("%s/now", dir), &err), "%s", err.message);
	recorded_open(&rec, support_path("%s/now", dir), NULL);
	ck_assert_int_eq(remaining_estimate(&e, r, &rec, 4500000), 0);
	recording_release(&rec);
	remaining_free(r);
	return e;
}

TEST_EACH(which, one_of)
{
	const char *dir = support_tmpdir();
	struct remaining_estimate e;

	write_recording(dir, &now);
	write_recording(dir, &one_of[_i].written);
	e = estimate(dir);
	ck_assert_msg(e.builds == one_of[_i].earlier, "%s", one_of[_i].written.name);
	if (e.builds)
		ck_assert_msg(e.left_us > 5000000 && e.left_us < 6000000, "%ld", (long)e.left_us);
}

/* The newest ones are enough; a damaged one is skipped. */
TEST(many)
{
	const char *dir = support_tmpdir();
	struct remaining_estimate e;
	RELEASED(buf, text = { 0 });
	struct json j;
	char name[16];

	for (int i = 0; i < REMAINING_BUILDS + 5; i++) {
		snprintf(name, sizeof name, "b%d", i);
		write_recording(dir, &(struct written){ name, "make all", "/p", 100 + i, 0, TASKS });
	}
	write_recording(dir, &now);
	support_writes(support_path("%s/b20/tasks.log", dir), "nothing of ours\n");
	support_writes(support_path("%s/b21/build", dir), "");
	e = estimate(dir);
	ck_assert(e.builds >= REMAINING_BUILDS - 2 && e.builds <= REMAINING_BUILDS);
	ck_assert(llabs(e.left_us - 5500000) < 500000 && e.high_us - e.low_us < 2000000);
	json_init(&j, &text, true);
	json_object(&j, NULL);
	earlier_json(&j, &e);
	json_object_end(&j);
	ck_assert(strstr(buf_str(&text), "\"builds\":") && strstr(buf_str(&text), " left ("));
}

TEST(gone)
{
	struct remaining *r;
	struct error err = { 0 };

	ck_assert_int_eq(earlier_learn(&r, support_path("%s/none", support_tmpdir()), &err), -ENOENT);
	ck_assert(!r && *err.message);
}

TEST_MAIN(earlier);
