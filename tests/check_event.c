/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/field.h"
#include "recording/event.h"
#include "tests/support.h"

#include <inttypes.h>
#include <sys/resource.h>

/* A written line is parsed; the newline is removed. */
static struct event parsed(struct buf *b)
{
	struct event e;

	ck_assert_int_eq(buf_error(b), 0);
	ck_assert_uint_le(b->len, EVENT_MAX);
	ck_assert(b->data[b->len - 1] == '\n');
	ck_assert_ptr_null(memchr(b->data, '\n', b->len - 1));
	ck_assert_int_eq(event_parse((struct slice){ b->data, b->len - 1 }, &e), EVENT_PARSED);
	return e;
}

/* The next field is this text. */
static void expect(struct event *e, const char *text)
{
	struct slice field = event_field(e);
	char *copy = malloc(field.len + 1);
	size_t n;

	memcpy(copy, field.p, field.len);
	n = field_decode(copy, field.len, NULL);
	copy[n] = '\0';
	ck_assert_str_eq(copy, text);
	free(copy);
}

TEST(open_line)
{
	char memory[EVENT_MAX + 1];
	struct event_open o = { 12, -1, "12,1", "make", "4.3", "/a\tb", "make -j8\nx" };
	struct event e;
	struct buf b;

	buf_init_fixed(&b, memory, sizeof memory);
	event_add_open(&b, 77, "abc", &o);
	ck_assert_str_eq(buf_str(&b), "open\t77\tabc\t12\t\t12,1\tmake\t4.3\t/a\\tb\tmake -j8\\nx\n");
	e = parsed(&b);
	ck_assert_int_eq(e.kind, EVENT_OPEN);
	ck_assert_int_eq(e.time_us, 77);
	ck_assert(slice_is(e.inst, "abc"));
	ck_assert_uint_eq(e.seq, 0);
	ck_assert_int_eq(event_number(&e), 12);
	ck_assert_int_eq(event_number(&e), -1);
	expect(&e, "12,1");
	expect(&e, "make");
	expect(&e, "4.3");
	expect(&e, "/a\tb");
	expect(&e, "make -j8\nx");
	expect(&e, "");
	ck_assert_int_eq(event_number(&e), -1);
}

/* Numbers of every length, with few bytes behind them or many. */
TEST(numbers)
{
	static const char *const tails[] = { "", "\t", "\t7", "\t\t\t0", "\t1234567\t12345678901" };
	char line[128];
	struct event e;
	int64_t n = 0;

	for (int digits = 1; digits <= 18; digits++) {
		n = n * 10 + (digits + 3) % 10;
		for (size_t i = 0; i < ARRAY_SIZE(tails); i++) {
			int64_t all[3];
			int len = snprintf(line, sizeof line, "pid\t1\ta\t%" PRId64 "%s", n, tails[i]);

			/* in memory of its own: nothing around it can be read */
			char *copy = memcpy(malloc((size_t)len), line, (size_t)len);

			ck_assert_int_eq(event_parse((struct slice){ copy, (size_t)len }, &e),
					 EVENT_PARSED);
			event_numbers(&e, all, 3);
			ck_assert_int_eq(all[0], n);
			ck_assert_int_eq(all[1], i == 2 ? 7 : i == 4 ? 1234567 : -1);
			ck_assert_int_eq(all[2], i == 4 ? 12345678901 : -1);
			free(copy);
		}
	}
}

/* What is no number is passed. */
TEST(no_numbers)
{
	static const char line[] = "pid\t1\ta\tx\t-5\t5x\t99999999999999999999\t8\t\t-";
	static const int64_t expected[] = { -1, -5, -1, -1, 8, -1, -1, -1 };
	int64_t n[ARRAY_SIZE(expected)];
	struct event e;

	ck_assert_int_eq(event_parse(slice_of(line), &e), EVENT_PARSED);
	event_numbers(&e, n, ARRAY_SIZE(n));
	for (size_t i = 0; i < ARRAY_SIZE(n); i++)
		ck_assert_int_eq(n[i], expected[i]);
}

/* Only the status is known. */
TEST(end_without_values)
{
	struct buf b = BUF_INIT;
	struct event_end end;

	event_end_init(&end, 1 << 8);
	event_add_end(&b, 5, "i", 3, &end);
	ck_assert_str_eq(buf_str(&b), "fail\t5\ti.3\t1\n");
	buf_release(&b);
}

