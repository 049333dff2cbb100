#include "field.h"
#include "support.h"

#include <string.h>

static const struct {
	const char *text, *escaped;
} cases[] = {
	{ "", "" },
	{ "plain text", "plain text" },
	{ "a\tb\nc\rd\\e", "a\\tb\\nc\\rd\\\\e" },
	{ "\x01\x1f\x7f", "\\x01\\x1f\\x7f" },
	{ "caf\xc3\xa9 \xff\xfe", "caf\xc3\xa9 \xff\xfe" },
};

START_TEST(round_trip)
{
	struct buf b = BUF_INIT;
	bool cut;
	size_t n;

	field_add(&b, cases[_i].text, strlen(cases[_i].text), 100);
	ck_assert_str_eq(buf_str(&b), cases[_i].escaped);
	if (b.len) {
		n = field_decode(b.data, b.len, &cut);
		ck_assert_uint_eq(n, strlen(cases[_i].text));
		ck_assert_mem_eq(b.data, cases[_i].text, n);
		ck_assert(!cut);
	}
	buf_release(&b);
}
END_TEST

START_TEST(cut_texts_differ)
{
	char one[200], two[200];
	struct buf a = BUF_INIT, b = BUF_INIT;
	bool cut;
	size_t n;

	memset(one, '\n', sizeof one);
	memset(two, '\n', sizeof two);
	two[199] = 'x';
	field_add(&a, one, sizeof one, 50);
	field_add(&b, two, sizeof two, 50);
	ck_assert_uint_le(a.len, 50);
	ck_assert_uint_eq(a.len, b.len);
	ck_assert_str_ne(a.data, b.data);
	n = field_decode(a.data, a.len, &cut);
	ck_assert(cut);
	ck_assert_uint_eq(n, 20 + 10);
	ck_assert_mem_eq(a.data + 20, "~#", 2);
	buf_release(&a);
	buf_release(&b);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("field");
	TCase *t = tcase_create("field");

	tcase_add_loop_test(t, round_trip, 0, sizeof cases / sizeof *cases);
	tcase_add_test(t, cut_texts_differ);
	suite_add_tcase(s, t);
	return support_main(s);
}
