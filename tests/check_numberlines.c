/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "cli/command.h"
#include "tests/paths.h"
#include "tests/support.h"

/* diff --samples and history --series: JSON lines in, JSON lines out. */

#define BUILDBEAT TOP_BUILDDIR "/buildbeat"

static void run_on(struct run *r, const char *command, const char *text)
{
	const char *dir = support_tmpdir();

	support_writes(support_path("%s/x.jsonl", dir), text);
	support_run(r, dir, BUILDBEAT " %s x.jsonl", command);
}

#define SEVEN "7,7.1,6.9,7,7.05,6.95,7.1,6.9,7,7.02,"
#define NINE "9,9.1,8.9,9,9.05,8.95,9.1,8.9,9,9.02"

TEST(history)
{
	struct run r;

	run_on(&r, "history --series",
	       "{\"id\":\"steps\",\"values\":[" SEVEN SEVEN NINE "],\"other\":{}}\n\n"
	       "{\"id\":12,\"values\":[" SEVEN SEVEN "null,null," NINE "]}\r\n"
	       "{\"values\":[],\"id\":\"none\"}");
	ck_assert_msg(!r.status, "%s", r.err.data);
	ck_assert(!strncmp(r.out.data, "{\"id\":\"steps\",\"change_points\":[20],\"changes\":[{\"at\":20,", 52));
	ck_assert_ptr_nonnull(strstr(r.out.data, "\n{\"id\":12,\"change_points\":[22],"));
	ck_assert_ptr_nonnull(strstr(r.out.data, "\n{\"id\":\"none\",\"change_points\":[],\"changes\":[]}\n"));
	ck_assert_str_eq(r.err.data, "");
}

TEST(diff)
{
	struct run r;

	run_on(&r, "diff --samples",
	       "{\"id\":\"a\",\"base\":[1,2,3,4,5],\"new\":[6,7,8,9,10]}\n"
	       "{\"id\":\"b\",\"base\":[1,null],\"new\":[2]}\n");
	ck_assert_msg(!r.status, "%s", r.err.data);
	ck_assert(!strncmp(r.out.data, "{\"id\":\"a\",\"p\":0.00793650793651,\"adjusted_p\":0.0158730158730,", 48));
	ck_assert_ptr_nonnull(strstr(r.out.data, "\n{\"id\":\"b\",\"p\":1,\"adjusted_p\":1,\"effect\":1,"
				     "\"interval\":[null,null],\"verdict\":\"unknown\",\"t_p\":null,"));
}

/* One of many unchanged series is not reported if it alone would just pass. */
TEST(rate_over_all)
{
	RELEASED(buf, text = BUF_INIT);
	struct run r;

	buf_adds(&text, "{\"id\":0,\"values\":[1,1.08,1.1,0.91,1.05,0.95,1.1,0.9,1,1.02,1,1.08,1.1,0.91,1.05,"
		 "0.95,1.1,0.9,1,1.02,1.2,1.28,1.3,1.11,1.25,1.15,1.3,1.1,1.2,1.22]}\n");
	run_on(&r, "history --series", buf_str(&text));
	ck_assert_ptr_nonnull(strstr(r.out.data, "\"change_points\":[20]"));
	for (int i = 1; i < 2000; i++)
		buf_addf(&text, "{\"id\":%d,\"values\":[]}\n", i);
	run_on(&r, "history --series", buf_str(&text));
	ck_assert_ptr_null(strstr(r.out.data, "\"change_points\":[20]"));
}

static const struct { const char *command, *text, *says; } bad[] = {
	{ "history --series", "{\"id\":1,\"values\":[1]}\n{\"id\":2", "x.jsonl:2" },
	{ "history --series", "\n{\"id\":1}", "x.jsonl:2: no list \"values\"" },
	{ "history --series", "{\"id\":1,\"values\":[\"1\"]}", "x.jsonl:1: \"values\" has" },
	{ "history --series", "{\"values\":[1]}", "x.jsonl:1: no \"id\"" },
	{ "history --series", "[1]", "x.jsonl:1: no \"id\"" },
	{ "history --series", "{\"id\":1,\"values\":[1]}\n\n\nnonsense\n", "x.jsonl:4" },
	{ "diff --samples", "{\"id\":1,\"base\":[1]}", "x.jsonl:1: no list \"new\"" },
	{ "diff --samples", "{\"id\":1,\"base\":[1],\"new\":1}", "x.jsonl:1: no list \"new\"" },
	{ "diff --samples not/there #", "", "not/there: cannot open" },
};

TEST_EACH(error_has_the_line, bad)
{
	struct run r;

	run_on(&r, bad[_i].command, bad[_i].text);
	ck_assert_str_eq(r.out.data, "");
	ck_assert_msg(strstr(r.err.data, bad[_i].says) != NULL, "%s", r.err.data);
	if (!strchr(bad[_i].command, ';'))
		ck_assert_int_eq(r.status, EXIT_MISUSE);
}

TEST_MAIN(numberlines);
