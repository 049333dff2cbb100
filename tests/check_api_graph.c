/* SPDX-License-Identifier: MIT */
#include "tests/replied.h"
#include "tests/support.h"

/* Replies about dependencies and what a build need not have, of a real make. */

/* A cycle, a process that outlives its task, and a target that nobody needs. */
static const char makefile[] =
	"all: a unread\na: b\n\t@cp b a\nb: c\n\t@cp c b\nc: a d\n\t@cp d c\n"
	"d:\n\t@(sleep 1 > /dev/null 2>&1 &) ; echo > d\nunread: c\n\t@sleep 1.5 ; echo > unread\n.PHONY: all\n";

static void start(void)
{
	support_writes(support_path("%s/Makefile", support_tmpdir()), makefile);
	support_expect(support_tmpdir(), 0, NULL, NULL,
		       "%s/buildbeat record --log --processes -n one -- "
		       "make all", TOP_BUILDDIR);
	replied_open(support_path("%s/buildstats/one", support_tmpdir()));
}

static void holds(const char *what)
{
	support_expect(support_tmpdir(), 0, "", "", "python3 -B %s/tests/api_replies.py %s",
		       TOP_SRCDIR, what);
}

TEST_GROUP_ONCE("replies", start, replied_close);

TEST(around_a_task)
{
	ck_assert_int_eq(replied_get("/api/v1/graph", "task=b&up=5&down=5", "b.json"), 200);
	ck_assert_int_eq(replied_get("/api/v1/graph", "task=b&up=1&down=0", "up.json"), 200);
	ck_assert_int_eq(replied_get("/api/v1/graph", "task=c&up=5&down=5&count=1", "one.json"), 200);
	holds("around_a_task");
}

TEST(what_need_not_be)
{
	ck_assert_int_eq(replied_get("/api/v1/garbage", "", "garbage.json"), 200);
	ck_assert_int_eq(replied_get("/api/v1/graph", "cycle=0", "cycle.json"), 200);
	holds("what_need_not_be");
}

static const struct replied_refusal refused[] = {
	{ "/api/v1/graph", "task=zz", "zz", 404 },
	{ "/api/v1/graph", "cycle=1", "there is no such cycle", 404 },
	{ "/api/v1/graph", "cycle=x", "cycle", 400 },
	{ "/api/v1/graph", "up=51", "up", 400 },
	{ "/api/v1/graph", "count=0", "count", 400 },
	{ "/api/v1/garbage", "count=-1", "count", 400 },
};

TEST_EACH(bad_parameters, refused)
{
	replied_refuses(&refused[_i]);
}

TEST_PROGRAM(api_graph)
{
	SKIP_PROGRAM_IF(!support_can_be_loaded());
	return support_main();
}