TEST(end_lines)
{
	static const struct { int status; const char *start; } cases[] = {
		{ 0, "done\t5\ti.3\t0\t1000001" }, { 2 << 8, "fail\t5\ti.3\t2\t1000001" },
		{ 9, "kill\t5\ti.3\t9\t1000001" }, { -1, "done\t5\ti.3\t\t1000001" },
	};
	struct rusage usage = { .ru_utime = { 1, 1 }, .ru_maxrss = 4, .ru_nivcsw = 9 };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct buf b = BUF_INIT;
		struct event_end end;

		event_end_init(&end, cases[i].status);
		event_end_rusage(&end, &usage);
		event_add_end(&b, 5, "i", 3, &end);
		ck_assert_msg(!strncmp(b.data, cases[i].start, strlen(cases[i].start)),
			      "%s", b.data);
		ck_assert_str_eq(b.data + strlen(cases[i].start), "\t0\t4\t0\t0\t0\t0\t0\t9\n");
		end.max_rss_at_most_kb = end.max_rss_kb;
		end.max_rss_kb = -1;
		buf_clear(&b);
		event_add_end(&b, 5, "i", 3, &end);
		ck_assert_str_eq(b.data + strlen(cases[i].start),
				 "\t0\t\t0\t0\t0\t0\t0\t9\t\t\t4\n");
		end.setup_us = 7;
		end.setup_system_us = 6;
		end.at_most = true;
		buf_clear(&b);
		event_add_end(&b, 5, "i", 3, &end);
		ck_assert_str_eq(b.data + strlen(cases[i].start),
				 "\t0\t\t0\t0\t0\t0\t0\t9\t\t\t4\t7\t\t6\t1\n");
		end.setup_us = end.setup_system_us = 0;
		end.at_most = false;
		end.instructions = 0;
		buf_clear(&b);
		event_add_end(&b, 5, "i", 3, &end);
		ck_assert_str_eq(b.data + strlen(cases[i].start),
				 "\t0\t\t0\t0\t0\t0\t0\t9\t\t\t4\t\t\t\t\t0\n");
		buf_release(&b);
	}
}

/* Names of 100 KB, in a buffer with room for one line. */
TEST(long_texts)
{
	static char names[3][100001];
	char memory[EVENT_MAX + 1];
	const char bytes[] = { 'x', '\n', '\x01' };	/* 1, 2, 4 bytes escaped */
	struct buf b;

	for (int i = 0; i < 3; i++)
		memset(names[i], bytes[i], sizeof names[i] - 1);
	for (int i = 0; i < 27; i++) {
		struct event_task t = { 1, false, 2, names[i % 3], names[i / 3 % 3], names[i / 9], names[i % 3] };
		struct event_open o = { 1, 2, names[i % 3], names[i / 3 % 3], names[i / 9],
			names[i % 3], names[i / 3 % 3] };
		struct event e;

		buf_init_fixed(&b, memory, sizeof memory);
		event_add_start(&b, INT64_MAX, "abcdefghijklmno", UINT64_MAX, &t);
		e = parsed(&b);
		ck_assert_uint_eq(e.seq, UINT64_MAX);
		ck_assert_uint_ge(b.len, 3000);
		buf_clear(&b);
		event_add_open(&b, INT64_MAX, "abcdefghijklmno", &o);
		parsed(&b);
		buf_clear(&b);
		event_add_queue(&b, INT64_MAX, "abcdefghijklmno", UINT64_MAX, &t);
		parsed(&b);
		buf_clear(&b);
		event_add_note(&b, 0, "a", 1, names[i % 3]);
		parsed(&b);
		buf_clear(&b);
		event_add_name(&b, INT64_MAX, "abcdefghijklmno", UINT64_MAX, names[i % 3],
			       names[i / 3 % 3], names[i / 9]);
		parsed(&b);
		buf_clear(&b);
		event_add_span_begin(&b, 0, "a", 1, UINT64_MAX / 2, names[i % 3]);
		parsed(&b);
	}
}

/* Shortened names end in the mark and the hash, and still differ. */
TEST(cut_names_differ)
{
	char one[5001], two[5001];
	struct event_task t = { -1, false, -1, NULL, one, NULL, NULL };
	RELEASED(buf, a = BUF_INIT, b = BUF_INIT);
	const char *mark;

	memset(one, 'n', sizeof one - 1);
	one[5000] = '\0';
	memcpy(two, one, sizeof two);
	two[4999] = 'm';
	event_add_start(&a, 1, "i", 1, &t);
	t.name = two;
	event_add_start(&b, 1, "i", 1, &t);
	ck_assert_uint_eq(a.len, b.len);
	ck_assert_str_ne(a.data, b.data);
	mark = strstr(a.data, "n\\.");
	ck_assert_ptr_nonnull(mark);
	ck_assert_uint_eq(strspn(mark + 3, "0123456789abcdef"), 8);
	ck_assert_str_eq(mark + 11, "\n");
}

/* Many names take several lines; all are there, and names that fit are whole. */
TEST(after_lines)
{
	static char text[500][64];
	const char *names[500];
	char memory[EVENT_MAX + 1];
	size_t given = 0, read = 0;
	struct buf b;

	for (size_t i = 0; i < 500; i++) {
		snprintf(text[i], sizeof text[i], "include/generated\t%zu/autoconf.h", i);
		names[i] = text[i];
	}
	while (given < 500) {
		struct event e;
		size_t n;

		buf_init_fixed(&b, memory, sizeof memory);
		n = event_add_after(&b, 9, "i", 1, names + given, 500 - given);
		ck_assert_uint_ge(n, 1);
		given += n;
		e = parsed(&b);
		while (!cursor_at_end(&e.rest))
			expect(&e, text[read++]);
		ck_assert_uint_eq(read, given);
	}
	ck_assert_uint_eq(event_add_after(&b, 9, "i", 1, names, 0), 0);
}

