/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "recording/recording.h"
#include "recording/usage_log.h"
#include "tests/recorded.h"
#include "tests/support.h"

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

TEST(lines)
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

TEST(lost_line_and_gap)
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

/* Now and then all levels are written, for readers that start in the middle of the file. */
TEST(levels_come_again)
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

/* Reading */

static const char *write_recording(const char *tasks, const char *usage)
{
	const char *dir = support_tmpdir();

	support_writes(support_path("%s/build", dir),
		       "buildbeat build 1\nstart_wall_ns: 1700000000000000000\nstart_mono_ns: 5\n");
	support_writes(support_path("%s/tasks.log", dir),
		       support_path("buildbeat tasks 1\nopen\t10\ta1\t100\t0\t100,1\tmake\t4.3\t/src"
				    "\tmake all\n%s", tasks));
	support_writes(support_path("%s/proc_tasks.log", dir), usage);
	return dir;
}

TEST(read_back)
{
	static const struct { int64_t ms, rss_kb, pss_kb, cpu_ms, written_kb, read_kb, n; } expect[] = {
		{ 0, 12288, 0, 30, 0, 0, 1 }, { 1000, 15360, 0, 1020, 0, 0, 1 },
		{ 4000, 15360, 0, 1020, 0, 0, 1 },
		{ 0, 40960, 31744, 610, 128, 0, 3 }, { 1000, 40960, 31744, 1610, 128, 4, 3 },
		{ 4000, 40960, 31744, 1610, 128, 4, 3 }, { 5000, 29696, 31744, 2610, 128, 4, 3 },
		{ 7000, 29696, 31744, 2610, 132, 0, 3 },
	};
	RELEASED(recording, rec = RECORDING_INIT);
	const char *dir = write_recording("start\t20\ta1.1\t7\t\t\tx\nstart\t20\ta1.2\t8\t\t\ty\n"
		"start\t20\ta1.3\t8\t\t\tz\n",
		"buildbeat proc_tasks 1 1000 rss:1MiB:g cpu:10ms:c pss:1MiB:g processes:1:g "
		"written:1KiB:c later:1:c read:1KiB:c\n"
		"0=a1.1:12,3,,1;1=a1.2:40,61,31,3,128\n0:3,99;1:,100,,,,5,4\n+4 0-;1:-11,100\n"
		"@7000 =1=a1.2:29,261,31,3,132;2=zz.1:9\n");

	recorded_open(&rec, dir, NULL);
	ck_assert_uint_eq(rec.n_warnings, 1);
	ck_assert_ptr_nonnull(strstr(rec.warning[0].text, "1 samples of tasks that no tasks.log has"));
	ck_assert_uint_eq(rec.n_usage, 9);
	ck_assert_uint_eq(rec.task[0].n_usage, 3);
	ck_assert_uint_eq(rec.task[1].first_usage, 3);
	ck_assert_uint_eq(rec.task[1].n_usage, 6);
	for (size_t i = 0, k = 0; i < 8; i++, k++) {
		const struct task_usage *u = &rec.usage[k];

		if (k == 7)	/* unchanged up to 6000 */
			u = &rec.usage[++k];
		ck_assert_int_eq(u->time_ms, expect[i].ms);
		ck_assert_int_eq(u->rss_kb, expect[i].rss_kb);
		ck_assert_int_eq(u->pss_kb, expect[i].pss_kb);
		ck_assert_int_eq(u->cpu_ms, expect[i].cpu_ms);
		ck_assert_int_eq(u->written_kb, expect[i].written_kb);
		ck_assert_int_eq(u->read_kb, expect[i].read_kb);
		ck_assert_int_eq(u->processes, expect[i].n);
	}
	ck_assert_int_eq(rec.task[0].peak_kb, 15360);
	ck_assert_int_eq(rec.task[0].peak_ms, 1000);
	ck_assert_int_eq(rec.task[1].peak_kb, 31744);
	ck_assert_int_eq(rec.task[2].peak_kb, 0);
	ck_assert_uint_eq(rec.task[2].n_usage, 0);
	ck_assert_int_eq(rec.task[0].delay_us, -1);
	ck_assert(!rec.task[0].delay_at_least);
}

