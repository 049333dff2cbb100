/* SPDX-License-Identifier: MIT */
#include "analyse/summary.h"
#include "analyse/view.h"
#include "base/array.h"
#include "base/sort.h"
#include "convert/convert.h"
#include "tests/paths.h"
#include "tests/recorded.h"
#include "tests/support.h"

/* Summaries of recordings, calculated by hand. */

#define BUILD "buildbeat build 1\nstart_wall_ns: 1000000000\nstart_mono_ns: 5\n"
#define TASKS "buildbeat tasks 1\n" \
	"open\t0\tm\t10\t0\t10,9\tmake\t4.3\t/src\tmake\n"
#define STAT "buildbeat proc_stat 1 1000 user:10ms:c system:10ms:c iowait:10ms:c steal:10ms:c\n"

static const struct {
	const char *name;
	const char *build, *tasks, *stat;
	enum build_result result;
	int64_t wall_us, cpu_us;
	bool exact;
	int64_t running_sum_us, running_max;
	int64_t level_us[3];	/* of two cores */
	size_t ran, targets, unfinished;
	int64_t host_user_us, host_span_us;
	size_t samples, gaps;
} cases[] = {
	{
		.name = "nothing but a first line", .build = "buildbeat build 1\n",
		.result = BUILD_UNFINISHED, .cpu_us = -1, .host_user_us = -1,
	}, {
		.name = "one second, two tasks that touch and one at once",
		.build = BUILD "cores: 2\nend_us: 1000000\nstatus: 0\nuser_us: 700000\n"
			 "system_us: 200000\n",
		.tasks = TASKS
			"start\t100000\tm.1\t11\t\t\ta\t\tcc -c a.c\n"
			"done\t400000\tm.1\t0\t200000\t50000\t1000\n"
			"start\t400000\tm.2\t12\t\t\tb\t\tcc -c b.c\n"
			"start\t500000\tm.3\t13\t\t\tc\t\tcc -c c.c\n"
			"done\t700000\tm.3\t0\t100000\t0\t1000\n"
			"done\t900000\tm.2\t0\t300000\t50000\t1000\n"
			"close\t950000\tm\n",
		.stat = STAT "@1 5,1\n@1000 60,20,2,1\n",
		.result = BUILD_OK, .wall_us = 1000000, .cpu_us = 900000, .exact = true,
		.running_sum_us = 1000000, .running_max = 2,
		.level_us = { 200000, 600000, 200000 }, .ran = 3, .targets = 3,
		.host_user_us = 600000, .host_span_us = 999000, .samples = 2,
	}, {
		.name = "no end: the sum of the tasks",
		.build = BUILD "cores: 2\n",
		.tasks = TASKS
			"start\t100000\tm.1\t11\t\t\ta\t\tcc\n"
			"done\t400000\tm.1\t0\t200000\t50000\t1000\n"
			"start\t500000\tm.2\t12\t\t\tb\t\tcc\n"
			"start\t800000\tm.3\t13\t\t\tc\t\tcc\n",
		.result = BUILD_UNFINISHED, .wall_us = 800000, .cpu_us = 250000,
		.running_sum_us = 600000, .running_max = 1,
		.level_us = { 200000, 600000, 0 }, .ran = 3, .targets = 3, .unfinished = 2,
		.host_user_us = -1,
	}, {
		.name = "killed by a signal, lines of one recipe, one never started",
		.build = BUILD "cores: 2\nend_us: 2000000\nsignal: 15\n",
		.tasks = TASKS
			"queue\t0\tm.9\t\tlater\n"
			"start\t0\tm.1\t11\t\t\ta\t\tmkdir x\n"
			"done\t1000000\tm.1\t0\t100000\t0\t1000\n"
			"start\t1000000\tm.2\t12\t\t\ta\t\tcc\n"
			"kill\t2000000\tm.2\t15\t300000\t0\t1000\n",
		.result = BUILD_KILLED, .wall_us = 2000000, .cpu_us = 400000,
		.running_sum_us = 2000000, .running_max = 1,
		.level_us = { 0, 2000000, 0 }, .ran = 2, .targets = 1, .host_user_us = -1,
	}, {
		.name = "samples and no tasks, a gap, the wall clock set back",
		.build = BUILD "cores: 2\nend_us: 9000000\nstatus: 3\nend_wall_ns: 2\n",
		.stat = STAT "@0 10\n100,50,5,5\n!8000 100\n+1 50\n",
		.result = BUILD_FAILED, .wall_us = 9000000, .cpu_us = -1,
		.level_us = { 9000000, 0, 0 }, .host_user_us = 2500000,
		.host_span_us = 9000000, .samples = 4, .gaps = 1,
	}, {
		.name = "bitbake without the class: the launcher measured the client only",
		.build = BUILD "cores: 2\nend_us: 9000000\nstatus: 0\nuser_us: 700000\nsystem_us: 1\n"
			"command: /opt/bitbake/bin/bitbake core-image\n",
		.result = BUILD_OK, .wall_us = 9000000, .cpu_us = -1, .exact = false, .level_us = { 9000000, 0, 0 },
		.host_user_us = -1,
	}, {
		.name = "an end before its start",
		.build = BUILD "cores: 2\nend_us: 1000000\n",
		.tasks = TASKS
			"start\t500000\tm.1\t11\t\t\ta\t\tcc\n"
			"done\t400000\tm.1\t0\t200000\t50000\t1000\n",
		.result = BUILD_ENDED, .wall_us = 1000000, .cpu_us = 250000,
		.level_us = { 1000000, 0, 0 }, .ran = 1, .targets = 1, .host_user_us = -1,
	},
};