static const struct { const char *line; enum event_parsed as; } lines[] = {
	{ "done\t1\ta.1\t0", EVENT_PARSED }, { "close\t1\ta", EVENT_PARSED },
	{ "close\t-1\ta", EVENT_PARSED }, { "later\t1\ta.1\tx", EVENT_UNKNOWN },
	{ "do_ne\t1\ta", EVENT_UNKNOWN }, { "", EVENT_DAMAGED }, { "done", EVENT_DAMAGED },
	{ "done\t", EVENT_DAMAGED }, { "done\t1", EVENT_DAMAGED }, { "done\t1\t", EVENT_DAMAGED },
	{ "done\t1\ta.", EVENT_DAMAGED }, { "done\t1\ta.0", EVENT_DAMAGED },
	{ "done\t1\ta.x", EVENT_DAMAGED }, { "done\t1\t.1", EVENT_DAMAGED },
	{ "done\tx\ta.1", EVENT_DAMAGED }, { "done\t1x\ta.1", EVENT_DAMAGED },
	{ "done\t\ta.1", EVENT_DAMAGED }, { "DONE\t1\ta.1", EVENT_DAMAGED },
	{ "\xff\xfe\t1\ta.1", EVENT_DAMAGED }, { "\t1\ta.1", EVENT_DAMAGED },
	{ "done\t1\ta.18446744073709551616", EVENT_DAMAGED },
	{ "done\t9223372036854775808\ta.1", EVENT_DAMAGED },
	{ "done\t1\tabcdefghijklmnop.1", EVENT_DAMAGED }, { "done 1 a.1", EVENT_DAMAGED },
};

TEST_EACH(parse, lines)
{
	struct event e;
	struct slice line = slice_of(lines[_i].line);

	ck_assert_msg(event_parse(line, &e) == lines[_i].as, "%s", lines[_i].line);
}

TEST(name_line)
{
	RELEASED(buf, b = BUF_INIT);
	struct event e;

	event_add_name(&b, 7, "i", 3, "lib/x\ty.o", NULL, "compile");
	ck_assert_str_eq(b.data, "name\t7\ti.3\tlib/x\\ty.o\t\tcompile\n");
	e = parsed(&b);
	ck_assert_int_eq(e.kind, EVENT_NAME);
	expect(&e, "lib/x\ty.o");
	expect(&e, "");
	expect(&e, "compile");
}

TEST(place_line)
{
	const struct event_place place = { "lib/a.mk", 12, "link", 2 }, only_pool = { NULL, -1, "p", 1 };
	RELEASED(buf, b = BUF_INIT);
	struct event e;

	event_add_place(&b, 7, "i", 3, &only_pool);
	ck_assert_str_eq(b.data, "place\t7\ti.3\t\t\tp\t1\n");
	buf_clear(&b);
	event_add_place(&b, 7, "i", 3, &place);
	ck_assert_str_eq(b.data, "place\t7\ti.3\tlib/a.mk\t12\tlink\t2\n");
	e = parsed(&b);
	ck_assert_int_eq(e.kind, EVENT_PLACE);
	expect(&e, "lib/a.mk");
	ck_assert_int_eq(event_number(&e), 12);
	expect(&e, "link");
	ck_assert_int_eq(event_number(&e), 2);
}

TEST(out_line)
{
	const char *const names[] = { "a.h", "b.h" };
	RELEASED(buf, b = BUF_INIT);
	struct event e;

	ck_assert_uint_eq(event_add_out(&b, 7, "i", 3, names, 2), 2);
	ck_assert_str_eq(b.data, "out\t7\ti.3\ta.h\tb.h\n");
	e = parsed(&b);
	ck_assert_int_eq(e.kind, EVENT_OUT);
}

TEST(instance_ids)
{
	char a[INSTANCE_ID_MAX], b[INSTANCE_ID_MAX];

	event_instance_id(a, 4194304, 12345678);
	event_instance_id(b, 4194304, 12345688);
	ck_assert_str_ne(a, b);
	ck_assert_uint_eq(strspn(a, "0123456789abcdefghijklmnopqrstuvwxyz"), strlen(a));
	event_instance_id(a, INT32_MAX, INT64_MAX);
	ck_assert_uint_lt(strlen(a), INSTANCE_ID_MAX);
}

/* The CPU time of children is what was added to both numbers. */
TEST(children_between)
{
	struct rusage before = { .ru_utime = { 1, 999999 }, .ru_stime = { 7, 3 } };
	struct rusage now = { .ru_utime = { 3, 1 }, .ru_stime = { 8, 2 } };
	struct event_children c;

	event_children_between(&c, &before, &now);
	ck_assert_int_eq(c.user_us, 1000002);
	ck_assert_int_eq(c.system_us, 999999);
}

TEST_MAIN(event);