/* Tasks a1.1 and a1.2 run for 1 s. */
static const struct { const char *usage; int64_t delay_us[2]; } delays[] = {
	{ "rss:1MiB:g delay:1ms:c\n0=a1.1:12,3;1=a1.2:1\n0:,250\n", { 253000, 0 } },
	{ "rss:1MiB:g delay:1s:c\n0=a1.1:,2\n@2000 =0=a1.1:,3\n", { 3000000, -1 } },
	{ "delay:1ms:g rss:1MiB:g\n0=a1.1:-5,1;1=a1.2:x\n", { 0, -1 } },
	{ "rss:1MiB:g delay:1KiB:c\n0=a1.1:12,3\n", { 3000, -1 } },
	{ "rss:1MiB:g delay:7:c\n0=a1.1:12,3\n", { 21000, -1 } },
	{ "rss:1MiB:g delay:1parsec:c\n0=a1.1:12,3\n", { -1, -1 } },
	/* the second of the first lines has no such column */
	{ "delay:1ms:c\n0=a1.1:5\nbuildbeat proc_tasks 1 1000 rss:1MiB:g\n0=a1.1:9;1=a1.2:9\n", { 5000, -1 } },
	/* more than 4096 threads can wait in 1.1 s */
	{ "delay:1ms:c\n0=a1.1:4505600;1=a1.2:4505605\n", { 4505600000, -1 } },
	{ "delay:1s:c\n0=a1.1:9223372036854775807;1=a1.2:1\n", { 0, 1000000 } },
};

TEST_EACH(delay, delays)
{
	RELEASED(recording, rec = RECORDING_INIT);

	recorded_open(&rec, write_recording("start\t0\ta1.1\t7\ndone\t1000000\ta1.1\t0\n"
		"start\t0\ta1.2\t8\ndone\t1000000\ta1.2\t0\nclose\t1000000\ta1\n",
		support_path("buildbeat proc_tasks 1 1000 %s", delays[_i].usage)), NULL);
	for (size_t i = 0; i < 2; i++) {
		ck_assert_int_eq(rec.task[i].delay_us, delays[_i].delay_us[i]);
		ck_assert(rec.task[i].delay_at_least || rec.task[i].delay_us < 0);
	}
}

/* Its samples are consecutive all the same, and so are those of others. */
TEST(task_comes_back)
{
	static const struct { uint32_t task, ms, rss_kb; } expect[] = {
		{ 0, 0, 10240 }, { 0, 1000, 10240 }, { 0, 2000, 4096 }, { 0, 3000, 5120 },
		{ 1, 0, 20480 }, { 1, 1000, 21504 }, { 2, 0, 30720 }, { 2, 3000, 31744 },
	};
	RELEASED(recording, rec = RECORDING_INIT);
	const char *dir = write_recording("start\t20\ta1.1\t7\t\t\tx\nstart\t20\ta1.2\t8\t\t\ty\n"
		"start\t20\ta1.3\t9\t\t\tz\n",
		"buildbeat proc_tasks 1 1000 rss:1MiB:g\n"
		"0=a1.1:10;1=a1.2:20;2=a1.3:30\n0-;1:1\n1-;0=a1.1:4\n0:1;2:1\n");

	recorded_open(&rec, dir, NULL);
	ck_assert_uint_eq(rec.n_warnings, 0);
	ck_assert_uint_eq(rec.n_usage, 9);
	for (size_t i = 0, k = 0; i < ARRAY_SIZE(expect); i++, k++) {
		const struct task *t = &rec.task[expect[i].task];
		const struct task_usage *u;

		if (!i || expect[i].task != expect[i - 1].task)
			k = 0;
		if (i == 7)	/* unchanged up to 2000 */
			k++;
		ck_assert_uint_lt(k, t->n_usage);
		u = &rec.usage[t->first_usage + k];
		ck_assert_int_eq(u->time_ms, expect[i].ms);
		ck_assert_uint_eq(u->rss_kb, expect[i].rss_kb);
	}
	ck_assert_uint_eq(rec.task[0].peak_kb, 10240);
	ck_assert_uint_eq(rec.task[0].n_usage, 4);
	ck_assert_uint_eq(rec.task[1].n_usage, 2);
	ck_assert_uint_eq(rec.task[2].n_usage, 3);
}

TEST_MAIN(usage_log);
