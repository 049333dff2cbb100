/* SPDX-License-Identifier: MIT */
#include "live/query.h"
#include "tests/recorded.h"
#include "tests/support.h"

static int parse(struct query *q, const char *text)
{
	return query_parse(q, text, strlen(text));
}

/* Random keys and values, in the encodings that clients use, come back. */
TEST_LOOP(decoded, 4)
{
	static const char plain[] = "abcXYZ019-_.~";
	uint64_t state = (uint64_t)_i;

	for (int round = 0; round < 2000; round++) {
		char text[3 * QUERY_TEXT] = "", key[8][40], value[8][40];
		size_t n = random_below(&state, 8), len = 0;
		struct query q;

		for (size_t i = 0; i < n; i++) {
			char *out[] = { key[i], value[i] };

			for (int part = 0; part < 2; part++) {
				size_t chars = random_below(&state, 30);

				text[len] = part ? '=' : '&';
				len += part || i;
				/* keys differ */
				memset(out[part], 0, sizeof key[i]);
				if (!part) {
					out[part][0] = text[len++] = (char)('a' + i);
					out[part]++;
				}
				for (size_t k = 0; k < chars; k++) {
					unsigned c = 1 + (unsigned)random_below(&state, 255);

					out[part][k] = (char)c;
					if (c < 128 && strchr(plain, (int)c))
						text[len++] = (char)c;
					else if (c == ' ' && random_below(&state, 2))
						text[len++] = '+';
					else
						len += (size_t)sprintf(text + len, random_below(&state, 2) ?
								       "%%%02X" : "%%%02x", c);
				}
			}
		}
		ck_assert_int_eq(query_parse(&q, text, len), 0);
		ck_assert_uint_eq(q.n, n);
		for (size_t i = 0; i < n; i++)
			ck_assert_str_eq(query_text(&q, key[i]), value[i]);
	}
}

static const char *const damaged[] = {
	"a=%", "a=%1", "a=%zz", "a=%00", "%00=1", "a=1&a=2", "a&a", "a=%1g", "%", "a=1&%61=2",
};

TEST_EACH(refused, damaged)
{
	struct query q;

	ck_assert_int_eq(parse(&q, damaged[_i]), -EINVAL);
}

TEST(limits)
{
	char many[QUERY_TEXT + 2] = "";
	struct query q;

	ck_assert_int_eq(query_parse(&q, "a=1\0b", 5), -EINVAL);
	memset(many, 'x', QUERY_TEXT);
	ck_assert_int_eq(query_parse(&q, many, QUERY_TEXT), -EINVAL);
	ck_assert_int_eq(query_parse(&q, many, QUERY_TEXT - 1), 0);
	for (int i = 0; i <= QUERY_MAX; i++)
		sprintf(many + 4 * i, "%03d&", i);
	ck_assert_int_eq(query_parse(&q, many, 4 * QUERY_MAX), 0);
	ck_assert_int_eq(query_parse(&q, many, 4 * (QUERY_MAX + 1)), -EINVAL);
	ck_assert_int_eq(query_parse(&q, NULL, 0), 0);
	ck_assert_ptr_null(query_text(&q, ""));
}

TEST(kinds)
{
	struct error err;
	struct query q;
	int64_t n;

	ck_assert_int_eq(parse(&q, "&&a=5&b&c=1&d=yes&e=-3&f=99999999999999999999&"), 0);
	ck_assert_uint_eq(q.n, 6);
	ck_assert_int_eq(query_number(&q, "a", 1, 9, 7, &n, &err), 0);
	ck_assert_int_eq(n, 5);
	ck_assert_int_eq(query_number(&q, "none", 1, 9, 7, &n, &err), 0);
	ck_assert_int_eq(n, 7);
	ck_assert_int_eq(query_number(&q, "a", 6, 9, 7, &n, &err), -EINVAL);
	ck_assert_str_eq(err.message, "parameter 'a': expected a number from 6 to 9, not '5'");
	ck_assert_int_eq(query_number(&q, "b", 0, 9, 7, &n, &err), -EINVAL);
	ck_assert_int_eq(query_number(&q, "d", 0, 9, 7, &n, &err), -EINVAL);
	ck_assert_int_eq(query_number(&q, "e", -9, 9, 7, &n, &err), 0);
	ck_assert_int_eq(query_number(&q, "f", 0, INT64_MAX, 7, &n, &err), -EINVAL);
	ck_assert(query_flag(&q, "b") && query_flag(&q, "c"));
	ck_assert(!query_flag(&q, "d") && !query_flag(&q, "none"));
}

TEST_MAIN(query);
