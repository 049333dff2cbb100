/* SPDX-License-Identifier: MIT */
#include "recording/usage_log.h"
#include "tests/support.h"

#include <string.h>

#define SLOTS 3

struct log {
	struct usage_writer writer;
	struct usage_slot written[SLOTS], now[SLOTS];
	struct buf text;
	int64_t t_us;
};

static void init(struct log *l)
{
	*l = (struct log){ .text = BUF_INIT };
	usage_writer_init(&l->writer, l->written, SLOTS, 1000);
}

static void set(struct log *l, size_t slot, const char *task, enum usage_column column,
		int64_t level)
{
	if (strcmp(l->now[slot].task, task)) {
		memset(&l->now[slot], 0, sizeof l->now[slot]);
		strcpy(l->now[slot].task, task);
	}
	l->now[slot].level[column] = level;
}

static const char *sample(struct log *l, bool force)
{
	buf_clear(&l->text);
	usage_add(&l->writer, &l->text, l->t_us, l->now, force);
	l->t_us += 1000000;
	return buf_str(&l->text);
}

START_TEST(lines)
{
	struct log l;

	init(&l);
	set(&l, 0, "a.1", USAGE_RSS, 12);
	set(&l, 0, "a.1", USAGE_CPU, 3);
	set(&l, 1, "a.2", USAGE_CPU, 0);	/* no values of it yet */
	ck_assert_str_eq(sample(&l, false), "0=a.1:12,3\n");
	ck_assert_str_eq(sample(&l, false), "");
	set(&l, 0, "a.1", USAGE_RSS, 10);
	set(&l, 1, "a.2", USAGE_READ, 4);
	set(&l, 2, "b.1", USAGE_PROCESSES, 1);
	ck_assert_str_eq(sample(&l, false), "+2 0:-2;1=a.2:,,,,,4;2=b.1:,,,1\n");
	/* one ends, another takes its place, a third ends */
	memset(&l.now[1], 0, sizeof l.now[1]);
	set(&l, 2, "b.2", USAGE_PROCESSES, 1);
	ck_assert_str_eq(sample(&l, false), "1-;2=b.2:,,,1\n");
	ck_assert_str_eq(sample(&l, true), "\n");
	memset(l.now, 0, sizeof l.now);
	ck_assert_str_eq(sample(&l, false), "0-;2-\n");
	buf_release(&l.text);
}
END_TEST

START_TEST(lost_line_and_gap)
{
	struct log l;

	init(&l);
	set(&l, 0, "a.1", USAGE_RSS, 12);
	sample(&l, false);
	set(&l, 1, "a.2", USAGE_RSS, 7);
	sample(&l, false);
	usage_lost(&l.writer);
	ck_assert_str_eq(sample(&l, false), "!2000 =0=a.1:12;1=a.2:7\n");
	l.t_us += 5000000;
	set(&l, 1, "a.2", USAGE_RSS, 8);
	ck_assert_str_eq(sample(&l, false), "!8000 1:1\n");
	buf_release(&l.text);
}
END_TEST

/* Now and then all levels are written, for readers that start in the middle of the file. */
START_TEST(levels_come_again)
{
	struct log l;
	unsigned n = 0;

	init(&l);
	for (int i = 1; i <= 3 * SERIES_KEY_LINES; i++) {
		set(&l, 0, "a.1", USAGE_CPU, i);
		n += !strcmp(sample(&l, false), support_path("@%d000 =0=a.1:,%d\n", i - 1, i));
	}
	ck_assert_uint_eq(n, 2);
	buf_release(&l.text);
}
END_TEST

int main(void)
{
	return support_main("usage_log", TEST(lines), TEST(lost_line_and_gap),
			    TEST(levels_come_again));
}
