/* SPDX-License-Identifier: MIT */
#include "analyse/values.h"
#include "archive/build_recording.h"
#include "archive/sys.h"
#include "base/array.h"
#include "tests/drawn.h"
#include "tests/paths.h"
#include "tests/recorded.h"
#include "tests/support.h"

/*
 * A build of an archive, made a recording again: its values are those of the original, its
 * samples have the same sums and peaks, and it can be drawn.
 */

#define DATA TOP_SRCDIR "/tests/data/"

static const char *const paths[] = {
	DATA "recordings/nested", DATA "recordings/cut", DATA "recordings/empty",
	DATA "chart/queued", DATA "chart/idle", DATA "oe/genuine",
};

#define PATHS ARRAY_SIZE(paths)

static void make_again(struct recorded *again, const struct recorded *r)
{
	struct error err = { 0 };
	struct values f;

	ck_assert_int_eq(values_make(&f, &r->rec), 0);
	ck_assert_msg(!build_recording(&again->rec, &f, &err), "%s", err.message);
	values_release(&f);
	for (size_t i = 0; sys_name[i]; i++) {
		struct buf text = BUF_INIT;

		ck_assert_int_eq(sys_write(&text, &r->rec, sys_name[i]), 0);
		if (text.len)
			ck_assert_int_eq(sys_read(&again->rec, sys_name[i], &text), 0);
		buf_release(&text);
	}
	ck_assert_int_eq(summary_make(&again->sum, &again->rec), 0);
}

static void same_task(const struct values *a, const struct values *b, size_t i)
{
	ck_assert_str_eq(a->task[i].name, b->task[i].name);
	ck_assert_str_eq(a->task[i].kind, b->task[i].kind);
	for (int c = 0; c < COLUMNS; c++) {
		int64_t x = a->column[c] ? a->column[c][i] : -1;
		int64_t y = b->column[c] ? b->column[c][i] : -1;
		bool blocks = c == COLUMN_READ_BYTES || c == COLUMN_WRITTEN_BYTES;

		if (c == COLUMN_PEAK_KB || c == COLUMN_RUNS || c == COLUMN_START_US ||
		    (c >= COLUMN_MINOR_FAULTS && c <= COLUMN_INVOLUNTARY_SWITCHES))
			continue;
		if (blocks && x >= 0 && y >= 0)
			ck_assert_int_le(llabs(x - y), 256);
		else
			ck_assert_msg(x == y, "%s %s: %lld, %lld", a->task[i].name,
				      metric_column_name[c], (long long)x, (long long)y);
	}
}

static void same_facts(const struct values *a, const struct values *b)
{
	ck_assert_uint_eq(a->n_facts, b->n_facts);
	for (size_t i = 0; i < a->n_facts; i++) {
		ck_assert_str_eq(a->fact[i].key, b->fact[i].key);
		ck_assert_str_eq(a->fact[i].value, b->fact[i].value);
	}
	ck_assert_uint_eq(a->n_packages, b->n_packages);
	for (size_t i = 0; i < a->n_packages; i++) {
		ck_assert_str_eq(a->package[i].name, b->package[i].name);
		ck_assert_str_eq(a->package[i].version, b->package[i].version);
	}
}

TEST_GROUP("again");

TEST_LOOP(values_are_the_same, PATHS)
{
	RELEASED(recorded, r, again);
	RELEASED(values, a, b);

	recorded_read(&r, paths[_i]);
	make_again(&again, &r);
	ck_assert_int_eq(values_make(&a, &r.rec), 0);
	ck_assert_int_eq(values_make(&b, &again.rec), 0);
	ck_assert_int_eq(a.start_s, b.start_s);
	ck_assert_uint_eq(a.n_tasks, b.n_tasks);
	for (size_t i = 0; i < a.n_tasks; i++)
		same_task(&a, &b, i);
	same_facts(&a, &b);
	for (int t = 0; t < TOTALS; t++) {
		/* tasks with one name become one; its memory is unknown */
		if (t == TOTAL_PEAK_KB || t == TOTAL_TASKS || t == TOTAL_RUNNING_MAX ||
		    t == TOTAL_FAILED || t == TOTAL_READ_BYTES || t == TOTAL_WRITTEN_BYTES)
			continue;
		ck_assert_msg(a.total[t] == b.total[t], "%s: %lld, %lld", metric_total_info[t].name,
			      (long long)a.total[t], (long long)b.total[t]);
	}
}

TEST_LOOP(it_can_be_drawn, PATHS)
{
	RELEASED(recorded, r, again);
	RELEASED(buf, svg = BUF_INIT);

	recorded_read(&r, paths[_i]);
	make_again(&again, &r);
	drawn(&svg, &again.sum, &r.sum);
	ck_assert_ptr_nonnull(strstr(svg.data, "</svg>"));
}

