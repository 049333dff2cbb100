/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/buf.h"
#include "tests/support.h"

TEST(grows)
{
	struct buf b = BUF_INIT;

	ck_assert_str_eq(buf_str(&b), "");
	for (int i = 0; i < 10000; i++)
		buf_adds(&b, "0123456789");
	ck_assert_uint_eq(b.len, 100000);
	ck_assert_uint_eq(strlen(buf_str(&b)), 100000);
	ck_assert_int_eq(buf_error(&b), 0);
	buf_cut(&b, 3);
	ck_assert_str_eq(buf_str(&b), "012");
	buf_clear(&b);
	ck_assert_str_eq(buf_str(&b), "");
	buf_release(&b);
	ck_assert_ptr_null(b.data);
}

TEST(every_length)
{
	struct buf b = BUF_INIT;
	char text[32];

	for (uint64_t power = 1; power; power = power > UINT64_MAX / 10 ? 0 : power * 10) {
		for (uint64_t n = power - 3; n != power + 12; n++) {
			snprintf(text, sizeof text, "%llu", (unsigned long long)n);
			buf_clear(&b);
			buf_addu(&b, n);
			ck_assert_str_eq(buf_str(&b), text);
		}
	}
	buf_addi(&b, INT64_MIN);
	ck_assert_ptr_nonnull(strstr(buf_str(&b), "-9223372036854775808"));
	buf_release(&b);
	buf_init_fixed(&b, text, 4);
	buf_addu(&b, 1234);
	ck_assert_int_eq(buf_error(&b), -ENOBUFS);
	buf_clear(&b);
	buf_addu(&b, 123);
	ck_assert_str_eq(buf_str(&b), "123");
}

TEST(fixed_drops_whole_calls)
{
	char memory[8];
	RELEASED(buf, b);

	buf_init_fixed(&b, memory, sizeof memory);
	buf_adds(&b, "1234567");
	ck_assert_int_eq(buf_error(&b), 0);
	buf_adds(&b, "89");
	ck_assert_int_eq(buf_error(&b), -ENOBUFS);
	buf_addc(&b, 'x');
	ck_assert_str_eq(buf_str(&b), "1234567");
	buf_clear(&b);
	buf_addf(&b, "%s", "12345678");
	ck_assert_int_eq(buf_error(&b), -ENOBUFS);
	ck_assert_str_eq(buf_str(&b), "");
}

static const struct { int64_t n; const char *text; } numbers[] = {
	{ 0, "0" }, { 9, "9" }, { 10, "10" }, { -1, "-1" }, { 1234567890123, "1234567890123" },
	{ INT64_MAX, "9223372036854775807" }, { INT64_MIN, "-9223372036854775808" },
};

TEST_EACH(decimal, numbers)
{
	RELEASED(buf, b = BUF_INIT);

	buf_addi(&b, numbers[_i].n);
	ck_assert_str_eq(buf_str(&b), numbers[_i].text);
	buf_clear(&b);
	buf_addf(&b, "%lld", (long long)numbers[_i].n);
	ck_assert_str_eq(buf_str(&b), numbers[_i].text);
}

TEST(too_much)
{
	RELEASED(buf, b = BUF_INIT);

	buf_adds(&b, "x");
	ck_assert_int_eq(buf_reserve(&b, SIZE_MAX - 1), -ENOMEM);
	buf_adds(&b, "y");
	ck_assert_str_eq(buf_str(&b), "x");
}

TEST_MAIN(buf);
