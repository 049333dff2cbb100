/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/json.h"
#include "base/text.h"
#include "base/utf8.h"
#include "tests/paths.h"
#include "tests/server.h"
#include "tests/support.h"

static const struct { int64_t us; const char *text; } times[] = {
	{ -1, "-" }, { 0, "0 s" }, { 1, "1 us" }, { 999, "999 us" }, { 1000, "1.0 ms" }, { 9949, "9.9 ms" },
	{ 1149, "1.1 ms" }, { 1150, "1.1 ms" }, { 1250, "1.2 ms" }, { 10500, "10 ms" }, { 1125000, "1.12 s" },
	{ 9950, "10 ms" }, { 999499, "999 ms" }, { 999500, "1.00 s" }, { 9994999, "9.99 s" },
	{ 9995000, "10.0 s" }, { 59949999, "59.9 s" }, { 59950000, "1m 00s" },
	{ 3599499999, "59m 59s" }, { 3599500000, "1h 00m" }, { 86400000000, "24h 00m" },
};

static const struct { int64_t bytes; const char *text; } sizes[] = {
	{ -1, "-" }, { 0, "0 B" }, { 999, "999 B" }, { 1000, "1.0 KiB" }, { 1024, "1.0 KiB" },
	{ 1280, "1.3 KiB" }, { 10752, "11 KiB" }, { 5 << 18, "1.3 MiB" }, { 10188, "9.9 KiB" }, { 10189, "10 KiB" }, { 1 << 20, "1.0 MiB" },
	{ 1023 << 10, "1.0 MiB" }, { 5LL << 30, "5.0 GiB" }, { INT64_MAX, "8.0 EiB" },
};

static const struct { int64_t n; const char *text; } counts[] = {
	{ -1, "-" }, { 0, "0" }, { 999999, "999999" }, { 1000000, "1.00 M" }, { 9994999, "9.99 M" },
	{ 9995000, "10.0 M" }, { 99949999, "99.9 M" }, { 99950000, "100 M" }, { 999499999, "999 M" },
	{ 999500000, "1.00 G" }, { 31400000000, "31.4 G" }, { INT64_MAX, "9.22 E" },
};

static const struct { double share; const char *text; } shares[] = {
	{ -1, "-" }, { 0, "0 %" }, { 0.00312, "0.31 %" }, { 0.0421, "4.2 %" }, { 0.0995, "10 %" },
	{ 0.984, "98 %" }, { 1.5, "150 %" },
};

static const struct { const char *name; size_t width; const char *text; } names[] = {
	{ "", 10, "" },
	{ "plain", 0, "plain" },
	{ "exactly ten", 11, "exactly ten" },
	{ "src/lib/deep/file.o", 12, "src...file.o" },
	{ "src/lib/deep/file.o", 6, "src/li" },
	{ "tab\tnewline\ncr\r", 0, "tab\\tnewline\\ncr\\r" },
	{ "\033[31mred\x7f", 0, "\\x1b[31mred\\x7f" },
	{ "\xff\xc3", 0, "\\xff\\xc3" },
	{ "\xc3\xa9t\xc3\xa9", 0, "\xc3\xa9t\xc3\xa9" },
	{ "\xc0\x80\xed\xa0\x80", 0, "\\xc0\\x80\\xed\\xa0\\x80" },	/* overlong, surrogate */
	{ "\xc2\x9b", 0, "\\x9b" },	/* a terminal reads it as ESC [ */
	{ "a\xe2\x80\xae" "b", 0, "a\\u202eb" },	/* right to left override */
	{ "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e.o", 8, "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e.o" },
	{ "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe8\xaa\x9e.o", 8, "...\xe8\xaa\x9e.o" },
	{ "e\xcc\x81", 1, "e\xcc\x81" },	/* a combining accent takes no column */
};

TEST_EACH(time_units, times)
{
	RELEASED(buf, b = BUF_INIT);

	text_add_time(&b, times[_i].us);
	ck_assert_str_eq(buf_str(&b), times[_i].text);
}