static void put(const char *dir, const char *file, const char *text)
{
	if (text)
		support_writes(support_path("%s/%s", dir, file), text);
}

static void read_into(struct recording *rec, const char *path)
{
	recorded_open(rec, path, &convert_formats);
}

#define PRESSURE "buildbeat proc_pressure 1 1000 cpu.some:1ms:c io.some:1ms:c\n"

/* The kernel counts late: what was waited before the first sample is not of the build, and no share is more
 * than all. */
static const struct { const char *samples; int64_t cpu_us, io_us, span_us; } pressures[] = {
	{ "@0 0,0\n@15 2000,0\n", 15000, 0, 15000 },	/* all of the two seconds before */
	{ "@0 0,0\n@1500 1000,0\n", 750000, 0, 1500000 },
	{ "@0 0,0\n@1000 0,0\n@2000 2000,10\n@3000 0,0\n@4000 1990,20\n", 3990000, 30000, 4000000 },
	{ "@0 0,0\n@1000 2000,0\n@3000 1900,3\n", 2900000, 3000, 3000000 },
	{ "@0 0,0\n@1000 0,0\n@2000 0,0\n@2100 2001,0\n", 2001000, 0, 2100000 },
};

TEST_EACH(pressure, pressures)
{
	const char *dir = support_tmpdir();
	RELEASED(recording, rec = RECORDING_INIT);
	RELEASED(summary, s);

	put(dir, "build", BUILD "cores: 2\nend_us: 9000000\n");
	put(dir, "proc_pressure.log", support_path(PRESSURE "%s", pressures[_i].samples));
	read_into(&rec, dir);
	ck_assert_int_eq(summary_make(&s, &rec), 0);
	ck_assert_int_eq(s.host.stalled_us[PRESSURE_CPU_SOME], pressures[_i].cpu_us);
	ck_assert_int_eq(s.host.stalled_us[PRESSURE_IO_SOME], pressures[_i].io_us);
	ck_assert_int_eq(s.host.pressure_span_us, pressures[_i].span_us);
}

