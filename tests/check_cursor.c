/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/cursor.h"
#include "tests/support.h"

static const struct {
	const char *text;
	bool u, i;		/* is a whole number */
	uint64_t u_value;
	int64_t i_value;
} numbers[] = {
	{ "0", true, true, 0, 0 }, { "007", true, true, 7, 7 },
	{ "18446744073709551615", true, false, UINT64_MAX, 0 },
	{ "18446744073709551616", false, false, 0, 0 },
	{ "99999999999999999999", false, false, 0, 0 },
	{ "9223372036854775807", true, true, INT64_MAX, INT64_MAX },
	{ "9223372036854775808", true, false, (uint64_t)INT64_MAX + 1, 0 },
	{ "-9223372036854775808", false, true, 0, INT64_MIN },
	{ "-9223372036854775809", false, false, 0, 0 },
	{ "-1", false, true, 0, -1 }, { "-", false, false, 0, 0 }, { "", false, false, 0, 0 },
	{ "+1", false, false, 0, 0 }, { " 1", false, false, 0, 0 }, { "1x", false, false, 0, 0 },
	{ "1.5", false, false, 0, 0 }, { "0x10", false, false, 0, 0 },
};

TEST_EACH(whole_numbers, numbers)
{
	struct slice s = slice_of(numbers[_i].text);
	uint64_t u = 0;
	int64_t i = 0;

	ck_assert_int_eq(cursor_slice_u64(s, &u), numbers[_i].u);
	ck_assert_int_eq(cursor_slice_i64(s, &i), numbers[_i].i);
	if (numbers[_i].u)
		ck_assert_uint_eq(u, numbers[_i].u_value);
	if (numbers[_i].i)
		ck_assert_int_eq(i, numbers[_i].i_value);
}

TEST(stays_where_nothing_is_found)
{
	struct cursor c;
	struct slice s;
	uint64_t n;
	int64_t i;

	cursor_init(&c, "word 12\trest", 12);
	ck_assert(!cursor_byte(&c, 'x'));
	ck_assert(!cursor_literal(&c, "words"));
	ck_assert(!cursor_u64(&c, &n));
	ck_assert(!cursor_word(&c, &s, 3));
	ck_assert(cursor_word(&c, &s, 4));
	ck_assert(slice_is(s, "word") && !slice_is(s, "wor") && !slice_is(s, "words"));
	ck_assert(!cursor_word(&c, &s, 9));
	cursor_blanks(&c);
	ck_assert(cursor_i64(&c, &i));
	ck_assert_int_eq(i, 12);
	ck_assert(cursor_until(&c, '\t', &s));
	ck_assert_uint_eq(s.len, 0);
	ck_assert(cursor_until(&c, '\t', &s));
	ck_assert(slice_is(s, "rest"));
	ck_assert(cursor_at_end(&c));
	ck_assert(!cursor_until(&c, '\t', &s));
}

TEST(lines)
{
	static const char text[] = "one\n\nth\0ree\nlast";
	static const size_t lengths[] = { 3, 0, 6, 4 };
	struct cursor c;
	struct slice line;
	bool complete;

	cursor_init(&c, text, sizeof text - 1);
	for (unsigned i = 0; i < 4; i++) {
		ck_assert(cursor_line(&c, &line, &complete));
		ck_assert_uint_eq(line.len, lengths[i]);
		ck_assert_uint_eq(c.line, i + 1);
		ck_assert_int_eq(complete, i < 3);
	}
	ck_assert(!cursor_line(&c, &line, &complete));
	cursor_init(&c, NULL, 0);
	ck_assert(!cursor_line(&c, &line, &complete));
}

TEST_MAIN(cursor);
