/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "inspect/rule.h"
#include "tests/support.h"

/* The rules of what is inspected. */

static const struct {
	const char *text;
	const char *normal;	/* its shortest form; NULL: refused */
	const char *message;
} cases[] = {
	{ "ld", "ld", NULL },
	{ "ld,rss>2G", "ld,rss>2G", NULL },
	{ "ld,rss>2048MiB", "ld,rss>2G", NULL },
	{ "ld,rss>1.5GiB", "ld,rss>1536M", NULL },
	{ "ld|lld|mold,rss>1k", "ld|lld|mold,rss>1k", NULL },
	{ "cc1*,heap", "cc1*,heap", NULL },
	{ "cc1plus,heap=exact,count=3,interval=1500ms", "cc1plus,heap=exact,interval=1500ms,count=3",
	  NULL },
	{ "ld,interval=2", "ld,interval=2s", NULL },
	{ "ld,interval=0.5", "ld,interval=500ms", NULL },
	{ "[jr]*,pages,freeze,interval=1min", "[jr]*,interval=1min,freeze,pages", NULL },
	{ ",rss>2G", ",rss>2G", NULL },
	{ ",count=1", ",count=1", NULL },
	{ "", NULL, "expected NAME" },
	{ "rss>2G", NULL, "expected the name of a program, or nothing, before the first comma" },
	{ "interval=2s", NULL, "before the first comma" },
	{ "/usr/bin/ld", NULL, "without its directory, not '/usr/bin/ld'" },
	{ "a\nb", NULL, "the file name of a program" },
	{ "|ld", NULL, "a name before and after each '|', not '|ld'" },
	{ "ld|", NULL, "before and after" },
	{ "ld||lld", NULL, "before and after" },
	{ ",heap", NULL, "expected the name of a program before ',heap'" },
	{ "ld,", NULL, "heap, heap=exact, interval=TIME, count=N, freeze or pages, not ''" },
	{ "ld,heep", NULL, "not 'heep'" },
	{ "ld,heap=", NULL, "not 'heap='" },
	{ "ld,rss>", NULL, "a size such as 500M or 2G, not 'rss>'" },
	{ "ld,rss>0G", NULL, "a size such as" },
	{ "ld,rss>2", NULL, "a size such as" },
	{ "ld,rss>2GB", NULL, "not 'rss>2GB'" },
	{ "ld,rss>1.G", NULL, "not 'rss>1.G'" },
	{ "ld,rss>-1G", NULL, "not 'rss>-1G'" },
	{ "ld,rss>99999999999999999999G", NULL, "a size such as" },
	{ "ld,rss>17592186044416T", NULL, "a size such as" },
	{ "ld,rss>2G ", NULL, "not 'rss>2G '" },
	{ "ld,interval=5x", NULL, "interval=TIME with a time from 10ms to 24h, not 'interval=5x'" },
	{ "ld,interval=0", NULL, "from 10ms" },
	{ "ld,interval=", NULL, "from 10ms" },
	{ "ld,interval=1ms", NULL, "from 10ms" },
	{ "ld,interval=25h", NULL, "to 24h" },
	{ "ld,count=0", NULL, "count=N with a number from 1 to 1000000, not 'count=0'" },
	{ "ld,count=1000001", NULL, "count=N" },
	{ "ld,count=1x", NULL, "count=N" },
};

TEST_EACH(texts, cases)
{
	RELEASED(buf, normal = BUF_INIT);
	struct error err = { 0 };
	struct inspect_rule r, again;

	if (!cases[_i].normal) {
		ck_assert_int_eq(rule_parse(&r, cases[_i].text, &err), -EINVAL);
		ck_assert_msg(strstr(err.message, cases[_i].message) != NULL, "%s", err.message);
		return;
	}
	ck_assert_msg(!rule_parse(&r, cases[_i].text, &err), "%s", err.message);
	rule_write(&normal, &r);
	ck_assert_str_eq(buf_str(&normal), cases[_i].normal);
	ck_assert_int_eq(rule_parse(&again, buf_str(&normal), &err), 0);
	ck_assert_mem_eq(&again, &r, sizeof r);
}

TEST(long_names)
{
	char text[RULE_NAMES_MAX + 8];
	struct error err;
	struct inspect_rule r;

	memset(text, 'x', sizeof text);
	text[RULE_NAMES_MAX - 1] = '\0';
	ck_assert_int_eq(rule_parse(&r, text, &err), 0);
	ck_assert(rule_has_name(&r, text));
	text[RULE_NAMES_MAX - 1] = 'x';
	text[RULE_NAMES_MAX] = '\0';
	ck_assert_int_eq(rule_parse(&r, text, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.message, "fewer than 256 bytes"));
}

static const struct {
	const char *rule, *program;
	bool has;
} names[] = {
	{ "ld", "ld", true }, { "ld", "lld", false }, { "ld", "ld.bfd", false },
	{ "ld|mold", "mold", true }, { "ld|mold", "ld|mold", false }, { "ld*", "ld.bfd", true },
	{ "cc1plus", "cc1", false }, { "cc1,rss>1M", "cc1", true }, { ",rss>1M", "any", true },
	{ "x86_64-linux-gnu-ld.bfd", "x86_64-linux-gn", true },
	{ "x86_64-linux-gnu-ld.bfd", "x86_64-linux", false }, { "[jr]ava", "java", true },
	{ "a?c", "abc", true }, { "a?c", "ac", false }, { "*", "", true },
};

TEST_EACH(programs, names)
{
	struct inspect_rule r;

	ck_assert_int_eq(rule_parse(&r, names[_i].rule, NULL), 0);
	ck_assert_int_eq(rule_has_name(&r, names[_i].program), names[_i].has);
}

TEST_MAIN(rule);