TEST_EACH(arithmetic, cases)
{
	const char *dir = support_tmpdir();
	RELEASED(recording, rec = RECORDING_INIT);
	RELEASED(summary, s);

	put(dir, "build", cases[_i].build);
	put(dir, "tasks.log", cases[_i].tasks);
	put(dir, "proc_stat.log", cases[_i].stat);
	read_into(&rec, dir);
	ck_assert_int_eq(summary_make(&s, &rec), 0);
	ck_assert_int_eq(s.result, cases[_i].result);
	ck_assert_int_eq(s.wall_us, cases[_i].wall_us);
	ck_assert_int_eq(s.cpu_us, cases[_i].cpu_us);
	ck_assert_int_eq(s.cpu_exact, cases[_i].exact);
	ck_assert_int_eq(s.running_sum_us, cases[_i].running_sum_us);
	ck_assert_int_eq(s.running_max, cases[_i].running_max);
	for (size_t i = 0; i < s.n_levels; i++)
		ck_assert_int_eq(s.level_us[i], cases[_i].level_us[i]);
	ck_assert_uint_eq(s.n_ran, cases[_i].ran);
	ck_assert_uint_eq(s.n_targets, cases[_i].targets);
	ck_assert_uint_eq(s.n_state[TASK_UNFINISHED], cases[_i].unfinished);
	ck_assert_int_eq(s.host.user_us, cases[_i].host_user_us);
	ck_assert_int_eq(s.host.span_us, cases[_i].host_span_us);
	ck_assert_uint_eq(s.host.samples, cases[_i].samples);
	ck_assert_uint_eq(s.host.gaps, cases[_i].gaps);
}

/* tests/data/recordings/nested: a sub-make with three targets inside "lib". */

static struct cost cost_of(const struct summary *s, const char *name)
{
	for (size_t i = 0; i < s->n_targets; i++) {
		if (!strcmp(s->rec->task[s->target[i].first_task].name, name))
			return summary_target_cost(s, &s->target[i]);
	}
	ck_abort_msg("no target %s", name);
}

static const struct {
	const char *target;
	int64_t wall_us, user_us, system_us, read_bytes, written_bytes, memory_kb;
	bool summed;
} nested[] = {
	{ "lib", 1000000, 100000, 50000, 0, 100 * 512, 0, false },
	{ "a.o", 2000000, 1500000, 300000, 0, 1000 * 512, 150000, false },
	{ "b.o", 2500000, 1400000, 300000, 8 * 512, 2000 * 512, 190 * 1024, true },
	{ "lib.a", 2000000, 200000, 150000, 0, 900 * 512, 8000, false },
	{ "/src/app/app", 2500000, 2000000, 100000, 0, 16 * 512, 400000, false },
	/* A task without an end has its samples. */
	{ "slow", 900000, 30000, 0, 0, 64 * 1024, 1024, true },
};

/* Ticks of 10 ms in a span of 12 ms. */
TEST(shares_are_at_most_all)
{
	struct recording rec = RECORDING_INIT;
	struct summary s = { .rec = &rec, .cores = 1, .cpu_us = 14000, .wall_us = 13000 };

	s.host.span_us = 12000;
	ck_assert_double_eq(summary_host_share(&s, 20000), 1);
	ck_assert_double_eq(summary_host_share(&s, 6000), 0.5);
	ck_assert_double_eq(summary_host_share(&s, -1), -1);
	ck_assert_double_eq(summary_cpu_share(&s), 1);
	s.cores = 4;
	ck_assert_double_eq(summary_host_share(&s, 6000), 0.125);
	/* As with one core, on any machine. */
	rec.source.one_core = true;
	ck_assert_double_eq(summary_host_share(&s, 6000), 0.5);
}

