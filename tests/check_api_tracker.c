/* SPDX-License-Identifier: MIT */
#include "tests/replied.h"
#include "tests/support.h"

/* Replies of the tracker, compared with `show` by a program that only reads JSON. */

/* A recording of 3,000 tasks with samples. */
static void start(void)
{
	support_expect(NULL, 0, NULL, NULL,
		       "%s/tests/gen_recording %s/rec 3000", TOP_BUILDDIR, support_tmpdir());
	replied_open(support_path("%s/rec", support_tmpdir()));
}

static void compare(const char *what)
{
	support_expect(support_tmpdir(), 0, "", "", "%s/buildbeat show --json rec > show.json && "
		       "python3 -B %s/tests/api_replies.py %s", TOP_BUILDDIR, TOP_SRCDIR, what);
}

TEST_GROUP_WITH("replies", start, replied_close);

TEST(agrees_with_show)
{
	static const char *const metric[] = { "running", "waiting", "cpu", "memory", "read", "written" };
	static const char *const by[] = { "kind", "program", "recipe", "directory", "task" };

	for (size_t m = 0; m < ARRAY_SIZE(metric); m++) {
		for (size_t b = 0; b < ARRAY_SIZE(by); b++)
			ck_assert_int_eq(replied_get("/api/v1/tracker", support_path("metric=%s&by=%s&count=5", metric[m], by[b]),
					     support_path("%s-%s.json", metric[m], by[b])), 200);
	}
	compare("agrees_with_show");
}

TEST(classes_and_instances)
{
	ck_assert_int_eq(replied_get("/api/v1/classes", "metric=running&by=kind", "classes.json"), 200);
	ck_assert_int_eq(replied_get("/api/v1/class", "by=kind&name=compile&count=1000", "a.json"), 200);
	ck_assert_int_eq(replied_get("/api/v1/class", "by=kind&name=compile&count=1000&from=1000&metric=running", "b.json"), 200);
	ck_assert_int_eq(replied_get("/api/v1/class", "by=kind&name=compile&count=7&sort=-wall", "c.json"), 200);
	compare("classes_and_instances");
}

static const struct replied_refusal refused[] = {
	{ "/api/v1/tracker", "metric=colour", "metric: there is no 'colour'", 400 },
	{ "/api/v1/tracker", "by=", "by: there is no ''", 400 },
	{ "/api/v1/tracker", "from_us=9&until_us=8", "from_us is after until_us", 400 },
	{ "/api/v1/tracker", "from_us=9&until_us=9", "there is no time", 400 },
	{ "/api/v1/tracker", "from_us=-1", "from_us", 400 },
	{ "/api/v1/tracker", "points=1001", "points", 400 },
	{ "/api/v1/tracker", "count=0", "count", 400 },
	{ "/api/v1/classes", "count=1001", "count", 400 },
	{ "/api/v1/class", "by=kind", "no task has the kind ''", 404 },
	{ "/api/v1/class", "by=kind&name=%3Cb%3E", "no task has the kind '<b>'", 404 },
	{ "/api/v1/class", "by=kind&name=compile&sort=wall_us", "sort: there is no 'wall_us'", 400 },
	{ "/api/v1/class", "by=kind&name=compile&sort=-", "sort: there is no '-'", 400 },
};

TEST_EACH(bad_parameters, refused)
{
	replied_refuses(&refused[_i]);
}

TEST(times_beyond_the_build)
{
	ck_assert_int_eq(replied_get("/api/v1/tracker", "from_us=999999999999&until_us=1999999999999", "x"), 200);
	ck_assert_int_eq(replied_get("/api/v1/classes", "from_us=999999999999&until_us=999999999999", "x"), 200);
	ck_assert_int_eq(replied_get("/api/v1/tracker", "from_us=0&until_us=1&points=1000", "x"), 200);
	ck_assert_int_eq(replied_get("/api/v1/class", "by=kind&name=compile&from=4000000000", "x"), 200);
}

TEST_MAIN(api_tracker);