/* Series that are longer than the archive stores. */

#define LONG 5003

static void add_series(struct buf *b, uint64_t *seed)
{
	buf_adds(b, "buildbeat proc_stat 1 1000 user:10ms:c system:10ms:c running:1:g\n");
	for (int i = 0; i < LONG; i++)
		buf_addf(b, "%llu,%llu,%d\n", (unsigned long long)random_below(seed, 150) + 1,
			 (unsigned long long)random_below(seed, 50), i % 3 - 1);
}

static void add_memory(struct buf *b, uint64_t *seed)
{
	int64_t level = 0;

	buf_adds(b, "buildbeat proc_meminfo 1 1000 available:1MiB:g total:1MiB:g\n=9000,16000\n");
	for (int i = 1; i < LONG; i++) {
		int64_t next = i == 2222 ? -5000 : (int64_t)random_below(seed, 2000);

		buf_addf(b, "%lld\n", (long long)(next - level));
		level = next;
	}
}

static void add_disks(struct buf *b, uint64_t *seed)
{
	buf_adds(b, "buildbeat proc_diskstats 1 1000 a.read:1KiB:c a.busy:1ms:c "
		 "a.written:1KiB:c b.read:1KiB:c b.busy:1ms:c b.written:1KiB:c\n");
	for (int i = 0; i < LONG; i++)
		buf_addf(b, "%llu,1,,,%llu,%llu\n", (unsigned long long)random_below(seed, 9),
			 (unsigned long long)random_below(seed, 1000) + 1,
			 (unsigned long long)random_below(seed, 9));
}

static void read_long(struct recorded *r, void (*add)(struct buf *, uint64_t *),
		      const char *name)
{
	struct buf text = BUF_INIT;
	uint64_t seed = 5;

	recorded_make(r, "start_wall_ns: 1700000000000000000\ncores: 2\nend_us: 5003000000\n",
		      "", NULL);
	add(&text, &seed);
	ck_assert_int_eq(sys_read(&r->rec, name, &text), 0);
	buf_release(&text);
	ck_assert_uint_eq(r->rec.n_warnings, 0);
	summary_release(&r->sum);
	ck_assert_int_eq(summary_make(&r->sum, &r->rec), 0);
}

static const struct {
	const char *name;
	void (*add)(struct buf *, uint64_t *);
	size_t bytes;
} longs[] = {
	{ "proc_stat", add_series, 4000 },
	{ "proc_meminfo", add_memory, 4000 },
	{ "proc_diskstats", add_disks, 6000 },
};

TEST_GROUP("sys");

TEST_EACH(thinned, longs)
{
	RELEASED(recorded, r, again);
	struct buf text = BUF_INIT;
	const struct host *a, *b;
	const struct series *s, *t;

	read_long(&r, longs[_i].add, longs[_i].name);
	ck_assert_int_eq(sys_write(&text, &r.rec, longs[_i].name), 0);
	ck_assert_uint_lt(text.len, longs[_i].bytes);
	buf_release(&text);
	make_again(&again, &r);
	s = recording_series(&r.rec, longs[_i].name);
	t = recording_series(&again.rec, longs[_i].name);
	ck_assert_uint_ge(s->n, LONG);
	ck_assert_uint_le(t->n, SYS_POINTS_MAX);
	ck_assert_uint_gt(t->n, SYS_POINTS_MAX * 9 / 10);
	ck_assert_int_eq(s->time_ms[0], t->time_ms[0]);
	ck_assert_int_eq(s->time_ms[s->n - 1], t->time_ms[t->n - 1]);
	a = &r.sum.host;
	b = &again.sum.host;
	ck_assert_int_eq(a->span_us, b->span_us);
	ck_assert_int_eq(a->user_us, b->user_us);
	ck_assert_int_eq(a->system_us, b->system_us);
	ck_assert_int_eq(a->memory_used_bytes.value, b->memory_used_bytes.value);
	ck_assert_int_eq(a->memory_used_bytes.time_us, b->memory_used_bytes.time_us);
	ck_assert_int_eq(a->disk_read_bytes, b->disk_read_bytes);
	ck_assert_int_eq(a->disk_written_bytes, b->disk_written_bytes);
}