TEST_EACH(nothing_counts_twice, nested)
{
	RELEASED(recording, rec = RECORDING_INIT);
	RELEASED(summary, s);
	struct cost c;

	read_into(&rec, TOP_SRCDIR "/tests/data/recordings/nested");
	ck_assert_int_eq(summary_make(&s, &rec), 0);
	c = cost_of(&s, nested[_i].target);
	ck_assert_int_eq(c.wall_us, nested[_i].wall_us);
	ck_assert_int_eq(c.user_us, nested[_i].user_us);
	ck_assert_int_eq(c.system_us, nested[_i].system_us);
	ck_assert_int_eq(c.read_bytes, nested[_i].read_bytes);
	ck_assert_int_eq(c.written_bytes, nested[_i].written_bytes);
	ck_assert_int_eq(c.memory_kb, nested[_i].memory_kb);
	ck_assert_int_eq(c.memory_summed, nested[_i].summed);
}

/* A value not above the host's is a bound if there was no sample. */
TEST(memory_at_most)
{
	RELEASED(recording, rec = RECORDING_INIT);
	struct cost c;
	RELEASED(summary, s);

	read_into(&rec, TOP_SRCDIR "/tests/data/memory/bounds");
	ck_assert_int_eq(summary_make(&s, &rec), 0);
	ck_assert_int_eq(rec.task[0].max_rss_kb, -1);
	ck_assert_int_eq(rec.task[0].max_rss_at_most_kb, 421888);
	ck_assert_int_eq(rec.task[2].max_rss_at_most_kb, -1);
	c = cost_of(&s, "config.h");
	ck_assert(!c.memory_kb && c.memory_at_most_kb == 421888);
	c = cost_of(&s, "a.o");
	ck_assert(c.memory_kb == 48 * 1024 && c.memory_summed && !c.memory_at_most_kb);
	c = cost_of(&s, "prog");
	ck_assert(c.memory_kb == 512000 && !c.memory_at_most_kb);
}

TEST(sums_of_a_build)
{
	RELEASED(recording, rec = RECORDING_INIT);
	struct selection sel = { 0 };
	struct cost kinds = { 0 };
	RELEASED(summary, s);
	RELEASED(view, v);

	read_into(&rec, TOP_SRCDIR "/tests/data/recordings/nested");
	ck_assert_int_eq(summary_make(&s, &rec), 0);
	ck_assert_int_eq(s.running_sum_us, 10900000);
	ck_assert_int_eq(s.running_max, 2);
	ck_assert_int_eq(s.level_us[0], 1600000);
	ck_assert_int_eq(s.level_us[1], 5900000);
	ck_assert_int_eq(s.level_us[2], 2500000);
	ck_assert_int_eq(s.memory_peak_kb.value, 250 * 1024);
	ck_assert_int_eq(s.memory_peak_kb.time_us, 2000000);
	ck_assert_uint_eq(s.n_peak_tasks, 2);
	ck_assert_str_eq(rec.task[s.peak_task[0].task].name, "b.o");
	ck_assert_int_eq(s.peak_task[1].memory_kb, 100 * 1024);
	/* 2000 KiB written and 24 read by the sample at 3 s, the one before at 1 s; 1500
	 * written and 6 read in the second after it. */
	ck_assert_int_eq(s.host.disk_written_bytes, (100 + 2000 + 500) * 1024);
	ck_assert_int_eq(s.host.disk_read_bytes, (50 + 24) * 1024);
	ck_assert_int_eq(s.host.memory_used_bytes.value, 4000LL << 20);
	ck_assert_int_eq(s.host.memory_used_bytes.time_us, 2000000);
	ck_assert_int_eq(s.host.cgroup_memory_bytes.value, 900LL << 20);
	ck_assert_int_eq(s.host.stalled_us[PRESSURE_CPU_SOME], 2500000);
	ck_assert_int_eq(s.host.stalled_us[PRESSURE_MEMORY_FULL], 0);
	ck_assert_int_eq(s.host.oom_kills, 1);

	/* The time of all tasks of the top make, once: the tasks inside lib are part of it. */
	ck_assert_int_eq(view_make(&v, &s, &sel), 0);
	ck_assert_int_eq(v.cost.user_us, 3200000 + 2000000 + 200000 + 30000);
	ck_assert(v.cost.at_least);
	ck_assert_int_eq(v.cost.system_us, 800000 + 100000 + 50000);
	for (size_t i = 0; i < v.kinds.n; i++)
		cost_add(&kinds, &v.kinds.group[i].cost);
	ck_assert_int_eq(kinds.wall_us, 10900000 + 1000000);
	ck_assert_int_eq(v.cost.wall_us, kinds.wall_us);
}

