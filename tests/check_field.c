/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/field.h"
#include "tests/support.h"

static const struct { const char *text, *escaped; } cases[] = {
	{ "", "" },
	{ "plain text", "plain text" },
	{ "a\tb\nc\rd\\e", "a\\tb\\nc\\rd\\\\e" },
	{ "\x01\x1f\x7f", "\\x01\\x1f\\x7f" },
	{ "caf\xc3\xa9 \xff\xfe", "caf\xc3\xa9 \xff\xfe" },
};

TEST_EACH(round_trip, cases)
{
	RELEASED(buf, b = BUF_INIT);
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
}

/* Every byte at every place among plain ones, because several are read at once. */
TEST_LOOP(every_byte_everywhere, 256)
{
	char text[24], out[4 * sizeof text + 1], back[sizeof out];
	size_t plain = _i >= ' ' && _i != 0x7f && _i != '\\' ? 1 : 0;
	size_t escaped = plain ? 1 : _i == '\t' || _i == '\n' || _i == '\r' || _i == '\\' ? 2 : 4;

	for (size_t at = 0; at < sizeof text; at++) {
		for (size_t len = at + 1; len <= sizeof text; len++) {
			struct buf b;
			bool cut;

			memset(text, 'a' + (int)(at % 26), len);
			text[at] = (char)_i;
			buf_init_fixed(&b, out, sizeof out);
			field_add(&b, text, len, 100);
			ck_assert_uint_eq(b.len, len - 1 + escaped);
			ck_assert_uint_eq(field_parts_size(&(struct slice){ text, len }, 1, 100), b.len);
			memcpy(back, b.data, b.len);
			ck_assert_uint_eq(field_decode(back, b.len, &cut), len);
			ck_assert_mem_eq(back, text, len);
		}
	}
}

TEST(cut_texts_differ)
{
	char one[200], two[200];
	RELEASED(buf, a = BUF_INIT, b = BUF_INIT);
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
}

TEST_MAIN(field);