/* As many points as fit, at equal distances; short series are whole. */
TEST(points_that_fit)
{
	static const size_t lengths[] = { 0, 1, 2, 3, 4, 199, 200, 201, 202, 397, 398, 399, 400, 596, 597, 794, 795, 1000 };

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		size_t n = lengths[i], stride = 1, points = n;
		struct buf text = BUF_INIT, thin = BUF_INIT;
		const struct series *s;
		struct recorded r;

		while (points > SYS_POINTS_MAX)
			points = 2 + (n - 2 + stride) / (stride + 1), stride++;
		recorded_make(&r, "start_wall_ns: 1700000000000000000\n", "", NULL);
		buf_adds(&text, "buildbeat proc_stat 1 1000 user:10ms:c running:1:g\n");
		for (size_t k = 0; k < n; k++)
			buf_addf(&text, "1,%d\n", k % 2 ? -1 : 1);
		ck_assert_int_eq(sys_read(&r.rec, "proc_stat", &text), 0);
		ck_assert_int_eq(sys_write(&thin, &r.rec, "proc_stat"), 0);
		buf_release(&text);
		recorded_release(&r);
		recorded_make(&r, "start_wall_ns: 1700000000000000000\n", "", NULL);
		if (thin.len)
			ck_assert_int_eq(sys_read(&r.rec, "proc_stat", &thin), 0);
		s = recording_series(&r.rec, "proc_stat");
		ck_assert_msg((s ? s->n : 0) == points, "%zu: %zu, not %zu", n, s ? s->n : 0, points);
		for (size_t k = 0; s && k < s->n_columns; k++) {
			ck_assert_str_eq(s->column[k].name, k ? "running" : "user");
			ck_assert_str_eq(s->column[k].unit, k ? "1" : "10ms");
		}
		for (size_t k = 1; s && k < s->n; k++)
			ck_assert_int_gt(s->time_ms[k], s->time_ms[k - 1]);
		ck_assert(!n || s->time_ms[s->n - 1] == (int64_t)(n - 1) * 1000);
		buf_release(&thin);
		recorded_release(&r);
	}
}

TEST(busiest_disk)
{
	RELEASED(recorded, r);
	RELEASED(buf, text = BUF_INIT);
	struct column c;

	recorded_make(&r, "start_wall_ns: 1700000000000000000\n", "", NULL);
	buf_adds(&text, "buildbeat proc_diskstats 1 1000 a.busy:1ms:c b.busy:1ms:c\n\n"
		 "100,200\n300,50\n,70\n");
	ck_assert_int_eq(sys_read(&r.rec, "proc_diskstats", &text), 0);
	buf_clear(&text);
	ck_assert_int_eq(sys_write(&text, &r.rec, "proc_diskstats"), 0);
	free(r.rec.series->column);
	free(r.rec.series->time_ms);
	free(r.rec.series->level);
	free(r.rec.series->gap);
	r.rec.n_series = 0;
	ck_assert_int_eq(sys_read(&r.rec, "proc_diskstats", &text), 0);
	ck_assert(column_find(&c, &r.rec, "proc_diskstats", "all.busy"));
	ck_assert_int_eq(column_growth(&c), (200 + 300 + 70) * 1000);
	ck_assert_int_eq(column_busiest(&c).value, 300 * 1000);
}

/* A gap stays, and stays where it was. */
TEST(gap_stays)
{
	RELEASED(recorded, r, again);
	struct buf text = BUF_INIT;
	const struct series *s;
	size_t gaps = 0;

	recorded_make(&r, "start_wall_ns: 1700000000000000000\n", "", NULL);
	buf_adds(&text, "buildbeat proc_stat 1 1000 user:10ms:c system:10ms:c\n");
	for (int i = 0; i < 1000; i++)
		buf_addf(&text, "%s%d,%d\n", i == 500 ? "!9000000 =90000,90000\n" : "", i % 7 + 1, 3);
	ck_assert_int_eq(sys_read(&r.rec, "proc_stat", &text), 0);
	buf_release(&text);
	make_again(&again, &r);
	s = recording_series(&again.rec, "proc_stat");
	for (size_t i = 0; i < s->n; i++) {
		gaps += s->gap[i];
		if (s->gap[i])
			ck_assert(s->time_ms[i] >= 9000000 && s->time_ms[i] < 9010000);
	}
	ck_assert_uint_eq(gaps, 1);
}

TEST(damaged_sys)
{
	RELEASED(recorded, r);
	RELEASED(buf, text = BUF_INIT);

	recorded_make(&r, "start_wall_ns: 1700000000000000000\n", "", NULL);
	buf_adds(&text, "no series at all\n1,2,3\n");
	ck_assert_int_eq(sys_read(&r.rec, "proc_stat", &text), 0);
	ck_assert_ptr_null(recording_series(&r.rec, "proc_stat"));
	ck_assert_uint_eq(r.rec.n_warnings, 1);
}

TEST_MAIN(build_recording);