static const struct {
	struct selection sel;
	size_t tasks, targets, unsuccessful;
	const char *first;	/* by wall time */
} selections[] = {
	{ { 0 }, 9, 7, 3, "b.o" },
	{ { .unsuccessful = true }, 3, 3, 3, "/src/app/app" },
	{ { .filter = ".o" }, 4, 4, 1, "b.o" },	/* in the commands of ar and of the link */
	{ { .filter = "*.o" }, 3, 3, 0, "b.o" },
	{ { .filter = "?.o" }, 2, 2, 0, "b.o" },
	{ { .kind = "compile" }, 2, 2, 0, "b.o" },
	{ { .filter = "compile" }, 2, 2, 0, "b.o" },
	{ { .filter = "a.o", .kind = "archive" }, 1, 1, 0, "lib.a" },
	{ { .filter = "no such thing" }, 0, 0, 0, NULL },
};

TEST_EACH(selecting, selections)
{
	RELEASED(recording, rec = RECORDING_INIT);
	RELEASED(summary, s);
	RELEASED(view, v);
	size_t n;

	read_into(&rec, TOP_SRCDIR "/tests/data/recordings/nested");
	ck_assert_int_eq(summary_make(&s, &rec), 0);
	ck_assert_int_eq(view_make(&v, &s, &selections[_i].sel), 0);
	ck_assert_uint_eq(v.n_tasks, selections[_i].tasks);
	ck_assert_uint_eq(v.n_targets, selections[_i].targets);
	ck_assert_uint_eq(v.n_unsuccessful, selections[_i].unsuccessful);
	n = view_top_targets(&v, VALUE_WALL, 1);
	ck_assert_uint_eq(n, selections[_i].first ? 1 : 0);
	if (n)
		ck_assert_str_eq(rec.task[s.target[v.target[0]].first_task].name,
				 selections[_i].first);
}

/* Sorting */

static bool smaller(const void *ctx, uint32_t a, uint32_t b)
{
	const uint32_t *value = ctx;

	return value[a] != value[b] ? value[a] < value[b] : a < b;
}

TEST_LOOP(the_first_of_many, 5)
{
	enum { N = 1000 };
	uint32_t value[N], index[N], state = 7;
	size_t top = (size_t[]){ 0, 1, 10, N, 2 * N }[_i];

	for (uint32_t i = 0; i < N; i++) {
		state = state * 1103515245 + 12345;
		value[i] = state >> 16 & 255;
		index[i] = i;
	}
	top = sort_top(index, N, top, smaller, value);
	for (size_t i = 1; i < top; i++)
		ck_assert(smaller(value, index[i - 1], index[i]));
	for (size_t i = top; top && i < N; i++)
		ck_assert(smaller(value, index[top - 1], index[i]));
}

TEST(keys_of_any_size)
{
	struct keyed k[] = {
		{ UINT64_MAX, 0 }, { 3, 1 }, { 1ull << 40, 2 }, { 3, 3 }, { 0, 4 }, { 1, 5 },
	};
	const int64_t order[] = { 4, 5, 1, 3, 2, 0 };

	ck_assert_int_eq(sort_keyed(k, 6), 0);
	for (size_t i = 0; i < 6; i++)
		ck_assert_int_eq(k[i].value, order[i]);
}

TEST_MAIN(summary);
