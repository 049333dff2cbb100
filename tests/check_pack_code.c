/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/text.h"
#include "render/chart/pack_code.h"
#include "tests/recorded.h"
#include "tests/support.h"
#include "tests/unpack.h"

/* The numbers, bytes and sizes in the data for the bootchart's script, read by a second reader. */

static const int32_t edges[] = { 0, 1, -1, 63, -64, 127, 128, 100000, INT32_MAX, INT32_MIN };
static const size_t lengths[] = { 0, 1, 2, 63, 64, 65, 127, 128, 129, 1000 };

static void put(struct pack_column *c, char type, int32_t v)
{
	if (type == 'u')
		pack_column_add(c, (uint32_t)v);
	else
		pack_column_adds(c, v);
}

/* Columns of all widths around each limit. */
TEST_EACH(numbers_come_back, lengths)
{
	static const char types[] = "usd";
	uint64_t seed = (uint64_t)_i;

	for (size_t e = 0; e < 3 * ARRAY_SIZE(edges); e++) {
		int32_t value[1000], edge = edges[e / 3];
		char type = types[e % 3];
		size_t n = lengths[_i];
		const uint8_t *p;
		struct pack_column c;
		int64_t *back;

		pack_column_init(&c, type);
		for (size_t i = 0; i < n; i++) {
			value[i] = i % 5 ? (int32_t)((uint32_t)edge + random_below(&seed, i % 23 ? 7 : 1u << 31)) : edge;
			put(&c, type, value[i]);
		}
		pack_column_flush(&c);
		ck_assert_int_eq(buf_error(&c.out), 0);
		ck_assert_uint_eq(c.n, n);
		p = (const uint8_t *)c.out.data;
		back = unpack_numbers(&p, p + c.out.len, type, n);
		ck_assert_uint_eq((size_t)(p - (const uint8_t *)c.out.data), c.out.len);
		for (size_t i = 0; i < n; i++)
			ck_assert_int_eq((int32_t)(uint32_t)back[i], value[i]);
		free(back);
		pack_column_release(&c);
	}
}

/* A few numbers that are larger than the rest do not make a block as wide as they are. */
TEST(few_larger)
{
	static const struct { unsigned every; size_t most; } rows[] = { { 64, 12 }, { 16, 28 }, { 4, 110 }, { 1, 260 } };
	uint64_t seed = 1;

	for (size_t r = 0; r < ARRAY_SIZE(rows); r++) {
		int64_t value[PACK_BLOCK], *back;
		struct pack_column c;
		const uint8_t *p;

		pack_column_init(&c, 'u');
		for (unsigned i = 0; i < PACK_BLOCK; i++) {
			value[i] = i % rows[r].every ? 7 : (int64_t)random_below(&seed, 1 << 20) + (1u << 31);
			pack_column_add(&c, (uint32_t)value[i]);
		}
		pack_column_flush(&c);
		ck_assert_uint_le(c.out.len, rows[r].most);
		p = (const uint8_t *)c.out.data;
		back = unpack_numbers(&p, p + c.out.len, 'u', PACK_BLOCK);
		ck_assert_mem_eq(back, value, sizeof value);
		free(back);
		pack_column_release(&c);
	}
}

TEST(bytes_come_back)
{
	uint8_t bytes[70], back[80];

	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)(i * 151 + (i % 3 ? 0 : 255));
	for (size_t n = 0; n <= sizeof bytes; n++) {
		struct buf out = BUF_INIT;

		ck_assert_int_eq(pack_characters(&out, bytes, n), 0);
		ck_assert_uint_le(out.len, n * 16 / 13 + 2);
		ck_assert_uint_ge(unpack_characters(back, sizeof back, buf_str(&out), out.len), n);
		ck_assert_mem_eq(back, bytes, n);
		buf_release(&out);
	}
}

TEST(logarithms_within_one_percent)
{
	struct pack_logs s;
	uint32_t last = 0;

	pack_logs_init(&s);
	ck_assert_uint_eq(pack_log(&s, 0), 0);
	ck_assert_uint_eq(pack_log(&s, -1), 0);
	for (int64_t v = 1; v < INT64_MAX / 3; v += 1 + v / 50) {
		uint32_t code = pack_log(&s, v);

		ck_assert_double_eq_tol(exp2(code / 64.0) - 1, (double)v, (double)(v + 1) * 0.01);
		ck_assert_uint_ge(code, last);
		last = code;
	}
}

/* By the description in pack_chart.h. */
static double size_of(int64_t code)
{
	int64_t at = (code - 1000) % 3700;
	double unit = exp2(10.0 * (double)((code - 1000) / 3700 + 1));

	if (code < 1000)
		return (double)code;
	return unit * (at < 1000 ? fmax(999.5 / 1024, ((double)at + .5) / 100) : at < 1900 ? ((double)at - 899.5) / 10 :
		       ((double)at - 1699.5) / 2);
}

/* A size in KiB. */
static void check_printed(int64_t v)
{
	RELEASED(buf, exact = BUF_INIT, coded = BUF_INIT);
	double size = size_of(pack_size(v));

	text_add_bytes(&exact, v * 1024);
	text_add_bytes(&coded, llround(size * 1024));
	ck_assert_str_eq(buf_str(&exact), buf_str(&coded));
	ck_assert_double_eq_tol(size, (double)v, .5 + (double)v * .0055);
}

/* Sizes are printed as before they were packed: all around the edges of what is printed, and others. */
TEST_LOOP(sizes_are_printed_alike, 4)
{
	uint64_t seed = (uint64_t)_i;
	uint32_t last = 0;

	for (int64_t v = 0; v < 3000000; v += 1 + v / 20000) {
		check_printed(v);
		ck_assert_uint_ge(pack_size(v), last);
		last = pack_size(v);
	}
	for (double unit = 1; unit < 1e12; unit *= 1024) {
		for (double edge = 1; edge < 1100; edge += edge < 10 ? .05 : .5) {
			for (int k = -2; k < 3; k++)
				check_printed(llabs((long long)(unit * edge) + k));
		}
	}
	for (int i = 0; i < 100000; i++)
		check_printed((int64_t)(random_below(&seed, 1ull << 52) >> random_below(&seed, 56)));
	ck_assert_uint_eq(pack_size(-1), 0);
}

TEST_MAIN(pack_code);