/* Numbers of damaged recordings. A build with sanitizers sees overflows. */
TEST(extremes)
{
	static const int64_t edges[] = { INT64_MIN, -1, 0, 999, 1000000, INT32_MAX, INT64_MAX };
	static const double edge_shares[] = { NAN, -INFINITY, -1, 0, 1e-300, 1, 1e300, INFINITY };
	const struct style style = { 0 };
	RELEASED(buf, b = BUF_INIT);

	for (size_t i = 0; i < ARRAY_SIZE(edges); i++) {
		for (int64_t off = -3; off <= 3; off++) {
			int64_t n = (int64_t)((uint64_t)edges[i] + (uint64_t)off);

			buf_clear(&b);
			text_add_time(&b, n);
			ck_assert_int_eq(n < 0, !strcmp(buf_str(&b), "-"));
			buf_clear(&b);
			text_add_bytes(&b, n);
			ck_assert_int_eq(n < 0, !strcmp(buf_str(&b), "-"));
			ck_assert_uint_le(b.len, 8);
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(edge_shares); i++) {
		buf_clear(&b);
		text_add_percent(&b, edge_shares[i]);
		ck_assert_int_eq(!(edge_shares[i] >= 0), !strcmp(buf_str(&b), "-"));
		buf_clear(&b);
		ck_assert_int_eq(text_add_bar(&b, &style, edge_shares[i], 30), edge_shares[i] >= 1);
		ck_assert_uint_le(b.len, 30);
	}
}

TEST_EACH(count_units, counts)
{
	RELEASED(buf, b = BUF_INIT);

	text_add_count(&b, counts[_i].n);
	ck_assert_str_eq(buf_str(&b), counts[_i].text);
}

TEST_EACH(byte_units, sizes)
{
	RELEASED(buf, b = BUF_INIT);

	text_add_bytes(&b, sizes[_i].bytes);
	ck_assert_str_eq(buf_str(&b), sizes[_i].text);
}

TEST_EACH(percents, shares)
{
	RELEASED(buf, b = BUF_INIT);

	text_add_percent(&b, shares[_i].share);
	ck_assert_str_eq(buf_str(&b), shares[_i].text);
}

TEST_EACH(safe_names, names)
{
	RELEASED(buf, b = BUF_INIT);
	size_t columns = text_add_name(&b, names[_i].name, names[_i].width);

	ck_assert_str_eq(buf_str(&b), names[_i].text);
	ck_assert_uint_eq(columns, text_columns(buf_str(&b), b.len));
	if (names[_i].width)
		ck_assert_uint_le(columns, names[_i].width);
}

/* For any bytes: nothing that a terminal obeys, and never too wide. */
TEST_LOOP(any_bytes, 50)
{
	uint32_t state = (uint32_t)_i + 1;
	RELEASED(buf, b = BUF_INIT);
	char name[200];

	for (size_t i = 0; i + 1 < sizeof name; i++) {
		state = state * 1103515245 + 12345;
		name[i] = (char)((state >> 16) % 255 + 1);
	}
	name[sizeof name - 1] = '\0';
	for (size_t width = 0; width < 120; width += 7) {
		buf_clear(&b);
		ck_assert_uint_le(text_add_name(&b, name, width), width ? width : 1000);
		for (size_t i = 0; i < b.len; i++)
			ck_assert((unsigned char)b.data[i] >= ' ' && b.data[i] != 0x7f);
	}
}

TEST(long_name)
{
	size_t len = 100000;
	char *name = malloc(len + 1);
	struct buf b = BUF_INIT;

	ck_assert_ptr_nonnull(name);
	memset(name, 'x', len);
	name[len] = '\0';
	ck_assert_uint_eq(text_add_name(&b, name, 80), 80);
	ck_assert_uint_eq(b.len, 80);
	buf_release(&b);
	free(name);
}

/* No output has anything that a terminal obeys or that changes the direction of text. */
static void ck_safe(const struct buf *b, bool newlines)
{
	uint32_t code;

	for (size_t i = 0, n; i < b->len; i += n) {
		n = utf8_decode((const unsigned char *)b->data + i, b->len - i, &code);
		if (utf8_is_unsafe(code) && !(newlines && code == '\n'))
			ck_abort_msg("%08x", (unsigned)code);
	}
}

TEST(any_bytes_are_safe)
{
	static const char *const piece[] = {
		"\x9b", "\xc2\x9b", "\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x80\xa8", "\x1b[2J", "\xe2\x80",
		"\xd8\x9c", "\xf3\xa0\x80\x81", "\xed\xa0\x80", "a", "\xc3\xa4", "\r\n", "<", "&",
	};
	RELEASED(buf, b = BUF_INIT);
	struct json j;

	srand(3);
	for (int round = 0; round < 10000; round++) {
		char text[256];
		size_t len = 0;

		for (int i = rand() % 30; i > 0; i--) {
			const char *p = piece[(size_t)rand() % ARRAY_SIZE(piece)];

			if (rand() % 2) {
				memcpy(text + len, p, strlen(p));
				len += strlen(p);
			} else {
				text[len++] = (char)(1 + rand() % 255);
			}
		}
		text[len] = '\0';
		buf_clear(&b);
		text_add_name(&b, text, round % 3 ? 0 : 10);
		ck_safe(&b, false);
		buf_clear(&b);
		json_init(&j, &b, false);
		json_str(&j, NULL, text);
		ck_safe(&b, true);
	}
}

TEST(messages_are_safe)
{
	struct run r;

	server_leaks(support_tmpdir());
	support_run(&r, support_tmpdir(), TOP_BUILDDIR "/buildbeat show \"$(printf 'x\\302\\233y\\233\\342\\200\\256z\\033[2J')\"");
	ck_assert_int_eq(r.status, 2);
	ck_assert_msg(strstr(r.err.data, "x\\x9by\\x9b\\u202ez\\x1b[2J") != NULL, "%s", r.err.data);
	ck_safe(&r.err, true);
	support_run(&r, support_tmpdir(), TOP_BUILDDIR "/buildbeat check --repo nowhere://me:hunter2@h/x.git");
	ck_assert_int_eq(r.status, 2);
	ck_assert_msg(strstr(r.err.data, "me") && !strstr(r.err.data, "hunter2"), "%s", r.err.data);
}

TEST_MAIN(text);
